"""`proviso doctor`: checks whether the service could start here. No check changes what it looks at."""

import asyncio
import os
import socket
import sqlite3
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

import grpc.aio
from alembic.script import ScriptDirectory
from rich.text import Text
from sqlalchemy import Connection, func, inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from proviso_service.backends.folder_lock import LOCK_FILE, DataFolderError, FolderInUse, FolderLock
from proviso_service.backends.llm.factory import ChatModelUnavailable, build_chat_model
from proviso_service.backends.sql import migrations
from proviso_service.backends.sql.chunks import embedded_by
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.integrity import check_sound
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.tables import document_vectors, documents, packed_documents
from proviso_service.cli.configuration import load_settings
from proviso_service.cli.connection import is_serving
from proviso_service.cli.output import UsageProblem, console, print_json
from proviso_service.cli.server_options import Server
from proviso_service.cli.state import has_state
from proviso_service.embedded import LANGUAGES_FOLDER, ModelNotPrepared, has_languages, verify_prepared
from proviso_service.errors import ProvisoError, Unavailable, UnusableKeys
from proviso_service.matters import DocumentStatus, check_originals
from proviso_service.reading import left_open
from proviso_service.settings import Settings
from proviso_service.wiring_models import (
    BackEnd,
    BackEndUnavailable,
    VectorModel,
    back_ends,
    models_on_servers,
    server_addresses,
    vector_model,
)
from proviso_service.wiring_storage import blob_store, plain_blobs, state_of

MAX_ORIGINALS_NAMED = 5


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check has found. `remedy` says how to mend what is not ok."""

    level: Level
    subject: str
    message: str
    remedy: str = ""


def check_and_report(data_dir: Path | None, models_dir: Path | None, *, as_json: bool) -> int:
    """Makes every check, and shows what was found. Returns the exit code."""
    findings = asyncio.run(examine(data_dir, models_dir))
    healthy = all(finding.level is not Level.FAIL for finding in findings)
    if as_json:
        print_json({"healthy": healthy, "checks": [asdict(finding) for finding in findings]})
    else:
        _print(findings)
    return 0 if healthy else 1


def _print(findings: list[Finding]) -> None:
    styles = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "bold red"}
    out = console()
    for finding in findings:
        line = Text(f"{finding.level:<4}", style=styles[finding.level])
        out.print(line.append(f"  {finding.subject}: {finding.message}", style="default"))
        if finding.remedy:
            out.print(f"      {finding.remedy}", style="dim")


async def examine(data_dir: Path | None = None, models_dir: Path | None = None) -> list[Finding]:
    """Makes every check, in the order in which the service would meet what is checked when it starts."""
    try:
        settings = load_settings({("data_dir",): data_dir, ("models_dir",): models_dir})
    except UsageProblem as error:
        return [Finding(Level.FAIL, "Settings", error.message, "Mend it and run the doctor again.")]
    with ExitStack() as held:
        folder, in_use = _data_folder(settings.data_dir, held)
        served, model = await _back_ends(settings)
        state = await _state(settings, model)
        store = await _store_of_originals(settings)
        originals = await _originals(settings, usable=state.level is not Level.FAIL)
        index = await _search_index(settings, model, usable=state.level is not Level.FAIL)
    port = await _port(settings, in_use=in_use)
    models = [served, _embedding_model(settings), index, _chat_model(settings)]
    return [Finding(Level.OK, "Settings", "can be read"), folder, state, *store, originals, *models, _reading(), port]


def _data_folder(folder: Path, held: ExitStack) -> tuple[Finding, bool]:
    """Checks the data folder, and owns it until `held` is closed. Also returns whether a server owns it instead."""
    if not (folder / LOCK_FILE).exists():
        return _new_folder(folder), False
    try:
        held.enter_context(FolderLock(folder))
    except FolderInUse as error:
        owner = f"process {error.pid}" if error.pid else "another process"
        return Finding(Level.OK, "Data folder", f"{folder} is in use by a running server, {owner}"), True
    except DataFolderError as error:
        remedy = "Make it writable, or choose another with --data-dir or PROVISO_DATA_DIR."
        return Finding(Level.FAIL, "Data folder", str(error), remedy), False
    return Finding(Level.OK, "Data folder", f"{folder} can be written, and no server uses it"), False


def _new_folder(folder: Path) -> Finding:
    """Checks a folder that no server has used yet."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        remedy = "Make it writable, or choose another with --data-dir or PROVISO_DATA_DIR."
        return Finding(Level.FAIL, "Data folder", f"{folder} cannot be made: {existing} is not writable", remedy)
    return Finding(Level.OK, "Data folder", f"{folder} is new; the first start fills it")


async def _state(settings: Settings, model: VectorModel | None) -> Finding:
    """Checks the database."""
    name = "State database"
    try:
        state = state_of(settings)
        if state and state.is_file():
            await asyncio.to_thread(check_sound, state)
        revision, chunk_count, other_count = await _read_state(settings, model) if has_state(settings) else ("", 0, 0)
    except (SQLAlchemyError, sqlite3.Error, ProvisoError, ValueError, OSError) as error:
        remedy = "Check PROVISO_STORAGE__STATE_URL, or restore the state from a backup: proviso restore."
        return Finding(Level.FAIL, name, f"cannot be used: {_first_line(error)}", remedy)
    if not revision:
        return Finding(Level.OK, name, "is new; the first start makes it")
    scripts = ScriptDirectory(str(Path(migrations.__file__).parent))
    if revision not in {script.revision for script in scripts.walk_revisions()}:
        remedy = "Start the version of Proviso that wrote it, or a later one."
        return Finding(Level.FAIL, name, f"has the unknown schema {revision}", remedy)
    if revision != scripts.get_current_head():
        return Finding(Level.WARN, name, f"has the older schema {revision}", "The next start migrates it.")
    if other_count:
        message = f"{other_count} passages were embedded by another model, and are found by their words only"
        remedy = "Run beside the service: proviso reembed. Or set PROVISO_MODELS__EMBEDDER back."
        return Finding(Level.WARN, name, message, remedy)
    return Finding(Level.OK, name, f"schema {revision}, {chunk_count} passages")


async def _read_state(settings: Settings, model: VectorModel | None) -> tuple[str, int, int]:
    """Returns the schema, the number of passages that the embedder in use has embedded (all where it is not known), and
    that of all others."""
    count = select(func.coalesce(func.sum(documents.c.chunk_count), 0)).where(
        documents.c.status == DocumentStatus.READY
    )
    own = count.select_from(documents.join(document_vectors, embedded_by(model.model_id))) if model else count

    def read(connection: Connection) -> tuple[str, int, int]:
        if not inspect(connection).has_table("alembic_version"):
            return "", 0, 0
        revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
        own_count = connection.execute(own).scalar_one()
        return str(revision), own_count, connection.execute(count).scalar_one() - own_count

    database = Database(settings.resolved_state_url)
    try:
        return await database.read(read)
    finally:
        await database.close()


async def _store_of_originals(settings: Settings) -> list[Finding]:
    """Checks an S3 store of uploaded files, where there is one."""
    name, url = "Store of uploaded files", settings.storage.blob_url
    if not url.startswith("s3://"):
        return []
    try:
        await plain_blobs(settings).open()
    except Unavailable as error:
        remedy = "Check PROVISO_STORAGE__BLOB_URL, and the variables of AWS: endpoint, region and credentials."
        return [Finding(Level.FAIL, name, error.message, remedy)]
    return [Finding(Level.OK, name, f"{url} answers")]


async def _originals(settings: Settings, *, usable: bool) -> Finding:
    """Reads every uploaded file, and compares it with the hash that it had as it was uploaded."""
    name = "Originals"
    if not usable or not has_state(settings):
        return Finding(Level.OK, name, "are not known without a state" if not usable else "there are none yet")
    database = Database(settings.resolved_state_url)
    try:
        blobs = await asyncio.to_thread(blob_store, settings)
        found = await check_originals(SqlMatterStore(database), blobs)
    except UnusableKeys as error:
        return Finding(Level.FAIL, name, f"cannot be read: {error.details}", "Set PROVISO_STORAGE__SEAL_KEYS.")
    except (SQLAlchemyError, ProvisoError) as error:
        return Finding(Level.WARN, name, f"could not be read: {_first_line(error)}", "Run the doctor again.")
    finally:
        await database.close()
    gone = f"; the keys of {found.without_key} more were destroyed" if found.without_key else ""
    if not found.damaged:
        return Finding(Level.OK, name, f"{found.checked - found.without_key} uploaded files, checksums agree{gone}")
    first = ", ".join(f"{damage.document_id} is {damage.problem}" for damage in found.first[:MAX_ORIGINALS_NAMED])
    more = ", ..." if found.damaged > MAX_ORIGINALS_NAMED else ""
    remedy = "Delete these documents and upload them again, or restore a backup."
    message = f"{found.damaged} of {found.checked} uploaded files are lost: {first}{more}{gone}"
    return Finding(Level.FAIL, name, message, remedy)


async def _back_ends(settings: Settings) -> tuple[Finding, VectorModel | None]:
    """Checks which back ends are in use, and what model servers have. Isaacus is asked nothing, because a call would
    cost something. Also returns the model of vectors, where that is known."""
    name = "Back ends"
    try:
        chosen = back_ends(settings)
        on_servers = await models_on_servers(settings)
        model = await vector_model(settings)
    except BackEndUnavailable as error:
        return Finding(Level.FAIL, name, str(error), "Or choose another back end for it."), None
    served = ", ".join(f"{port} {on_servers.get(port, back_end)}" for port, back_end in chosen.by_port.items())
    addresses = {variable: address.url for variable, address in server_addresses(settings).items()}
    if BackEnd.ISAACUS in chosen.by_port.values():
        addresses["ISAACUS_BASE_URL"] = settings.isaacus_base_url
    for variable, address in addresses.items():
        parts = urlsplit(address)
        if parts.scheme == "http" and not _is_loopback(parts.hostname):
            whom = "Isaacus" if variable == "ISAACUS_BASE_URL" else "the model server"
            remedy = f"Set {variable} to an address that begins with https."
            return Finding(Level.WARN, name, f"{served}; key and texts go to {whom} unencrypted", remedy), model
    return Finding(Level.OK, name, served), model


def _served_by(settings: Settings) -> set[BackEnd]:
    """Returns the back ends in use, or all that there are when the settings do not say."""
    try:
        return set(back_ends(settings).by_port.values())
    except BackEndUnavailable:
        return set(BackEnd)


def _is_loopback(host: str | None) -> bool:
    return host in ("localhost", "127.0.0.1", "::1")


def _embedding_model(settings: Settings) -> Finding:
    models_dir = settings.resolved_models_dir
    if BackEnd.EMBEDDED not in _served_by(settings) and settings.llm != "local":
        return Finding(Level.OK, "Embedding model", "is not in use")
    try:
        folder = verify_prepared(models_dir)
        others = verify_prepared(models_dir, LANGUAGES_FOLDER) if has_languages(models_dir) else None
    except ModelNotPrepared as error:
        remedy = f"Run: proviso prepare --models-dir {models_dir}"
        return Finding(Level.FAIL, "Embedding model", str(error).partition(";")[0], remedy)
    also = f" and {others}" if others else " for English"
    return Finding(Level.OK, "Embedding model", f"{folder}{also}, checksums agree")


async def _search_index(settings: Settings, model: VectorModel | None, *, usable: bool) -> Finding:
    """Checks that every READY document has a vector for each passage, and words."""
    name = "Search index"
    if not usable or not has_state(settings):
        return Finding(Level.OK, name, "is not known without a state" if not usable else "is new")
    if model is None:
        return Finding(Level.OK, name, "is not known without the embedder")
    size = model.dimensions * 4
    vectors = document_vectors.c.vectors
    is_whole = vectors.is_(None) | (func.length(vectors) == documents.c.chunk_count * size)
    packed = documents.join(packed_documents).outerjoin(document_vectors, embedded_by(model.model_id))
    whole = select(func.count()).select_from(packed).where(is_whole)
    ready = select(func.count()).where(documents.c.status == DocumentStatus.READY)
    database = Database(settings.resolved_state_url)
    try:
        found, wanted = await database.read(lambda c: (c.execute(whole).scalar_one(), c.execute(ready).scalar_one()))
    except (SQLAlchemyError, ProvisoError) as error:
        return Finding(
            Level.WARN, name, f"could not be read: {_first_line(error)}", "Start the service, and run the doctor again."
        )
    finally:
        await database.close()
    if found != wanted:
        remedy = "Upload the documents again, or restore the state from a backup: proviso restore."
        return Finding(Level.FAIL, name, f"{wanted - found} of {wanted} documents are not packed for searching", remedy)
    return Finding(Level.OK, name, f"{wanted} documents are packed for searching")


def _chat_model(settings: Settings) -> Finding:
    if settings.llm == "local":
        return Finding(Level.OK, "Chat model", "local, needs no key")
    try:
        build_chat_model(settings)
    except ChatModelUnavailable as error:
        return Finding(Level.FAIL, "Chat model", str(error), "Or set PROVISO_LLM=local.")
    return Finding(Level.OK, "Chat model", f"{settings.llm}, key is set")


def _reading() -> Finding:
    """Checks what the system takes from the processes that read documents."""
    name = "Reading documents"
    if still := left_open():
        message = f"a document that takes over its parser could {still} as this user can"
        return Finding(Level.WARN, name, message, "Run Proviso on Linux, on x86-64 or 64-bit ARM.")
    return Finding(Level.OK, name, "in processes that can open no file, no connection and no other process")


async def _port(settings: Settings, *, in_use: bool) -> Finding:
    host, port = settings.server.host, settings.server.port
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    problem = _cannot_bind(host, port)
    if not problem:
        return Finding(Level.OK, "Port", f"{address} is free")
    # Over TLS the server would have to be asked by the name in its certificate.
    if in_use and (settings.server.tls_cert is not None or await _is_proviso(address)):
        return Finding(Level.OK, "Port", f"the running server answers at {address}")
    return Finding(
        Level.FAIL, "Port", f"{address} cannot be used: {problem}", "Choose another with PROVISO_SERVER__PORT."
    )


def _cannot_bind(host: str, port: int) -> str:
    """Returns why a port cannot be used, or nothing when it is free."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        return error.strerror or str(error)
    return ""


async def _is_proviso(address: str) -> bool:
    try:
        return await is_serving(Server(address))
    except grpc.aio.AioRpcError:
        return False


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
