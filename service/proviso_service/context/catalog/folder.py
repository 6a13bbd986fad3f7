"""Reads the files of an agent's folder, and none outside it."""

import os
import stat
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from proviso_service.errors import FileFault


@dataclass(frozen=True, slots=True)
class FolderLimits:
    """How large an agent's folder may be. Characters are code points of an item's content."""

    max_agent_bytes: int = 256 * 1024
    max_markdown_bytes: int = 1024 * 1024
    max_file_bytes: int = 10 * 1024 * 1024
    max_items: int = 1_000
    max_servers: int = 32
    max_item_chars: int = 200_000
    max_total_chars: int = 5_000_000
    time_limit_s: float = 60.0


AGENT_FILE = "agent.yaml"

_OUTSIDE = "lies outside the agent's folder"


class Unreadable(Exception):
    """A file or folder cannot be read. The message says why, in words that follow the file's name."""


class AgentFolder:
    """Reads files below `root`. Symbolic links are followed only inside this folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def names(self, folder: str, most: int) -> tuple[str, ...]:
        """The sorted names of what is in a folder, without hidden files. Raises Unreadable, also where there are more
        than `most`."""
        path = self._inside(folder)
        try:
            with os.scandir(path) as entries:
                found = (entry.name for entry in entries if not entry.name.startswith("."))
                listed = list(islice(found, most + 1))
        except NotADirectoryError:
            raise Unreadable("is not a folder") from None
        except OSError as error:
            raise Unreadable(f"cannot be read: {error.strerror}") from error
        if len(listed) > most:
            raise Unreadable(f"holds more than {most:,} files")
        return tuple(sorted(listed))

    def has_folder(self, path: str) -> bool:
        """Whether there is a folder of this name, even if it is a link to somewhere else."""
        return (self._root / path).is_dir()

    def read(self, file: str, max_bytes: int) -> bytes:
        """The bytes of a regular file. Raises Unreadable, also for a file of more than `max_bytes`."""
        path = self._inside(file)
        try:
            with _opened(path) as opened:
                content = opened.read(max_bytes + 1)
        except OSError as error:
            raise Unreadable(f"cannot be read: {error.strerror}") from error
        if len(content) > max_bytes:
            raise Unreadable(f"is larger than {max_bytes:,} bytes")
        return content

    def _inside(self, relative: str) -> Path:
        """The path with every link followed. Raises Unreadable where it leads out of the folder."""
        try:
            root = self._root.resolve(strict=True)
            path = (root / relative).resolve(strict=True)
        except FileNotFoundError:
            raise Unreadable("is missing") from None
        except (OSError, RuntimeError, ValueError) as error:
            raise Unreadable("cannot be read: its path leads nowhere") from error
        if not path.is_relative_to(root):
            raise Unreadable(_OUTSIDE)
        return path


def _opened(path: Path) -> BinaryIO:
    """Opens a regular file. A named pipe is refused without waiting for its other end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Unreadable("is not a file")
    return os.fdopen(descriptor, "rb")


class NotText(Exception):
    """A file cannot be read or is not text; `fault` says why."""

    def __init__(self, fault: FileFault) -> None:
        super().__init__(str(fault))
        self.fault = fault


def read_bytes(folder: AgentFolder, file: str, max_bytes: int) -> bytes:
    """The bytes of a file. Raises NotText."""
    try:
        return folder.read(file, max_bytes)
    except Unreadable as error:
        raise NotText(FileFault(file, 0, "", str(error))) from error


def read_text(folder: AgentFolder, file: str, max_bytes: int) -> str:
    """The text of a file. Raises NotText, with the line from which on the file is not UTF-8."""
    content = read_bytes(folder, file, max_bytes)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise NotText(FileFault(file, line, "", "is not UTF-8; save it with that encoding")) from error
