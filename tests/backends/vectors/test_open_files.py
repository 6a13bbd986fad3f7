"""Tests of the limit of open files, in a process of their own because the limit cannot be lowered and raised again."""

import subprocess
import sys

SCRIPT = """
import resource
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
from proviso_service.backends.vectors.worker import raise_open_file_limit
assert raise_open_file_limit() == hard
assert raise_open_file_limit() == hard
assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
"""


def test_the_soft_limit_becomes_the_hard_one() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=30)
