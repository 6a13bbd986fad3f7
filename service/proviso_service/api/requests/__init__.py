"""Requests, validated at the edge: one pydantic model per request message, with the limits of its field comments."""
