"""Uploaded bytes."""
