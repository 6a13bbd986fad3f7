"""Tests of the names under which models are shown the tools of servers."""

import re

from hypothesis import given
from hypothesis import strategies as st

from proviso_service.mcp.listing import shown_name

_SERVERS = st.from_regex(r"[a-z](_?[a-z0-9-]){0,14}", fullmatch=True)
_TOOLS = st.text(min_size=1, max_size=128)


def test_a_plain_name_is_kept() -> None:
    assert shown_name("time", "get_current_time") == "time__get_current_time"


@given(_SERVERS, _TOOLS)
def test_every_provider_takes_the_name(server: str, tool: str) -> None:
    assert re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", shown_name(server, tool))


@given(_SERVERS, _TOOLS, _SERVERS, _TOOLS)
def test_two_tools_never_share_a_name(server: str, tool: str, other: str, other_tool: str) -> None:
    if (server, tool) != (other, other_tool):
        assert shown_name(server, tool) != shown_name(other, other_tool)
