"""Sets up the logs: one line per event on standard error, for structlog and the standard library's logging.

Log calls name what happened, with ids, codes and durations, and never hold the contents of messages. A secret that is
passed by mistake is masked by the name of its field.
"""

import logging
import sys
from typing import Any, TextIO

import structlog
from opentelemetry.trace import format_span_id, format_trace_id, get_current_span
from structlog.typing import EventDict, Processor

from proviso_service.settings import TelemetrySettings

SECRET_FIELDS = frozenset(
    {
        "anthropic_api_key",
        "api_key",
        "authorization",
        "cookie",
        "credential",
        "google_api_key",
        "isaacus_api_key",
        "openai_api_key",
        "password",
        "secret",
    }
)
MASK = "***"

QUIETED_LIBRARIES = (
    "PIL",
    "alembic",
    "anthropic",
    "chromadb",
    "grpc",
    "httpcore",
    "httpcore2",
    "httpx",
    "httpx2",
    "isaacus",
    "openai",
    "opentelemetry",
    "sqlalchemy",
)
"""Libraries of which only warnings and errors are logged: below that they log their own set-up, or contents such as
messages, statements and URLs."""


def configure_logging(settings: TelemetrySettings, stream: TextIO | None = None) -> None:
    """Sets up logging for the whole process, to standard error unless `stream` is given. Each command of the service
    calls it once."""
    stream = stream or sys.stderr
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        add_trace_ids,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        mask_secrets,
    ]
    renderers = _renderers(settings, stream)
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    structlog.configure(
        processors=[*shared, *renderers],
        # Written at once, since the way through the standard library's logging takes three times as long.
        logger_factory=lambda name="": _StreamLogger(stream, name),
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(), *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in QUIETED_LIBRARIES:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    logging.captureWarnings(capture=True)


class _StreamLogger(structlog.WriteLogger):
    """Writes lines to a stream. It has a name, which its lines tell."""

    def __init__(self, stream: TextIO, name: str) -> None:
        super().__init__(stream)
        self.name = name


def add_trace_ids(logger: Any, method: str, event: EventDict) -> EventDict:
    """A structlog processor that adds the ids of the current span, where there is one."""
    del logger, method  # the signature of a processor
    context = get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = format_trace_id(context.trace_id)
        event["span_id"] = format_span_id(context.span_id)
    return event


def mask_secrets(logger: Any, method: str, event: EventDict) -> EventDict:
    """A structlog processor that masks fields by their names."""
    del logger, method  # the signature of a processor
    for field in SECRET_FIELDS.intersection(event):
        event[field] = MASK
    return event


def _renderers(settings: TelemetrySettings, stream: TextIO) -> list[Processor]:
    if settings.log_format == "json":
        # Tracebacks leave out local variables, which hold what people wrote.
        tracebacks = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        return [
            structlog.processors.ExceptionRenderer(tracebacks),
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ]
    plain = structlog.dev.plain_traceback
    return [structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=plain)]
