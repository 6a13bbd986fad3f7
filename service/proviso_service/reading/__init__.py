"""From the bytes of a file to its canonical text and structure.

`formats.py` says which files are read and by which parser; a parser is a pure function from bytes to ParsedDocument,
named by its media type, so that it can run in a thread or in a process of its own (`reader.py`).
"""
