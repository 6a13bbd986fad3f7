"""What keeps a text from being YAML, in words for the person who mends the file."""

from collections.abc import Mapping

import yaml

_CLOSING = "it has a bracket that is not closed, or lacks a comma before this line"

SENTENCES: Mapping[str, str] = {
    "found character '\\t'": "it begins with a tab; use spaces",
    "found character": "it has a value that begins with one of @ ` %; put it between quotation marks",
    "mapping values": "it has a colon too many, or is indented too far; put text with a colon between quotation marks",
    "could not find expected ':'": "it lacks the colon after the name of a field",
    "sequence entries": "it has a list that begins behind a colon; put each entry on a line of its own",
    "expected <block end>": "it is not indented like the lines above it, or goes on after a closed value",
    "expected ',' or ']'": _CLOSING,
    "expected ',' or '}'": _CLOSING,
    "found unexpected end of stream": "it has a quotation mark that is not closed",
    "found unexpected document separator": "it has a quotation mark that is not closed",
    "found unknown escape character": "it has a backslash in double quotation marks; use single ones",
    "expected escape sequence": "it has a backslash in double quotation marks; use single ones",
    "found undefined alias": "it has a value that begins with *; put it between quotation marks",
    "but found another document": "it begins a second document; a file holds one",
}
"""By how the parser's own words begin, which are not shown: they speak of tokens, and some repeat the value."""

OTHERWISE = "look for a wrong indentation, colon, bracket or quotation mark, here or above"


def syntax_words(error: yaml.MarkedYAMLError) -> str:
    """Of the line at which the text ceases to be YAML."""
    problem = error.problem or ""
    words = next((words for beginning, words in SENTENCES.items() if problem.startswith(beginning)), OTHERWISE)
    return f"is not YAML: {words}"
