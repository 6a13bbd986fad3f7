"""What no request needs is not imported before the service is SERVING, and what it never uses not at all."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proviso_client.v1 import turns_pb2

NEVER = {
    "click",
    "langgraph_sdk.client",
    "langsmith",
    "pydantic.v1.main",
    "pygments",
    "requests.models",
    "requests_toolbelt",
    "rich",
    "urllib3",
    "websockets",
}
NOT_YET = {
    "alembic",
    "chromadb",
    "cryptography",
    "google.genai",
    "h11",
    "httpcore",
    "httpx",
    "isaacus",
    "jwt",
    "langchain",
    "lxml",
    "markdown_it",
    "mcp",
    "onnxruntime",
    "opentelemetry.sdk",
    "PIL",
    "pypdfium2",
    "selectolax",
    "sqlalchemy.dialects.postgresql",
    "tink",
    "tokenizers",
}

MOST_MODULES = 1_300
"""There were 700 more when LangSmith, rich, requests, pydantic 1, httpx and PostgreSQL's dialect were imported."""


def _run(*arguments: str, **environment: str) -> Any:
    env = {**(environment or os.environ), "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=100, env=env
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def _of(names: set[str], modules: list[str]) -> set[str]:
    return {name for name in names if any(f"{module}.".startswith(f"{name}.") for module in modules)}


def test_what_no_request_needs_yet_is_not_imported(tmp_path: Path, models_dir: Path) -> None:
    command = ("-m", "tests.support.lean_process", str(tmp_path / "data"), str(models_dir))
    _run(*command)  # brings the schema of the database up to date
    told = _run(*command)
    assert _of(NEVER | NOT_YET, told["serving"]) == set()
    assert len(told["serving"]) <= MOST_MODULES
    assert told["exit_reason"] == turns_pb2.EXIT_REASON_COMPLETED
    assert _of(NEVER, told["answered"]) == set()


def _told(statements: str, **environment: str) -> Any:
    start = "from proviso_service.cli.lean_imports import leave_out_unused; leave_out_unused(); import json"
    return _run("-c", f"{start}\n{statements}", **environment)


def test_the_command_line_itself_loads_none_of_them() -> None:
    asked = "import json, sys, proviso_service.cli.program; print(json.dumps([*sys.modules]))"
    assert _of(NEVER | NOT_YET, _run("-c", asked)) == set()


def test_nothing_is_traced_where_langsmith_is_switched_on() -> None:
    asked = """
from langchain_core.tracers.context import _tracing_v2_is_enabled
print(json.dumps(_tracing_v2_is_enabled()))"""
    switched_on = {"LANGSMITH_TRACING": "true", "LANGSMITH_API_KEY": "key", "LANGSMITH_ENDPOINT": "http://127.0.0.1:9"}
    assert _told(asked, **switched_on) is False


@pytest.mark.parametrize(
    "import_of_it",
    [
        "from langsmith.run_helpers import get_current_run_tree",
        "from langsmith import traceable",
        "import langsmith.wrappers",
        "import langchain_openai",
        "import langchain_google_genai",
        "from requests.exceptions import HTTPError; import requests; requests.Session()",
        "from pydantic.v1 import validator",
        "import pydantic; pydantic.v1.root_validator",
        "from langgraph_sdk import get_client",
        "import rich.console",
    ],
)
def test_who_needs_a_library_that_was_left_out_gets_it(import_of_it: str) -> None:
    asked = f"""
import langgraph.graph, langchain_core.language_models, structlog
{import_of_it}
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.context import _tracing_v2_is_enabled
print(json.dumps([RunnableLambda(lambda n: n + 1).invoke(1), _tracing_v2_is_enabled()]))"""
    assert _told(asked) == [2, False]


def test_a_process_that_has_a_library_already_keeps_it() -> None:
    asked = """
import sys
sys.modules["langsmith"].__file__
import rich, langgraph_sdk
leave_out_unused()
print(json.dumps([rich.__file__ == sys.modules["rich"].__file__, bool(langgraph_sdk.get_client)]))"""
    start = "import langsmith; from proviso_service.cli.lean_imports import leave_out_unused; import json"
    assert _run("-c", f"{start}{asked}") == [True, True]


def test_a_stand_in_that_is_used_after_all_says_so() -> None:
    asked = """
from langchain_core.tracers.schemas import Run
try:
    Run(name="a")
except RuntimeError as error:
    print(json.dumps(str(error)))"""
    assert "traces nothing" in _told(asked)
