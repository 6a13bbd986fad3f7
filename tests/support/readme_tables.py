"""The tables of the docs that the code knows better: exit reasons, exit causes.

`python -m tests.support.readme_tables` prints it."""

import re
from pathlib import Path

from proviso_service.turns import CAUSE_SEMANTICS, EXIT_SEMANTICS, Retryable

_RETRYABLE = {
    Retryable.YES: "yes",
    Retryable.NO: "no",
    Retryable.MAYBE: "maybe",
    Retryable.NOT_APPLICABLE: "n/a",
}


def exit_reason_table() -> list[str]:
    """One row for each exit reason: retryable, displayed."""
    rows = [
        f"| {reason.name} | {_RETRYABLE[semantics.retryable]} | {'yes' if semantics.display_message else 'no'} |"
        for reason, semantics in EXIT_SEMANTICS.items()
    ]
    return ["| exit reason | retryable | display the message |", "|---|---|---|", *rows]


_REASONS = re.compile(r"  // ([A-Z_]+(?: or [A-Z_]+)*): .*?EXIT_CAUSE_(\w+) = \d+;", re.DOTALL)
_PROTO = Path(__file__).parents[2] / "protos/proviso/v1/turns.proto"


def exit_cause_table() -> list[str]:
    """One row for each exit cause: the exit reasons that it comes with, retryable, and the words in English."""
    causes = _PROTO.read_text(encoding="utf-8").partition("enum ExitCause")[2]
    reasons = {cause: said for said, cause in _REASONS.findall(causes)}
    rows = [
        f"| {cause.name} | {reasons[cause.name]} | {_RETRYABLE[semantics.retryable]} | {semantics.message or '-'} |"
        for cause, semantics in CAUSE_SEMANTICS.items()
    ]
    return ["| cause | with | retryable | what the person reads |", "|---|---|---|---|", *rows]


if __name__ == "__main__":
    print("\n".join([*exit_reason_table(), "", *exit_cause_table()]))
