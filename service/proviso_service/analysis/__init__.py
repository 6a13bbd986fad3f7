"""Analyses a matter's documents: IQL queries and clause types, which are scored chunk by chunk with the scores kept,
and answers to questions."""
