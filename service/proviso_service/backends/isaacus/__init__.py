"""Isaacus's hosted models: embedder, reranker, classifier and extractor, called over its HTTP API by its SDK.

docs/models.md describes which texts leave the machine."""
