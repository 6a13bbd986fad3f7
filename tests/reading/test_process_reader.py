"""Reading in processes: limits, hostile parsers, and what is left of them."""

import asyncio
import gc
import os
import select
import signal
import socket
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from proviso_service.reading import html_tree, plain
from proviso_service.reading.formats import WORD, read_document
from proviso_service.reading.model import ReaderClosed, ReaderUnavailable, ReadingLimits, UnreadableFile
from proviso_service.reading.reader import DAMAGED, OUT_OF_MEMORY, OUT_OF_TIME, TOO_LARGE, ProcessReader
from proviso_service.reading.worker import confinement
from tests.support.docx_files import package
from tests.support.hostile_worker import MODULE
from tests.support.pdf_files import drawn, lines

LIMITS = ReadingLimits(max_text_chars=1_000_000, time_limit_s=30, memory_bytes=512 * 2**20)
QUICK = replace(LIMITS, time_limit_s=1.0)
SMALL = replace(LIMITS, memory_bytes=256 * 2**20)
PROCESSES = 2

# Processes of a test are found by this argument of theirs.
_idle_times = count(1_000 * os.getpid() + 100)


@asynccontextmanager
async def _reader(
    limits: ReadingLimits = LIMITS, processes: int = PROCESSES, module: str = MODULE
) -> AsyncIterator[ProcessReader]:
    """Afterwards nothing of it is left: no process, no descriptor."""
    descriptors = _descriptors()
    idle_s = float(next(_idle_times))
    reader = ProcessReader(limits, processes, module, idle_s)
    try:
        yield reader
    finally:
        await reader.close()
    # What a parser has started was killed too, but belongs to nobody who would wait for it.
    assert all([await _ends(process) for process in _processes_with(str(idle_s))])
    # Others may have gone meanwhile: those of event loops of earlier tests.
    assert not _descriptors() - descriptors


def _descriptors() -> Counter[str]:
    """What the open descriptors of this process lead to. Sockets only by their number, and no event counters: gRPC, in
    threads of its own, replaces those of earlier tests."""
    targets = (str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink())
    counted = (target for target in targets if target != "anon_inode:[eventfd]")
    return Counter("socket" if target.startswith("socket:") else target for target in counted)


def _processes_with(argument: str) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes().split(b"\0") if folder.name.isdecimal() else []
        except OSError:
            continue
        if argument.encode() in command:
            found.append(int(folder.name))
    return found


async def _reason(reader: ProcessReader, parser: str, content: bytes = b"text") -> str:
    with pytest.raises(UnreadableFile) as refused:
        await reader.read(parser, content)
    return refused.value.message


async def _told(reader: ProcessReader, variable: str = "NONE") -> list[str]:
    return (await reader.read("tell", variable.encode())).parsed.text.split()


class _Told:
    """A socket on which a sleeping parser tells its processes."""

    def __init__(self, folder: str) -> None:
        path = f"{folder}/told"
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(path)
        self._socket.listen()
        self._socket.setblocking(False)
        self.sleep = f"sleep {path}"
        """The parser that sleeps, and tells here that it does."""

    async def processes(self) -> list[int]:
        """The child and its supervisor."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(30):
            connection, _ = await loop.sock_accept(self._socket)
            with connection:
                return [int(number) for number in (await loop.sock_recv(connection, 100)).split()]

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def told() -> Iterator[_Told]:
    # A path of the system's choice: those of sockets have to be short.
    with TemporaryDirectory() as folder, closing(_Told(folder)) as told:
        yield told


async def _is_readable(descriptor: int) -> bool:
    ready, _, _ = await asyncio.to_thread(select.select, [descriptor], [], [], 30)
    return bool(ready)


async def _ends(process: int) -> bool:
    """Whether a process ends soon."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return await _is_readable(handle)
    finally:
        os.close(handle)


async def test_a_document_is_read_as_it_would_be_in_this_process() -> None:
    async with _reader(module="proviso_service.reading.worker") as reader:
        for media_type, content in [
            ("text/markdown", "# Lease\n\n1. **Rent.** \U0001f600 USD 5.\n\n## Term\n\nOne year.\n".encode()),
            ("text/plain", b"ARTICLE IV\n\nTERM\n\n4.2 Notice Period. A month (a) or (b) two.\n\fPage two.\n"),
            ("text/plain", "".join(f"{'Clause text. ' * 80}\n\n{n}\n\n" for n in range(1, 9)).encode()),
        ]:
            assert await reader.read(media_type, content) == read_document(media_type, content, LIMITS)


PAGES = [
    ("text/html", f'<html><meta charset="{encoding}"><h1>Lease</h1><p>\xe9\xa1. One.'.encode("latin-1"))
    for encoding in [*html_tree._LABELS, *html_tree._LABELS.values(), "iso-2022-jp", "koi8-r", "koi8-u", "ibm866"]
    + [f"{kind}125{number}" for kind in ("windows-", "cp", "x-cp") for number in range(9)]
    + [f"iso{joint}8859-{number}" for joint in ("", "-", "_") for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)]
]


WRITTEN_IN = (
    '<?xml version="1.0" encoding="NAME"?><w:document xmlns:w='
    '"http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Rent: 5.</w:t></w:r></w:p>'
    "</w:body></w:document>"
)


async def test_a_process_that_may_open_no_file_has_all_that_any_format_and_encoding_needs() -> None:
    texts = [("text/plain", bom + "ARTICLE I \u2014 TERM".encode(name)) for bom, name in plain._BYTE_ORDER_MARKS]
    pdf = drawn(lines("1. Term", "The term is one year."), lines("2. Rent", "USD 5."))
    words = [package("", document=WRITTEN_IN.replace("NAME", name)) for name in ("UTF-8", "windows-1252", "Shift_JIS")]
    files = [*PAGES, *texts, ("application/pdf", pdf), *((WORD.media_type, content) for content in words)]
    async with _reader(module="proviso_service.reading.worker") as reader:
        for media_type, content in files:
            assert await reader.read(media_type, content) == read_document(media_type, content, LIMITS), content[:60]


def test_a_process_starts_with_little() -> None:
    """The first document waits for the start, most of which are imports: 134 modules in 0.1 s."""
    program = "import proviso_service.reading.worker.__main__, sys; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert len(modules) < 200
    assert not {"asyncio", "grpc", "numpy", "pydantic", "structlog", "pypdfium2"} & set(modules)


async def test_a_refusal_arrives_with_its_reason() -> None:
    async with _reader(module="proviso_service.reading.worker") as reader:
        assert await _reason(reader, "text/markdown", b"%PDF-1.7") == (
            "The file is named .md but holds a PDF document. Rename it to .pdf and upload it again."
        )
        assert await _reason(reader, "text/plain", b" \n ") == "The file holds no text."
        assert "are not read" in await _reason(reader, "text/unknown", b"text")


@pytest.mark.parametrize(
    ("parser", "limits", "reason"),
    [
        ("sleep", QUICK, OUT_OF_TIME),
        ("spin", QUICK, OUT_OF_TIME),
        ("allocate", SMALL, OUT_OF_MEMORY),
        ("allocate-in-c", SMALL, OUT_OF_MEMORY),
        ("endless", LIMITS, TOO_LARGE),
        ("abort", LIMITS, DAMAGED),
        ("segfault", LIMITS, DAMAGED),
        ("recurse", LIMITS, DAMAGED),
        ("raise", LIMITS, DAMAGED),
        ("leave", LIMITS, DAMAGED),
        ("garbage", LIMITS, DAMAGED),
    ],
)
async def test_a_hostile_parser_fails_its_document_alone(parser: str, limits: ReadingLimits, reason: str) -> None:
    async with _reader(limits) as reader:
        refused, other = await asyncio.gather(_reason(reader, parser), reader.read("echo", b"other"))
        assert (refused, other.parsed.text) == (reason, "other")
        assert (await reader.read("echo", b"later")).parsed.text == "later"


async def test_what_a_library_prints_goes_nowhere(capfd: pytest.CaptureFixture[str]) -> None:
    async with _reader() as reader:
        assert (await reader.read("print", b"text")).parsed.text == "text"
    assert capfd.readouterr() == ("", "")


async def test_a_fault_is_logged_without_words_of_the_document(caplog: pytest.LogCaptureFixture) -> None:
    async with _reader() as reader:
        await _reason(reader, "raise", b"privileged")
    assert "ValueError at hostile_worker.py:" in caplog.text
    assert "privileged" not in caplog.text
    assert "secret" not in caplog.text


async def test_every_document_has_a_process_of_its_own_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "secret")
    async with _reader() as reader:
        told = await asyncio.gather(*(_told(reader, "GOOGLE_API_KEY") for _ in range(12)))
        children, supervisors = {one[0] for one in told}, {one[1] for one in told}
        assert len(children) == 12
        assert len(supervisors) <= PROCESSES
        assert {one[3] for one in told} == {"-"}
        # The standard three, the pipe to answer on, and the pipe it was given the file by.
        assert {one[2] for one in told} == {"5"}


async def test_a_parser_writes_no_files(tmp_path: Path) -> None:
    target = tmp_path / "file"
    async with _reader() as reader:
        assert await _reason(reader, "write-file", str(target).encode()) == DAMAGED
    # Where the system does not know how to forbid it, a file is made and stays empty.
    assert not target.exists() or (confinement.left_open() and not target.read_bytes())


@pytest.mark.skipif(confinement.left_open() != "", reason="the system cannot forbid all of it")
async def test_a_document_that_takes_over_its_parser_reaches_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("kept")
    (tmp_path / ".ssh").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        beyond = f"{kept}\n{server.getsockname()[1]}\n{os.getpid()}"
        async with _reader() as reader:
            told = (await reader.read("attempt", beyond.encode())).parsed.text
    outcomes = dict(line.split(": ") for line in told.splitlines())
    assert len(outcomes) == 19
    assert set(outcomes.values()) == {"PermissionError"}, outcomes
    assert kept.read_text() == "kept"


_LAYERS = {"restrict_files": confinement.landlock_version() > 0, "restrict_calls": confinement.can_restrict_calls()}


@pytest.mark.parametrize("layer", [layer for layer, is_there in _LAYERS.items() if is_there])
def test_each_layer_alone_closes_the_files(layer: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    script = f"""
        from pathlib import Path
        from proviso_service.reading.worker import confinement
        confinement._die_with_parent()
        confinement.{layer}()
        try:
            print(Path({str(secret)!r}).read_text())
        except PermissionError:
            print("refused")
    """
    shown = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert shown.stdout == "refused\n"


async def test_a_system_that_leaves_something_open_is_named_once_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(confinement, "landlock_version", lambda: 0)
    monkeypatch.setattr(confinement, "can_restrict_calls", lambda: False)
    async with _reader() as reader:
        for _ in range(2):
            await reader.read("echo", b"text")
    assert caplog.text.count("reader_not_confined") == 1
    assert "read files and open connections" in caplog.text


@pytest.mark.parametrize("parser", ["fork", "fork-and-answer"])
async def test_processes_that_a_parser_starts_end_with_it(parser: str) -> None:
    """Where the user may have no more processes, starting them fails at once."""
    async with _reader(QUICK) as reader:
        assert await _reason(reader, parser, b"") in (OUT_OF_TIME, DAMAGED)
        assert (await reader.read("echo", b"later")).parsed.text == "later"


async def test_others_are_read_and_the_loop_goes_on_while_a_parser_spins() -> None:
    async with _reader(replace(LIMITS, time_limit_s=3)) as reader:
        spinning = asyncio.create_task(_reason(reader, "spin"))
        loop = asyncio.get_running_loop()
        longest = 0.0
        for number in range(20):
            started = loop.time()
            await asyncio.sleep(0)
            longest = max(longest, loop.time() - started)
            assert (await reader.read("echo", str(number).encode())).parsed.text == str(number)
        assert not spinning.done()
        assert longest < 0.5
        assert await spinning == OUT_OF_TIME


async def test_memory_of_the_service_does_not_grow_with_what_parsers_write() -> None:
    async with _reader() as reader:
        await _reason(reader, "endless")
        before = _resident_bytes()
        for _ in range(3):
            await _reason(reader, "endless")
        assert _resident_bytes() - before < 32 * 1024 * 1024


def _resident_bytes() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def test_a_cancelled_read_ends_its_process_at_once(told: _Told) -> None:
    async with _reader() as reader:
        reading = asyncio.create_task(reader.read(told.sleep, b""))
        child, supervisor = await told.processes()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert await _ends(child)
        assert await _ends(supervisor)
        assert (await reader.read("echo", b"later")).parsed.text == "later"


async def test_a_document_that_two_supervisors_die_of_fails_alone(told: _Told) -> None:
    async with _reader() as reader:
        reading = asyncio.create_task(_reason(reader, told.sleep, b""))
        for _ in range(2):
            child, supervisor = await told.processes()
            os.kill(supervisor, signal.SIGKILL)
            assert await _ends(child)
        assert await reading == DAMAGED
        assert (await reader.read("echo", b"later")).parsed.text == "later"


async def test_a_supervisor_that_does_not_listen_is_killed_with_its_child(told: _Told) -> None:
    async with _reader() as reader:
        reading = asyncio.create_task(reader.read(told.sleep, b""))
        child, supervisor = await told.processes()
        os.kill(supervisor, signal.SIGSTOP)
        reading.cancel()
        assert await _ends(supervisor)
        assert await _ends(child)


async def test_closing_waits_for_processes_of_cancelled_reads(told: _Told) -> None:
    async with _reader() as reader:
        reading = asyncio.create_task(reader.read(told.sleep, b""))
        child, _ = await told.processes()
        reading.cancel()
        await reader.close()
        assert await _ends(child)
        with pytest.raises(ReaderClosed):
            await reader.read("echo", b"too late")


async def test_a_supervisor_that_died_between_documents_is_replaced() -> None:
    async with _reader(processes=1) as reader:
        first = int((await _told(reader))[1])
        os.kill(first, signal.SIGKILL)
        assert await _ends(first)
        assert int((await _told(reader))[1]) != first


async def test_a_supervisor_without_work_ends() -> None:
    reader = ProcessReader(LIMITS, PROCESSES, MODULE, idle_s=0.1)
    supervisor = int((await _told(reader))[1])
    assert await _ends(supervisor)
    assert int((await _told(reader))[1]) != supervisor
    await reader.close()


async def test_a_supervisor_is_out_of_reach_of_the_terminal() -> None:
    async with _reader() as reader:
        supervisor = int((await _told(reader))[1])
        assert os.getsid(supervisor) == supervisor != os.getsid(0)


async def test_a_supervisor_that_cannot_start_is_told_from_a_bad_file(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _reader() as reader:
        monkeypatch.setattr(sys, "executable", "/nonexistent/python")
        with pytest.raises(ReaderUnavailable):
            await reader.read("echo", b"text")


async def test_processes_end_when_the_service_is_killed(told: _Told) -> None:
    script = f"""
        import asyncio
        from proviso_service.reading.reader import ProcessReader
        from proviso_service.reading.model import ReadingLimits
        asyncio.run(ProcessReader(ReadingLimits(), 2, {MODULE!r}).read({told.sleep!r}, b""))
    """
    root = str(Path(__file__).parents[2])
    service = await asyncio.create_subprocess_exec(sys.executable, "-c", textwrap.dedent(script), cwd=root)
    try:
        child, supervisor = await told.processes()
    finally:
        service.kill()
        await service.wait()
    assert await _ends(supervisor)
    assert await _ends(child)
