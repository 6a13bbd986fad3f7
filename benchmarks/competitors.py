"""The environment of what is compared with the service and must not be among its own packages: LangGraph's development
server and LangChain's retrievers. Nothing of it is shipped; the server is under the Elastic License."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.report import ROOT, say

LOCK = ROOT / "requirements" / "competitors" / "requirements.txt"
FOLDER = ROOT / ".proviso" / "bench-competitors"


def competitors_python() -> Path:
    """The Python of the environment, which is made anew whenever the lock is another one. Raises
    subprocess.CalledProcessError."""
    wanted = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    made, python = FOLDER / "lock.sha256", FOLDER / "bin" / "python"
    if not made.exists() or made.read_text(encoding="ascii") != wanted:
        say("installing what the service is compared with")
        shutil.rmtree(FOLDER, ignore_errors=True)
        uv = (sys.executable, "-m", "uv", "--no-config")  # what the service's own packages leave out is theirs
        subprocess.run((*uv, "venv", "-q", "--python", sys.executable, FOLDER), check=True)
        install = ("pip", "install", "-q", "--python", python, "--require-hashes", "--no-deps", "-r", LOCK)
        subprocess.run((*uv, *install), check=True)
        made.write_text(wanted, encoding="ascii")
    return python
