"""The embedded chat model: picks tools by intent and answers with quotes, names and counts from their results."""
