"""The table of the contract's page that the code knows better: exit reasons.

`python -m tests.support.readme_tables` prints it."""

from proviso_service.turns import EXIT_SEMANTICS, Retryable

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


if __name__ == "__main__":
    print("\n".join(exit_reason_table()))
