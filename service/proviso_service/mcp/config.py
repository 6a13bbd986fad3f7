"""How a server of tools is reached, as an agent's definition says it (checked there: see context.catalog.schema)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import SecretStr

_MIN_SECRET_CHARS = 4
"""A shorter value (a flag, a number) would be found in words that have nothing to do with it."""


@dataclass(frozen=True, slots=True)
class StdioTransport:
    """A process of ours, which reads requests and writes answers; its own errors go to the log. It sees `env` and what
    every program needs of the environment (PATH, HOME and the like), nothing else of it. It runs in `cwd`, or where the
    service does."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, SecretStr] = field(default_factory=dict)
    cwd: str | None = None

    @property
    def secrets(self) -> tuple[SecretStr, ...]:
        return tuple(self.env.values())


@dataclass(frozen=True, slots=True)
class HttpTransport:
    """A server elsewhere, by streamable HTTP."""

    url: str
    headers: Mapping[str, SecretStr] = field(default_factory=dict)

    @property
    def secrets(self) -> tuple[SecretStr, ...]:
        return tuple(self.headers.values())


@dataclass(frozen=True, slots=True)
class McpServerConfig:
    """A server of tools. Two that are equal are reached in the same way: a session goes on when nothing else about its
    server has changed. `max_output_chars` bounds what one call gives, in code points."""

    name: str
    transport: StdioTransport | HttpTransport
    timeout_s: float = 30.0
    start_timeout_s: float = 30.0
    max_output_chars: int = 50_000
    enabled: bool = True

    def masked(self, text: str) -> str:
        """The text without the values of `env` or `headers`: a server may repeat what it was told, also without the
        scheme (Bearer) before it."""
        values = [secret.get_secret_value() for secret in self.transport.secrets]
        parts = {part for value in values for part in (value, *value.split()[-1:]) if len(part) >= _MIN_SECRET_CHARS}
        for part in sorted(parts, key=len, reverse=True):
            text = text.replace(part, "***")
        return text
