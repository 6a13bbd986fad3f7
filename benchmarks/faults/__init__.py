"""Measures what a caller sees, and how long it takes, when a model or a tool fails."""
