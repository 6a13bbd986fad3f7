"""The stores of matters, documents, chunks, embeddings, scores, sessions and turns in a SQL database, which is SQLite.

`database` runs transactions, `tables` declares the tables, and each other module holds one store or a part of it. What
the methods of a store do is described at its protocol in the domain, such as `MatterStore`."""
