"""Which files of the service are entered while something happens: those in which a function is called."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import proviso_service

_SERVICE = Path(proviso_service.__file__).parent


class EnteredFiles:
    """Sees the calls of all threads that begin while it is watching, and of the one in which it began to."""

    def __init__(self) -> None:
        self._called: set[CodeType] | None = None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Begin before the service starts, so that its threads are seen."""
        before = sys.getprofile()
        threading.setprofile(self._see)
        sys.setprofile(self._see)
        try:
            yield
        finally:
            sys.setprofile(before)
            threading.setprofile(None)

    @contextmanager
    def counting(self) -> Iterator[set[str]]:
        """The files that are entered inside, relative to the service's package; complete at the end. Importing a module
        does not enter it: bodies of modules and classes are not functions."""
        files: set[str] = set()
        called: set[CodeType] = set()
        self._called = called
        yield files
        self._called = None
        paths = {Path(code.co_filename) for code in called if code.co_flags & CO_OPTIMIZED}
        files |= {str(path.relative_to(_SERVICE)) for path in paths if path.is_relative_to(_SERVICE)}

    def _see(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and (called := self._called) is not None:
            called.add(frame.f_code)
