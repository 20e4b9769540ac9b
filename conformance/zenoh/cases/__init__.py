"""The Zenoh cases: one file per section of the documents."""
