"""Fetches images of messages from the web, safely: only from public addresses, and within limits."""
