"""Stores of the bytes of uploaded documents."""
