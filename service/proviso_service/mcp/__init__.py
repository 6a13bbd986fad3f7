"""Sessions with servers that speak the Model Context Protocol, by the protocol's own package."""
