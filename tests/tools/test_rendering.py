"""Tool results are cut to their budget and stay JSON."""

import json

from hypothesis import given
from hypothesis import strategies as st

from proviso_service.tools.rendering import MIN_TEXT_CHARS, fit_list, fitting_length, to_json

texts = st.text(max_size=400)


@given(st.lists(texts, max_size=12), st.integers(0, 1_500))
def test_a_list_loses_items_from_its_end_until_it_fits(items: list[str], budget: int) -> None:
    payload = {"results": [{"text": item} for item in items], "total": len(items)}
    rendered = fit_list(payload, "results", budget, text_key="text")
    read = json.loads(rendered.text)
    assert read["total"] == len(items)
    assert read["truncated"] is rendered.truncated
    kept = [r["text"] for r in read["results"]]
    assert kept[1:] == items[1 : len(kept)]
    assert not kept or items[0].startswith(kept[0])
    shortest = len(json.dumps(payload | {"results": [], "truncated": True}, separators=(",", ":")))
    assert len(rendered.text) <= max(budget, shortest + 8 * MIN_TEXT_CHARS)


@given(texts, st.integers(0, 600))
def test_a_text_is_cut_at_its_end(text: str, budget: int) -> None:
    payload = {"text": text, "truncated": False}
    length = fitting_length(payload, "text", budget)
    whole, cut = to_json(payload), to_json({"text": text[:length], "truncated": True})
    assert (length == len(text)) is (len(whole) <= budget or len(text) <= MIN_TEXT_CHARS)
    assert length == len(text) or len(cut) <= max(budget, 8 * MIN_TEXT_CHARS)
