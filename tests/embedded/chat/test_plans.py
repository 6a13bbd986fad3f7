"""The table of plans: every request has one, and none of them is in vain."""

from itertools import product

import pytest

from proviso_service.embedded.chat.clause_queries import ClauseQuery
from proviso_service.embedded.chat.phrases import Intent
from proviso_service.embedded.chat.planning import MAX_CALLS, Plan, facts_of, made_of, plans
from proviso_service.embedded.chat.request import TargetDocuments, UserRequest
from proviso_service.tool_results import ListedDocument

FACTS = facts_of(UserRequest(Intent.FACT, "Who pays?"), TargetDocuments(), {})


def names_of(plan: Plan) -> set[str]:
    return {one.removeprefix("!") for condition in plan.when for one in condition.split("|")}


def test_plans_ask_only_about_what_is_told_of_a_request() -> None:
    assert {name for plan in plans() for name in names_of(plan)} <= set(FACTS)


@pytest.mark.parametrize("plan", plans(), ids=lambda plan: " and ".join(plan.when) or "else")
def test_the_calls_of_a_plan_can_be_made(plan: Plan) -> None:
    request = UserRequest(Intent.FACT, "Who pays?", clauses=ClauseQuery("{rent}"))
    one = TargetDocuments((ListedDocument(document_id="a", filename="Lease.pdf"),))
    made = [call for wanted in plan.calls for call in made_of(request, one, wanted)]
    assert 0 < len(made) < MAX_CALLS


def test_every_request_has_a_plan() -> None:
    assert plans()[-1].when == []


@pytest.mark.parametrize("plan", plans(), ids=lambda plan: " and ".join(plan.when) or "else")
def test_a_plan_is_taken_by_some_request(plan: Plan) -> None:
    others = {name: name.startswith("offers ") for name in FACTS}
    chosen = (
        next(one for one in plans() if one.fits(facts))
        for intent, holding in product(Intent, product((False, True), repeat=len(names_of(plan))))
        for facts in [others | dict(zip(sorted(names_of(plan)), holding, strict=True)) | {str(intent): True}]
    )
    assert any(one is plan for one in chosen)
