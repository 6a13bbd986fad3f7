"""Which server a command talks to, and with which credentials: the options of every command that connects."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proviso_service.cli.output import UsageProblem

if TYPE_CHECKING:
    from proviso_client import TlsCredentials

DEFAULT_ADDRESS = "127.0.0.1:50051"


def _file(name: str, help_text: str) -> Any:
    return typer.Option(f"--{name}", envvar=f"PROVISO_{name.upper().replace('-', '_')}", help=help_text, metavar="FILE")


@dataclass(frozen=True, slots=True)
class Server:
    """A server and the credentials for it. The fields are the options of the command line."""

    address: Annotated[str, typer.Option(help="The server.", metavar="HOST:PORT")] = DEFAULT_ADDRESS
    token: Annotated[
        str,
        typer.Option(
            envvar="PROVISO_TOKEN",
            show_default=False,
            metavar="TOKEN",
            help="API key or token; others see it here.",
        ),
    ] = field(default="", repr=False)
    tls: Annotated[bool, typer.Option("--tls", envvar="PROVISO_TLS", help="Encrypt.")] = False
    tls_ca: Annotated[Path | None, _file("tls-ca", "Authorities of the server's certificate; encrypts.")] = None
    tls_cert: Annotated[Path | None, _file("tls-cert", "Certificate to show to the server; encrypts.")] = None
    tls_key: Annotated[Path | None, _file("tls-key", "Private key of that certificate.")] = None

    def check(self) -> None:
        """Raises UsageProblem unless the address has the form host:port."""
        host, separator, port = self.address.rpartition(":")
        if not (separator and host and port.isdecimal() and 0 < int(port) < 65_536):
            raise UsageProblem(f"--address must be host:port, for example {DEFAULT_ADDRESS}, not {self.address!r}")

    def tls_credentials(self) -> "TlsCredentials | None":
        """Returns None for a connection without encryption. Raises UsageProblem."""
        from proviso_client import TlsCredentials

        files = {"--tls-ca": self.tls_ca, "--tls-cert": self.tls_cert, "--tls-key": self.tls_key}
        if not self.tls and not any(files.values()):
            return None
        if (self.tls_cert is None) != (self.tls_key is None):
            raise UsageProblem("--tls-cert and --tls-key go together")
        for option, path in files.items():
            if path is not None and not path.is_file():
                raise UsageProblem(f"{option}: there is no file {path}")
        return TlsCredentials(self.tls_ca, self.tls_cert, self.tls_key)


def connecting(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options of a server in place of its parameter `server`."""

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        given = {name: arguments.pop(name) for name in options}
        command(server=Server(**given), **arguments)

    options = inspect.signature(Server).parameters
    own = [one for name, one in inspect.signature(command).parameters.items() if name != "server"]
    named = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*own, *options.values())]
    run.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]  # typer reads it
    run.__annotations__ = {one.name: one.annotation for one in named}
    return run
