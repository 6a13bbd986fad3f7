"""The `proviso` command. Exit codes: 0 done, 1 the job failed, 2 a wrong flag or setting, 130 Ctrl-C."""


def main() -> None:
    """Entry point of the `proviso` script."""
    from proviso_service.cli.program import run

    run()
