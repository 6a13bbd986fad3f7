"""The embedded answer extractor: the spans of a passage that answer a question, each with a probability."""

from proviso_service.embedded.extractor.model import EmbeddedExtractor

__all__ = ["EmbeddedExtractor"]
