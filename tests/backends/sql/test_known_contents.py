"""Tests of which contents need not be written again."""

from proviso_service.backends.sql import sessions
from proviso_service.backends.sql.sessions import KnownContents


def test_only_contents_stored_lately_for_the_tenant_are_known() -> None:
    known = KnownContents()
    known.stored("acme", ["a", "b"])
    assert known.new("acme", {"a": "A", "c": "C"}) == {"c": "C"}
    assert known.new("other", {"a": "A"}) == {"a": "A"}


def test_no_more_are_remembered_than_the_bound() -> None:
    known, bound = KnownContents(), sessions._MAX_REMEMBERED
    known.stored("acme", (str(number) for number in range(bound + 2)))
    contents = {str(number): "" for number in (0, 1, 2, bound + 1)}
    assert known.new("acme", contents).keys() == {"0", "1"}
