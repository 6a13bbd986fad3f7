"""Settings that are wrong are told by where they stand, in words of ours and without secrets."""

from pathlib import Path

import pytest

from proviso_service.cli.configuration import load_settings
from proviso_service.cli.output import UsageProblem

GROUP = "is a group of settings; set one of them, as in PROVISO_SERVER__PORT=50051"
LIST = 'must be a list, as in ["first", "second"]'
ADDRESS = "must be an address such as https://api.isaacus.com/v1"
SERVER = "or an address as in https://:KEY@gpu.example.com:8080"

VARIABLES = [
    ("PROVISO_SERVER__PORT", "x", "must be a whole number, not 'x'"),
    ("PROVISO_SERVER__PORT", "-1", "must be at least 0, not '-1'"),
    ("PROVISO_SERVER__INSECURE", "perhaps", "must be true or false, not 'perhaps'"),
    ("PROVISO_TURNS__TIME_LIMIT_S", "soon", "must be a number, not 'soon'"),
    ("PROVISO_TURNS__TIME_LIMIT_S", "0", "must be more than 0, not '0'"),
    ("PROVISO_IQL__COMPARISON", "both", "must be 'contract' or 'vendor', not 'both'"),
    ("PROVISO_SERVER", "", GROUP),
    ("PROVISO_SERVER", "localhost", GROUP),
    ("proviso_server", "50051", GROUP),
    ("PROVISO_IMAGES__ALLOWED_HOSTS", "example.com", LIST),
    ("PROVISO_IMAGES__ALLOWED_HOSTS", '"example.com"', f"{LIST}, not 'example.com'"),
    (
        "PROVISO_IMAGES__ALLOWED_HOSTS",
        '["A b"]',
        "must be hosts in lower case, as in example.com, example.com:8443 or http://10.0.0.7:9000",
    ),
    ("PROVISO_MODELS__EMBEDDER", "isacus", f"must be embedded, isaacus, {SERVER}#MODEL"),
    ("PROVISO_MODELS__EMBEDDER", "https://secret@x", f"must be embedded, isaacus, {SERVER}#MODEL"),
    ("PROVISO_MODELS__CLASSIFIER", "https://:\u00e9@x", f"must be auto, embedded, isaacus, {SERVER}"),
    ("PROVISO_MODELS__RERANKER", "https://:secret@x#model", f"must be auto, none, embedded, isaacus, {SERVER}"),
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


def test_an_unknown_line_of_the_file_is_told_with_the_nearest_one() -> None:
    Path("proviso.toml").write_text("[turns]\ntime_limti_s = 1\n")
    expected = "turns.time_limti_s in proviso.toml is not a setting of Proviso"
    assert problem() == f"{expected}; did you mean turns.time_limit_s?"


def test_entries_of_a_list_are_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVISO_IMAGES__ALLOWED_HOSTS", '["A b", "C d"]')
    assert problem().count("PROVISO_IMAGES__ALLOWED_HOSTS") == 1


def test_every_variable_that_cannot_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVISO_SERVER", "localhost")
    monkeypatch.setenv("PROVISO_IMAGES__ALLOWED_HOSTS", "example.com")
    monkeypatch.setenv("PROVISO_LLM", "local")
    monkeypatch.setenv("PROVISO_LLMS", "local")
    unknown = "PROVISO_LLMS is not a setting of Proviso; did you mean PROVISO_LLM?"
    assert problem() == f"PROVISO_IMAGES__ALLOWED_HOSTS {LIST}; PROVISO_SERVER {GROUP}; {unknown}"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("PROVISO_MODEL_DIR", "PROVISO_MODELS_DIR"),
        ("PROVISO_PORT", "PROVISO_SERVER__PORT"),
        ("PROVISO_TURNS_TIME_LIMIT_S", "PROVISO_TURNS__TIME_LIMIT_S"),
        ("PROVISO_TURNS__TIME_LIMTI_S", "PROVISO_TURNS__TIME_LIMIT_S"),
        ("PROVISO_CHAT_MODEL__PAUSE_S", "PROVISO_CHAT_MODEL__SILENCE_S"),
        ("PROVISO_ISAACUS_API_KEY", "ISAACUS_API_KEY"),
    ],
)
def test_an_unknown_variable_is_refused_with_the_nearest_one(
    name: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "1")
    assert problem() == f"{name} is not a setting of Proviso; did you mean {meant}?"


def test_an_unknown_variable_like_no_other_is_refused_with_the_page_that_lists_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PROVISO_FOO", "1")
    assert problem() == "PROVISO_FOO is not a setting of Proviso; docs/settings.md lists them all"


def test_variables_of_a_cluster_and_of_other_programs_are_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {
        "PROVISO_PORT": "tcp://10.0.0.1:50051",
        "PROVISO_PORT_50051_TCP_ADDR": "10.0.0.1",
        "PROVISO_SERVICE_HOST": "10.0.0.1",
        "PROVISO_SERVICE_PORT_GRPC": "50051",
        "PROVISO_GATEWAY_PORT": "tcp://10.0.0.2:8080",
        "PROVISO_GATEWAY_SERVICE": "localhost:50051",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    Path("empty.toml").write_text("")
    monkeypatch.setenv("PROVISO_CONFIG", "empty.toml")
    load_settings()
