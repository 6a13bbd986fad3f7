"""What two runs of a command may print differently."""

import pytest

from tests.grpcurl_page.sameness import Correspondence

ONE, TWO, THREE = (f"{digit * 8}-aaaa-bbbb-cccc-{digit * 12}" for digit in "123")


def token(sequence: int, text: str, first: int, text_id: str = "text-1") -> str:
    return f"""\
{{
  "turnId": "t",
  "sequence": {sequence},
  "emitTime": "2026-11-22T14:18:22.2Z",
  "token": {{
    "textId": "{text_id}",
    "text": "{text}",
    "firstSequence": {first}
  }}
}}"""


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ('"createTime": "2026-11-22T14:18:22.283389Z",', '"createTime": "2027-01-02T03:04:05Z",'),
        ('"duration": "0.005188s"', '"duration": "12.1s"'),
        ('"similarity": 0.7836093902587891,', '"similarity": 2.5e-05,'),
        ('"nextPageToken": "WyI="', '"nextPageToken": "WyIwIiwg"'),
        (f'"turnId": "{ONE}"', f'"turnId": "{TWO}"'),
        (f'"permalink": "cite:{ONE}@12-34"', f'"permalink": "cite:{TWO}@12-34"'),
        (f'"callId": "call_{"a" * 24}"', f'"callId": "call_{"b" * 24}"'),
        (f'"payloadSha256": "{"a" * 64}"', f'"payloadSha256": "{"b" * 64}"'),
        ("  Message: context deadline exceeded", "  Message: Deadline Exceeded"),
        ('...\n{\n  "done": 1\n}', '{\n  "done": 1\n}'),
        (token(8, "a b c", 6), token(6, "a ", 6) + "\n" + token(8, "b c", 7)),
    ],
)
def test_what_changes_from_run_to_run_is_no_difference(here: str, there: str) -> None:
    assert not Correspondence().difference(here, there)


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ('"characterCount": 65', '"characterCount": 66'),
        ('"characterCount": 65', '"characters": 65'),
        ('"similarity": 0.78', '"similarity": 0'),
        ('"retry_delay": "1s"', '"retry_delay": "2s"'),
        (f'"contentSha256": "{"a" * 64}"', f'"contentSha256": "{"b" * 64}"'),
        (f'"sha256": "{"a" * 64}"', f'"sha256": "{"b" * 64}"'),
        ('"name": "Scratch"', '"name": ""'),
        ("  ...", ""),
        (token(8, "a b c", 6), token(8, "a b d", 6)),
        (token(8, "a b c", 6), token(6, "a ", 6, "text-2") + "\n" + token(8, "b c", 7)),
    ],
)
def test_all_else_is_a_difference(here: str, there: str) -> None:
    assert Correspondence().difference(here, there)


def test_an_id_stands_for_the_same_one_everywhere() -> None:
    same = Correspondence()
    assert not same.difference(ONE, TWO)
    assert not same.difference(f"{THREE} {ONE}", f"{ONE} {TWO}")
    assert same.difference(ONE, THREE)
    assert same.difference(TWO, TWO)
