"""`python -m tests.owasp` runs the tests that the tables of SECURITY.md name, and no others."""

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
RISK = re.compile(r"^\| ((?:LLM|API)\d+) .*?\| ([^|]*) \|$", re.MULTILINE)
"""A row of the tables: its risk, and its last cell."""


def named_tests() -> Mapping[str, list[Path]]:
    """The files and folders of tests that the page names for each risk."""
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    return {risk: [ROOT / name for name in re.findall("`([^`]*)`", cell)] for risk, cell in RISK.findall(page)}


def main() -> int:
    named = sorted({test for tests in named_tests().values() for test in tests})
    ours = [str(test) for test in named if test.suffix in ("", ".py")]
    ended = [subprocess.run([sys.executable, "-m", "pytest", "-q", "-o", "timeout=0", *ours], check=False, cwd=ROOT)]
    for test in named:
        if test.suffix in (".ts", ".tsx"):
            package = next(folder for folder in test.parents if (folder / "package.json").exists())
            run = ["npx", "--no-install", "vitest", "run", str(test.relative_to(package))]
            ended.append(subprocess.run(run, check=False, cwd=package))
    return max(abs(one.returncode) for one in ended)


if __name__ == "__main__":
    sys.exit(main())
