import subprocess
import sys

from proviso_service import iql

ALONE = """
import sys
import proviso_service.iql
own = {name.split(".")[1] for name in sys.modules if name.startswith("proviso_service.")}
print(*sorted(own), *sorted({"grpc", "google", "pydantic", "sqlalchemy"} & set(sys.modules)))
"""


def test_exported_names_exist_and_are_sorted() -> None:
    assert iql.__all__ == sorted(iql.__all__)
    assert all(hasattr(iql, name) for name in iql.__all__)


def test_language_can_be_used_without_the_service() -> None:
    loaded = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True, timeout=60)

    assert loaded.stdout.split() == ["iql", "spelling"]
