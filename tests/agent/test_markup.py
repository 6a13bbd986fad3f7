"""Markup of a reply that could load or run something, or lead somewhere."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proviso_service.agent.markup import SafeMarkup, addresses_in

GIVEN = "The policy is at https://example.com/policy, see also <https://example.com/a_(b)> and www.example.org."


def shown(*pieces: str, given_text: str = GIVEN) -> tuple[str, int]:
    """What is shown of a reply, and how many places were changed."""
    markup = SafeMarkup(lambda: addresses_in([given_text]))
    text = "".join(map(markup.feed, pieces)) + markup.finish()
    return text, markup.removed


@pytest.mark.parametrize(
    ("reply", "text", "removed"),
    [
        ("The fee [image](https://elsewhere/?q=secret) is 5.", "The fee [image] is 5.", 1),
        ("![x](https://elsewhere/?q=secret)", "[x]", 2),
        ("![](https://elsewhere/?q=secret)", "[]", 2),
        ("[![x](https://a.test/1)](https://a.test/2)", "[[x]]", 3),
        ("![a][b]\n\n[b]: https://elsewhere/?q=1", "[a][b]\n\n[b] : …", 3),
        ("[a]\n\n[a]:\n  <//elsewhere/x>", "[a]\n\n[a] :\n  < //elsewhere/x>", 2),
        ("<script>alert(1)</script>", "< script>alert(1)< /script>", 2),
        ("<img src=x onerror=alert(1)>", "< img src=x onerror=alert(1)>", 1),
        ("<!-- x --><?y?>", "< !-- x -->< ?y?>", 2),
        ("See https://elsewhere/?q=secret.", "See ….", 1),
        ("See <https://elsewhere/?q=1>, HTTP://ELSEWHERE or www.elsewhere.test/x", "See < …>, … or …", 4),
        ("[x](javascript:alert(1)) [y](//elsewhere/z) [z](data:text/html,x)", "[x] [y] [z]", 3),
        ('[x](https://elsewhere "a title") [y](<https://elsewhere/a b>)', "[x] [y]", 2),
        ("[x]( https://elsewhere", "[x] ( …", 1),
        (
            "\u898b\u308bhttps://elsewhere/a\u3002\u671f\u9593\u306f30\u65e5",
            "\u898b\u308b…\u3002\u671f\u9593\u306f30\u65e5",
            1,
        ),
        ("To\u202egro\u202c hid\u200bden\U000e0041", "Togro hidden", 0),
    ],
)
def test_what_could_load_or_run_or_lead_elsewhere_goes_and_words_stay(reply: str, text: str, removed: int) -> None:
    assert shown(reply) == (text, removed)


@pytest.mark.parametrize(
    "reply",
    [
        "See the [policy](https://example.com/policy), or https://example.com/policy. Or www.example.org!",
        "Read (https://example.com/a_(b)).",
        "See https://www.example.org/ or [there](http://www.example.org).",
        "The cap is < 5 %, a<b is not said, 3 <4; it is due! [1] “Pay” [2]: now. See [Reference X] (a) and [3].",
        "- **Term**: one year\n- `fees`\n\n| a | b |\n|---|---|\n",
    ],
)
def test_what_the_turn_was_given_and_what_is_harmless_stays(reply: str) -> None:
    assert shown(reply)[0] == reply.replace("a<b", "a< b")


def test_an_image_of_a_given_address_becomes_a_link() -> None:
    assert shown("![Policy](https://example.com/policy)") == ("[Policy](https://example.com/policy)", 1)


@pytest.mark.parametrize("reply", ["It is due![1]", "As in [1](a) and [2](see clause 4)."])
def test_a_citation_beside_an_exclamation_mark_or_a_bracket_stays_a_citation(reply: str) -> None:
    assert shown(reply)[0] == reply.replace("![", "! [").replace("](", "] (")


def test_an_address_that_only_begins_like_a_given_one_goes() -> None:
    assert shown("https://example.com/policy?q=secret [x](https://example.com/policy2)") == ("… [x]", 2)
    assert shown("https://example.com/Policy") == ("…", 1)
    assert shown("[x](javascript:www.example.org) [y](ftp://www.example.org)") == ("[x] [y]", 2)


def test_an_address_without_end_is_given_up_and_what_follows_it_is_shown() -> None:
    pieces = ["See https://elsewhere/", *["x" * 50] * 10_000, " The end."]
    assert shown(*pieces) == ("See … The end.", 1)
    assert shown("[x](", *["(" * 50] * 2_000, " The end.")[0].endswith(" The end.")


FRAGMENTS = st.sampled_from(
    (
        *"![]()<>:/x a1hw&|`\n\\\"'\u200b",
        "//",
        "https://",
        "http",
        "s://",
        "www.",
        "evil.test",
        "img ",
        "javascript:",
        "?q=1",
    )
)
LOADS = re.compile(r"!\[[^\]]*\][(\[]|<[a-z/!?]|(?<![a-z0-9])(?:https?|ftp)://|\]\([^ )]", re.IGNORECASE)


@given(st.lists(FRAGMENTS, max_size=30))
@example(["![", "x", "](", "https://", "evil.test", ")"])
@example(["<", "script", ">"])
@example(["h", "t", "t", "p", "s", ":", "/", "/", "evil.test"])
def test_however_a_reply_is_cut_into_pieces_nothing_of_it_loads_or_runs(pieces: list[str]) -> None:
    text, _ = shown(*pieces)
    assert not LOADS.search(text)
    assert text == shown("".join(pieces))[0]
