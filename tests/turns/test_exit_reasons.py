"""The table of exit semantics says what the contract's comments say."""

import re
from pathlib import Path

import pytest

from proviso_service.turns import CAUSE_SEMANTICS, EXIT_SEMANTICS, NOT_ENOUGH_INFORMATION, ExitCause, ExitReason
from tests.support.readme_tables import exit_cause_table

PROTO = Path(__file__).parents[2] / "protos/proviso/v1/turns.proto"
PAGE = Path(__file__).parents[2] / "docs/behavioural-contract.md"
VALUE = re.compile(r"((?:  //[^\n]*\n)+)  EXIT_REASON_(\w+) = \d+;")
CAUSE = re.compile(r"((?:  //[^\n]*\n)+)  EXIT_CAUSE_(\w+) = \d+;")
LANGUAGES = {"en", "de", "fr", "es"}
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
    by_the_model = reason is ExitReason.COMPLETED
    assert bool(EXIT_SEMANTICS[reason].message) is (EXIT_SEMANTICS[reason].display_message and not by_the_model)


def documented_causes() -> dict[str, str]:
    """Retryable of each cause, from its comment."""
    found = CAUSE.findall(PROTO.read_text(encoding="utf-8"))
    comments = {name.lower(): " ".join(comment.replace("//", " ").split()) for comment, name in found}
    said = {name: re.search(r"Retryable: (not applicable|\w+)", comment) for name, comment in comments.items()}
    return {name: match[1].replace(" ", "_") for name, match in said.items() if match}


def test_the_contract_documents_which_causes_are_retryable() -> None:
    assert documented_causes() == {cause.value: CAUSE_SEMANTICS[cause].retryable.value for cause in ExitCause}


def test_the_table_of_causes_is_on_the_page_of_the_contract() -> None:
    assert "\n".join(exit_cause_table()) in PAGE.read_text(encoding="utf-8")


def test_every_end_that_is_displayed_has_words_in_four_languages() -> None:
    for end, semantics in (*EXIT_SEMANTICS.items(), *CAUSE_SEMANTICS.items()):
        by_the_model = end is ExitReason.COMPLETED
        assert set(semantics.texts) == (LANGUAGES if semantics.display_message and not by_the_model else set())
        assert len(set(semantics.texts.values())) == len(semantics.texts)


def test_no_technical_failure_reads_as_a_finding_about_the_documents() -> None:
    finding = CAUSE_SEMANTICS[ExitCause.NOTHING_FOUND].texts
    assert finding["en"] == NOT_ENOUGH_INFORMATION
    others = [semantics for cause, semantics in CAUSE_SEMANTICS.items() if cause is not ExitCause.NOTHING_FOUND]
    for semantics in [*EXIT_SEMANTICS.values(), *others]:
        assert not set(semantics.texts.values()) & set(finding.values())
