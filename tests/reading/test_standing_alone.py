"""Reading is a library: it stands alone, and loads a parser only where a file of its format is read."""

import subprocess
import sys

LEFT_TO_THE_PARSERS = {"lxml", "markdown_it", "pypdfium2", "selectolax"}
LEFT_TO_THE_SERVICE = {"asyncio", "grpc", "numpy", "structlog"}


def _loaded(statement: str) -> set[str]:
    shown = f"{statement}; import sys; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True).stdout.split())


def test_the_library_can_be_used_without_the_service() -> None:
    loaded = _loaded("import proviso_service.reading")
    own = {name for name in loaded if name.startswith("proviso_service.")}
    assert own
    assert all(name.startswith("proviso_service.reading") for name in own)
    assert not loaded & LEFT_TO_THE_PARSERS


def test_a_process_that_reads_loads_nothing_of_the_service() -> None:
    assert not _loaded("import proviso_service.reading.worker.__main__") & (LEFT_TO_THE_PARSERS | LEFT_TO_THE_SERVICE)


def test_the_reader_is_part_of_the_face() -> None:
    assert "proviso_service.reading.reader" in _loaded("from proviso_service.reading import ProcessReader")
