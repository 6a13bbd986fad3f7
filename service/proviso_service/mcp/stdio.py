"""A server that runs as a child process. Messages are lines of JSON: it reads requests from its standard input and
writes answers to its standard output."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import anyio
import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter

from proviso_service.concurrency import run_to_end, with_timeout
from proviso_service.mcp.model import McpServerConfig, StdioTransport

_log = structlog.get_logger(__name__)

_GRACE_S = 2.0
"""Seconds that a process gets to exit by itself after its input was closed, and again after SIGTERM."""

_EXIT_CODE_S = 0.5
"""Longest wait for the exit code of a process that has closed its output."""

_STDERR_BYTES = 2_000
_LONG_LINE = 64 * 1024

_Incoming = MemoryObjectSendStream[SessionMessage | Exception]
_Outgoing = MemoryObjectReceiveStream[SessionMessage]


@asynccontextmanager
async def stdio_streams(
    config: McpServerConfig, transport: StdioTransport, max_message_bytes: int, on_end: Callable[[str], None]
) -> AsyncIterator[TransportStreams]:
    """Starts the process, and at the end stops it together with all processes that it has started.

    `on_end` is called with the reason when the messages end before the context is left. Raises OSError or ValueError
    when the process cannot be started."""
    process = await asyncio.create_subprocess_exec(
        transport.command,
        *transport.args,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=get_default_environment() | {name: value.get_secret_value() for name, value in transport.env.items()},
        cwd=transport.cwd,
        start_new_session=True,  # a process group of its own, so that one signal ends all of it
        limit=max_message_bytes,
    )
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    if stdin is None or stdout is None or stderr is None:
        raise RuntimeError("the process has been started without pipes")
    pumps = [
        asyncio.create_task(_receive(process, stdout, incoming, on_end)),
        asyncio.create_task(_send(stdin, outgoing)),
        asyncio.create_task(_log_errors(config, process, stderr)),
    ]
    try:
        yield read, write
    finally:
        # From here on _receive drops what still arrives: a process that cannot write its output does not exit.
        read.close()
        write.close()
        stdin.close()
        await _end(process)
        # The pipes have closed with the process, unless a process that it has started keeps them open.
        _, unfinished = await asyncio.wait(pumps, timeout=_EXIT_CODE_S)
        for pump in unfinished:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)


async def _receive(
    process: Process, stdout: asyncio.StreamReader, incoming: _Incoming, on_end: Callable[[str], None]
) -> None:
    async with incoming:
        try:
            while line := await stdout.readline():
                await incoming.send(await _message(line))
            on_end(await _exit(process))
        except ValueError:
            on_end("sent a message that is too long")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the session has been closed
    while await stdout.read(_LONG_LINE):
        pass


async def _message(line: bytes) -> SessionMessage | Exception:
    """The message in a line. A line that is no message is returned as an exception, which the session ignores: some
    servers print a greeting on their output."""
    try:
        message = _read(line) if len(line) <= _LONG_LINE else await asyncio.to_thread(_read, line)
        return SessionMessage(message)
    except ValueError as error:
        return error


def _read(line: bytes) -> JSONRPCMessage:
    return jsonrpc_message_adapter.validate_json(line, by_name=False)


async def _send(stdin: asyncio.StreamWriter, outgoing: _Outgoing) -> None:
    async with outgoing:
        async for message in outgoing:
            stdin.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            with suppress(ConnectionError):  # _receive reports the end of the process
                await stdin.drain()


async def _log_errors(config: McpServerConfig, process: Process, stderr: asyncio.StreamReader) -> None:
    """Logs the last whole lines of the process's standard error, if it exits with a failure."""
    last = b""
    while part := await stderr.read(_LONG_LINE):
        last += part
        if len(last) > _STDERR_BYTES:
            last = last[-_STDERR_BYTES:].partition(b"\n")[2]  # half a line could hold half a secret
    await _exit(process)
    if process.returncode and last:
        text = config.masked(last.decode("utf-8", "replace"))
        _log.warning("mcp_server_stderr", server=config.name, exit_code=process.returncode, text=text)


async def _exit(process: Process) -> str:
    """How the process ended, in words that follow the server's name."""
    with suppress(TimeoutError):
        await with_timeout(_EXIT_CODE_S, process.wait())
    code = process.returncode
    if code is None:
        return "closed its output"
    return f"ended with exit code {code}" if code >= 0 else f"was ended by signal {-code}"


async def _end(process: Process) -> None:
    """Stops the process and all that it has started, in the order that the protocol prescribes: its input is closed
    already, then comes SIGTERM, then SIGKILL, which comes also where the wait is cancelled. A process that was killed
    is waited for in any case: it ends at once."""
    try:
        if not await _ended(process):
            _signal(process, signal.SIGTERM)
            await _ended(process)
    finally:
        _signal(process, signal.SIGKILL)
        if not await run_to_end(_ended(process)):
            _log.error("mcp_process_left", pid=process.pid)


async def _ended(process: Process) -> bool:
    try:
        await with_timeout(_GRACE_S, process.wait())
    except TimeoutError:
        return False
    return True


def _signal(process: Process, number: signal.Signals) -> None:
    """Sends a signal to the whole process group, which is gone when all of its processes have ended."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
