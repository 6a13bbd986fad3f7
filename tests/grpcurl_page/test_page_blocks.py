"""How the page is read and written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grpcurl_page.page import Example, Page, PageError, examples, parse, render

TEXT = """\
# A page

```sh
one
```

<!-- cut: messages items[0,-1] -->
```text
{
  ...
}
```

Words.

```sh
two
```

```sh
three
```

```json
{}
{}
```
"""

LINES = st.lists(st.text("ab {}", max_size=5), min_size=1, max_size=3).map("\n".join)
EXAMPLES = st.builds(
    Example, st.just(0), LINES, st.none() | LINES, st.lists(st.sampled_from(["a", "b[0,-1]"]), max_size=2).map(tuple)
).filter(lambda example: example.output is not None or not example.cuts)


def test_commands_are_read_with_what_they_print_and_how_it_is_cut() -> None:
    assert examples(parse(TEXT)) == [
        Example(3, "one", "{\n  ...\n}", ("messages", "items[0,-1]")),
        Example(16, "two"),
        Example(20, "three", "{}\n{}"),
    ]


def test_a_page_that_is_read_and_written_is_the_same() -> None:
    assert render(parse(TEXT)) == TEXT


@given(st.lists(EXAMPLES, max_size=4))
def test_any_page_that_is_written_is_read_back(wanted: list[Example]) -> None:
    page: Page = []
    for example in wanted:
        page += ["\n\nwords\n\n", example]
    found = examples(parse(render(page)))
    assert [(e.command, e.output, e.cuts) for e in found] == [(e.command, e.output, e.cuts) for e in wanted]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```text\n1\n```\n", "line 1: what is printed must follow its command"),
        ("```sh\n1\n```\n\nWords.\n\n```text\n1\n```\n", "line 7: what is printed must follow"),
        ("```sh\n1\n```\n\n```text\n1\n```\n\n```text\n1\n```\n", "line 9: what is printed must follow"),
        ("```sh\n1\n```\n\n<!-- cuts: a -->\n```text\n1\n```\n", "line 6: what is printed must follow"),
        ("```bash\n1\n```\n", "line 1: a block must be sh, json or text"),
        ("```\n1\n```\n", "line 1: a block must be sh, json or text"),
        ("```sh\n1\n", "a block is not closed"),
    ],
)
def test_a_block_that_is_neither_a_command_nor_its_output_is_refused(text: str, problem: str) -> None:
    with pytest.raises(PageError, match=problem):
        parse(text)
