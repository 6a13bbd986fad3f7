"""Matters and their documents: storage, ingestion, chunks, retrieval."""
