"""`make chaos` carries out each row of the table in docs/reliability.md, and prints one line for each.

`python -m tests.chaos [--rounds N] [ROW ...]` carries out the rows that are named. A row is a command that is told by
CHAOS_ROUNDS how often to repeat its damage; tests of the suite do so once where it is not set.
"""

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass

TIME_LIMIT_S = 1_800.0
TAIL_CHARS = 3_000
COUNTED = "counted "
"""How a test begins a line of its output that the row shows."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: its name, and the command that succeeds where the row holds."""

    name: str
    command: tuple[str, ...]


def tested(name: str, *tests: str) -> Row:
    """A row that holds where tests pass."""
    return Row(name, (sys.executable, "-m", "pytest", "-q", "-rP", "-o", "timeout=0", *tests))


LOAD = "tests/api/test_rotation_under_load.py"

ROWS = (
    tested("damaged-pages", "tests/test_refused_states.py::test_each_of_many_random_damaged_pages_is_found"),
    tested("refused-starts", "tests/test_refused_states.py", "-k", "one_line or share"),
    tested("disk-full", "tests/test_failing_storage.py::test_on_a_full_disk_queries_run_and_documents_can_be_deleted"),
    tested("failing-disk", "tests/test_failing_storage.py", "-k", "readiness"),
    tested("lost-originals", "tests/test_lost_originals.py", "tests/backends/test_storage_keeper.py"),
    tested("backup", "tests/test_backups.py"),
    tested(
        "sealed",
        "tests/test_sealed_originals.py",
        *("tests/test_sealed_backups.py", "tests/backends/sealing/test_tenant_keys.py"),
    ),
    tested("kill-9", "tests/test_acknowledged_acts.py"),
    tested("surviving-turns", "tests/test_surviving_turns.py"),
    tested("erasure", "tests/test_erasure.py"),
    tested("isolation", "tests/api/test_isolation_walk.py", "tests/backends/sql/test_tenants_of_stores.py"),
    tested("answer-times", "tests/api/test_answer_times.py"),
    tested("tokens", "tests/access/test_tokens.py"),
    tested("key-rotation", f"{LOAD}::test_keys_are_rotated_under_load", "tests/access/test_key_sets.py"),
    tested(
        "certificates",
        f"{LOAD}::test_certificates_are_swapped_expire_and_are_revoked_under_load",
        *("tests/api/test_tls.py", "tests/access/test_peers.py"),
    ),
    tested(
        "clock",
        "tests/test_clock_jumps.py",
        "tests/access/test_verified_tokens.py",
        "tests/access/test_quotas.py",
        "tests/turns/test_turn_clock.py",
        "-k",
        "clock",
    ),
    tested("http2", "tests/api/test_hostile_http2.py"),
    tested("overload", "tests/test_overload.py", "tests/test_admission.py", "tests/api/test_shares_of_callers.py"),
    Row("owasp", (sys.executable, "-m", "tests.owasp")),
)


def holds(row: Row, rounds: int) -> bool:
    """Carries out a row and prints its line, and where it does not hold the end of what its command wrote."""
    begun = time.monotonic()
    environment = os.environ | {"CHAOS_ROUNDS": str(rounds)}
    ended = subprocess.run(
        row.command, env=environment, check=False, capture_output=True, text=True, timeout=TIME_LIMIT_S
    )
    # A row whose tests were all skipped, because this system does not let them damage anything, shows nothing.
    verdict = "FAILED" if ended.returncode else "ok" if "." in ended.stdout.partition("[")[0] else "skipped"
    counted = "; ".join(line.removeprefix(COUNTED) for line in ended.stdout.splitlines() if line.startswith(COUNTED))
    print(f"{verdict:<8}{row.name:<20}{time.monotonic() - begun:7.1f} s  {counted}".rstrip(), flush=True)
    if ended.returncode:
        print((ended.stdout + ended.stderr)[-TAIL_CHARS:])
    return not ended.returncode


def main() -> int:
    names = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description="Carries out docs/reliability.md.")
    parser.add_argument("--rounds", type=int, default=5, help="how often each damage is repeated [5]")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"rows to carry out, of {', '.join(names)} [all]")
    options = parser.parse_args()
    if unknown := set(options.rows) - set(names):
        parser.error(f"no row {', '.join(sorted(unknown))}")
    wanted = [row for row in ROWS if row.name in (options.rows or names)]
    return 1 if sum(not holds(row, options.rounds) for row in wanted) else 0


if __name__ == "__main__":
    sys.exit(main())
