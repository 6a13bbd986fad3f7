"""`${NAME}` in values of an agent's folder: secrets stand in the environment, not in files."""

import re
from collections.abc import Mapping

from pydantic import SecretStr

_PLACE = re.compile(r"\$\{([^}]*)\}?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class UnknownVariable(Exception):
    """The message says what is wrong, and holds no value."""


def filled_in(value: str, environment: Mapping[str, str]) -> SecretStr:
    """The value with every `${NAME}` replaced. Raises UnknownVariable."""

    def replacement(found: re.Match[str]) -> str:
        name = found[1]
        if not found[0].endswith("}") or not _NAME.fullmatch(name):
            raise UnknownVariable("holds ${ that is not followed by the name of a variable and }")
        if name not in environment:
            raise UnknownVariable(f"names the variable {name}, which is not set in the environment")
        return environment[name]

    return SecretStr(_PLACE.sub(replacement, value))
