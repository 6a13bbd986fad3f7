"""File names as callers send them."""

import re
import unicodedata

from proviso_service.errors import InvalidRequest

MAX_FILENAME_CHARS = 255

# Line separators and the marks that reverse the reading direction: they make one name look like another.
_DECEPTIVE = frozenset("\u2028\u2029\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_FOLDERS = re.compile(r"^.*[/\\]", re.DOTALL)


def clean_filename(field: str, value: str) -> str:
    """The name without folders, in Unicode NFC. Raises InvalidRequest when nothing is left, it is too long, or it holds
    characters that cannot be shown faithfully."""
    if any(unicodedata.category(char) in ("Cc", "Cs") or char in _DECEPTIVE for char in value):
        raise InvalidRequest.of(field, "must not contain control characters")
    name = unicodedata.normalize("NFC", _FOLDERS.sub("", value)).strip()
    if name in ("", ".", ".."):
        raise InvalidRequest.of(field, "must be the name of a file")
    if len(name) > MAX_FILENAME_CHARS:
        raise InvalidRequest.of(field, f"must have at most {MAX_FILENAME_CHARS} characters")
    return name
