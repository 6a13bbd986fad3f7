"""The contract breaks no caller: its kinds and names can be read in every language, and what was there still is."""

import pytest

from tests.contract_guard.elements import PROTOS, Contract, compiled
from tests.contract_guard.names import NAMES_FILE, breaks, names_of, read
from tests.contract_guard.rules import RULES, Rule


@pytest.fixture(scope="module")
def contract() -> Contract:
    return compiled(PROTOS)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_contract_keeps_the_rule(rule: Rule, contract: Contract) -> None:
    problems = list(rule(contract))
    assert not problems, "\n".join(problems)


def test_nothing_that_callers_rely_on_is_gone_or_changed(contract: Contract) -> None:
    problems = breaks(read(NAMES_FILE), names_of(contract))
    assert not problems, "\n".join(problems)


def test_every_new_name_is_kept(contract: Contract) -> None:
    added = names_of(contract).keys() - read(NAMES_FILE).keys()
    assert not added, f"run `python -m tests.contract_guard.names` to keep: {', '.join(sorted(added))}"
