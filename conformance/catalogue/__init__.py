"""The catalogue of a protocol: its rules, its readings, its documents, and what exercises each rule."""
