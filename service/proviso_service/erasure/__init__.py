"""Erasure: what is deleted is gone from every byte of the storage, and a receipt says so."""

from proviso_service.erasure.deletions import Deletion, DeletionKind, DeletionStore
from proviso_service.erasure.erasing import Erasure
from proviso_service.erasure.retention import Retention, RetentionRules, UnreadableRetention

__all__ = [
    "Deletion",
    "DeletionKind",
    "DeletionStore",
    "Erasure",
    "Retention",
    "RetentionRules",
    "UnreadableRetention",
]
