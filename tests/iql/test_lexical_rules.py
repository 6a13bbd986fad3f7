import pytest

from proviso_service.iql import And, Statement, TemplateCatalog, parse


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("{This is a confidentiality clause.}", "This is a confidentiality clause."),
        ("This is a confidentiality clause.", "This is a confidentiality clause."),
        ("  \n{ \t spaced  out\u00a0}\n", "spaced  out"),
        ("  bare and spaced ", "bare and spaced"),
        (r"{a \{b\} c}", "a {b} c"),
        (r"\{A\}", "{A}"),
        (r"{\\\}}", r"\}"),
        (r"{\\}", "\\"),
        (r"{C:\dir\\file\n}", r"C:\dir\file\n"),
        (r"{says \"x\"}", r"says \"x\""),
        ('{a "quoted" word}', 'a "quoted" word'),
        (r"{\IS a clause}", "IS a clause"),
        (r"{\IS}", "IS"),
        (r"\IS confidentiality clause", "IS confidentiality clause"),
        (r"{\ISO 9001}", r"\ISO 9001"),
        (r"{\\IS a clause}", r"\IS a clause"),
        ("{ISO 9001}", "ISO 9001"),
        ("{Is there a cap on liability?}", "Is there a cap on liability?"),
        ("{is confidentiality clause}", "is confidentiality clause"),
        ("{Buyer AND seller (NOT agents) + others > 3}", "Buyer AND seller (NOT agents) + others > 3"),
        ("Buyer and seller", "Buyer and seller"),
        ("{LICENCE IS NOT TRANSFERABLE AND IS VOID IF TRANSFERRED}",) * 2,
        ("{‘typographic’ “quotes”}", "‘typographic’ “quotes”"),
        ("{契約 🙂}", "契約 🙂"),
    ],
)
def test_statement_in_words(query: str, text: str, catalog: TemplateCatalog) -> None:
    text = text[1:-1] if text == query and text.startswith("{") else text

    assert parse(query, catalog) == Statement(text)


@pytest.mark.parametrize(
    ("query", "name", "arguments"),
    [
        ("IS confidentiality clause", "confidentiality clause", ()),
        ("{ IS  Confidentiality\n CLAUSE }", "confidentiality clause", ()),
        ('IS clause called "Notices"', "clause called", ("Notices",)),
        ('{IS clause called"Notices"}', "clause called", ("Notices",)),
        ('{IS clause called "  Notices "}', "clause called", ("Notices",)),
        (r'{IS clause called "the \"Fee\""}', "clause called", ('the "Fee"',)),
        (r'{IS clause called "\{x\} \\ \n"}', "clause called", (r"{x} \ \n",)),
        ('{IS clause called "a > b AND (c) “d”"}', "clause called", ("a > b AND (c) “d”",)),
        ("{IS ip assignment or license}", "ip assignment or license", ()),
        ("{IS Non-Compete clause}", "non-compete clause", ()),
    ],
)
def test_template_call(query: str, name: str, arguments: tuple[str, ...], catalog: TemplateCatalog) -> None:
    assert parse(query, catalog) == catalog.call(name, *arguments)


@pytest.mark.parametrize("query", ["{A} AND {B}", "{A} and {B}", "{A}And{B}", "({A})AND((\n{B}))"])
def test_operator_words_in_any_case_and_spacing(query: str, catalog: TemplateCatalog) -> None:
    assert parse(query, catalog) == And((Statement("A"), Statement("B")))
