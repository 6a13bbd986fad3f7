"""Takes from a model's reply the markup that could load or run something, or lead somewhere, where it is shown.

A document, or the result of a tool, may have told the model to write an address that carries away what the turn is
about: an image would be loaded with the answer, and a link followed with a click. So the words stay, and of addresses
only those that the turn was given. Characters that cannot be seen are left out, since they could hide a message."""

import re
from collections.abc import Callable, Iterable

from proviso_service.reading import SEEN_ONLY

LEFT_OUT = "…"
"""Stands in the place of an address that the turn was not given."""

_MAX_CHARS = 2_048
"""Longer addresses are not kept, and a link that is not closed within so many characters is none."""
_ADDRESS = r"(?:(?<![a-z0-9])(?:https?|ftp)://|(?<![a-z0-9@./])www\.)"
_ADDRESS_CHAR = "[!#$%&'()*+,./0-9:;=?@a-z_~-]"
_TAG, _IMAGE, _LINK = r"<(?=[a-z/!?])", r"!(?=\[)", r"\]\("
_DEFINITION = r"\]:(?=[ \t]{0,99}\n?[ \t]{0,99}<?(?:/|[a-z][a-z0-9+.-]{0,20}:))"
_MARKUP = re.compile(f"{_TAG}|{_IMAGE}|{_LINK}|{_DEFINITION}|{_ADDRESS}", re.IGNORECASE)
# What may become markup with the next piece.
_BEGUN = re.compile(
    r"(?:<|!|\](?::[ \t]{0,99}\n?[ \t]{0,99}<?[a-z0-9+.-]{0,20})?"
    r"|(?<![a-z0-9])(?:h(?:t(?:t(?:ps?(?::/?)?)?)?)?|f(?:t(?:p(?::/?)?)?)?)|(?<![a-z0-9@./])w{1,3})\Z",
    re.IGNORECASE,
)
_TARGET = re.compile(
    r"\s*(?:<(?P<angled>[^<>\n]*)>|(?P<bare>[^\s()<]*(?:\([^\s()]*\)[^\s()]*)*))"
    r"(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
)
_LEADS_SOMEWHERE = re.compile(r"[/\\#?.&%<]|[^:]*:|.*//", re.DOTALL)
_WHOLE_ADDRESS = re.compile(f"{_ADDRESS}{_ADDRESS_CHAR}*", re.IGNORECASE)
_REST_OF_ADDRESS = re.compile(f"{_ADDRESS_CHAR}*", re.IGNORECASE)
_WEB = re.compile(r"\Ahttps?://", re.IGNORECASE)
_BEHIND_ADDRESS = ".,;:!?'*_~)"


def addresses_in(texts: Iterable[str]) -> frozenset[str]:
    """Returns the web addresses that stand in the texts, in the form in which they are compared."""
    return frozenset(_compared(found[0]) for text in texts for found in _WHOLE_ADDRESS.finditer(text))


def _compared(address: str) -> str:
    """Returns an address without its scheme, which people leave out, and without what may stand behind it. Capitals
    count: they could carry a message."""
    return _WEB.sub("", address.rstrip(_BEHIND_ADDRESS)).rstrip("/")


def safe(sentence: str) -> str:
    """Returns a sentence of the service, with the names of files and matters in it, as it can be shown. Names may look
    like addresses; these stay."""
    markup = SafeMarkup(lambda: addresses_in([sentence]))
    return markup.feed(sentence) + markup.finish()


class SafeMarkup:
    """Makes one reply safe to show, piece by piece:

    - An image becomes a link, or words in brackets where its address does not stay.
    - A link keeps its words, and its address where that is one of the given ones.
    - Any other address that is not one of them becomes `LEFT_OUT`.
    - A tag of HTML is parted from its bracket: `< script>`, which stays text everywhere.

    `removed` counts the places that were changed."""

    def __init__(self, given: Callable[[], frozenset[str]]) -> None:
        """`given` returns the addresses that may stay; it is asked when the first address is met."""
        self.removed = 0
        self._given = given
        self._known: frozenset[str] | None = None
        self._held = ""
        self._last = ""
        self._is_skipping = False

    def feed(self, piece: str) -> str:
        """Takes a piece of the reply, and returns what can be shown by now."""
        return self._shown(piece.translate(SEEN_ONLY), is_end=False)

    def finish(self) -> str:
        """Returns the rest of what can be shown."""
        return self._shown("", is_end=True)

    def _shown(self, piece: str, *, is_end: bool) -> str:
        # What was shown last stands before the text, since an address begins where a word does.
        text, start = self._last + self._held + piece, len(self._last)
        self._held = ""
        shown: list[str] = []
        at = self._skipped(text, start)
        while found := _MARKUP.search(text, at):
            self._put(shown, text[at : found.start()])
            instead, stop = self._instead(text, found, is_end=is_end)
            if stop is None:
                self._held = text[found.start() :]
                return "".join(shown)
            self._put(shown, instead)
            at = stop
        begun = None if is_end else _BEGUN.search(text, at)
        stop = begun.start() if begun else len(text)
        self._put(shown, text[at:stop])
        self._held = text[stop:]
        return "".join(shown)

    def _put(self, shown: list[str], text: str) -> None:
        if text:
            shown.append(text)
            self._last = text[-1]

    def _skipped(self, text: str, start: int) -> int:
        """Where the text goes on behind an address that was given up because of its length."""
        if not self._is_skipping:
            return start
        rest = _REST_OF_ADDRESS.match(text, start)
        at = rest.end() if rest else start
        self._is_skipping = at == len(text)
        return at

    def _instead(self, text: str, found: re.Match[str], *, is_end: bool) -> tuple[str, int | None]:
        """What stands in the place of some markup, and where the text goes on; None where more has to be known."""
        start, end = found.span()
        match found[0]:
            case "<":
                return self._changed("< "), end
            case "!":
                # After a word it is an exclamation mark before a citation.
                return self._changed("! " if self._last.isalnum() else ""), end
            case "]:":
                return self._changed("] :"), end
            case "](":
                return self._link(text, end, is_end=is_end)
            case _:
                return self._address(text, start, is_end=is_end)

    def _link(self, text: str, start: int, *, is_end: bool) -> tuple[str, int | None]:
        target = _TARGET.match(text, start)
        if target is None:
            is_open = ")" not in text[start:] and len(text) - start < _MAX_CHARS
            return ("", None) if is_open and not is_end else ("] (", start)
        address = target["angled"] if target["bare"] is None else target["bare"]
        if _compared(address) in self._given_addresses:
            return f"]({address})", target.end()
        if _LEADS_SOMEWHERE.match(address):
            return self._changed("]"), target.end()
        return "] (", start

    def _address(self, text: str, start: int, *, is_end: bool) -> tuple[str, int | None]:
        whole = _WHOLE_ADDRESS.match(text, start)
        end = whole.end() if whole else start
        if end == len(text) and not is_end:
            if end - start <= _MAX_CHARS:
                return "", None
            self._is_skipping = True
            return self._changed(LEFT_OUT), end
        address = text[start:end].rstrip(_BEHIND_ADDRESS)
        if _compared(address) in self._given_addresses:
            return address, start + len(address)
        return self._changed(LEFT_OUT), start + len(address)

    @property
    def _given_addresses(self) -> frozenset[str]:
        if self._known is None:
            self._known = self._given()
        return self._known

    def _changed(self, instead: str) -> str:
        self.removed += 1
        return instead
