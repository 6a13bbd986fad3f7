"""Adapters for what lies outside the domain: databases, folders, hosted models."""
