"""Fetches images of messages from the web, safely: from public addresses and from hosts that the operator lists, and
within limits."""
