"""What is left out of an output, and what stands in its place."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grpcurl_page.cuts import CutError, shortened

OUTPUT = """\
{
  "items": [
    {
      "name": "a"
    },
    {
      "name": "b"
    },
    {
      "name": "c"
    }
  ],
  "text": "long",
  "fill": {
    "used": 1
  },
  "last": "end"
}"""

JSON = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.sampled_from("xy"), values),
    max_leaves=6,
)


def test_what_fields_hold_is_left_out_and_their_names_stay() -> None:
    assert shortened(OUTPUT, ["items", "text", "fill", "last"]) == (
        '{\n  "items": [...],\n  "text": "...",\n  "fill": {...},\n  "last": "..."\n}'
    )


def test_the_elements_of_a_list_that_are_named_stay() -> None:
    kept = shortened(OUTPUT, ["items[0,-1]", "fill", "text"])
    assert '"a"\n    },\n    ...\n    {\n      "name": "c"' in kept
    assert '"b"' not in kept


def test_the_messages_of_a_stream_that_are_named_stay() -> None:
    stream = '{\n  "n": 1\n}\n{\n  "n": 2\n}\n{\n  "n": 3\n}'
    assert shortened(stream, ["[-1]"]) == '...\n{\n  "n": 3\n}'
    assert shortened(stream, ["[0,1,5]"]) == '{\n  "n": 1\n}\n{\n  "n": 2\n}\n...'


def test_the_details_of_an_error_can_be_left_out() -> None:
    assert (
        shortened("ERROR:\n  Code: A\n  Details:\n  1)\t{\n  }", ["Details"]) == "ERROR:\n  Code: A\n  Details:\n  ..."
    )


@given(st.lists(JSON, min_size=1, max_size=6), st.lists(st.integers(-7, 6), min_size=1, max_size=3))
def test_the_elements_of_any_list_that_stay_are_as_they_were(values: list[object], kept: list[int]) -> None:
    numbers = range(len(values))
    places = {numbers[place] for place in kept if -len(values) <= place < len(values)}
    marked = json.dumps({"list": [value if place in places else "@" for place, value in enumerate(values)]}, indent=2)
    wanted = re.sub(r'(^    "@",?\n)+', "    ...\n", marked, flags=re.MULTILINE)
    output = json.dumps({"list": values}, indent=2)
    assert shortened(output, [f"list[{','.join(map(str, kept))}]"]) == wanted


@pytest.mark.parametrize(
    ("cut", "problem"),
    [("missing", "no such field"), ("used", "cannot be cut"), ("[a]", "must be a name"), ("Details", "there are none")],
)
def test_a_cut_that_cannot_be_made_is_refused(cut: str, problem: str) -> None:
    with pytest.raises(CutError, match=problem):
        shortened(OUTPUT, [cut])
