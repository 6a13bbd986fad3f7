"""Every method of the contract has a rule, which names every matter that its request names."""

from collections.abc import Iterator

import pytest
from google.protobuf.descriptor import Descriptor, MethodDescriptor

from proviso_service.access import Action
from proviso_service.api.interceptors.authentication import RULES
from proviso_service.api.standard_services import SERVICES

METHODS = [method for service in SERVICES for method in service.methods]
ELSEWHERE = {
    *("Chat", "Invoke", "PreviewRequestContext", "UpdateSession", "ListAuditEvents", "ListDeletions"),
    *("RetryJob", "CancelJob"),
}
"""The matter of a turn is also named by a marker or a session: the agent asks for it. That of a session is only ever
told. Auditors see what was done in all matters, also in those that are no more, and users their own deletions.
Operators retry and cancel jobs in all matters of their tenant."""


IN_MATTERS = (Action.READ_MATTER, Action.EDIT_MATTER, Action.OWN_MATTER, Action.HOLD_MATTER)


def matters_in(message: Descriptor, path: str = "") -> Iterator[str]:
    for field in message.fields:
        here = f"{path}{field.name}"
        if field.name == "matter_id":
            yield here
        elif field.message_type is not None and field.message_type.file.package == "proviso.v1":
            yield from matters_in(field.message_type, f"{here}.")


def test_the_table_has_the_methods_of_the_contract_and_no_other() -> None:
    assert {(m.containing_service.name, m.name) for m in METHODS} == {
        (service, name) for service, rules in RULES.items() for name in rules
    }


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_the_matter_of_a_request_is_asked_for(method: MethodDescriptor) -> None:
    rule = RULES[method.containing_service.name][method.name]
    if method.name not in ELSEWHERE:
        assert list(matters_in(method.input_type)) == ([rule.matter] if rule.matter else [])
        assert (rule.action in IN_MATTERS) == bool(rule.matter)


def settable(message: Descriptor, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """The names of all fields that a request has, at any depth."""
    for field in message.fields:
        yield field.name
        kind = field.message_type
        if kind is not None and kind.file.package == "proviso.v1" and kind.full_name not in seen:
            yield from settable(kind, seen | {kind.full_name})


def test_no_request_names_what_comes_from_the_credential_alone() -> None:
    named = {name for method in METHODS for name in settable(method.input_type)}
    assert "user_id" in named  # which needs the role act_for_users
    assert not {"tenant", "tenant_id", "roles", "key", "authenticated"} & named
