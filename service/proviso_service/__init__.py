"""Proviso: a gRPC service that answers questions about legal matters."""
