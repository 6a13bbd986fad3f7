"""Files of keys are written whole or not at all."""

import os
import secrets
from pathlib import Path


def write_durably(path: Path, content: str) -> None:
    """Puts the content in the place of the file. It survives a power failure once this returns; only the owner of the
    file can read it."""
    made = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        made.touch(mode=0o600)
        with made.open("w") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
