"""What Pathfinder brings to network fuzzing."""
