"""The embedded universal classifier: how surely a passage of a contract satisfies a statement in words."""

from proviso_service.embedded.classifier.model import EmbeddedClassifier

__all__ = ["EmbeddedClassifier"]
