"""Lines of a conversation that begin with a slash."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_client.v1 import context_pb2
from proviso_service.cli.output import UsageProblem
from proviso_service.cli.session_commands import HELP, Action, Command, parse_command


def rule(name: str) -> context_pb2.ContextItemRef:
    return context_pb2.ContextItemRef(type=context_pb2.CONTEXT_ITEM_TYPE_RULE, name=name)


def tool(server: str, name: str) -> context_pb2.ContextItemRef:
    return context_pb2.ContextItemRef(type=context_pb2.CONTEXT_ITEM_TYPE_TOOL, name=name, server_name=server)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("/context", Command(Action.CONTEXT)),
        ("/rebuild ", Command(Action.REBUILD)),
        ("/history", Command(Action.HISTORY)),
        ("/help", Command(Action.HELP)),
        ("/continue", Command(Action.CONTINUE)),
        ('/rename  "Rent of 12 High Street" ', Command(Action.RENAME, message="Rent of 12 High Street")),
        ("/rate Up", Command(Action.RATE, rating="up")),
        ("/rate down The date is missing", Command(Action.RATE, message="The date is missing", rating="down")),
        ("/preview  Which law governs? ", Command(Action.PREVIEW, message="Which law governs?")),
        ("/add rule Plain English", Command(Action.ADD, rule("Plain English"))),
        ('/add rule "Plain English"', Command(Action.ADD, rule("Plain English"))),
        ("/add rule 'Plain English'", Command(Action.ADD, rule("Plain English"))),
        ("/add rule “Plain English”", Command(Action.ADD, rule("Plain English"))),
        ('/remove rule the "plain" one', Command(Action.REMOVE, rule('the "plain" one'))),
        ('/add rule "Plain" and simple', Command(Action.ADD, rule('"Plain" and simple'))),
        ("/Add Rule Plain English", Command(Action.ADD, rule("Plain English"))),
        ("/HELP", Command(Action.HELP)),
        ("/remove tool time:get_current_time", Command(Action.REMOVE, tool("time", "get_current_time"))),
        ("/add tool registry:a:b", Command(Action.ADD, tool("registry", "a:b"))),
    ],
)
def test_a_command_is_read(line: str, command: Command) -> None:
    assert parse_command(line) == command


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/", "There is no command /"),
        ("/add", "/add rule|reference|tool NAME"),
        ("/add rule", "/add rule|reference|tool NAME"),
        ('/add rule ""', "/add rule|reference|tool NAME"),
        ("/remove document x", "'document' is no type of item: /remove rule|reference|tool NAME"),
        ('/add rule "Plain English', "The name begins with a quotation mark that nothing closes"),
        ('/add rule "', "The name begins with a quotation mark that nothing closes"),
        ("/add tool isaacus_search", "as in /add tool proviso:isaacus_search"),
        ("/add tool proviso:", "as in /add tool proviso:isaacus_search"),
        ("/preview", "Give the message"),
        ("/rename", "Give the title"),
        ("/rate", "Say up or down"),
        ("/rate 5", "Say up or down"),
        ("/context now", "/context takes nothing after it"),
        ("/forget", "There is no command /forget; /help lists them"),
    ],
)
def test_what_is_no_command_says_why(line: str, told: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        parse_command(line)
    assert told in refused.value.message


def test_help_names_every_command() -> None:
    for name in ("context", "add", "remove", "preview", "rebuild", "history", "help"):
        assert f"\n/{name}" in f"\n{HELP}"


@given(st.text())
def test_any_line_is_a_command_or_a_usage_problem(text: str) -> None:
    with contextlib.suppress(UsageProblem):
        assert isinstance(parse_command(f"/{text}"), Command)
