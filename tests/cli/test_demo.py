from hypothesis import given
from hypothesis import strategies as st

from proviso_client.v1 import chat_pb2
from proviso_service.cli.demo import story
from tests.cli.scripted_server import final, start, token, turn

TURN = turn(start(), *(token(letter) for letter in "abcdef"), final("abcdef"))


def joined(first: int, last: int) -> chat_pb2.AgentEvent:
    """The tokens of TURN from one sequence to another, as a slow reader gets them."""
    text = "".join(event.token.text for event in TURN[first - 1 : last])
    return chat_pb2.AgentEvent(
        turn_id=TURN[0].turn_id, sequence=last, token=chat_pb2.Token(text_id="a", text=text, first_sequence=first)
    )


@given(st.lists(st.integers(3, 7), unique=True).map(sorted))
def test_joined_tokens_tell_the_same_story(borders: list[int]) -> None:
    firsts = [2, *borders]
    lasts = [border - 1 for border in borders] + [7]
    retold = [TURN[0], *(joined(first, last) for first, last in zip(firsts, lasts, strict=True)), TURN[-1]]
    assert story(retold) == story(TURN)


@given(st.integers(0, len(TURN) - 1))
def test_a_lost_event_is_noticed(index: int) -> None:
    assert story([*TURN[:index], *TURN[index + 1 :]]) != story(TURN)


@given(st.integers(0, len(TURN) - 1))
def test_a_repeated_event_is_noticed(index: int) -> None:
    assert story([*TURN[: index + 1], *TURN[index:]]) != story(TURN)


def test_other_text_is_another_story() -> None:
    assert story(TURN) != story(turn(start(), *(token(letter) for letter in "abcdeX"), final("abcdef")))
