"""Logging is set up for the whole process, so what a test changes is undone after it."""

import logging
from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def process_logging() -> Iterator[None]:
    root, levels = logging.getLogger(), {}
    for name, logger in logging.Logger.manager.loggerDict.items():
        if isinstance(logger, logging.Logger):
            levels[name] = logger.level
    handlers, level, configured = root.handlers[:], root.level, structlog.get_config()
    yield
    structlog.configure(**configured)
    logging.captureWarnings(capture=False)
    root.handlers[:], root.level = handlers, level
    for name, logger in logging.Logger.manager.loggerDict.items():
        if isinstance(logger, logging.Logger):
            logger.setLevel(levels.get(name, logging.NOTSET))
