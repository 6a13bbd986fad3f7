"""Settings that are wrong are told by where they stand, in words of ours and without secrets."""

from pathlib import Path

import pytest

from proviso_service.cli.configuration import load_settings
from proviso_service.cli.output import UsageProblem

GROUP = "is a group of settings; set one of them, as in PROVISO_SERVER__PORT=50051"
LIST = 'must be a list, as in ["first", "second"]'
ADDRESS = "must be an address such as https://api.isaacus.com/v1"

VARIABLES = [
    ("PROVISO_SERVER__PORT", "x", "must be a whole number, not 'x'"),
    ("PROVISO_SERVER__PORT", "-1", "must be at least 0, not '-1'"),
    ("PROVISO_SERVER__INSECURE", "perhaps", "must be true or false, not 'perhaps'"),
    ("PROVISO_TURNS__TIME_LIMIT_S", "soon", "must be a number, not 'soon'"),
    ("PROVISO_TURNS__TIME_LIMIT_S", "0", "must be more than 0, not '0'"),
    ("PROVISO_IQL__COMPARISON", "both", "must be 'contract' or 'vendor', not 'both'"),
    ("PROVISO_ISAACUS__EMBEDDER_MODEL", "", "must not be empty"),
    ("PROVISO_SERVER", "", GROUP),
    ("PROVISO_SERVER", "localhost", GROUP),
    ("proviso_server", "50051", GROUP),
    ("PROVISO_IMAGES__ALLOWED_HOSTS", "example.com", LIST),
    ("PROVISO_IMAGES__ALLOWED_HOSTS", '"example.com"', f"{LIST}, not 'example.com'"),
    ("PROVISO_IMAGES__ALLOWED_HOSTS", '["A b"]', "must be names of hosts in lower case, as in example.com"),
    ("OPENAI_BASE_URL", "nowhere", ADDRESS),
    ("OPENAI_BASE_URL", "http://[", ADDRESS),
    ("OPENAI_BASE_URL", "ftp://me:secret@x", ADDRESS),
    ("OPENAI_BASE_URL", "https://me:secret@x", "must hold no name or password"),
    ("OPENAI_BASE_URL", "https://:secret@x", "must hold no name or password"),
]


def problem() -> str:
    with pytest.raises(UsageProblem) as caught:
        load_settings()
    return str(caught.value)


@pytest.mark.parametrize(("name", "value", "words"), VARIABLES)
def test_a_variable_is_told_in_words(name: str, value: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert problem() == f"{name} {words}"


def test_the_lines_of_the_file_are_told_in_words() -> None:
    Path("proviso.toml").write_text('new = 1\n[images]\nallowed_hosts = "a"\n[server]\nhost = 3\nport = [1]\n')
    assert problem().split("; ") == [
        "server.host in proviso.toml must be text, not '3'",
        "server.port in proviso.toml must be a whole number",
        f"images.allowed_hosts in proviso.toml {LIST}, not 'a'",
        "new in proviso.toml is not a setting of Proviso",
    ]


def test_entries_of_a_list_are_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVISO_IMAGES__ALLOWED_HOSTS", '["A b", "C d"]')
    assert problem().count("PROVISO_IMAGES__ALLOWED_HOSTS") == 1


def test_every_variable_that_cannot_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVISO_SERVER", "localhost")
    monkeypatch.setenv("PROVISO_IMAGES__ALLOWED_HOSTS", "example.com")
    monkeypatch.setenv("PROVISO_LLM", "local")
    monkeypatch.setenv("PROVISO_PORT", "of a cluster")
    assert problem() == f"PROVISO_IMAGES__ALLOWED_HOSTS {LIST}; PROVISO_SERVER {GROUP}"
