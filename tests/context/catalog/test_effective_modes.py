"""Effective include modes and approvals of tools: the tool's own, else the server's, else always."""

import pytest

from proviso_service.context.catalog.items import (
    Approval,
    EffectiveMode,
    IncludeModeSource,
    ToolOverride,
    ToolPolicy,
)
from proviso_service.context.model import IncludeMode

ALWAYS, MANUAL, AGENT = IncludeMode.ALWAYS, IncludeMode.MANUAL, IncludeMode.AGENT
ITEM, SERVER, DEFAULT = IncludeModeSource.ITEM, IncludeModeSource.SERVER, IncludeModeSource.DEFAULT


@pytest.mark.parametrize(
    ("tool", "server", "mode", "source"),
    [
        (None, None, ALWAYS, DEFAULT),
        (None, ALWAYS, ALWAYS, SERVER),
        (None, MANUAL, MANUAL, SERVER),
        (None, AGENT, AGENT, SERVER),
        (ALWAYS, None, ALWAYS, ITEM),
        (MANUAL, None, MANUAL, ITEM),
        (AGENT, None, AGENT, ITEM),
        (ALWAYS, MANUAL, ALWAYS, ITEM),
        (MANUAL, AGENT, MANUAL, ITEM),
        (AGENT, ALWAYS, AGENT, ITEM),
    ],
)
def test_the_tools_own_mode_beats_the_servers_which_beats_always(
    tool: IncludeMode | None, server: IncludeMode | None, mode: IncludeMode, source: IncludeModeSource
) -> None:
    policy = ToolPolicy(include=server, tools={"query": ToolOverride(include=tool), "other": ToolOverride(MANUAL)})
    assert policy.include_mode("query") == EffectiveMode(mode, source)


def test_a_tool_of_which_nothing_is_said_follows_its_server() -> None:
    assert ToolPolicy(include=AGENT).include_mode("query") == EffectiveMode(AGENT, SERVER)
    assert ToolPolicy().include_mode("query") == EffectiveMode(ALWAYS, DEFAULT)


@pytest.mark.parametrize(
    ("tool", "server", "effective"),
    [
        (None, None, Approval.NONE),
        (None, Approval.REQUIRED, Approval.REQUIRED),
        (Approval.REQUIRED, None, Approval.REQUIRED),
        (Approval.NONE, Approval.REQUIRED, Approval.NONE),
        (Approval.REQUIRED, Approval.NONE, Approval.REQUIRED),
    ],
)
def test_the_tools_own_approval_beats_the_servers(
    tool: Approval | None, server: Approval | None, effective: Approval
) -> None:
    policy = ToolPolicy(approval=server, tools={"query": ToolOverride(approval=tool)})
    assert policy.approval_of("query") is effective
