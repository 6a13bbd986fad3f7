"""What an agent's folder defines."""

from pathlib import Path

import pytest

from proviso_service.context.catalog.items import Approval, IncludeModeSource
from proviso_service.context.model import IncludeMode, ItemRef, ItemType
from proviso_service.mcp.model import HttpTransport, StdioTransport
from tests.support.catalogs import AGENT, RULE, faults_of, load, write

SECRETS = {"TIME_TOKEN": "sesame", "REGISTRY_TOKEN": "open-it"}
SERVERS = """
proviso:
  include: always
  tools:
    isaacus_iql: {include: agent, approval: required}
mcp_servers:
  time:
    command: uvx
    args: [mcp-server-time, --local-timezone, Europe/London]
    env: {TOKEN: "x-${TIME_TOKEN}"}
    include: agent
    approval: required
    timeout_s: 5
    start_timeout_s: 90
    max_output_chars: 20000
    cwd: servers
    tools:
      get_current_time: {include: always, approval: none}
  registry:
    url: https://tools.example.com/mcp
    headers:
      Authorization: Bearer ${REGISTRY_TOKEN}
  old:
    command: old
    enabled: false
    env: {TOKEN: "${NEVER_SET}"}
"""


SERVER = "command: uvx\n    args: [a]\n    env: {T: '${X}'}\n    cwd: d"


async def test_a_folder_may_hold_no_more_than_its_name_and_description(tmp_path: Path) -> None:
    agent = await load(write(tmp_path))
    assert (agent.name, agent.description, agent.items, agent.mcp_servers) == ("Leases", "Reads leases.", (), ())


async def test_rules_and_references_have_their_fields_at_the_top(tmp_path: Path) -> None:
    fields = (
        "---\nname: Caps\ndescription: >\n  Caps on\n  liability.\ninclude: agent\npriority: 7\nenabled: false\n---\n"
    )
    agent = await load(write(tmp_path, rules__quoting_md=RULE, references__caps_md=f"{fields}\n# Caps\n\n---\nText\n"))
    rule, reference = agent.items
    assert (rule.ref, rule.content) == (ItemRef(ItemType.RULE, "Quoting"), "Quote exactly.")
    assert (rule.include_mode, rule.include_mode_source) == (IncludeMode.ALWAYS, IncludeModeSource.DEFAULT)
    assert (rule.priority, rule.enabled) == (0, True)
    assert (reference.ref, reference.description) == (ItemRef(ItemType.REFERENCE, "Caps"), "Caps on liability.")
    assert reference.content == "# Caps\n\n---\nText"
    assert (reference.include_mode, reference.include_mode_source) == (IncludeMode.AGENT, IncludeModeSource.ITEM)
    assert (reference.priority, reference.enabled) == (7, False)


async def test_other_references_are_described_in_the_agents_file(tmp_path: Path) -> None:
    described = (
        "references: texts\nreference_files:\n  fees.txt: {name: Fees, description: What it costs., include: manual}\n"
    )
    agent = await load(write(tmp_path, agent_yaml=AGENT + described, texts__fees_txt="A fee."))
    (fees,) = agent.items
    assert (fees.ref.name, fees.content, fees.include_mode) == ("Fees", "A fee.", IncludeMode.MANUAL)


async def test_servers_are_typed_and_their_secrets_come_from_the_environment(tmp_path: Path) -> None:
    write(tmp_path, agent_yaml=AGENT + SERVERS)
    agent = await load(tmp_path, **SECRETS)
    time, registry, old = agent.mcp_servers
    program, address = time.config.transport, registry.config.transport
    assert isinstance(program, StdioTransport)
    assert (program.command, program.args[0], program.cwd) == ("uvx", "mcp-server-time", str(tmp_path / "servers"))
    limits = (time.config.timeout_s, time.config.start_timeout_s, time.config.max_output_chars)
    assert limits == (5.0, 90.0, 20_000)
    assert program.env["TOKEN"].get_secret_value() == "x-sesame"
    assert time.policy.include_mode("get_current_time").mode is IncludeMode.ALWAYS
    assert time.policy.include_mode("convert_time").mode is IncludeMode.AGENT
    assert time.policy.approval_of("get_current_time") is Approval.NONE
    assert time.policy.approval_of("convert_time") is Approval.REQUIRED
    assert isinstance(address, HttpTransport)
    assert address.headers["Authorization"].get_secret_value() == "Bearer open-it"
    assert (registry.config.timeout_s, registry.config.start_timeout_s) == (30.0, 30.0)
    assert not old.config.enabled
    assert agent.own_tools.include_mode("isaacus_iql").mode is IncludeMode.AGENT
    assert agent.own_tools.include_mode("isaacus_search").source is IncludeModeSource.SERVER
    assert agent.own_tools.approval_of("isaacus_iql") is Approval.REQUIRED
    assert agent.own_tools.approval_of("isaacus_search") is Approval.NONE


@pytest.mark.parametrize(
    ("now", "is_another"),
    [
        ("command: other\n    args: [a]\n    env: {T: '${X}'}\n    cwd: d", True),
        ("command: uvx\n    args: [b]\n    env: {T: '${X}'}\n    cwd: d", True),
        ("command: uvx\n    args: [a]\n    env: {T: '${Y}'}\n    cwd: d", True),
        ("command: uvx\n    args: [a]\n    env: {U: '${X}'}\n    cwd: d", True),
        ("command: uvx\n    args: [a]\n    env: {T: '${X}'}\n    cwd: e", True),
        ("url: http://a.example/mcp", True),
        ("url: http://a.example/mcp\n    headers: {T: '${X}'}", True),
        ("cwd: d\n    args: [a]\n    command: uvx\n    env: {T: '${X}'}", False),
        (f"{SERVER}\n    timeout_s: 7\n    include: manual\n    approval: required\n    tools: {{b: {{}}}}", False),
    ],
)
async def test_a_server_is_another_one_when_it_is_reached_in_another_way(
    tmp_path: Path, now: str, is_another: bool
) -> None:
    async def definition(fields: str, secret: str) -> str:
        folder = write(tmp_path, agent_yaml=f"{AGENT}mcp_servers:\n  one:\n    {fields}\n")
        (server,) = (await load(folder, X=secret, Y=secret)).mcp_servers
        return server.definition_sha256

    before = await definition(SERVER, "sesame")
    assert before == await definition(SERVER, "renewed"), "nothing of a secret may be told from what is stored"
    assert (await definition(now, "sesame") != before) is is_another


async def test_secrets_are_never_shown(tmp_path: Path) -> None:
    write(tmp_path, agent_yaml=AGENT + SERVERS)
    agent = await load(tmp_path, **SECRETS)
    assert "sesame" not in repr(agent)
    assert "open-it" not in repr(agent)
    only_one = {"TIME_TOKEN": "sesame"}
    (told,) = await faults_of(tmp_path, **only_one)
    assert told.startswith(
        "agent.yaml:24 mcp_servers.registry.headers.Authorization: names the variable REGISTRY_TOKEN"
    )
    assert "sesame" not in told


async def test_links_inside_the_folder_are_followed(tmp_path: Path) -> None:
    """As where a cluster mounts a folder from its configuration."""
    write(tmp_path, versions__quoting_md=RULE)
    (tmp_path / ".data").symlink_to("versions")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/quoting.md").symlink_to("../.data/quoting.md")
    assert [item.ref.name for item in (await load(tmp_path)).items] == ["Quoting"]


async def test_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/quoting.md").write_bytes(b"\xef\xbb\xbf" + RULE.replace("\n", "\r\n").encode())
    assert [item.content for item in (await load(tmp_path)).items] == ["Quote exactly."]


async def test_a_locked_item_is_always_included(tmp_path: Path) -> None:
    rule = "---\nname: House rules\ndescription: d\nlocked: true\n---\nText"
    tools = f"{AGENT}proviso:\n  include: agent\n  tools:\n    isaacus_iql: {{locked: true}}\n"
    agent = await load(write(tmp_path, agent_yaml=tools, rules__house_md=rule))
    (item,) = agent.items
    assert (item.locked, item.include_mode) == (True, IncludeMode.ALWAYS)
    assert (agent.own_tools.is_locked("isaacus_iql"), agent.own_tools.is_locked("isaacus_search")) == (True, False)
    assert agent.own_tools.include_mode("isaacus_iql").mode is IncludeMode.ALWAYS


async def test_a_locked_item_of_another_mode_is_a_fault(tmp_path: Path) -> None:
    rule = "---\nname: House rules\ndescription: d\ninclude: agent\nlocked: true\n---\nText"
    assert await faults_of(write(tmp_path, rules__house_md=rule)) == [
        "rules/house.md:5 locked: needs include: always, because a locked item is in every session"
    ]
