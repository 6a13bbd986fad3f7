"""Measures what a caller sees, and how long it takes, when a model, a tool or the vector index fails."""
