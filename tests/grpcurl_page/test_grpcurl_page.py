"""docs/grpcurl.md is what a reader sees who copies its commands."""

import re
from pathlib import Path

import pytest
from grpc_health.v1 import health_pb2

from tests.contract_guard.elements import PROTOS, compiled
from tests.contract_guard.names import names_of
from tests.grpcurl_page.page import Example, examples, parse, render
from tests.grpcurl_page.record import INSTALL, PAGE, SERVE, run
from tests.grpcurl_page.sameness import Correspondence
from tests.grpcurl_page.tools import PINS, tools

TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = examples(parse(TEXT))

_CALL = re.compile(r"localhost:50051 ([\w.]+/\w+)")
_FIELD = re.compile(r'^(\W*")(\w+": )')
_ASSIGNMENT = re.compile(r"^\w+=\$\(.*?\)$", re.MULTILINE | re.DOTALL)


@pytest.mark.timeout(600)  # a first build of grpcurl, with nothing in Go's cache, takes a minute or more
async def test_every_command_prints_what_the_page_says(tmp_path: Path, models_dir: Path) -> None:
    done = await run(parse(TEXT), tools(), models_dir, tmp_path)
    assert not done.failures + done.differences, "\n\n".join(
        [*done.failures, *done.differences, "`python -m tests.grpcurl_page.record --write` puts there what they print"]
    )


def test_every_rpc_is_called_with_grpcurl_and_answers() -> None:
    called = {name for example in EXAMPLES for name in _calls_answered(example)}
    ours = {f"proviso.v1.{name[4:].replace('.', '/')}" for name in names_of(compiled(PROTOS)) if name[:4] == "rpc "}
    health = health_pb2.DESCRIPTOR.services_by_name["Health"]
    assert called == ours | {f"{health.full_name}/{method.name}" for method in health.methods} | {
        "grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
    }


def test_what_is_not_run_as_it_stands_is_on_the_page_once() -> None:
    commands = [example.command for example in EXAMPLES]
    assert commands.count(INSTALL) == 1
    assert commands.count(SERVE) == 1


def test_readers_install_the_version_that_is_pinned() -> None:
    module, version = "github.com/fullstorydev/grpcurl", INSTALL.partition("@")[2]
    assert f"{module} {version} " in (PINS / "go.mod").read_text(encoding="utf-8")


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.output], ids=lambda e: f"line {e.line}")
def test_a_line_that_is_gone_or_a_field_that_is_renamed_is_a_difference(example: Example) -> None:
    output = example.output or ""
    lines = output.splitlines()
    for place, line in enumerate(lines):
        before, after = lines[:place], lines[place + 1 :]
        if line != "...":  # whether messages of a stream are left out is a matter of time
            assert Correspondence().difference(output, "\n".join(before + after))
        if _FIELD.match(line):
            renamed = _FIELD.sub(r"\1x\2", line)
            assert Correspondence().difference(output, "\n".join([*before, renamed, *after]))


def test_the_page_is_written_as_the_recorder_writes_it() -> None:
    assert render(parse(TEXT)) == TEXT


def _calls_answered(example: Example) -> list[str]:
    """What a command calls and shows the answer of; not what only finds an id for a variable."""
    if not example.output or example.output.startswith("ERROR:") or "grpcurl" not in example.command:
        return []
    return _CALL.findall(_ASSIGNMENT.sub("", example.command))
