"""Says in plain words what is wrong with a value of a request, a tool call, an agent's file or a setting.

Pydantic finds the faults and names their kinds; the table here has a sentence for each kind. Pydantic's own texts are
not shown, because they speak of classes, and some repeat the value. A sentence follows the name of a field, as in
"max_results: must be at most 20"."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import ErrorDetails, PydanticCustomError

REFUSED = "refused"
"""The kind of a fault that `refusal` made, which has a sentence of its own."""

OTHERWISE = "has a value that is not allowed"

_NUMBER = "must be a number"
_WHOLE_NUMBER = "must be a whole number"
_YES_OR_NO = "must be true or false"
_FIELDS = "must be fields with values"
_LIST = "must be a list"
_ADDRESS = "must be a web address"
_KIND = "must say which kind it is of"

SENTENCES: Mapping[str, str] = {
    REFUSED: "{description}",
    "missing": "is missing",
    "extra_forbidden": "is not a field that is known here",
    "invalid_key": "has a name that is not text",
    "none_required": "must be left out",
    "string_type": "must be text",
    "string_unicode": "must be text",
    "string_too_short": "must have at least {min_length:character}",
    "string_too_long": "must have at most {max_length:character}",
    "string_pattern_mismatch": "does not have the form that is needed here",
    "bool_type": _YES_OR_NO,
    "bool_parsing": _YES_OR_NO,
    "int_type": _WHOLE_NUMBER,
    "int_parsing": _WHOLE_NUMBER,
    "int_parsing_size": "is too large a number",
    "int_from_float": _WHOLE_NUMBER,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "must be a finite number",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "list_type": _LIST,
    "tuple_type": _LIST,
    "too_short": "must have at least {min_length:item}",
    "too_long": "must have at most {max_length:item}",
    "dict_type": _FIELDS,
    "mapping_type": _FIELDS,
    "model_type": _FIELDS,
    "model_attributes_type": _FIELDS,
    "union_tag_invalid": _KIND,
    "union_tag_not_found": _KIND,
    "url_type": _ADDRESS,
    "url_parsing": _ADDRESS,
    "url_scheme": _ADDRESS,
    "url_syntax_violation": _ADDRESS,
    "path_type": "must be a path of a file or a folder",
}
"""The sentence for each kind of fault. Braces hold the limits that come with a fault; a noun after the colon says what
is counted."""


def refusal(description: str) -> PydanticCustomError:
    """An error for a validator to raise. The caller is shown its text as it is."""
    return PydanticCustomError(REFUSED, "{description}", {"description": description})


def words_for(fault: ErrorDetails, sentences: Mapping[str, str] = SENTENCES) -> str:
    """The sentence for a fault, without the value; OTHERWISE for a kind that is not in the table."""
    limits = fault.get("ctx", {})
    if fault["type"] in ("string_too_short", "too_short") and limits.get("min_length") == 1:
        return "must not be empty"
    return sentences.get(fault["type"], OTHERWISE).format_map({name: _Told(limit) for name, limit in limits.items()})


class _Told:
    """A limit in a sentence. A noun as its format makes it a number of things, such as `5 items`."""

    def __init__(self, limit: Any) -> None:
        self._limit = int(limit) if isinstance(limit, float) and limit.is_integer() else limit

    def __format__(self, noun: str) -> str:
        if not noun:
            return str(self._limit)
        return f"{self._limit} {noun}" if self._limit == 1 else f"{self._limit} {noun}s"
