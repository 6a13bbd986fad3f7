import pytest

from proviso_service.iql import IqlSyntaxError, TemplateCatalog, parse, render


def rendered(query: str, catalog: TemplateCatalog, width: int = 100) -> str:
    with pytest.raises(IqlSyntaxError) as raised:
        parse(query, catalog)
    return render(raised.value, width)


def test_mark_stands_under_the_place(catalog: TemplateCatalog) -> None:
    assert rendered("{A} AND {IS mutual clause}", catalog) == (
        'column 13: unknown template: found "mutual clause", expected the name of a template\n'
        "  {A} AND {IS mutual clause}\n"
        "              ^^^^^^^^^^^^^\n"
        '  - Use the template {IS clause called "mutual"}\n'
        "  - Say it in words: {This is a mutual clause.}"
    )


def test_end_of_the_query_is_marked_behind_it(catalog: TemplateCatalog) -> None:
    assert rendered("{A} OR", catalog).splitlines()[1:3] == ["  {A} OR", "        ^"]


def test_line_of_the_problem_is_shown(catalog: TemplateCatalog) -> None:
    lines = rendered("{A}\n  AND {IS x y}\nOR {B}", catalog).splitlines()

    assert lines[0].startswith("line 2, column 11: ")
    assert lines[1:3] == ["    AND {IS x y}", "            ^^^"]


def test_mark_ends_with_the_line(catalog: TemplateCatalog) -> None:
    assert rendered("{IS x\ny}", catalog).splitlines()[1:3] == ["  {IS x", "      ^"]


def test_each_problem_has_its_paragraph(catalog: TemplateCatalog) -> None:
    assert rendered("{} AND {}", catalog).count("\n\n") == 1


def test_wide_and_combining_characters_move_the_mark(catalog: TemplateCatalog) -> None:
    lines = rendered("{契約} AND {e\u0301} {日}", catalog).splitlines()

    assert lines[2] == "  " + " " * len("{....} AND {e} ") + "^^^^"


def test_nothing_in_a_query_steers_the_terminal(catalog: TemplateCatalog) -> None:
    shown = rendered("{IS \x1b[31m \u202e \x07 \r clause}", catalog)

    assert all(c.isprintable() for c in shown.replace("\n", ""))


@pytest.mark.parametrize("position", [1, 500, 989])
def test_long_lines_are_cut_around_the_place(position: int, catalog: TemplateCatalog) -> None:
    query = f"{{{'a' * position}}} @ {{{'b' * (990 - position)}}}"

    _, line, mark, *_ = rendered(query, catalog, width=40).splitlines()

    assert len(line) <= 2 + 40 + 6
    assert line[mark.index("^")] == "@"
