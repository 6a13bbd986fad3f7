"""Checks whether tokens stand in an order that makes a query.

The order is simple: operands and operators take turns, parentheses match, and NOT stands before what it inverts, which
is at most a comparison. After `+`, `>` and `<`, which bind tighter than NOT, a NOT needs parentheses. One pass checks
all of this and reports each fault where it is, so that the parser builds trees of sound tokens only."""

from collections.abc import Sequence
from dataclasses import dataclass

from proviso_service.iql.problems import (
    Edit,
    ProblemKind,
    ProblemLog,
    Remedy,
    closed,
    leaving_out,
    left_out,
    operator_at,
    quoted,
    replacing,
)
from proviso_service.iql.syntax import QuerySpan
from proviso_service.iql.tokens import QueryToken, TokenKind

_CEILINGS = {"max_length": 100_000, "max_statements": 128, "max_depth": 64}
"""Trees are walked by recursion. These bounds keep its depth, at most statements plus depth, well within Python's
limit."""


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """Bounds on a query, because queries come from people and language models that nobody vouches for. `max_length` is
    in Unicode code points. `max_statements` counts statements and templates as written, including equal ones.
    `max_depth` counts the parentheses and NOTs around a statement, including needless ones."""

    max_length: int = 4_000
    max_statements: int = 16
    max_depth: int = 32

    def __post_init__(self) -> None:
        for name, ceiling in _CEILINGS.items():
            if not 1 <= getattr(self, name) <= ceiling:
                raise ValueError(f"{name} is between 1 and {ceiling:,}")


DEFAULT_LIMITS = QueryLimits()


_CONNECTIVES = frozenset({TokenKind.AND, TokenKind.OR})
_TIGHT = frozenset({TokenKind.PLUS, TokenKind.GREATER, TokenKind.LESS})
_OPERATORS = "AND, OR, +, > or <"
_EACH_OPERATOR = ("AND", "OR", "+", ">", "<")
_INSTEAD = {
    "&": "AND",
    "&&": "AND",
    ",": "AND or OR",
    ";": "AND or OR",
    "|": "OR",
    "||": "OR",
    "/": "OR",
    "!": "NOT",
    "-": "AND NOT",
    "but": "AND",
    "without": "AND NOT",
    "xor": "({A} OR {B}) AND NOT ({A} AND {B})",
    ">=": ">",
    "=>": ">",
    "<=": "<",
    "=<": "<",
    "<>": "> or <",
}


def check_structure(query: str, tokens: Sequence[QueryToken], limits: QueryLimits, log: ProblemLog) -> None:
    """Logs the faults in the order of the tokens, of which the last is END, until the log is full."""
    walk = _Walk(query, limits, log)
    for token in tokens:
        walk.step(token)
        if walk.too_deep or log.is_full:
            return


class _Walk:
    def __init__(self, query: str, limits: QueryLimits, log: ProblemLog) -> None:
        self._query = query
        self._limits = limits
        self._log = log
        self._previous: QueryToken | None = None
        self._wants_operand = True
        self._gap_is_logged = False
        self._open: list[tuple[QueryToken, int]] = []
        """Each open parenthesis, with the number of NOTs in force around it."""
        self._nots = 0
        """The NOTs in force at this point, inside the innermost parenthesis."""
        self._depth = 0

    @property
    def too_deep(self) -> bool:
        return self._depth > self._limits.max_depth

    def step(self, token: QueryToken) -> None:
        if self._wants_operand:
            self._step_to_operand(token)
        else:
            self._step_past_operand(token)
        self._previous = token

    def _step_to_operand(self, token: QueryToken) -> None:
        match token.kind:
            case TokenKind.OPEN | TokenKind.NOT:
                self._descend(token)
            case TokenKind.STATEMENT:
                self._wants_operand = False
            case TokenKind.TEXT:
                self._step_over_text(token)
            case TokenKind.CLOSE | TokenKind.END:
                self._log_missing_operand(token)
                self._wants_operand = False
                self._step_past_operand(token)
            case _:
                self._log_missing_operand(token)
                self._pass_operator(token)

    def _step_past_operand(self, token: QueryToken) -> None:
        match token.kind:
            case TokenKind.CLOSE if self._open:
                _, outer_nots = self._open.pop()
                self._depth -= self._nots + 1
                self._nots = outer_nots
            case TokenKind.CLOSE:
                self._log_unmatched_parenthesis(token)
            case TokenKind.END if self._open:
                self._log_unclosed_parenthesis(token)
            case TokenKind.END:
                pass
            case TokenKind.TEXT:
                self._log_text_for_operator(token)
                self._gap_is_logged = True
                return
            case TokenKind.OPEN | TokenKind.NOT | TokenKind.STATEMENT:
                self._step_over_gap(token)
            case _:
                self._pass_operator(token)
        self._gap_is_logged = False

    def _step_over_text(self, token: QueryToken) -> None:
        """Goes on as if words stood in braces, and as if signs were not there."""
        if any(map(str.isalnum, self._text(token))):
            self._log_text_for_statement(token)
            self._wants_operand = False
            self._gap_is_logged = True
        else:
            self._log_text_for_operator(token)

    def _step_over_gap(self, token: QueryToken) -> None:
        """Goes on, at an operand that follows an operand, as if AND stood between them."""
        if not self._gap_is_logged:
            self._log_missing_operator(token)
        self._wants_operand = True
        self._step_to_operand(token)

    def _pass_operator(self, token: QueryToken) -> None:
        if token.kind in _CONNECTIVES:
            self._depth -= self._nots
            self._nots = 0
        self._wants_operand = True

    def _descend(self, token: QueryToken) -> None:
        self._depth += 1
        if self.too_deep:
            self._log_too_deep(token)
        elif token.kind is TokenKind.OPEN:
            self._open.append((token, self._nots))
            self._nots = 0
        else:
            self._nots += 1
            if self._previous and self._previous.kind in _TIGHT:
                self._log_misplaced_not(token)

    def _text(self, token: QueryToken) -> str:
        return self._query[token.start : token.end]

    def _found(self, token: QueryToken) -> str:
        return "the end of the query" if token.kind is TokenKind.END else quoted(self._text(token))

    def _log_too_deep(self, token: QueryToken) -> None:
        self._log.add(
            ProblemKind.TOO_DEEP,
            token.span,
            f"parentheses and NOTs {self._depth} deep",
            f"at most {self._limits.max_depth}",
            "Leave out parentheses that change nothing, or split the query.",
        )

    def _log_misplaced_not(self, token: QueryToken) -> None:
        sign = self._text(self._previous) if self._previous else ""
        self._log.add(
            ProblemKind.MISPLACED_NOT,
            token.span,
            f"{quoted(self._text(token))} after {quoted(sign)}",
            f"a statement or a parenthesis, since {sign} binds tighter than NOT",
            f"Put NOT and what it inverts in parentheses: {{A}} {sign} (NOT {{B}})",
        )

    def _log_text_for_statement(self, token: QueryToken) -> None:
        text = self._text(token)
        self._log.add(
            ProblemKind.TEXT_OUTSIDE_BRACES,
            token.span,
            quoted(text),
            "a statement in braces",
            replacing("Put it in braces:", token.span, f"{{{text}}}"),
        )

    def _log_text_for_operator(self, token: QueryToken) -> None:
        expected = "a statement" if self._wants_operand else f"an operator ({_OPERATORS}) or the end of the query"
        instead = _INSTEAD.get(" ".join(self._text(token).casefold().split()))
        remedy = (
            Remedy(f"Write {instead}.", self._operators_at(token.span, instead))
            if instead
            else leaving_out("Leave it out, or take it into the braces of a statement.", token.span)
        )
        self._log.add(
            ProblemKind.TEXT_OUTSIDE_BRACES,
            token.span,
            quoted(self._text(token)),
            expected,
            remedy,
        )

    def _operators_at(self, span: QuerySpan, operators: str) -> tuple[Edit, ...]:
        """Returns a remedy for each of the operators that can stand here."""
        offered = [one for one in operators.split(" or ") if (one == "NOT") == self._wants_operand and "{" not in one]
        return tuple(operator_at(self._query, span, operator) for operator in offered)

    def _log_missing_operand(self, token: QueryToken) -> None:
        """Reports that `token` stands where an operand should."""
        before = self._previous
        if before is None:
            expected, remedy = "a statement at the start of the query", Remedy("Put a statement before it.")
        elif before.kind is TokenKind.OPEN:
            expected = 'a statement after "("'
            edits = (left_out(QuerySpan(before.start, token.end), "them"),) if token.kind is TokenKind.CLOSE else ()
            remedy = Remedy("Put a statement in the parentheses, or leave them out.", edits)
        else:
            sign = self._text(before)
            expected = f"a statement after {quoted(sign)}"
            remedy = leaving_out(f"Put a statement after {sign}, or leave {sign} out.", before.span, sign)
        self._log.add(ProblemKind.MISSING_OPERAND, token.span, self._found(token), expected, remedy)

    def _log_missing_operator(self, token: QueryToken) -> None:
        between, offered = ("AND or OR", ("AND", "OR")) if token.kind is TokenKind.NOT else (_OPERATORS, _EACH_OPERATOR)
        gap = QuerySpan(token.start, token.start)
        self._log.add(
            ProblemKind.MISSING_OPERATOR,
            token.span,
            self._found(token),
            "an operator before it",
            Remedy(f"Put {between} between the two.", tuple(operator_at(self._query, gap, one) for one in offered)),
        )

    def _log_unmatched_parenthesis(self, token: QueryToken) -> None:
        self._log.add(
            ProblemKind.UNMATCHED_PARENTHESIS,
            token.span,
            self._found(token),
            '"(" before it',
            leaving_out('Leave it out, or put "(" where the group begins.', token.span),
        )

    def _log_unclosed_parenthesis(self, token: QueryToken) -> None:
        innermost, _ = self._open[-1]
        missing = '")"' if len(self._open) == 1 else f'{len(self._open)} times ")"'
        self._log.add(
            ProblemKind.UNCLOSED_PARENTHESIS,
            innermost.span,
            self._found(token),
            f"{missing} before it",
            Remedy(
                'Put ")" where the group ends, or leave "(" out.',
                (
                    closed(self._query, len(self._query), ")", "Close it at the end"),
                    left_out(innermost.span, '"("'),
                ),
            ),
        )
