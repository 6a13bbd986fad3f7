"""Domain values to protobuf messages and back."""
