"""Every fault of an agent's folder names its file, its line and its field."""

import json
import os
from pathlib import Path

import pytest

from proviso_service.context.catalog.folder import FolderLimits
from proviso_service.context.catalog.loader import load_agent
from proviso_service.errors import CatalogInvalid, NotReady
from tests.support.catalogs import AGENT, OWN_TOOLS, RULE, PlainReader, faults_of, write

OTHER_RULE = RULE.replace("Quoting", "Other")

FAULTS: list[tuple[str, dict[str, str], str]] = [
    ("no name", {"agent_yaml": "description: Reads.\n"}, "agent.yaml:1 name: is missing"),
    ("empty", {"agent_yaml": ""}, "agent.yaml:1 description: is missing"),
    ("unknown field", {"agent_yaml": AGENT + "rulez: x\n"}, "agent.yaml:3 rulez: is not a field that is known here"),
    ("a list", {"agent_yaml": "- a\n"}, "agent.yaml:1: must be fields with values, each on a line of its own"),
    ("broken", {"agent_yaml": "name: a\nb: [\n"}, "agent.yaml:3: is not YAML"),
    ("control", {"agent_yaml": "name: a\nb: \x07\n"}, "agent.yaml:2: holds a character that YAML does not allow"),
    ("twice", {"agent_yaml": AGENT + "name: x\n"}, "agent.yaml:3 name: is there twice"),
    ("not text", {"agent_yaml": AGENT.replace("Leases", "2024")}, "agent.yaml:1 name: must be text; put it between"),
    ("tag", {"agent_yaml": AGENT + "rules: !!python/name:os.system x\n"}, "agent.yaml:3 rules: has a tag"),
    ("own tag", {"agent_yaml": AGENT + "rules: !x y\n"}, "agent.yaml:3 rules: has a tag"),
    ("alias", {"agent_yaml": "name: &a A\ndescription: *a\n"}, "agent.yaml:1 description: repeats another value"),
    ("deep", {"agent_yaml": "[" * 5_000}, "agent.yaml:1: is nested too deeply"),
    ("two documents", {"agent_yaml": AGENT + "---\na: b\n"}, "agent.yaml:3: is not YAML: it begins a second"),
    ("outside", {"agent_yaml": AGENT + "rules: ../x\n"}, "../x: is missing"),
    ("far outside", {"agent_yaml": AGENT + "rules: /etc\n"}, "/etc: lies outside the agent's folder"),
    ("no folder", {"agent_yaml": AGENT + "references: texts\n"}, "texts: is missing"),
    (
        "include",
        {"rules__a_md": RULE.replace("---\nQ", "include: often\n---\nQ")},
        "rules/a.md:4 include: must be 'always', 'manual' or 'agent'",
    ),
    (
        "priority",
        {"rules__a_md": RULE.replace("---\nQ", "priority: 5000\n---\nQ")},
        "rules/a.md:4 priority: must be at most 1000",
    ),
    (
        "priority in words",
        {"rules__a_md": RULE.replace("---\nQ", "priority: high\n---\nQ")},
        "rules/a.md:4 priority: must be a whole number",
    ),
    (
        "enabled",
        {"rules__a_md": RULE.replace("---\nQ", 'enabled: "yes"\n---\nQ')},
        "rules/a.md:4 enabled: must be true or false",
    ),
    ("no fields", {"rules__a_md": "Quote.\n"}, "rules/a.md:1: must begin with its fields"),
    ("open fields", {"rules__a_md": "---\nname: a\n"}, "rules/a.md:1: must begin with its fields"),
    (
        "endless fields",
        {"rules__a_md": RULE.replace("---\nQ", "# x\n" * 5_000 + "---\nQ")},
        "rules/a.md:1: must begin with its fields",
    ),
    ("no description", {"rules__a_md": "---\nname: a\n---\nb\n"}, "rules/a.md:2 description: is missing"),
    ("empty name", {"rules__a_md": RULE.replace("Quoting", "''")}, "rules/a.md:2 name: must not be empty"),
    ("long name", {"rules__a_md": RULE.replace("Quoting", "x" * 129)}, "rules/a.md:2 name: must have at most 128"),
    ("no text", {"rules__a_md": RULE.replace("Quote exactly.", "")}, "rules/a.md: says nothing below its fields"),
    ("no rule", {"rules__a_txt": "x"}, "rules/a.txt: is not a rule"),
    (
        "same name",
        {"rules__a_md": RULE, "rules__b_md": RULE.replace("Q", "q")},
        "rules/b.md:2 name: is also the name of rules/a.md",
    ),
    ("unread kind", {"references__a_exe": "x"}, "references/a.exe: Such files are not read."),
    ("not described", {"references__a_txt": "x"}, "references/a.txt: is not described"),
    (
        "damaged",
        {"agent_yaml": AGENT + "reference_files:\n  a.txt: {name: A, description: B}\n", "references__a_txt": "%"},
        "references/a.txt: The file is damaged.",
    ),
    (
        "no such reference",
        {"agent_yaml": AGENT + "reference_files:\n  a.txt: {name: A, description: B}\n"},
        "agent.yaml:4 reference_files.a.txt: describes a file that is not among the references",
    ),
    (
        "described twice",
        {"agent_yaml": AGENT + "reference_files:\n  a.md: {name: A, description: B}\n", "references__a_md": RULE},
        "agent.yaml:4 reference_files.a.md: describes a Markdown file",
    ),
    (
        "unknown own tool",
        {"agent_yaml": AGENT + "proviso:\n  tools:\n    isaacus_sql: {include: agent}\n"},
        "agent.yaml:5 proviso.tools.isaacus_sql: is not a tool of the service; did you mean isaacus_iql?",
    ),
    (
        "neither command nor url",
        {"agent_yaml": AGENT + "mcp_servers:\n  a: {include: agent}\n"},
        "agent.yaml:4 mcp_servers.a: needs either a command",
    ),
    (
        "both",
        {"agent_yaml": AGENT + "mcp_servers:\n  a: {command: x, url: https://x}\n"},
        "agent.yaml:4 mcp_servers.a: needs either a command",
    ),
    (
        "approval",
        {"agent_yaml": AGENT + "mcp_servers:\n  a:\n    command: x\n    tools:\n      b: {approval: maybe}\n"},
        "agent.yaml:7 mcp_servers.a.tools.b.approval: must be 'none' or 'required'",
    ),
    (
        "args",
        {"agent_yaml": AGENT + "mcp_servers:\n  a:\n    command: x\n    args: [b, 3]\n"},
        "agent.yaml:6 mcp_servers.a.args[1]: must be text",
    ),
    (
        "url",
        {"agent_yaml": AGENT + "mcp_servers:\n  a:\n    url: ftp://x\n"},
        "agent.yaml:5 mcp_servers.a.url: must be an address such as",
    ),
    (
        "url with a password",
        {"agent_yaml": AGENT + "mcp_servers:\n  a:\n    url: https://me:pw@x\n"},
        "agent.yaml:5 mcp_servers.a.url: must hold no name or password",
    ),
    (
        "server name",
        {"agent_yaml": AGENT + "mcp_servers:\n  a__b: {command: x}\n"},
        "agent.yaml:4 mcp_servers.a__b: a server's name is lower-case letters",
    ),
    (
        "reserved server name",
        {"agent_yaml": AGENT + "mcp_servers:\n  proviso: {command: x}\n"},
        "agent.yaml:4 mcp_servers.proviso: is the name of the service's own tools",
    ),
    (
        "time limit",
        {"agent_yaml": AGENT + "mcp_servers:\n  a:\n    command: x\n    timeout_s: 0\n"},
        "agent.yaml:6 mcp_servers.a.timeout_s: must be more than 0",
    ),
    (
        "time limit of a start",
        {"agent_yaml": AGENT + "mcp_servers:\n  a:\n    command: x\n    start_timeout_s: 3601\n"},
        "agent.yaml:6 mcp_servers.a.start_timeout_s: must be at most 3600",
    ),
    (
        "size of an answer",
        {"agent_yaml": AGENT + "mcp_servers:\n  a:\n    command: x\n    max_output_chars: 5\n"},
        "agent.yaml:6 mcp_servers.a.max_output_chars: must be at least 100",
    ),
    (
        "size that is no number",
        {"agent_yaml": AGENT + "mcp_servers:\n  a:\n    command: x\n    max_output_chars: many\n"},
        "agent.yaml:6 mcp_servers.a.max_output_chars: must be a whole number",
    ),
    (
        "folder of a program",
        {"agent_yaml": AGENT + "mcp_servers:\n  a:\n    command: x\n    cwd: ''\n"},
        "agent.yaml:6 mcp_servers.a.cwd: must not be empty",
    ),
    (
        "folder of no program",
        {"agent_yaml": AGENT + "mcp_servers:\n  a:\n    url: https://x.example\n    cwd: here\n"},
        "agent.yaml:6 mcp_servers.a.cwd: is not a field that is known here",
    ),
    (
        "url with a part",
        {"agent_yaml": AGENT + "mcp_servers:\n  a:\n    url: https://x.example/mcp#top\n"},
        "agent.yaml:5 mcp_servers.a.url: must be an address such as",
    ),
    (
        "approval of own tools",
        {"agent_yaml": AGENT + "proviso:\n  approval: ask\n"},
        "agent.yaml:4 proviso.approval: must be 'none' or 'required'",
    ),
    (
        "approval of an own tool",
        {"agent_yaml": AGENT + "proviso:\n  tools:\n    isaacus_iql: {approval: ask}\n"},
        "agent.yaml:5 proviso.tools.isaacus_iql.approval: must be 'none' or 'required'",
    ),
    (
        "variable",
        {"agent_yaml": AGENT + "mcp_servers:\n  a:\n    command: x\n    env: {T: '${T'}\n"},
        "agent.yaml:6 mcp_servers.a.env.T: holds ${ that is not followed by",
    ),
]


NAMES = [
    ("", "must not be empty"),
    ("Time", "a server's name is lower-case letters"),
    ("1time", "a server's name is lower-case letters"),
    ("a_", "a server's name is lower-case letters"),
    ("a.b", "a server's name is lower-case letters"),
    ("a\n", "a server's name is lower-case letters"),
    ("a" * 31, "must have at most 30 characters"),
]


@pytest.mark.parametrize(("name", "fault"), NAMES)
async def test_a_servers_name_that_could_be_taken_for_more_is_refused(tmp_path: Path, name: str, fault: str) -> None:
    write(tmp_path, agent_yaml=AGENT + f"mcp_servers:\n  {json.dumps(name)}: {{command: x}}\n")
    (told,) = await faults_of(tmp_path)
    assert told.startswith(f"agent.yaml:4 mcp_servers.{name.strip()}: {fault}")


@pytest.mark.parametrize(("files", "fault"), [case[1:] for case in FAULTS], ids=[case[0] for case in FAULTS])
async def test_a_fault_says_where_it_is(tmp_path: Path, files: dict[str, str], fault: str) -> None:
    told = await faults_of(write(tmp_path / "agent", **files))
    assert [one for one in told if one.startswith(fault)], told


async def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        agent_yaml="name: A\nextra: 1\nmcp_servers: {a: {command: 1}, b: {}}\n",
        rules__a_md="---\nname: [1]\nenabled: maybe\n---\nText\n",
        references__b_md="none",
    )
    assert [told.partition(": ")[0] for told in await faults_of(tmp_path)] == [
        "agent.yaml:1 description",
        "agent.yaml:2 extra",
        "agent.yaml:3 mcp_servers.a.command",
        "agent.yaml:3 mcp_servers.b",
        "references/b.md:1",
        "rules/a.md:2 name",
        "rules/a.md:2 description",
        "rules/a.md:3 enabled",
    ]


async def test_the_message_names_the_first_of_many_faults(tmp_path: Path) -> None:
    write(tmp_path, agent_yaml=AGENT + "".join(f"field{number}: x\n" for number in range(25)))
    with pytest.raises(CatalogInvalid) as caught:
        await load_agent(tmp_path, PlainReader(), {}, OWN_TOOLS)
    assert len(caught.value.faults) == 25
    assert "field19" in caught.value.message
    assert caught.value.message.endswith("; and 5 more")


async def test_a_missing_folder_or_file_is_told(tmp_path: Path) -> None:
    assert await faults_of(tmp_path / "absent") == [".: is not a folder, or is missing"]
    assert await faults_of(tmp_path) == ["agent.yaml: is missing"]


async def test_nothing_outside_the_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text(RULE)
    folder = write(tmp_path / "agent", rules__fine_md=OTHER_RULE)
    (folder / "rules/out.md").symlink_to(tmp_path / "secret.md")
    (folder / "rules/loop.md").symlink_to("loop.md")
    (folder / "references").symlink_to(tmp_path)
    assert await faults_of(folder) == [
        "references: lies outside the agent's folder",
        "rules/loop.md: cannot be read: its path leads nowhere",
        "rules/out.md: lies outside the agent's folder",
    ]


async def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    folder = write(tmp_path, rules__fine_md=OTHER_RULE)
    os.mkfifo(folder / "rules/pipe.md")
    (folder / "rules/folder.md").mkdir()
    assert await faults_of(folder) == ["rules/folder.md: is not a file", "rules/pipe.md: is not a file"]


async def test_a_file_that_is_not_utf_8_names_the_line(tmp_path: Path) -> None:
    folder = write(tmp_path, rules__fine_md=OTHER_RULE)
    (folder / "rules/latin.md").write_bytes("---\nname: Café\n".encode("latin-1"))
    assert await faults_of(folder) == ["rules/latin.md:2: is not UTF-8; save it with that encoding"]


@pytest.mark.parametrize(
    ("limits", "fault"),
    [
        (FolderLimits(max_agent_bytes=10), "agent.yaml: is larger than 10 bytes"),
        (FolderLimits(max_markdown_bytes=10), "rules/a.md: is larger than 10 bytes"),
        (FolderLimits(max_file_bytes=2), "references/c.txt: is larger than 2 bytes"),
        (FolderLimits(max_item_chars=9), "rules/a.md: holds more than 9 characters"),
        (FolderLimits(max_total_chars=20), ".: holds more than 20 characters of rules and references"),
        (FolderLimits(max_items=2), ".: holds more than 2 rules and references"),
        (FolderLimits(max_items=1), "rules: holds more than 1 files"),
        (FolderLimits(max_servers=1), "agent.yaml:5 mcp_servers: has more than 1 servers"),
        (FolderLimits(time_limit_s=0), ".: takes longer to read than 0 s"),
    ],
)
async def test_a_folder_has_limits(tmp_path: Path, limits: FolderLimits, fault: str) -> None:
    described = "reference_files:\n  c.txt: {name: C, description: D}\n"
    servers = "mcp_servers: {a: {command: x}, b: {command: y}}\n"
    files = {"agent_yaml": AGENT + described + servers, "references__c_txt": "abc"}
    write(tmp_path, rules__a_md=RULE, rules__b_md=OTHER_RULE, **files)
    with pytest.raises(CatalogInvalid) as caught:
        await load_agent(tmp_path, PlainReader(), {}, OWN_TOOLS, limits)
    assert fault in [str(told) for told in caught.value.faults]


class StoppedReader(PlainReader):
    async def text(self, filename: str, content: bytes) -> str:
        raise NotReady("Files cannot be read at the moment.")


async def test_a_reader_that_cannot_read_just_now_is_no_fault_of_the_folder(tmp_path: Path) -> None:
    described = "reference_files: {a.txt: {name: A, description: B}, b.txt: {name: C, description: D}}\n"
    write(tmp_path, agent_yaml=AGENT + described, references__a_txt="x", references__b_txt="y")
    with pytest.raises(NotReady):
        await load_agent(tmp_path, StoppedReader(), {}, OWN_TOOLS)
