"""`proviso chat`, as a process, when the server accepts a message and then goes silent."""

import subprocess
import sys
from pathlib import Path

from proviso_service.cli.connection import RETRIES, SILENCE_S
from tests.cli.scripted_server import ScriptedServer, final, start, turn

HEARTBEAT_S = 15.0
"""How often the service sends something when there is nothing to say."""
LONGEST_CHAT_S = 60.0

# The times that make up the limit of 60 s are constants, no settings: the process shortens them before it begins.
SHORTENED = """
from proviso_client import RetryPolicy
from proviso_service.cli import connection, main

connection.SILENCE_S = 1.0
connection.RETRIES = RetryPolicy(give_up_after_s=0.5)
main()
"""


def test_chat_with_a_server_that_goes_silent_ends_with_a_sentence(server: ScriptedServer, tmp_path: Path) -> None:
    server.chat.events = turn(start(), final("Never."))
    server.chat.silent = True
    chat = subprocess.run(
        [sys.executable, "-c", SHORTENED, "chat", "--address", server.address, "--message", "Which law?"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (chat.returncode, chat.stdout) == (1, "")
    assert chat.stderr == (
        f"proviso: The server at {server.address} has gone silent. Nothing has come for 1 s, not even a heartbeat\n"
    )
    assert server.chat.resumes == [1], "the stream is opened once more before it is given up"


def test_the_limits_end_a_silent_chat_in_time_and_outlast_a_late_heartbeat() -> None:
    assert SILENCE_S > HEARTBEAT_S
    assert RETRIES.give_up_after_s < SILENCE_S, "a second silence is the last"
    assert SILENCE_S + RETRIES.longest_wait_s + SILENCE_S < LONGEST_CHAT_S
