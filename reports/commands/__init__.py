"""The commands that audit recordings and run the pipeline."""
