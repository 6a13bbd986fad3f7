"""The state in SQL: matters, documents, chunks, embeddings, sessions and turns. SQLite today; the URL decides."""
