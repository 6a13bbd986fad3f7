"""Adapters to systems outside the domain: SQL databases, folders of files, Chroma and hosted models."""
