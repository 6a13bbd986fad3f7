"""The embedded universal classifier: how surely a passage of a contract satisfies a statement in words."""
