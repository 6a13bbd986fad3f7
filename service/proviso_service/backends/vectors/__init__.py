"""The vector index: Chroma in a process of its own, which finds the chunks whose vectors are nearest to a query's."""
