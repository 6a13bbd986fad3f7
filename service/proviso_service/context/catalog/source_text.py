"""Text files of an agent's folder."""

from proviso_service.context.catalog.folder import AgentFolder, Unreadable
from proviso_service.errors import FileFault


class NotText(Exception):
    """A file cannot be read, or is no text; `fault` says why."""

    def __init__(self, fault: FileFault) -> None:
        super().__init__(str(fault))
        self.fault = fault


def read_bytes(folder: AgentFolder, file: str, max_bytes: int) -> bytes:
    """Raises NotText."""
    try:
        return folder.read(file, max_bytes)
    except Unreadable as error:
        raise NotText(FileFault(file, 0, "", str(error))) from error


def read_text(folder: AgentFolder, file: str, max_bytes: int) -> str:
    """Raises NotText, with the line where the file stops being UTF-8."""
    content = read_bytes(folder, file, max_bytes)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise NotText(FileFault(file, line, "", "is not UTF-8; save it with that encoding")) from error
