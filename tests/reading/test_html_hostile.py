"""Web pages that are broken or hostile: read or refused with a reason, in bounded time."""

import pytest

from proviso_service.reading.html import parse_html
from proviso_service.reading.model import ReadingLimits, UnreadableFile

_LIMITS = ReadingLimits()


def _refused(page: str) -> str:
    with pytest.raises(UnreadableFile) as caught:
        parse_html(page.encode(), _LIMITS)
    return caught.value.message


def _text(page: str) -> str:
    return parse_html(page.encode(), _LIMITS).text


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 200_000,
        "<div>" * 200_000 + "x" + "</div>" * 200_000,
        "<table><tr><td>" * 200_000,
        "<ul><li>" * 200_000,
        "<span class=a>" * 200_000 + "x",
        "".join(f"<font color={number}>" for number in range(20_000)) + "x",
    ],
)
def test_deep_nesting_is_refused(page: str) -> None:
    assert "nested too deeply" in _refused(page)


@pytest.mark.timeout(30)
def test_nesting_as_deep_as_is_accepted_is_read_without_recursion() -> None:
    assert _text("<div>" * 2_900 + "deep") == "deep"
    assert _text("<table><tr><td>" * 60 + "cell") == "cell"
    assert "tables are nested too deeply" in _refused("<table><tr><td>" * 61 + "cell")


@pytest.mark.timeout(30)
def test_tags_that_are_never_closed_are_no_nesting() -> None:
    assert _text("<p>x" * 5_000).count("x") == 5_000
    assert _text("<table>" + "<tr><td>x<td>y" * 5_000).count("x | y") == 5_000
    assert _text("<ul>" + "<li>x" * 5_000).count("- x") == 5_000
    assert _text("<a href=x>y<br>" * 5_000).count("y") == 5_000


def test_a_flood_of_tags_is_refused_before_a_tree_is_built() -> None:
    assert "more than 1,000,000 tags" in _refused("<b>" * 7_000_000)


@pytest.mark.timeout(30)
def test_floods_of_entities_and_long_attributes_are_read() -> None:
    assert _text("<p>" + "&amp;" * 400_000) == "&" * 400_000
    assert _text(f'<p title="{"x" * 5_000_000}">y</p><img src="data:{"A" * 2_000_000}">') == "y"


@pytest.mark.parametrize("attribute", ["a{}=1 ", "a{}='1'", 'a{}="1"\n', "a{}\t"])
def test_thousands_of_attributes_are_refused(attribute: str) -> None:
    attributes = "".join(attribute.format(number) for number in range(6_000))
    assert "thousands of attributes" in _refused(f"<p {attributes}>x")


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<div><p>a<b>b</p>c</i></div>d", "ab\n\nc\n\nd"),
        ("<<p>x", "<\n\nx"),
        ("x<p title='open", "x"),
        ("<td>stray</td><li>item", "stray\n\nitem"),
        ("a<!-- never closed", "a"),
        ("a<script>never closed", "a"),
        ("<p>\ud7ff&#xD800;&#x110000;</p>", "\ud7ff\ufffd\ufffd"),
        ("</html></body>after", "after"),
    ],
)
def test_broken_markup_is_read_as_browsers_do(page: str, text: str) -> None:
    assert _text(page) == text


def test_nothing_is_fetched() -> None:
    page = (
        '<base href="http://127.0.0.1:9/"><link rel=stylesheet href=x><iframe src=y></iframe><object data=z></object>x'
    )
    assert _text(page) == "x"
