"""Models on a server of one's own, which many replicas of the service share: text-embeddings-inference by its own API,
and embeddings of any server that speaks OpenAI's.

docs/models.md describes which texts it is sent."""
