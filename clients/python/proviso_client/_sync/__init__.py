"""Contains the blocking client."""
