"""The text of a turn as its readers hold it."""

from proviso_service.turns import DiscardReason, Emit, TextDiscarded, Token


class AnswerText:
    """Sends text as tokens, and voids it. One text stands at most: the last one begun, unless it is void."""

    def __init__(self, emit: Emit, texts: int = 0) -> None:
        """`texts` were begun before, by an earlier life of the service; none stands."""
        self._emit = emit
        self._texts = texts
        self._pieces: list[str] = []

    def __str__(self) -> str:
        """The text that stands, empty when none does."""
        return "".join(self._pieces)

    @property
    def texts(self) -> int:
        """How many have been begun."""
        return self._texts

    def begin(self) -> None:
        """Begins the text of a model call; none stands."""
        self._texts += 1

    def write(self, piece: str) -> None:
        self._emit(Token(self._text_id, piece))
        self._pieces.append(piece)

    def discard(self, reason: DiscardReason) -> None:
        """Voids the text that stands, if any."""
        if self._pieces:
            self._pieces.clear()
            self._emit(TextDiscarded(self._text_id, reason))

    def settle(self, message: str) -> None:
        """The turn's message is known: text that differs from it is void."""
        if str(self) != message:
            self.discard(DiscardReason.NOT_FINAL)

    @property
    def _text_id(self) -> str:
        return f"text-{self._texts}"
