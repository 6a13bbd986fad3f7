"""Analysis of a matter's documents by statements: IQL queries, scored chunk by chunk and kept."""
