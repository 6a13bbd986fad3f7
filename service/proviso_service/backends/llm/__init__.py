"""Chat models of providers."""
