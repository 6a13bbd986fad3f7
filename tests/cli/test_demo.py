from hypothesis import given
from hypothesis import strategies as st

from proviso_client.v1 import chat_pb2
from proviso_service.cli.demo import with_joined_tokens
from tests.cli.scripted_server import final, start, token, turn

TURN = turn(start(), *(token(letter) for letter in "abcdef"), final("abcdef"))


def joined(first: int, last: int) -> chat_pb2.AgentEvent:
    """The tokens of TURN from one sequence to another, as a slow reader gets them."""
    text = "".join(event.token.text for event in TURN[first - 1 : last])
    return chat_pb2.AgentEvent(
        turn_id=TURN[0].turn_id, sequence=last, token=chat_pb2.Token(text_id="a", text=text, first_sequence=first)
    )


@given(st.lists(st.integers(3, 7), unique=True).map(sorted))
def test_tokens_that_are_joined_otherwise_make_no_difference(borders: list[int]) -> None:
    firsts = [2, *borders]
    lasts = [border - 1 for border in borders] + [7]
    rejoined = [TURN[0], *(joined(first, last) for first, last in zip(firsts, lasts, strict=True)), TURN[-1]]
    assert with_joined_tokens(rejoined) == with_joined_tokens(TURN)


@given(st.integers(0, len(TURN) - 1))
def test_a_lost_event_is_noticed(index: int) -> None:
    assert with_joined_tokens([*TURN[:index], *TURN[index + 1 :]]) != with_joined_tokens(TURN)


@given(st.integers(0, len(TURN) - 1))
def test_a_repeated_event_is_noticed(index: int) -> None:
    assert with_joined_tokens([*TURN[: index + 1], *TURN[index:]]) != with_joined_tokens(TURN)


def test_other_text_is_noticed() -> None:
    assert with_joined_tokens(TURN) != with_joined_tokens(
        turn(start(), *(token(letter) for letter in "abcdeX"), final("abcdef"))
    )
