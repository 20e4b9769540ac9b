"""What Zenoh brings to network fuzzing."""
