"""Adapters of what is kept: state in SQL, vectors, blobs, caches; and the lock on the data folder."""
