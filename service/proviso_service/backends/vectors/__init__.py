"""The approximate index of large matters: Chroma, embedded or a server."""
