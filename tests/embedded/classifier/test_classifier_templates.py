"""Every template tells a clause that it means from one that only sounds like it; so do free statements."""

import asyncio
from collections.abc import Iterator

import pytest

from proviso_service.embedded import EmbeddedClassifier, MiniLmEmbedder
from proviso_service.iql.templates import TemplateCatalog
from proviso_service.models import ModelPassage

GOVERNING_LAW = (
    "This Agreement shall be governed by and construed in accordance with the laws of the State of Oregon, without"
    " regard to its conflict of laws principles."
)
VENUE = (
    "Each party submits to the exclusive jurisdiction of the state and federal courts located in Portland, and waives"
    " any objection to venue in those courts."
)
INDEMNITY = (
    "Supplier shall indemnify, defend and hold harmless Customer from and against all losses, claims and damages that"
    " arise from Supplier's negligence."
)
INDEMNITY_BY_CUSTOMER = (
    "Customer shall indemnify, defend and hold harmless Supplier from and against all losses, claims and damages that"
    " arise from Customer's negligence."
)
CAP = (
    "In no event shall the total aggregate liability of either party under this Agreement exceed the fees paid by"
    " Customer in the twelve months before the claim arose."
)
EXCLUDED = (
    "Neither party shall be liable to the other for any indirect, incidental, special or consequential damages, or for"
    " lost profits."
)
FORCE_MAJEURE = (
    "Neither party shall be liable for any failure or delay in its performance that is caused by acts of God, war,"
    " strikes or other events beyond its reasonable control."
)
FORCE_MAJEURE_END = (
    "If a Force Majeure Event continues for more than ninety days, either party may terminate this Agreement by written"
    " notice to the other."
)
FOR_CAUSE = (
    "Either party may terminate this Agreement by written notice if the other commits a material breach that it does"
    " not cure within thirty days."
)
AT_WILL = (
    "Customer may terminate this Agreement for convenience at any time, for any reason or no reason, upon thirty days'"
    " prior written notice."
)
PAYMENT = (
    "Customer shall pay each invoice within thirty days of its receipt, by wire transfer of United States dollars."
)
LATE = (
    "Any amount that is not paid when due shall bear interest at the rate of one percent per month, and Supplier may"
    " suspend the services until it has been paid."
)
LATE_DELIVERY = (
    "If Supplier delivers late, it shall pay as liquidated damages, and not as a penalty, one percent of the price for"
    " each week of delay; if the delay exceeds ten weeks, Customer may terminate this Agreement."
)
WARRANTY = (
    "Seller represents and warrants to Buyer that the goods are free from defects in material and workmanship and"
    " conform to the specifications."
)
CONFIDENTIALITY = (
    "The Receiving Party shall keep the Confidential Information of the other party in confidence, shall not disclose"
    " it to any third party and shall use it only to perform this Agreement."
)
LICENSE = "Licensor grants to Licensee a non-exclusive, worldwide license to use, copy and modify the Software."
NON_COMPETE = (
    "For two years after the end of this Agreement the Consultant shall not directly or indirectly engage in any"
    " business that competes with the Company."
)
NOTICES = "All notices shall be in writing and shall be sent by registered mail to the addresses set out above."
AMENDMENT = "This Agreement may be amended or modified only by a written instrument that both parties have signed."
ASSIGNMENT = (
    "Neither party may assign this Agreement or any of its rights without the prior written consent of the other."
)
RECITAL = "Portland and Salem, cities of some size, lie in the valley of the Willamette, where hops are grown."
SIGNATURES = "By: ____ Name: Ann Example Title: Chief Executive Officer"

TEMPLATES = [
    (
        ("adr clause",),
        (
            "Any dispute that arises out of this Agreement shall first be referred to mediation and, if it is not"
            " settled within thirty days, be finally settled by binding arbitration."
        ),
        VENUE,
    ),
    (("choice of venue clause",), VENUE, GOVERNING_LAW),
    (("clause",), PAYMENT, SIGNATURES),
    (("clause called", "Governing Law"), f"12.4 Governing Law. {GOVERNING_LAW}", f"12.5 Notices. {NOTICES}"),
    (("clause entitling", "Customer"), AT_WILL, PAYMENT),
    (("clause obligating", "Customer"), PAYMENT, INDEMNITY),
    (("clause that", "limits the liability of a party"), EXCLUDED, INDEMNITY),
    (("confidentiality clause",), CONFIDENTIALITY, NOTICES),
    (
        ("entire agreement clause",),
        (
            "This Agreement constitutes the entire agreement between the parties on its subject matter and supersedes"
            " all prior negotiations and understandings."
        ),
        FOR_CAUSE,
    ),
    (("force majeure liability limitation clause",), FORCE_MAJEURE, EXCLUDED),
    (("force majeure termination clause",), FORCE_MAJEURE_END, FOR_CAUSE),
    (("governing law clause",), GOVERNING_LAW, VENUE),
    (("indemnity clause",), INDEMNITY, EXCLUDED),
    (
        ("ip assignment or license",),
        (
            "Contractor hereby assigns to the Company all right, title and interest in the inventions, copyrights and"
            " other intellectual property that it makes in the course of the services."
        ),
        "Neither party may assign this Agreement without the prior written consent of the other party.",
    ),
    (("liability cap clause",), CAP, INDEMNITY),
    (("liability limitation clause",), EXCLUDED, INDEMNITY),
    (("non-compete clause",), NON_COMPETE, CONFIDENTIALITY),
    (("obligation",), PAYMENT, RECITAL),
    (("payment clause",), PAYMENT, NOTICES),
    (
        ("relevant to ai law",),
        "Provider shall comply with the Artificial Intelligence Act in the development of any high-risk AI system.",
        LICENSE,
    ),
    (("remedial clause",), LATE_DELIVERY, PAYMENT),
    (("representation or warranty clause",), WARRANTY, INDEMNITY),
    (("right",), AT_WILL, GOVERNING_LAW),
    (
        ("step-in right",),
        (
            "If the Contractor fails to perform, the Owner may step in and take over the performance of the works at"
            " the Contractor's expense."
        ),
        FOR_CAUSE,
    ),
    (("termination clause",), FOR_CAUSE, CONFIDENTIALITY),
    (("termination for convenience clause",), AT_WILL, FOR_CAUSE),
    (("unilateral clause",), NON_COMPETE, FORCE_MAJEURE),
    (("amendment clause",), AMENDMENT, NOTICES),
    (("assignment clause",), ASSIGNMENT, AT_WILL),
    (
        ("audit rights clause",),
        (
            "Licensor may, upon ten days' notice, audit the books and records of Licensee to verify the royalties that"
            " are due."
        ),
        PAYMENT,
    ),
    (
        ("change of control clause",),
        (
            "If Supplier undergoes a change of control, whether by merger, by sale of a majority of its shares or"
            " otherwise, Customer may terminate this Agreement."
        ),
        FOR_CAUSE,
    ),
    (
        ("dispute resolution clause",),
        "The parties shall try to resolve any dispute by good faith negotiation before either of them goes to court.",
        GOVERNING_LAW,
    ),
    (
        ("exclusivity clause",),
        "Distributor shall be the sole and exclusive distributor of the Products in the Territory during the term.",
        PAYMENT,
    ),
    (("force majeure clause",), FORCE_MAJEURE, EXCLUDED),
    (
        ("insurance clause",),
        "Contractor shall maintain commercial general liability insurance with limits of one million dollars.",
        CAP,
    ),
    (
        ("non-disparagement clause",),
        "Neither party shall make any disparaging or defamatory statement about the other or its products.",
        CONFIDENTIALITY,
    ),
    (
        ("non-solicitation clause",),
        "For one year Consultant shall not solicit or hire any employee of the Company.",
        PAYMENT,
    ),
    (("notice clause",), NOTICES, FOR_CAUSE),
    (
        ("renewal clause",),
        "This Agreement renews automatically for successive terms of one year unless a party gives notice.",
        PAYMENT,
    ),
    (
        ("severability clause",),
        "If any provision of this Agreement is held invalid, the remaining provisions stay in full force and effect.",
        AMENDMENT,
    ),
    (
        ("survival clause",),
        "Sections 5, 7 and 9 shall survive the expiration or termination of this Agreement.",
        FOR_CAUSE,
    ),
    (
        ("waiver clause",),
        "No failure or delay by a party in exercising any right under this Agreement operates as a waiver of it.",
        AMENDMENT,
    ),
]

FREE = [
    ("This clause limits liability.", EXCLUDED, INDEMNITY),
    ("The contract is governed by the law of Oregon.", GOVERNING_LAW, VENUE),
    ("The consultant may not compete with the company.", NON_COMPETE, CONFIDENTIALITY),
    ("Interest is due on late payments.", LATE, PAYMENT),
    ("This is a clause about Insurance. Must a party keep insurance?", ("Tenant shall maintain liability insurance and"
     " name Landlord as an additional insured."), INDEMNITY),
    ("This clause obligates the Supplier to indemnify the Customer.", INDEMNITY, INDEMNITY_BY_CUSTOMER),
]  # fmt: skip


@pytest.fixture(scope="module")
def classifier(embedder: MiniLmEmbedder) -> Iterator[EmbeddedClassifier]:
    classifier = EmbeddedClassifier.load(embedder)
    yield classifier
    asyncio.run(classifier.close())


def test_every_template_is_tried() -> None:
    assert sorted(call[0] for call, _, _ in TEMPLATES) == sorted(one.name for one in TemplateCatalog.load())


@pytest.mark.parametrize(("call", "meant", "near_miss"), TEMPLATES, ids=[call[0] for call, _, _ in TEMPLATES])
async def test_a_template_tells_its_clause_from_a_near_miss(
    classifier: EmbeddedClassifier, call: tuple[str, ...], meant: str, near_miss: str
) -> None:
    definitions = {one.name: one for one in TemplateCatalog.load()}
    statement = definitions[call[0]].in_words(call[1:])
    yes, no = await classifier.score(statement, [ModelPassage(meant), ModelPassage(near_miss)])
    assert yes > 0.5 > no, (statement, yes, no)


@pytest.mark.parametrize(("statement", "meant", "near_miss"), FREE, ids=[statement for statement, _, _ in FREE])
async def test_a_free_statement_tells_its_clause_from_a_near_miss(
    classifier: EmbeddedClassifier, statement: str, meant: str, near_miss: str
) -> None:
    yes, no = await classifier.score(statement, [ModelPassage(meant), ModelPassage(near_miss)])
    assert yes > 0.5 > no, (statement, yes, no)


async def test_a_denied_statement_is_the_complement(classifier: EmbeddedClassifier) -> None:
    passages = [ModelPassage(EXCLUDED), ModelPassage(NOTICES)]
    limits = await classifier.score("This clause limits liability.", passages)
    does_not = await classifier.score("This clause does not limit liability.", passages)
    assert limits[0] > 0.5 > limits[1]
    assert does_not[0] < 0.5 < does_not[1]
