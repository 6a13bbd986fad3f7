"""The table of exit semantics says what the contract's comments say."""

import re
from pathlib import Path

import pytest

from proviso_service.turns import EXIT_SEMANTICS, ExitReason

PROTO = Path(__file__).parents[2] / "protos/proviso/v1/turns.proto"
VALUE = re.compile(r"((?:  //[^\n]*\n)+)  EXIT_REASON_(\w+) = \d+;")
SEMANTICS = re.compile(r"Retryable: (not applicable|\w+).*Display: (yes|no)\.$")


def documented() -> dict[str, tuple[str, str]]:
    """(retryable, display) of each value, from its comment."""
    found = {}
    for comment, name in VALUE.findall(PROTO.read_text(encoding="utf-8")):
        said = SEMANTICS.search(" ".join(comment.replace("//", " ").split()))
        if said is not None:
            found[name.lower()] = (said[1].replace(" ", "_"), said[2])
    return found


@pytest.mark.parametrize("reason", ExitReason)
def test_the_contract_documents_what_the_service_does(reason: ExitReason) -> None:
    semantics = EXIT_SEMANTICS[reason]
    assert documented()[reason.value] == (semantics.retryable.value, "yes" if semantics.display_message else "no")


def test_every_documented_reason_exists() -> None:
    assert set(documented()) == {reason.value for reason in ExitReason}
    assert set(EXIT_SEMANTICS) == set(ExitReason)


@pytest.mark.parametrize("reason", ExitReason)
def test_what_is_displayed_has_words_or_comes_from_the_model(reason: ExitReason) -> None:
    by_the_model = reason in (ExitReason.COMPLETED, ExitReason.MAX_TOOL_CALLS_REACHED)
    assert bool(EXIT_SEMANTICS[reason].message) is (EXIT_SEMANTICS[reason].display_message and not by_the_model)
