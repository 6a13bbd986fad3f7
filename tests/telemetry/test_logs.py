"""Tests of the log of the process: one line per event, from any library."""

import io
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
import structlog

from proviso_service.settings import TelemetrySettings
from proviso_service.telemetry.logging import MASK, configure_logging


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def failure_of(action: Callable[[], object]) -> Exception:
    with pytest.raises((ValueError, ZeroDivisionError)) as caught:
        action()
    return caught.value


def configured(**settings: Any) -> io.StringIO:
    stream = io.StringIO()
    configure_logging(TelemetrySettings(log_format="json").model_copy(update=settings), stream)
    return stream


def test_both_kinds_of_loggers_write_the_same_lines() -> None:
    stream = configured()
    with structlog.contextvars.bound_contextvars(request_id="r1"):
        structlog.get_logger("proviso.api").info("call", method="/x", code="OK")
        logging.getLogger("proviso_service.turns").info("turn %s ended", "t1")
    first, second = lines(stream)
    assert first.pop("timestamp") <= second.pop("timestamp")
    assert first == {
        "event": "call", "method": "/x", "code": "OK", "level": "info", "logger": "proviso.api", "request_id": "r1",
    }  # fmt: skip
    assert second == {
        "event": "turn t1 ended", "level": "info", "logger": "proviso_service.turns", "request_id": "r1",
    }  # fmt: skip


@pytest.mark.parametrize("field", ["authorization", "api_key", "password"])
def test_a_secret_is_masked_by_the_name_of_its_field(field: str) -> None:
    stream = configured()
    structlog.get_logger().info("connected", **{field: "hunter2"})
    logging.getLogger("x").info("connected", extra={field: "hunter2"})
    assert [line[field] for line in lines(stream)] == [MASK, MASK]
    assert "hunter2" not in stream.getvalue()


def test_less_severe_lines_are_left_out() -> None:
    stream = configured(log_level="warning")
    structlog.get_logger().info("quiet")
    logging.getLogger("x").info("quiet")
    structlog.get_logger().warning("loud")
    assert [line["event"] for line in lines(stream)] == ["loud"]


def test_libraries_are_heard_from_warnings_on() -> None:
    stream = configured(log_level="debug")
    logging.getLogger("sqlalchemy.engine").info("SELECT secret")
    logging.getLogger("httpx").warning("slow")
    assert [line["event"] for line in lines(stream)] == ["slow"]


def test_a_failure_is_one_line_with_its_traceback() -> None:
    stream = configured()
    structlog.get_logger().error("call failed", exc_info=failure_of(lambda: int("x")))
    (line,) = lines(stream)
    assert line["exception"][0]["exc_type"] == "ValueError"
    assert line["exception"][0]["frames"]


def test_no_local_variable_of_a_failing_function_is_logged() -> None:
    stream = configured()

    def answer(message: str) -> int:
        return 1 // message.count("?")

    structlog.get_logger().error("call failed", exc_info=failure_of(lambda: answer("the settlement is swordfish")))
    (line,) = lines(stream)
    assert line["exception"][0]["exc_type"] == "ZeroDivisionError"
    assert "swordfish" not in stream.getvalue()


def test_the_console_shows_a_line_for_people() -> None:
    stream = configured(log_format="console")
    structlog.get_logger().info("serving", address="127.0.0.1:50051")
    assert "serving" in stream.getvalue()
    assert "address=127.0.0.1:50051" in stream.getvalue()
    assert "\x1b" not in stream.getvalue()
