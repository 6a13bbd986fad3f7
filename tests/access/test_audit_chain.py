"""Whatever is done to stored events is found."""

from collections.abc import Sequence
from dataclasses import astuple, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proviso_service.access import AuditEvent, verify
from proviso_service.access.audit import hash_of

TEXTS = [name for name in AuditEvent.__slots__ if name != "sequence"]


def chain(tenant: str, length: int) -> list[AuditEvent]:
    events: list[AuditEvent] = []
    previous = ""
    for sequence in range(1, length + 1):
        values = (
            *(tenant, sequence, f"2026-01-01T00:00:{sequence:02}.000000+00:00", "ann", "pvk_1", "MatterService/X"),
            *("delete", "matter", "m", "m", "done", "ipv4:127.0.0.1:1", "r", previous),
        )
        previous = hash_of(*values)
        events.append(AuditEvent(*values, previous))
    return events


EVENTS = [*chain("", 1), *chain("acme", 6), *chain("other", 3)]
HEADS = {event.tenant: event.hash for event in EVENTS}


def _with(event: AuditEvent, name: str, value: object) -> AuditEvent:
    changed: dict[str, Any] = {name: value}
    return replace(event, **changed)


def is_sound(events: Sequence[AuditEvent]) -> bool:
    return not verify(events, HEADS.values()).fault


def test_a_chain_that_nobody_touched_is_sound() -> None:
    found = verify(EVENTS, [EVENTS[2].hash, *HEADS.values()])
    assert (found.events, found.heads, found.fault) == (10, HEADS, "")
    assert verify([]).fault == ""


def test_the_hash_is_over_the_json_of_all_values_and_the_hash_before() -> None:
    *values, stored = astuple(EVENTS[0])
    assert hash_of(*values) == stored


@given(st.integers(0, len(EVENTS) - 1), st.sampled_from(TEXTS), st.data())
def test_any_changed_byte_is_found(place: int, name: str, data: st.DataObject) -> None:
    stored = getattr(EVENTS[place], name)
    if not stored:
        changed = "x"
    else:
        at = data.draw(st.integers(0, len(stored) - 1))
        byte = data.draw(st.characters(max_codepoint=127).filter(lambda one: one != stored[at]))
        changed = stored[:at] + byte + stored[at + 1 :]
    assert not is_sound([*EVENTS[:place], _with(EVENTS[place], name, changed), *EVENTS[place + 1 :]])


@given(st.integers(0, len(EVENTS) - 1), st.integers(-(2**40), 2**40))
def test_any_changed_number_is_found(place: int, number: int) -> None:
    event = EVENTS[place]
    assert is_sound([*EVENTS[:place], replace(event, sequence=number), *EVENTS[place + 1 :]]) == (
        number == event.sequence
    )


@given(st.sets(st.integers(0, len(EVENTS) - 1), min_size=1))
def test_any_removed_event_is_found(gone: set[int]) -> None:
    assert not is_sound([event for place, event in enumerate(EVENTS) if place not in gone])


@given(st.permutations(EVENTS))
def test_any_other_order_is_found(order: list[AuditEvent]) -> None:
    ordered = sorted(order, key=lambda event: event.tenant)
    assert is_sound(ordered) == (ordered == EVENTS)


def test_events_that_were_all_written_anew_are_found_by_an_earlier_head() -> None:
    forged = chain("acme", 5)
    assert verify(forged).fault == ""
    assert "no event has the hash" in verify(forged, [HEADS["acme"]]).fault
