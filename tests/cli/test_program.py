import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from proviso_service.settings import Settings
from tests.cli.scripted_server import Finished

Proviso = Callable[..., Finished]
COMMANDS = (
    "serve",
    "demo",
    "ingest",
    "chat",
    "history",
    "iql",
    "prepare",
    "reindex",
    "doctor",
    "backup",
    "restore",
    "agent",
)


def test_help_names_every_command(proviso: Proviso) -> None:
    shown = proviso("--help")
    assert shown.exit_code == 0
    assert all(f"  {name} " in shown.out for name in COMMANDS)


@pytest.mark.parametrize("of", [(), ("agent",)])
def test_what_a_command_does_is_said_whole_in_the_list(proviso: Proviso, of: tuple[str, ...]) -> None:
    _, _, listed = proviso(*of, "--help").out.partition("Commands:")
    assert listed
    assert "..." not in listed


def test_the_version_is_told(proviso: Proviso) -> None:
    shown = proviso("--version")
    assert (shown.exit_code, shown.out) == (0, f"proviso {version('proviso-service')}\n")


def test_an_empty_message_is_not_sent(proviso: Proviso) -> None:
    shown = proviso("chat", "--message", " ")
    assert (shown.exit_code, shown.out, shown.err) == (2, "", "proviso: --message is empty\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself(proviso: Proviso, command: str) -> None:
    shown = proviso(command, "--help")
    assert shown.exit_code == 0
    assert shown.out.startswith(f"Usage: proviso {command}")
    assert "\x1b" not in shown.out


def test_help_loads_no_heavy_library() -> None:
    code = (
        "import sys; from proviso_service.cli import program; "
        "print([m for m in ('grpc', 'pydantic', 'chromadb', 'onnxruntime', 'rich', 'sqlalchemy', 'langgraph') "
        "if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout.strip() == "[]"


def test_unknown_flag_is_a_usage_error(proviso: Proviso) -> None:
    assert proviso("serve", "--prot", "1").exit_code == 2


def one_line(ended: Finished) -> str:
    """The only line on stderr of a command that refuses its settings."""
    assert ended.exit_code == 2
    assert ended.out == ""
    line, _, rest = ended.err.partition("\n")
    assert rest == ""
    assert line.startswith("proviso: ")
    return line


def test_bad_flag_value_is_named(proviso: Proviso) -> None:
    line = one_line(proviso("serve", "--port", "70000"))
    assert "--port" in line
    assert "must be at most 65535, not '70000'" in line


def test_bad_variable_is_named(proviso: Proviso, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVISO_TURNS__TIME_LIMIT_S", "soon")
    line = one_line(proviso("serve"))
    assert "PROVISO_TURNS__TIME_LIMIT_S" in line
    assert "'soon'" in line


def test_unknown_variable_of_a_section_is_named(proviso: Proviso, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVISO_SERVER__PROT", "1")
    assert "PROVISO_SERVER__PROT is not a setting" in one_line(proviso("serve"))


@pytest.mark.parametrize("value", ["50051", "localhost"])
def test_variable_of_a_whole_group_is_explained(proviso: Proviso, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("PROVISO_SERVER", value)
    assert "as in PROVISO_SERVER__PORT=50051" in one_line(proviso("serve"))


def test_every_problem_is_on_the_line(proviso: Proviso, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVISO_TURNS__MAX_TURNS", "0")
    line = one_line(proviso("serve", "--port", "-1"))
    assert "PROVISO_TURNS__MAX_TURNS" in line
    assert "--port" in line


def test_unknown_key_of_the_file_is_named(proviso: Proviso) -> None:
    Path("proviso.toml").write_text("[server]\nprot = 1\n")
    assert "server.prot in proviso.toml is not a setting" in one_line(proviso("serve"))


def test_bad_value_of_the_file_is_named(proviso: Proviso) -> None:
    Path("proviso.toml").write_text('[telemetry]\nlog_level = "loud"\n')
    assert "telemetry.log_level in proviso.toml" in one_line(proviso("serve"))


def test_broken_file_is_named(proviso: Proviso) -> None:
    Path("proviso.toml").write_text("[server\n")
    assert "proviso.toml is not valid TOML" in one_line(proviso("serve"))


def test_missing_named_file_is_an_error(proviso: Proviso, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVISO_CONFIG", "absent.toml")
    assert "absent.toml" in one_line(proviso("serve"))


def test_secrets_are_not_shown(proviso: Proviso) -> None:
    Path("proviso.toml").write_text("google_api_key = 918273645\n")
    line = one_line(proviso("serve"))
    assert "google_api_key" in line.lower()
    assert "918273645" not in line


def test_flags_beat_variables_which_beat_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    from proviso_service.cli.configuration import load_settings

    Path("proviso.toml").write_text('llm = "file"\n[server]\nport = 1\nhost = "::1"\n')
    monkeypatch.setenv("PROVISO_SERVER__PORT", "2")
    settings = load_settings({("server", "port"): 3, ("llm",): None})
    assert (settings.server.port, settings.server.host, settings.llm) == (3, "::1", "file")
    assert load_settings().server.port == 2


def test_insecure_set_by_a_variable_stays_without_the_flag(proviso: Proviso, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVISO_SERVER__INSECURE", "perhaps")
    assert "PROVISO_SERVER__INSECURE" in one_line(proviso("serve"))


def test_service_that_cannot_start_is_one_line(proviso: Proviso, monkeypatch: pytest.MonkeyPatch) -> None:
    from proviso_service import server, wiring_resources

    async def refuse(settings: Settings, _workers: int) -> None:
        raise wiring_resources.StartupError(f"{settings.server.host} is reachable\nfrom other machines")

    monkeypatch.setattr(server, "serve", refuse)
    assert one_line(proviso("serve", "--host", "0.0.0.0")) == "proviso: 0.0.0.0 is reachable from other machines"  # noqa: S104


@pytest.mark.parametrize(
    "command",
    [
        ("chat",),
        ("chat", "--message", "Hello"),
        ("health",),
        ("history", "s-1"),
        ("ingest", "a.md", "--matter", "M"),
        ("iql", "{a}", "--matter", "M"),
    ],
)
def test_unreachable_server_is_one_line(proviso: Proviso, command: tuple[str, ...]) -> None:
    Path("a.md").write_text("# A\n")
    ended = proviso(*command, "--address", "127.0.0.1:1")
    assert ended.exit_code == 1
    assert ended.err.splitlines() == [
        "proviso: No Proviso server is reachable at 127.0.0.1:1; start one with: proviso serve"
    ]


@pytest.mark.parametrize("address", ["localhost", "localhost:", ":50051", "localhost:0", "localhost:x"])
def test_malformed_address_is_a_usage_error(proviso: Proviso, address: str) -> None:
    assert "host:port" in one_line(proviso("chat", "--message", "Hello", "--address", address))
