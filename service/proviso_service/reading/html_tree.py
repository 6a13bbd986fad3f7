"""The tree of a web page, and the bounds within which one is built.

The parser of HTML needs memory for every tag and looks upwards through open elements and back through attributes, so
that its time grows with the square of either. Pages that are far beyond any real one are refused before; one that was
written to get around these counts ends at the limits of the process that reads it.
"""

import re
from collections import defaultdict
from typing import Protocol

from selectolax.lexbor import LexborHTMLParser, LexborNode

from proviso_service.errors import UnsupportedDocument

MAX_TAGS = 1_000_000
"""A long annual report has half as many; each takes about half a kilobyte until its text is put together."""
MAX_OPEN_ELEMENTS = 3_000
MAX_ATTRIBUTES = 5_000

_TEXT = "-text"

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
# Each is followed by white space or a quote, and long values such as embedded images hold neither.
_MANY_ATTRIBUTES = re.compile(rf"<[a-zA-Z](?>(?:[^\s<>\"']*+[\s\"']++){{{MAX_ATTRIBUTES}}})")
# Elements that have no end tag, or are ended by the next of their kind.
_NOT_NESTED = frozenset(
    {"area", "base", "basefont", "br", "col", "embed", "frame", "hr", "img", "input", "link", "meta", "page", "param"}
    | {"source", "track", "wbr", "body", "colgroup", "head", "html", "tbody", "td", "tfoot", "th", "thead", "tr"}
    | {"a", "button", "dd", "dt", "li", "nobr", "option", "p"}
)


class Visitor(Protocol):
    """Is told of the nodes of a tree in the order of the text."""

    def open(self, tag: str, element: LexborNode) -> bool:
        """Whether to go into an element; it is closed in either case."""
        ...

    def text(self, text: str) -> None: ...

    def close(self, tag: str) -> None: ...


def body_of(text: str) -> LexborNode | None:
    """The body of a page, None where there is none. Raises UnsupportedDocument for a page that is out of bounds."""
    _check_bounds(text)
    # Lone surrogates, which an encoding of two bytes can leave, have no place in UTF-8.
    return LexborHTMLParser(text.encode("utf-8", "replace")).body


def walk(top: LexborNode, visitor: Visitor) -> None:
    """Tells of every text and element inside `top`; without recursion, however deep they are nested."""
    node, above = top.first_child, [top]
    while node is not None:
        tag = node.tag or ""
        inside = None
        if tag == _TEXT:
            visitor.text(node.text_content or "")
        elif not tag.startswith("-"):
            inside = node.first_child if visitor.open(tag, node) else None
            if inside is None:
                visitor.close(tag)
            else:
                above.append(node)
        following = node.next if inside is None else inside
        while following is None and len(above) > 1:
            closed = above.pop()
            visitor.close(closed.tag or "")
            following = closed.next
        node = following


def _check_bounds(text: str) -> None:
    if text.count("<") > MAX_TAGS:
        raise UnsupportedDocument(
            f"The page has more than {MAX_TAGS:,} tags. Save it as plain text or split it, and upload that."
        )
    if _MANY_ATTRIBUTES.search(text):
        raise UnsupportedDocument("The page has a tag with thousands of attributes. Save it as plain text or PDF.")
    open_elements: defaultdict[str, int] = defaultdict(int)
    depth = 0
    for match in _TAG.finditer(text):
        name = match[2].lower()
        if name in _NOT_NESTED:
            continue
        if not match[1]:
            open_elements[name] += 1
            depth += 1
        elif open_elements[name]:
            open_elements[name] -= 1
            depth -= 1
        if depth > MAX_OPEN_ELEMENTS:
            raise UnsupportedDocument("The page is nested too deeply to be read. Save it as plain text or PDF.")
