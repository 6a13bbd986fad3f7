"""Which of the catalog's items enter a request: those of the session, and agent items found by the message."""
