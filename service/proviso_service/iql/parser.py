"""Reads a query's text into its tree.

The text is cut into tokens, the order of the tokens is checked, and what stands in braces is read. Each of these steps
reports what is wrong, and only a query without a fault is built into a tree. Reading takes time linear in the length of
the text; recursion goes no deeper than `QueryLimits.max_depth`, because parentheses and NOTs are counted before."""

from collections.abc import Mapping, Sequence

from proviso_service.iql.content import read_statement
from proviso_service.iql.problems import IqlSyntaxError, ProblemKind, ProblemLog, replacing
from proviso_service.iql.structure import DEFAULT_LIMITS, QueryLimits, check_structure
from proviso_service.iql.syntax import And, Average, Comparator, Comparison, Expression, Not, Or, QuerySpan
from proviso_service.iql.templates import TemplateCatalog
from proviso_service.iql.tokens import QueryToken, TokenKind, has_braces, tokens_between, tokens_in_braces

_OR, _AND, _NOT, _COMPARISON, _AVERAGE = range(5)
_TIGHTNESS = {
    TokenKind.OR: _OR,
    TokenKind.AND: _AND,
    TokenKind.GREATER: _COMPARISON,
    TokenKind.LESS: _COMPARISON,
    TokenKind.PLUS: _AVERAGE,
}
_COMPARATORS = {TokenKind.GREATER: Comparator.GREATER, TokenKind.LESS: Comparator.LESS}


def parse(query: str, catalog: TemplateCatalog, limits: QueryLimits = DEFAULT_LIMITS) -> Expression:
    """Returns the query's syntax tree, with spans as positions in `query` in code points. Raises IqlSyntaxError with
    everything that is wrong with the query, as far as one fault can be told from another."""
    log = ProblemLog()
    if len(query) > limits.max_length:
        _log_too_long(query, limits, log)
        raise IqlSyntaxError(query, log.in_order())
    tokens = _tokens(query, log)
    if tokens and tokens[-1].kind is TokenKind.END:
        check_structure(query, tokens, limits, log)
    leaves = _leaves(query, tokens, catalog, limits, log)
    if log:
        raise IqlSyntaxError(query, log.in_order())
    return _TreeBuilder(tokens, leaves).expression(_OR)


def _tokens(query: str, log: ProblemLog) -> list[QueryToken]:
    """Returns the tokens. END is missing when the braces have a fault, which is logged, and when there is no query."""
    if has_braces(query):
        return tokens_in_braces(query, log)
    end = QueryToken(TokenKind.END, len(query), len(query))
    tokens = [*tokens_between(query, 0, len(query)), end]
    if any(token.kind is TokenKind.TEXT for token in tokens):
        start = len(query) - len(query.lstrip())
        return [QueryToken(TokenKind.STATEMENT, start, start + len(query.strip())), end]
    if len(tokens) == 1:
        _log_empty(query, log)
        return []
    return tokens


def _leaves(
    query: str, tokens: Sequence[QueryToken], catalog: TemplateCatalog, limits: QueryLimits, log: ProblemLog
) -> dict[int, Expression]:
    """Returns the statements and templates by the position of their token."""
    written = [token for token in tokens if token.kind is TokenKind.STATEMENT]
    if len(written) > limits.max_statements:
        _log_too_many(written, limits, log)
    read = {token.start: read_statement(query, token.span, catalog, log) for token in written[: limits.max_statements]}
    return {start: leaf for start, leaf in read.items() if leaf}


class _TreeBuilder:
    """Builds a tree by precedence climbing over tokens that are known to be in order."""

    def __init__(self, tokens: Sequence[QueryToken], leaves: Mapping[int, Expression]) -> None:
        self._tokens = tokens
        self._leaves = leaves
        self._next = 0

    def expression(self, floor: int) -> Expression:
        """Returns the tree of as much as operators at least as tight as `floor` hold together."""
        start = self._tokens[self._next].start
        tree = self._operand()
        while (tightness := _TIGHTNESS.get(self._tokens[self._next].kind, -1)) >= floor:
            tree = self._operation(tree, tightness, start)
        return tree

    def _operand(self) -> Expression:
        token = self._take()
        if token.kind is TokenKind.STATEMENT:
            return self._leaves[token.start]
        if token.kind is TokenKind.NOT:
            return Not(self.expression(_COMPARISON), span=self._span_from(token.start))
        inside = self.expression(_OR)
        self._take()
        return inside

    def _operation(self, first: Expression, tightness: int, start: int) -> Expression:
        """Returns `first` joined with everything that operators of one tightness add to it."""
        operands, operators = [first], list[TokenKind]()
        while _TIGHTNESS.get(self._tokens[self._next].kind) == tightness:
            operators.append(self._take().kind)
            operands.append(self.expression(tightness + 1))
        span = self._span_from(start)
        if tightness == _OR:
            return Or.of(operands, span)
        if tightness == _AND:
            return And.of(operands, span)
        if tightness == _AVERAGE:
            return Average(tuple(operands), span=span)
        return Comparison(tuple(operands), tuple(_COMPARATORS[kind] for kind in operators), span=span)

    def _take(self) -> QueryToken:
        token = self._tokens[self._next]
        self._next += 1
        return token

    def _span_from(self, start: int) -> QuerySpan:
        return QuerySpan(start, self._tokens[self._next - 1].end)


def _log_empty(query: str, log: ProblemLog) -> None:
    log.add(
        ProblemKind.EMPTY_QUERY,
        QuerySpan(0, len(query)),
        "nothing",
        "a statement",
        replacing("Write for example", QuerySpan(0, len(query)), "{IS confidentiality clause}"),
    )


def _log_too_long(query: str, limits: QueryLimits, log: ProblemLog) -> None:
    log.add(
        ProblemKind.TOO_LONG,
        QuerySpan(limits.max_length, len(query)),
        f"{len(query):,} characters",
        f"at most {limits.max_length:,}",
        "Shorten the statements, or ask several queries.",
    )


def _log_too_many(written: Sequence[QueryToken], limits: QueryLimits, log: ProblemLog) -> None:
    log.add(
        ProblemKind.TOO_MANY_STATEMENTS,
        QuerySpan(written[limits.max_statements].start, written[-1].end),
        f"{len(written):,} statements",
        f"at most {limits.max_statements:,}",
        "Ask several queries.",
    )
