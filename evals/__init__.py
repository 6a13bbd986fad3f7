"""Measures how well search finds what lawyers have marked."""
