"""Replies of chat models and results of retrieval that are used again."""
