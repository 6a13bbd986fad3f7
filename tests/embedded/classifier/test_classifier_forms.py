"""Whom a clause obliges and entitles, what it is called, and what kind of statement asks for that."""

import pytest

from proviso_service.embedded.classifier.forms import duty_score, form_scores, right_score
from proviso_service.embedded.classifier.statements import Form, understand, wordings
from proviso_service.models import ModelPassage


@pytest.mark.parametrize(
    ("text", "obliged"),
    [
        ("Customer shall pay Supplier all fees.", {"Customer"}),
        ("The Customer, at its own cost, must promptly return the goods to the Supplier.", {"Customer"}),
        ("Customer and its Affiliates agree to comply with the rules.", {"Customer"}),
        ("If Customer is late, Supplier shall notify it.", {"Supplier"}),
        ("The fees shall be paid by Customer within thirty days.", {"Customer"}),
        ("Customer may not assign this Agreement; Supplier may.", {"Customer"}),
        ("Customer's employees shall wear helmets.", set()),
        ("Customer shall have the right to inspect the works of Supplier.", set()),
        ("Customer shall not be liable to Supplier.", set()),
        ("Customer may suspend payment.", set()),
        ('"Customer" shall mean the company named above.', set()),
    ],
)
def test_the_party_before_the_verb_is_obliged(text: str, obliged: set[str]) -> None:
    assert {party for party in ("Customer", "Supplier") if duty_score(text, party) > 0.5} == obliged


@pytest.mark.parametrize(
    ("text", "entitled"),
    [
        ("Supplier may suspend the services if Customer fails to pay.", {"Supplier"}),
        ("Customer shall have the right to audit Supplier.", {"Customer"}),
        ("Supplier hereby grants to Customer a license.", {"Customer"}),
        ("Customer is entitled to a refund, which Supplier shall pay.", {"Customer"}),
        ("Supplier reserves all rights in the Software.", {"Supplier"}),
        ("Supplier may not raise its prices.", set()),
        ("Customer shall pay Supplier.", set()),
    ],
)
def test_the_party_that_may_is_entitled(text: str, entitled: set[str]) -> None:
    assert {party for party in ("Customer", "Supplier") if right_score(text, party) > 0.5} == entitled


def test_a_party_may_have_a_name_of_several_words_or_letters_of_other_scripts() -> None:
    assert duty_score("The Disclosing Party shall mark it.", "the Disclosing Party") > 0.5
    assert duty_score("Société Générale (the “Bank”) shall pay.", "Société Générale") > 0.5
    assert duty_score("C++ Ltd. (UK) shall pay.", "C++ Ltd. (UK") < 0.5


@pytest.mark.parametrize("asked", ["Consultant", "Consultants", "the Consultant's", "Consultants’", "CONSULTANT"])
@pytest.mark.parametrize(
    "text",
    [
        "The Consultant shall keep records.",
        "The Consultants shall keep records.",
        "Records shall be kept by the Consultants.",
        "It is the Consultant’s sole responsibility to keep records.",
    ],
)
def test_one_and_many_and_what_they_own_are_the_same_party(asked: str, text: str) -> None:
    assert duty_score(text, asked) > 0.5


def test_the_full_stop_of_a_company_is_no_end() -> None:
    assert duty_score("Acme Robots, Inc. shall pay Orchard Ltd.", "Acme Robots, Inc.") > 0.5
    assert duty_score("Acme Robots, Inc. shall pay Orchard Ltd. It shall be late.", "Orchard Ltd.") < 0.5


def test_many_in_small_letters_are_anybody() -> None:
    assert duty_score("Other suppliers shall wait.", "Supplier") < 0.5
    assert duty_score("The supplier shall wait.", "The Supplier") > 0.5
    assert duty_score("Our suppliers shall wait.", "suppliers") > 0.5


def test_plurals_of_other_endings_are_known_too() -> None:
    assert duty_score("The Companies shall pay.", "Company") > 0.5
    assert duty_score("The Company shall pay.", "Companies") > 0.5
    assert right_score("The Trustees may resign.", "Trustee") > 0.5
    assert duty_score("The Business shall pay.", "Business") > 0.5
    assert right_score("Licensor grants to the Distributors’ agents a license.", "Distributor") < 0.5


@pytest.mark.parametrize(
    ("text", "obliged"),
    [
        ("Each Party shall keep it secret.", True),
        ("Neither of the Parties may disclose it.", True),
        ("The Parties agree to meet.", True),
        ("The other Party shall be told.", False),
        ("A Party shall be told.", False),
    ],
)
def test_each_party_is_whoever_is_bound_like_all_others(text: str, obliged: bool) -> None:
    assert (duty_score(text, "each Party") > 0.5) is obliged


PAYS = "Customer shall pay the fees."
WORSE = {
    Form.OBLIGATION: (PAYS, "The fees are due in May. They are stated in the schedule. Customer agrees to pay them."),
    Form.RIGHT: ("Customer has the right to audit.", "The fees are due in May. They are stated. Customer may ask why."),
    Form.UNILATERAL: (f"{PAYS} Customer shall keep records.", f"{PAYS} The fees are due in May, as Exhibit A states."),
    Form.CLAUSE: (f"{PAYS} It is governed by Oregon law.", "The fees may be high, as the schedule in Exhibit A shows."),
}


@pytest.mark.parametrize("form", WORSE)
@pytest.mark.parametrize("name", ["", "Customer"])
def test_what_is_more_of_a_form_scores_higher(form: Form, name: str) -> None:
    more, less = form_scores(form, name, [ModelPassage(text) for text in WORSE[form]])
    assert more > less > 0.5


def test_the_party_as_the_subject_is_more_obliged_than_by_the_way() -> None:
    assert duty_score(PAYS, "Customer") > duty_score("The fees shall be paid by Customer.", "Customer") > 0.5


def test_one_sided_duties_come_close_where_most_are_on_one_side() -> None:
    most = f"{PAYS} Customer shall keep records. Customer shall report. Supplier shall deliver."
    half = f"{PAYS} Supplier shall deliver."
    lopsided, balanced = form_scores(Form.UNILATERAL, "", [ModelPassage(most), ModelPassage(half)])
    assert balanced < lopsided < 0.5


def test_a_name_counts_more_the_more_exact_and_the_nearer_it_is() -> None:
    text = "Each party protects what is confidential."
    paths = [
        ("Confidentiality",),
        ("Confidentiality and Notices",),
        ("Confidentiality", "9.1 Effect of it"),
        ("Notices",),
    ]
    exact, wider, further, other = form_scores(
        Form.CALLED, "Confidentiality", [ModelPassage(text, path) for path in paths]
    )
    assert exact > further > wider > 0.5 > other
    (aside,) = form_scores(Form.CALLED, "Confidentiality", [ModelPassage("It survives for a year.", paths[0])])
    assert exact > aside > 0.5
    (words_only,) = form_scores(Form.CALLED, "Term of Agreement", [ModelPassage("", ("Purpose of Agreement",))])
    assert words_only < 0.5


def test_anybody_may_be_obliged_or_entitled() -> None:
    assert duty_score("It must be returned.", "") > 0.5 > duty_score("It was returned.", "")
    assert right_score("One may ask.", "") > 0.5 > right_score("One may not ask.", "")


@pytest.mark.parametrize(
    ("passage", "is_called"),
    [
        (ModelPassage("12.11 Oregon law governs this.", ("12. General", "12.11")), False),
        (ModelPassage("12.3 Neither party is liable.", ("12. Force Majeure", "12.3")), True),
        (ModelPassage("12. General\n\n12.1 Force Majeure. Neither party is liable.", ("12. General",)), True),
        (ModelPassage("Neither party is liable.", ("Terms", "14. Force Majeure")), True),
        (ModelPassage("14.1 Force Majeure. Neither party is liable.", ("14 General",)), True),
        (ModelPassage("Neither party is liable.", ("ARTICLE 9 FORCE MAJEURE", "9.2 Effect")), True),
        (ModelPassage("Force majeure means an event beyond control.", ("Definitions",)), False),
        (ModelPassage("The parties are bound.", ("Major Works",)), False),
        (ModelPassage("The parties are bound."), False),
    ],
)
def test_a_clause_is_called_what_its_heading_says(passage: ModelPassage, is_called: bool) -> None:
    assert bool(form_scores(Form.CALLED, "Force Majeure", [passage])[0] > 0.5) is is_called


@pytest.mark.parametrize(
    ("text", "form", "name"),
    [
        ('This is a clause called "Force Majeure".', Form.CALLED, "Force Majeure"),
        ("This clause imposes an obligation or duty on Customer.", Form.OBLIGATION, "Customer"),
        ("This clause imposes an obligation or duty on a party.", Form.OBLIGATION, ""),
        ("This clause grants a right or entitlement to the Owner.", Form.RIGHT, "the Owner"),
        ("This clause grants a right or entitlement to a party.", Form.RIGHT, ""),
        ("This clause obligates the Supplier.", Form.OBLIGATION, "the Supplier"),
        ("This is a unilateral clause.", Form.UNILATERAL, ""),
        ("This clause limits liability.", Form.CONTENT, ""),
        ("", Form.CONTENT, ""),
    ],
)
def test_statements_about_form_are_known(text: str, form: Form, name: str) -> None:
    understood = understand(text)
    assert (understood.form, understood.name, understood.is_denied) == (form, name, False)


def test_what_a_party_must_do_is_content_with_a_burden() -> None:
    understood = understand("This clause obligates the Supplier to deliver goods.")
    assert (understood.form, understood.name, understood.burden) == (Form.CONTENT, "the Supplier", Form.OBLIGATION)
    assert understand("This clause allows a party to leave.").burden is None


def test_a_denial_is_taken_off_the_statement() -> None:
    understood = understand("This is not a unilateral clause.")
    assert understood.is_denied
    assert understood.form is Form.UNILATERAL


def test_a_statement_that_explains_its_name_has_two_wordings() -> None:
    assert wordings(understand("This is a clause about Rent. How much is due?")) == (
        "This is a clause about Rent. How much is due?",
        "This is a clause about Rent.",
    )
    assert wordings(understand("This clause limits liability.")) == ("This clause limits liability.",)


@pytest.mark.parametrize("piece", [", a,, b", "Customer, ", "Customer and its A B ", "surely ", "(a", " to", "\t \n"])
def test_hostile_texts_take_no_longer_than_others(piece: str) -> None:
    """Each would keep a pattern that can match in several ways busy for ages: the time limit of tests decides."""
    text = f"Customer{piece * 5_000}"
    assert duty_score(text, "Customer") < 0.5
    assert right_score(text, "Customer") < 0.5
    form_scores(Form.UNILATERAL, "", [ModelPassage(text)])
    understand(f"This clause imposes a duty on {text}")
