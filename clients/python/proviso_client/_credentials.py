"""This module holds what a client proves its identity with: TLS, tokens, and the user for whom it acts.

Nothing in this module waits or calls the service.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import grpc

from proviso_client._channel import is_this_machine

Metadata = tuple[tuple[str, str | bytes], ...]
Pem = str | Path | bytes
"""A PEM file by its path, or its content as bytes."""

AUTHORIZATION = "authorization"
USER_ID = "x-user-id"
_EARLY_S = 30.0
"""A token that expires within this time is replaced, because the service's clock may be ahead of this one."""


@dataclass(frozen=True, slots=True)
class TlsCredentials:
    """Turns on TLS.

    The service's certificate has to come from one of the authorities in `root_ca`, or without it from one that this
    machine trusts. A service that asks for client certificates is shown `certificate`, whose private key is `key`."""

    root_ca: Pem | None = None
    certificate: Pem | None = None
    key: Pem | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("a client certificate needs both certificate and key")

    def load(self) -> grpc.ChannelCredentials:
        """Reads the files. Raises OSError."""
        return grpc.ssl_channel_credentials(_content(self.root_ca), _content(self.key), _content(self.certificate))


@dataclass(frozen=True, slots=True)
class AccessToken:
    """A token together with the number of seconds for which it can be used from now on. The client uses it until
    shortly before its end, and asks for another one then."""

    text: str = field(repr=False)
    expires_in_s: float


class TokenCache:
    """Keeps a token until shortly before it expires."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._text = ""
        self._end = 0.0

    def current(self) -> str:
        """Returns the token, or an empty string when another one is needed."""
        return self._text if self._clock() < self._end else ""

    def keep(self, given: str | AccessToken) -> str:
        """Returns the text of a new token, which is kept when it is known how long it can be used."""
        if isinstance(given, AccessToken):
            # A token that lives shorter than that is used for half of its life.
            lead_s = min(_EARLY_S, given.expires_in_s / 2)
            self._text, self._end = given.text, self._clock() + given.expires_in_s - lead_s
            return given.text
        return given

    def drop(self, metadata: Metadata) -> None:
        """Forgets the token of a call that was refused, unless another call has replaced it since."""
        if bearer(self._text) == dict(metadata).get(AUTHORIZATION):
            self._end = 0.0


def bearer(token: str) -> str:
    """Returns the value of the metadata `authorization` for a token."""
    return f"Bearer {token}"


def user_metadata(user_id: str) -> Metadata:
    """Returns the metadata that names the user. Raises ValueError for an id that metadata cannot hold."""
    if not user_id:
        return ()
    if not (user_id.isascii() and user_id.isprintable() and user_id == user_id.strip()):
        raise ValueError("user_id must have printable ASCII characters only, and no space around them")
    return ((USER_ID, user_id),)


def channel_credentials(
    target: str,
    credentials: "grpc.ChannelCredentials | TlsCredentials | None",
    *,
    insecure: bool,
    insecure_token: bool,
    has_token: bool,
) -> grpc.ChannelCredentials | None:
    """Returns the credentials of the channel, or None for one without encryption.

    Raises ValueError when the target is on another machine and the caller has allowed neither a connection nor a token
    without TLS, and OSError when a file cannot be read."""
    if isinstance(credentials, TlsCredentials):
        return credentials.load()
    if credentials is not None or is_this_machine(target):
        return credentials
    if not (insecure or insecure_token):
        raise ValueError(
            f"{target} is not on this machine: give credentials=TlsCredentials(), or allow a connection without "
            "encryption by insecure=True"
        )
    if has_token and not insecure_token:
        raise ValueError(
            f"{target} is not on this machine, and anybody on the way could read the token: give "
            "credentials=TlsCredentials(), or insecure_token=True where something else encrypts the connection"
        )
    return None


def has_authorization(metadata: Sequence[tuple[str, str | bytes]]) -> bool:
    """Returns whether the caller's own metadata holds a token."""
    return any(name.lower() == AUTHORIZATION for name, _ in metadata)


def _content(pem: Pem | None) -> bytes | None:
    return pem if pem is None or isinstance(pem, bytes) else Path(pem).read_bytes()
