"""The embedded answer extractor: the spans of a passage that answer a question, each with a probability."""
