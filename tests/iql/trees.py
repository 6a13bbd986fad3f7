"""Random syntax trees, within the limits of a query."""

from hypothesis import strategies as st

from proviso_service.iql import (
    And,
    Average,
    Comparator,
    Comparison,
    Expression,
    Not,
    Or,
    Statement,
    Template,
    TemplateCatalog,
)

CATALOG = TemplateCatalog.load()

_words = st.text(max_size=20) | st.text(alphabet='IS \\{}"()+<>andANDorNOT', max_size=20)
words = _words.map(str.strip).filter(bool)
"""Anything that may be said in a statement, the language's own signs among it."""


@st.composite
def templates(draw: st.DrawFn) -> Template:
    definition = draw(st.sampled_from(list(CATALOG)))
    return CATALOG.call(definition.name, *(draw(words) for _ in definition.arguments))


def _operators(operands: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    several = st.lists(operands, min_size=2, max_size=4).map(tuple)
    return st.one_of(
        operands.map(Not), several.map(And.of), several.map(Or.of), several.map(Average), several.flatmap(_comparisons)
    )


def _comparisons(operands: tuple[Expression, ...]) -> st.SearchStrategy[Expression]:
    count = len(operands) - 1
    comparators = st.lists(st.sampled_from(Comparator), min_size=count, max_size=count)
    return comparators.map(lambda found: Comparison(operands, tuple(found)))


def trees(leaves: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.recursive(leaves, _operators, max_leaves=12)


any_tree = trees(words.map(Statement) | templates())
