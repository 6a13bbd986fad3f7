"""Uploaded originals and backups, sealed with a key for each tenant.

A master key, in a file (`key_file.py`) or a key service (`transit.py`), wraps the keys of the tenants
(`tenant_keys.py`), and those seal files (`blobs.py`). All cryptography is Tink's."""
