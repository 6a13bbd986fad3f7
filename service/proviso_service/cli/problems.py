"""Failures of a command that a person is told about in one line."""


class CommandError(Exception):
    """The job failed; `message` is one clear line."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class UsageProblem(CommandError):
    """A flag, an argument or a setting is wrong."""

    exit_code = 2
