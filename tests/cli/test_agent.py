"""`proviso agent check`: what a folder holds, or everything that is wrong with it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.scripted_server import Finished
from tests.support.catalogs import AGENT, RULE, write

Proviso = Callable[..., Finished]


def test_the_items_of_a_folder_are_shown(proviso: Proviso, tmp_path: Path) -> None:
    settings = (
        "proviso: {tools: {isaacus_iql: {include: agent, approval: required}}}\n"
        "mcp_servers:\n"
        "  time: {command: uvx, enabled: false, env: {T: hunter22}}\n"
        "  files: {url: 'https://x.example', include: manual, approval: required, tools: {find: {approval: none}}}\n"
    )
    write(tmp_path / "agent", agent_yaml=AGENT + settings, rules__a_md=RULE)
    shown = proviso("agent", "check", str(tmp_path / "agent"))
    assert (shown.exit_code, shown.err) == (0, "")
    lines = shown.out.splitlines()
    assert lines[:4] == ["Leases: Reads leases.", "", "Rules (1)", "  Quoting [always, priority 0] 14 characters"]
    assert "  isaacus_iql [agent, approval required]" in lines
    assert lines[-4:] == [
        "MCP servers (2)",
        "  time [stdio, always, disabled]",
        "  files [http, manual, approval required]",
        "    find [manual]",
    ]
    told = proviso("agent", "check", str(tmp_path / "agent"), "--json")
    records = [json.loads(line) for line in told.out.splitlines()]
    assert records[-1] == {
        "type": "mcp_server",
        "name": "files",
        "transport": "http",
        "include": "manual",
        "approval": "required",
        "tools": {"find": {"include": "manual", "approval": "none"}},
        "enabled": True,
    }
    assert "hunter22" not in shown.out + told.out


def test_the_default_agent_is_shown_without_a_folder(proviso: Proviso) -> None:
    shown = proviso("agent", "check", "--json")
    records = [json.loads(line) for line in shown.out.splitlines()]
    assert shown.exit_code == 0
    assert {"rule", "reference", "tool"} == {record["type"] for record in records}


def test_references_are_read_like_documents(proviso: Proviso, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    described = "reference_files: {fees.html: {name: Fees, description: What it costs.}}\n"
    write(tmp_path / "agent", agent_yaml=AGENT + described, references__fees_html="<h1>Fees</h1><p>A fee.</p>")
    monkeypatch.setenv("PROVISO_AGENT_DIR", str(tmp_path / "agent"))
    shown = proviso("agent", "check", "--json")
    (fees,) = [record for line in shown.out.splitlines() if (record := json.loads(line))["type"] == "reference"]
    assert (fees["name"], fees["characters"]) == ("Fees", len("Fees\n\nA fee."))


def test_every_fault_is_a_line(proviso: Proviso, tmp_path: Path) -> None:
    write(tmp_path / "agent", agent_yaml="name: A\n", rules__a_md="none")
    shown = proviso("agent", "check", str(tmp_path / "agent"))
    assert (shown.exit_code, shown.out) == (1, "")
    assert [line.partition(" ")[0] for line in shown.err.splitlines()] == ["agent.yaml:1", "rules/a.md:1:"]
    told = proviso("agent", "check", str(tmp_path / "agent"), "--json")
    assert told.exit_code == 1
    assert json.loads(told.out.splitlines()[0]) == {
        "file": "agent.yaml",
        "line": 1,
        "field": "description",
        "description": "is missing",
    }


def test_a_path_that_is_no_folder_is_a_usage_error(proviso: Proviso, tmp_path: Path) -> None:
    shown = proviso("agent", "check", str(tmp_path / "absent"))
    assert shown.exit_code == 2
    assert "is not a folder" in shown.err
