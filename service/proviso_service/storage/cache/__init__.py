"""Caches, behind the port of the agent."""
