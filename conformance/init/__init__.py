"""Beginning: what a project needs to have its implementation tested."""
