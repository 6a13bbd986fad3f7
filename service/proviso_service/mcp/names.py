"""The names by which models are shown the tools of servers."""

import hashlib
import re

SEPARATOR = "__"
MAX_NAME_CHARS = 64
"""Of a function, for every provider."""

_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]")
_DIGEST_CHARS = 8


def shown_name(server: str, tool: str) -> str:
    """`server__tool`, in the characters and the length that every provider takes. A name that had to be changed ends
    in a digest of the original, so that two tools never share one."""
    whole = f"{server}{SEPARATOR}{tool}"
    safe = _UNSAFE.sub("_", whole)
    if safe == whole and len(whole) <= MAX_NAME_CHARS:
        return whole
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    return f"{safe[: MAX_NAME_CHARS - _DIGEST_CHARS - 1]}_{digest}"
