"""Makes protobuf messages from domain values."""
