"""A conversation on a terminal, seen from its other end."""

import os
import pty
import select
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.scripted_server import ScriptedServer

PATIENCE_S = 30.0


@contextmanager
def chatting(server: ScriptedServer, folder: Path) -> Iterator["Screen"]:
    """A conversation on a terminal, from its first prompt on. It is ended afterwards."""
    controller, terminal = pty.openpty()
    modes = termios.tcgetattr(terminal)
    command = [sys.executable, "-m", "proviso_service.cli", "chat", "--address", server.address]
    environment = {**os.environ, "TERM": "dumb", "INPUTRC": os.devnull}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=terminal, stdout=terminal, stderr=terminal
    ) as chat:
        try:
            screen = Screen(controller)
            screen.shows("\n> ")
            yield screen
            screen.types("exit\n")
            screen.shows("Go on later")
            assert chat.wait(PATIENCE_S) == 0
        finally:
            chat.kill()
    assert termios.tcgetattr(terminal) == modes
    os.close(terminal)
    os.close(controller)


class Screen:
    """The other end of a terminal."""

    def __init__(self, controller: int) -> None:
        self._controller = controller
        self._unread = ""

    def shows(self, awaited: str) -> str:
        """Waits until this is shown, behind what was awaited before. Returns what was shown in between."""
        while awaited not in self._unread:
            piece = self.read()
            assert piece, f"{awaited!r} is not shown: {self._unread[-1_000:]!r}"
            self._unread += piece.replace("\r", "")
        before, _, self._unread = self._unread.partition(awaited)
        return before

    def types(self, text: str) -> None:
        os.write(self._controller, text.encode())

    def read(self) -> str:
        """What is shown next; empty when the other end has gone, or shows nothing for a long time."""
        if not select.select([self._controller], [], [], PATIENCE_S)[0]:
            return ""
        try:
            return os.read(self._controller, 4_096).decode(errors="replace")
        except OSError:
            return ""
