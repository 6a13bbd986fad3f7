"""Items that the agent's folder locks are in sessions that began without them."""

from datetime import UTC, datetime

from proviso_service.context.model import IncludeMode, NewSession, SessionItem
from proviso_service.turns.sessions import Session, with_late_items
from tests.support.selection_world import rule

QUOTING = SessionItem(rule("Quoting"), IncludeMode.ALWAYS)
HOUSE = SessionItem(rule("House rules"), IncludeMode.ALWAYS)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_locked_item_joins_a_session_and_others_do_not() -> None:
    session = Session("s", (), None, NOW, NOW)
    assert with_late_items(session, NewSession((QUOTING, HOUSE), locked=frozenset({HOUSE.ref}))).items == (HOUSE,)


def test_a_session_that_has_the_locked_items_stays_as_it_is() -> None:
    session = Session("s", (HOUSE,), None, NOW, NOW)
    assert with_late_items(session, NewSession((QUOTING, HOUSE), locked=frozenset({HOUSE.ref}))) is session
