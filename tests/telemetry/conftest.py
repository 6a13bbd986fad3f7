"""What these tests change of the process's logging is undone after each."""

from tests.support.process_logging import process_logging

__all__ = ["process_logging"]
