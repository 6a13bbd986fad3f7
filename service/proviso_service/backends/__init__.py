"""Adapters to systems outside the domain: SQL databases, folders of files, the vector index and hosted models."""
