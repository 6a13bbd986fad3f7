"""Selection: which items of the catalog enter a request. Those are the session's items and the agent items that are
found by the message.
"""
