"""File names as callers send them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.errors import InvalidRequest
from proviso_service.matters.validation import clean_filename


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("lease.md", "lease.md"),
        ("/etc/passwd", "passwd"),
        ("C:\\fakepath\\lease.md", "lease.md"),
        ("Cafe\u0301.md", "Caf\u00e9.md"),
        ("\u0646\u0627\u0645\u0647\u200c\u0627.md", "\u0646\u0627\u0645\u0647\u200c\u0627.md"),
    ],
)
def test_names_are_kept_without_folders(value: str, name: str) -> None:
    assert clean_filename("filename", value) == name


@pytest.mark.parametrize(
    "value", ["", "  ", ".", "..", "a/..", "folder/", "a\x00b", "a\tb", "a\u202efdp.md", "x" * 256]
)
def test_names_that_mislead_or_are_none_are_refused(value: str) -> None:
    with pytest.raises(InvalidRequest):
        clean_filename("filename", value)


@given(st.text(max_size=300))
def test_a_clean_name_is_short_has_no_folder_and_stays_as_it_is(value: str) -> None:
    try:
        name = clean_filename("filename", value)
    except InvalidRequest:
        return
    assert 1 <= len(name) <= 255
    assert not set(name) & set("/\\\n\0")
    assert clean_filename("filename", name) == name
