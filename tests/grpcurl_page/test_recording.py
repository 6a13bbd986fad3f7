"""A page that does not say what its commands print is told so, and nothing is passed over. These need no server."""

from pathlib import Path

import pytest

from tests.grpcurl_page.page import examples, parse
from tests.grpcurl_page.record import Run, run


async def ran(folder: Path, *blocks: str) -> Run:
    fences = ("sh", "text")
    page = "\n\n".join(f"```{fences[place % 2]}\n{block}\n```" for place, block in enumerate(blocks))
    return await run(parse(page), folder, folder, folder)


async def test_variables_and_functions_are_there_for_the_next_command(tmp_path: Path) -> None:
    done = await ran(
        tmp_path, 'NAME=$(echo a b)\nsay() { printf "%s\\n" "$@"; }; echo', "", 'say "$NAME"\nsay c', "a b\nc"
    )
    assert not done.failures + done.differences


async def test_another_output_is_a_difference_and_is_what_would_be_written(tmp_path: Path) -> None:
    done = await ran(tmp_path, "printf 'one\\ntwo\\n'", "one")
    assert not done.failures
    assert "line 1: printf" in done.differences[0]
    assert "+two" in done.differences[0]
    assert [example.output for example in examples(done.page)] == ["one\ntwo"]


async def test_output_of_a_command_that_prints_nothing_on_the_page_is_a_difference(tmp_path: Path) -> None:
    assert (await ran(tmp_path, "echo one")).differences


async def test_progress_on_the_error_stream_is_not_part_of_the_output(tmp_path: Path) -> None:
    done = await ran(tmp_path, "echo one; echo 50 % >&2", "one")
    assert not done.failures + done.differences


async def test_a_refused_call_shows_its_error_after_what_came_before(tmp_path: Path) -> None:
    done = await ran(tmp_path, "refuse() { echo ERROR: >&2; return 68; }; echo one; refuse", "one\nERROR:")
    assert not done.failures + done.differences


@pytest.mark.parametrize(
    "command",
    [
        "no-such-command",
        "no-such-command; echo one",
        "no-such-command | cat",
        "NAME=$(no-such-command)",
        "if",
        "false",
        'echo "$NOWHERE"',
        "exit 0",
        "{ false; echo one; } | cat",
    ],
)
async def test_a_command_that_cannot_be_run_is_a_failure(tmp_path: Path, command: str) -> None:
    done = await ran(tmp_path, command, "one", "echo two", "two")
    assert done.failures
    assert f"line 1: {command}" in done.failures[0]
