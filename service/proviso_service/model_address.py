"""The settings that choose a back end of models by its name, or a model server by its address."""

from dataclasses import dataclass
from typing import Annotated, Self
from urllib.parse import unquote, urlsplit

from pydantic import BeforeValidator, SecretStr

from proviso_service.value_faults import refusal


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a model server is: its URL, the key that it asks for, and the model that is asked for by its name, as
    servers of OpenAI's API want it. Key and model may be empty."""

    url: str
    key: SecretStr
    model: str

    @classmethod
    def of(cls, address: SecretStr) -> Self:
        """Takes an address apart: https://:KEY@host:8080/path#MODEL. Raises ValueError where it is none."""
        parts = urlsplit(address.get_secret_value())
        host = parts.netloc.rpartition("@")[2]
        key = unquote(parts.password or "")
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        if not is_address or parts.query or parts.username or not (key.isascii() and key.isprintable()):
            raise ValueError
        return cls(f"{parts.scheme}://{host}{parts.path}".rstrip("/"), SecretStr(key), unquote(parts.fragment))


BackEndChoice = str | SecretStr
"""The name of a back end, or the address of a model server, which is a secret because it may hold a key."""


def back_end(*names: str, by_name: bool = False) -> BeforeValidator:
    """Accepts these names and addresses of model servers; those that name a model only where it may be `by_name`."""
    model = "#MODEL" if by_name else ""
    otherwise = f"must be {', '.join(names)}, or an address as in https://:KEY@gpu.example.com:8080{model}"

    def chosen(value: object) -> object:
        if value in names:
            return value
        address = SecretStr(value) if isinstance(value, str) else value
        try:
            is_accepted = isinstance(address, SecretStr) and (not ServerAddress.of(address).model or by_name)
        except ValueError:
            is_accepted = False
        if not is_accepted:
            raise refusal(otherwise)
        return address

    return BeforeValidator(chosen)


EmbedderChoice = Annotated[BackEndChoice, back_end("embedded", "isaacus", by_name=True)]
ClassifierChoice = Annotated[BackEndChoice, back_end("auto", "embedded", "isaacus")]
RerankerChoice = Annotated[BackEndChoice, back_end("auto", "none", "embedded", "isaacus")]
