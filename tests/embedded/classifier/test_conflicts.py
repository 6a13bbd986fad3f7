"""A text that gives another figure, date or law than a statement says otherwise."""

import pytest

from proviso_service.embedded.classifier.conflicts import conflicts


@pytest.mark.parametrize(
    ("statement", "text", "differs"),
    [
        ("The notice period is sixty days.", "It ends on thirty (30) days' notice.", True),
        ("The notice period is sixty days.", "It ends on sixty (60) days' notice.", False),
        ("The notice period is sixty days.", "It ends on two months' notice.", False),
        ("The notice period is sixty days.", "It ends on notice.", False),
        ("The cap is USD 1,000,000.", "Liability is limited to one million dollars ($1,000,000).", False),
        ("The cap is USD 1,000,000.", "Liability is limited to $500,000.", True),
        ("The contract began on 1 May 2021.", "It is made as of June 21, 1999.", True),
        ("The contract began on 1 May 2021.", "It is made as of May 1, 2021.", False),
        ("It is governed by the laws of New York.", "The laws of the State of Delaware govern it.", True),
        ("It is governed by the laws of New York.", "The laws of the State of New York govern it.", False),
        ("It is governed by New York law.", "There are 30 days to pay.", False),
        ("Either party may end it.", "It ends after 30 days, under the laws of Delaware.", False),
        ("", "", False),
    ],
)
def test_another_figure_date_or_law_is_a_conflict(statement: str, text: str, differs: bool) -> None:
    assert conflicts(statement, [text]).tolist() == [differs]


def test_no_texts_have_no_conflicts() -> None:
    assert conflicts("The notice period is sixty days.", []).tolist() == []
