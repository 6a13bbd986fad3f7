"""What enters an answer: matter context, assets, catalog, sessions, request contexts."""
