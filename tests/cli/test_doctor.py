# ruff: noqa: ASYNC240 - small files of the tests, nobody else waits on this loop
import shutil
import socket
import sqlite3
from pathlib import Path

import pytest

from proviso_service.backends.folder_lock import FolderLock
from proviso_service.backends.sql.database import Database
from proviso_service.cli import doctor
from proviso_service.cli.doctor import Finding, Level, examine
from tests.support.matters_world import TENANT, matters_world
from tests.support.tei_server import tei_server
from tests.support.word_embedder import WordEmbedder

DATA = Path("data")
SUBJECTS = [
    "Settings",
    "Data folder",
    "State database",
    "Originals",
    "Back ends",
    "Embedding model",
    "Search index",
    "Chat model",
    "Reading documents",
    "Port",
]


@pytest.fixture(autouse=True)
def free_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVISO_SERVER__PORT", "0")


async def found(models_dir: Path) -> dict[str, Finding]:
    return {finding.subject: finding for finding in await examine(DATA, models_dir)}


async def used_folder() -> None:
    """A data folder as a server leaves it."""
    with FolderLock(DATA):
        database = Database(f"sqlite:///{DATA.resolve() / 'state.sqlite3'}")
        await database.migrate()
        await database.close()


async def test_new_folder_is_healthy_and_stays_untouched(models_dir: Path) -> None:
    findings = await found(models_dir)
    assert list(findings) == SUBJECTS
    assert {finding.level for finding in findings.values()} == {Level.OK}
    assert not DATA.exists()


async def test_used_folder_is_healthy_and_its_lock_is_given_back(models_dir: Path) -> None:
    await used_folder()
    findings = await found(models_dir)
    assert {finding.level for finding in findings.values()} == {Level.OK}
    assert "schema" in findings["State database"].message
    with FolderLock(DATA):
        pass


async def test_bad_settings_are_the_only_finding(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVISO_SERVER__PORT", "x")
    (finding,) = await examine(DATA, models_dir)
    assert finding.level is Level.FAIL
    assert "PROVISO_SERVER__PORT" in finding.message


async def test_unknown_variable_fails(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVISO_PORT", "50051")
    finding = (await found(models_dir))["Settings"]
    assert finding.level is Level.FAIL
    assert "PROVISO_PORT is not a setting of Proviso; did you mean PROVISO_SERVER__PORT?" in finding.message


async def test_file_in_place_of_the_folder_fails(models_dir: Path) -> None:
    DATA.write_text("")
    assert (await found(models_dir))["Data folder"].level is Level.FAIL


async def test_missing_model_fails_with_the_command_that_prepares_it(tmp_path: Path) -> None:
    finding = (await found(tmp_path / "none"))["Embedding model"]
    assert finding.level is Level.FAIL
    assert finding.remedy == f"Run: proviso prepare --models-dir {tmp_path / 'none'}"


async def test_which_back_end_serves_which_port_is_said(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await found(models_dir))["Back ends"].message == (
        "embedder embedded, classifier embedded, extractor embedded, reranker none"
    )
    monkeypatch.setenv("ISAACUS_API_KEY", "isk-1")
    monkeypatch.setenv("PROVISO_MODELS__CLASSIFIER", "embedded")
    finding = (await found(models_dir))["Back ends"]
    assert finding.level is Level.OK
    assert finding.message == "embedder embedded, classifier embedded, extractor isaacus, reranker isaacus"


async def test_a_hosted_back_end_without_a_key_fails(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVISO_MODELS__RERANKER", "isaacus")
    finding = (await found(models_dir))["Back ends"]
    assert finding.level is Level.FAIL
    assert "ISAACUS_API_KEY" in finding.message


@pytest.mark.parametrize(("url", "level"), [("http://models.example/v1", Level.WARN), ("http://[::1]:1/v1", Level.OK)])
async def test_texts_that_would_go_out_in_the_clear_are_a_warning(
    models_dir: Path, monkeypatch: pytest.MonkeyPatch, url: str, level: Level
) -> None:
    monkeypatch.setenv("ISAACUS_API_KEY", "isk-1")
    monkeypatch.setenv("ISAACUS_BASE_URL", url)
    assert (await found(models_dir))["Back ends"].level is level


async def test_what_model_servers_have_is_asked(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with tei_server() as embedding, tei_server("reranker") as reranking:
        monkeypatch.setenv("PROVISO_MODELS__EMBEDDER", embedding.address())
        monkeypatch.setenv("PROVISO_MODELS__RERANKER", reranking.address())
        finding = (await found(models_dir))["Back ends"]
        monkeypatch.setenv("PROVISO_MODELS__RERANKER", embedding.address())
        refused = await found(models_dir)
    assert finding.message == (
        "embedder tei/proviso/embedding/5c38ec7c405ec4b4/64, classifier embedded, extractor embedded, "
        "reranker tei/proviso/reranker/5c38ec7c405ec4b4/1"
    )
    assert refused["Back ends"].level is Level.FAIL
    assert refused["Back ends"].message == (
        f"PROVISO_MODELS__RERANKER: {embedding.base_url} cannot be used: "
        "Model server API error: proviso/embedding is not a reranker"
    )
    assert refused["Search index"].level is Level.OK


async def test_a_model_that_nothing_uses_need_not_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISAACUS_API_KEY", "isk-1")
    monkeypatch.setenv("GOOGLE_API_KEY", "key")
    monkeypatch.setenv("PROVISO_LLM", "google_genai:gemini-2.5-flash")
    assert (await found(tmp_path / "none"))["Embedding model"].level is Level.FAIL
    monkeypatch.setenv("PROVISO_MODELS__EMBEDDER", "isaacus")
    findings = await found(tmp_path / "none")
    assert findings["Embedding model"] == Finding(Level.OK, "Embedding model", "is not in use")


async def test_changed_model_fails(models_dir: Path, tmp_path: Path) -> None:
    shutil.copytree(models_dir / "minilm-int8", tmp_path / "models" / "minilm-int8")
    licence = tmp_path / "models" / "minilm-int8" / "LICENSE"
    licence.write_bytes(bytes(reversed(licence.read_bytes())))
    assert (await found(tmp_path / "models"))["Embedding model"].level is Level.FAIL


async def test_file_that_is_no_database_fails(models_dir: Path) -> None:
    await used_folder()
    for file in DATA.glob("state.sqlite3*"):
        file.unlink()
    (DATA / "state.sqlite3").write_text("not a database, and longer than a header of one " * 50)
    assert (await found(models_dir))["State database"].level is Level.FAIL


async def test_state_of_a_newer_version_fails(models_dir: Path) -> None:
    await used_folder()
    state = sqlite3.connect(DATA / "state.sqlite3")
    state.execute("UPDATE alembic_version SET version_num = '9999'")
    state.commit()
    state.close()
    finding = (await found(models_dir))["State database"]
    assert (finding.level, "9999" in finding.message) == (Level.FAIL, True)


async def test_originals_that_were_lost_are_named(models_dir: Path) -> None:
    DATA.mkdir()
    async with matters_world(DATA, WordEmbedder()) as world, world.running():
        matter = await world.matter()
        files = {f"{number}.md": f"Clause {number}." for number in range(4)}
        documents = await world.ingest(matter, files)
    assert (await found(models_dir))["Originals"].message == "4 uploaded files, checksums agree"
    ids = [documents[name].document_id for name in files]
    missing, short, changed = (DATA / "blobs" / TENANT / document_id for document_id in ids[:3])
    missing.unlink()
    short.write_bytes(b"Clause")
    changed.write_bytes(b"Clause 9.")
    finding = (await found(models_dir))["Originals"]
    assert (finding.level, finding.message.startswith("3 of 4 uploaded files are lost: ")) == (Level.FAIL, True)
    for document_id, problem in zip(ids[:3], ("missing", "cut short", "changed"), strict=True):
        assert f"{document_id} is {problem}" in finding.message


async def test_documents_that_are_not_packed_for_searching_are_told(models_dir: Path) -> None:
    DATA.mkdir()
    async with matters_world(DATA, WordEmbedder()) as world, world.running():
        await world.ingest(await world.matter(), {"a.md": "Clause 1.", "b.md": "Clause 2."})
    assert (await found(models_dir))["Search index"].message == "2 documents are packed for searching"
    state = sqlite3.connect(DATA / "state.sqlite3")
    state.execute("DELETE FROM packed_documents WHERE rowid = 1")
    state.commit()
    state.close()
    finding = (await found(models_dir))["Search index"]
    assert (finding.level, finding.message[:8]) == (Level.FAIL, "1 of 2 d")


async def test_passages_of_another_embedder_are_a_warning(models_dir: Path) -> None:
    DATA.mkdir()
    async with matters_world(DATA, WordEmbedder()) as world, world.running():
        await world.ingest(await world.matter(), {"a.md": "Clause 1."})
    findings = await found(models_dir)
    finding = findings["State database"]
    assert (finding.level, "1 passages were embedded by another model" in finding.message) == (Level.WARN, True)
    assert "proviso reembed" in finding.remedy
    assert "PROVISO_MODELS__EMBEDDER" in finding.remedy
    assert findings["Search index"].level is Level.OK


@pytest.mark.parametrize("llm", ["google_genai:gemini-2.5-flash", "nonsense"])
async def test_chat_model_without_key_or_sense_fails(
    models_dir: Path, monkeypatch: pytest.MonkeyPatch, llm: str
) -> None:
    monkeypatch.setenv("PROVISO_LLM", llm)
    assert (await found(models_dir))["Chat model"].level is Level.FAIL


async def test_taken_port_fails(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("PROVISO_SERVER__PORT", str(taken.getsockname()[1]))
        finding = (await found(models_dir))["Port"]
    assert finding.level is Level.FAIL


async def test_system_that_cannot_close_files_to_parsers_is_told(
    models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "left_open", lambda: "read files and open connections")
    finding = (await found(models_dir))["Reading documents"]
    assert finding.level is Level.WARN
    assert "could read files and open connections as this user can" in finding.message
