from pathlib import Path

import pytest

from proviso_service.iql import TemplateCatalog, TemplateFileError, parse, statements

WITHOUT_ARGUMENT = """adr clause · choice of venue clause · clause · confidentiality clause · entire agreement clause ·
force majeure liability limitation clause · force majeure termination clause · governing law clause · indemnity clause ·
ip assignment or license · liability cap clause · liability limitation clause · non-compete clause · obligation ·
payment clause · relevant to ai law · remedial clause · representation or warranty clause · right · step-in right ·
termination clause · termination for convenience clause · unilateral clause"""
WITH_ARGUMENT = {
    "clause called": "NAME",
    "clause entitling": "PARTY",
    "clause obligating": "PARTY",
    "clause that": "DESCRIPTION",
}

FAVOURING = """
[[template]]
name = "Clause  Favouring"
arguments = ["PARTY"]
statement = "This clause favours <PARTY> (<PARTY>!)."
meaning = "More to the party's advantage."
"""


OTHERS = """amendment clause · assignment clause · audit rights clause · change of control clause ·
dispute resolution clause · exclusivity clause · force majeure clause · insurance clause · non-disparagement clause ·
non-solicitation clause · notice clause · renewal clause · severability clause · survival clause · waiver clause"""
COUNT = 27 + 15


def test_the_27_templates_of_the_language_and_those_of_other_clauses_are_there(catalog: TemplateCatalog) -> None:
    signatures = {definition.name: definition.arguments for definition in catalog}

    names = f"{WITHOUT_ARGUMENT} · {OTHERS}".split("·")
    expected = {" ".join(name.split()): () for name in names}
    assert signatures == {**expected, **{name: (argument,) for name, argument in WITH_ARGUMENT.items()}}
    assert len(catalog) == COUNT


def test_each_template_has_its_own_statement_and_a_meaning(catalog: TemplateCatalog) -> None:
    assert len({definition.statement for definition in catalog}) == COUNT
    assert all(definition.meaning for definition in catalog)


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("limitation of liability clause", "liability limitation clause"),
        ("Limitation  of Liability", "liability limitation clause"),
        ("audit clause", "audit rights clause"),
        ("change in control clause", "change of control clause"),
        ("non-solicit clause", "non-solicitation clause"),
        ("non solicit", "non-solicitation clause"),
        ("NonCompete clause", "non-compete clause"),
        ("non compete clause", "non-compete clause"),
        ("indemnification clause", "indemnity clause"),
        ("choice of law", "governing law clause"),
        ("notices clause", "notice clause"),
    ],
)
def test_a_template_has_the_other_names_that_people_use(asked: str, name: str, catalog: TemplateCatalog) -> None:
    assert parse(f"{{IS {asked}}}", catalog) == catalog.call(name)


def test_no_alias_has_two_meanings(catalog: TemplateCatalog) -> None:
    aliases = [alias for definition in catalog for alias in definition.aliases]
    assert len(aliases) == len(set(aliases))
    assert all(catalog.get(alias) is one for one in catalog for alias in one.aliases)


def test_templates_of_a_file_have_aliases_which_yield_to_those_that_are_there(tmp_path: Path) -> None:
    text = FAVOURING.replace("arguments", 'aliases = ["Pro-Party", "venue"]\narguments')
    catalog = TemplateCatalog.load(written(tmp_path, text))
    assert parse('{IS pro party clause "Buyer"}', catalog) == catalog.call("clause favouring", "Buyer")
    assert catalog.call("venue clause").name == "choice of venue clause"


def test_every_template_can_be_called_as_its_signature_shows(catalog: TemplateCatalog) -> None:
    for definition in catalog:
        assert parse(definition.signature, catalog) == catalog.call(definition.name, *definition.arguments)


@pytest.mark.parametrize(
    ("query", "statement"),
    [
        ('{IS clause obligating "Customer"}', "This clause imposes an obligation or duty on Customer."),
        ('{IS clause entitling "Vendor, Inc."}', "This clause grants a right or entitlement to Vendor, Inc."),
        ('{IS clause that "limits liability."}', "This is a clause that limits liability."),
        ('{IS clause called "<PARTY>"}', 'This is a clause called "<PARTY>".'),
    ],
)
def test_arguments_go_into_the_statement(query: str, statement: str, catalog: TemplateCatalog) -> None:
    assert statements(parse(query, catalog)) == (statement,)


def test_calls_that_do_not_fit_a_template_are_refused(catalog: TemplateCatalog) -> None:
    for name, arguments in [("mutual clause", ()), ("clause", ("x",)), ("clause that", ()), ("clause that", (" ",))]:
        with pytest.raises(ValueError, match="template"):
            catalog.call(name, *arguments)


def test_operators_add_templates_in_a_file(tmp_path: Path) -> None:
    catalog = TemplateCatalog.load(written(tmp_path, FAVOURING))

    tree = parse('{IS CLAUSE favouring "Buyer"} AND {IS clause}', catalog)

    assert len(catalog) == COUNT + 1
    assert statements(tree)[0] == "This clause favours Buyer (Buyer!)."


def test_templates_may_take_several_arguments(tmp_path: Path) -> None:
    text = FAVOURING.replace('["PARTY"]', '["PARTY", "OTHER_2"]').replace("!", " over <OTHER_2>")
    catalog = TemplateCatalog.load(written(tmp_path, text))

    tree = parse('{IS clause favouring "A" "<PARTY>"}', catalog)

    assert statements(tree) == ("This clause favours A (A over <PARTY>).",)


def test_file_without_templates_adds_none(tmp_path: Path) -> None:
    assert len(TemplateCatalog.load(written(tmp_path, "# nothing yet"))) == COUNT


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            ("Clause  Favouring", "Payment Clause"),
            "template 1 (payment clause): the name is taken, by one of the language",
        ),
        (('arguments = ["PARTY"]', 'aliases = "pro"'), "aliases is a list of names"),
        (("Clause  Favouring", 'say \\"x\\"'), "the name is not words"),
        (("Clause  Favouring", " "), "template 1: name is missing or not text"),
        (("Clause  Favouring", "x" * 101), "name is longer than 100 characters"),
        (('name = "Clause  Favouring"', "name = 7"), "template 1: name is missing or not text"),
        (
            ("(<PARTY>!)", "<OTHER>"),
            "template 1 (clause favouring): the statement mentions <OTHER>, which is no argument",
        ),
        (('["PARTY"]', '["PARTY", "SIDE"]'), "the statement has no place for <SIDE>"),
        (('["PARTY"]', '["PARTY", "PARTY"]'), "two arguments have the same name"),
        (('["PARTY"]', '"PARTY"'), "arguments is a list of names in capitals"),
        (('["PARTY"]', '["party"]'), "arguments is a list of names in capitals"),
        (
            ("meaning", "meening"),
            "unknown key 'meening'; template 1 (clause favouring): meaning is missing or not text",
        ),
        (("[[template]]", "[[templates]]"), "[[template]] tables and nothing else"),
        (("[[template]]", "[template]"), "[[template]] tables and nothing else"),
        (('["PARTY"]', '["PARTY"'), "the file is not TOML"),
        (("favours", "favours" * 200), "statement is longer than 1,000 characters"),
    ],
)
def test_faults_of_a_file_are_named(tmp_path: Path, change: tuple[str, str], fault: str) -> None:
    path = written(tmp_path, FAVOURING.replace(*change))

    with pytest.raises(TemplateFileError) as raised:
        TemplateCatalog.load(path)

    assert str(raised.value).startswith(f"{path}: ")
    assert fault in str(raised.value)


def test_name_taken_within_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TemplateFileError) as raised:
        TemplateCatalog.load(written(tmp_path, FAVOURING * 2))

    assert raised.value.faults == (
        "template 2 (clause favouring): the name is taken, by template 1 (clause favouring)",
    )


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"\xff", "not UTF-8: byte 0"),
        (b"a = " + b"[" * 100_000, "not TOML"),
        (b"#" * 1_000_001, "larger than 1,000,000 bytes"),
        (FAVOURING.encode() * 501, "more than 500 templates"),
    ],
)
def test_files_that_cannot_be_templates_are_refused(tmp_path: Path, content: bytes, fault: str) -> None:
    path = tmp_path / "templates.toml"
    path.write_bytes(content)

    with pytest.raises(TemplateFileError, match=fault):
        TemplateCatalog.load(path)


def test_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TemplateFileError, match=r"absent\.toml: the file cannot be read: No such file"):
        TemplateCatalog.load(tmp_path / "absent.toml")


def written(folder: Path, text: str) -> Path:
    path = folder / "templates.toml"
    path.write_text(text, encoding="utf-8")
    return path
