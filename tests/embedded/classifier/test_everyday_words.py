"""People ask about contracts in everyday words, in several languages, and not in those of contracts: the concept that
each question brings up."""

import pytest

from proviso_service.embedded.classifier.content import ContentReader, load_concepts
from proviso_service.embedded.classifier.fitted import WordStatistics
from proviso_service.embedded.classifier.words import Stemmer

ENGLISH = [
    ("Which country's rules decide a quarrel?", "governing-law"),
    ("In which city would we have to sue them?", "venue"),
    ("Do we go to an arbitrator or to a judge?", "dispute-resolution"),
    ("Do I have to keep quiet about it?", "confidentiality"),
    ("Do promises made in earlier emails still count?", "entire-agreement"),
    ("What if an earthquake stops us?", "force-majeure"),
    ("Who pays if a third person sues?", "indemnity"),
    ("Who owns the software that they write for us?", "ip-assignment"),
    ("Can they use our logo on their website?", "trademark-use"),
    ("Can my licence be taken away again, or do I have it forever?", "perpetual-license"),
    ("May our subsidiaries use the program too?", "affiliates-license"),
    ("What is the most that we could ever owe them in damages?", "liability-cap"),
    ("Are they liable for profits we lose?", "liability-limitation"),
    ("May I work for a competitor afterwards?", "non-compete"),
    ("Are they free to buy elsewhere?", "exclusivity"),
    ("Can they poach our people?", "non-solicit-employees"),
    ("Are they allowed to steal our customers?", "non-solicit-customers"),
    ("May we speak badly of them in public?", "non-disparagement"),
    ("Can I walk away early?", "termination-for-convenience"),
    ("What if the other side goes bankrupt?", "termination-for-cause"),
    ("Does it roll over by itself?", "renewal"),
    ("How long does the contract last?", "term"),
    ("What happens to the stock when it is over?", "sell-off"),
    ("What must they do once the deal is over?", "post-termination"),
    ("How much do we have to order at least every year?", "minimum-commitment"),
    ("Can they put up the price every year?", "price-increase"),
    ("What if someone else gets a better price?", "most-favored-nation"),
    ("Can we pass the contract on to someone else?", "assignment"),
    ("What happens if the company gets bought?", "change-of-control"),
    ("May we look at their books?", "audit"),
    ("What does it cost if we pay late?", "late-payment"),
    ("Who picks up the bill for hotels and flights?", "expenses"),
    ("Is she allowed to have a side job?", "outside-activities"),
    ("May the tenant sublet the flat?", "sublease"),
    ("When do I get my deposit back?", "deposit"),
    ("How many days off does the employee have?", "vacation"),
    ("What does he get if he is fired?", "severance"),
    ("How much warning must we give before we leave?", "notice-period"),
    ("Do they get a second chance to put it right?", "cure-period"),
    ("In which countries may they sell?", "territory"),
    ("What if the goods are damaged on the way?", "risk-of-loss"),
    ("Who pays the lawyers?", "attorneys-fees"),
    ("Who sues the counterfeiters?", "infringement-suits"),
    ("Can he sign contracts in our name?", "authority-to-bind"),
    ("Which document wins if they contradict each other?", "order-of-precedence"),
    ("Can they farm out the work?", "subcontracting"),
    ("Could they go behind our back to our supplier?", "non-circumvention"),
]

GERMAN = [
    ("Welches Recht gilt?", "governing-law"),
    ("Wo ist der Gerichtsstand?", "venue"),
    ("Darf der Mieter untervermieten?", "sublease"),
    ("Wie kann man den Vertrag kündigen?", "termination"),
    ("Wie lang ist die Kündigungsfrist?", "notice-period"),
    ("Wie hoch ist die Miete?", "rent"),
    ("Gibt es ein Wettbewerbsverbot?", "non-compete"),
    ("Ist die Haftung begrenzt?", "liability-limitation"),
    ("Verlängert sich der Vertrag automatisch?", "renewal"),
    ("Was passiert bei Zahlungsverzug?", "late-payment"),
    ("Wem gehören die Erfindungen?", "ip-assignment"),
    ("Sind Nebentätigkeiten erlaubt?", "outside-activities"),
    ("Wie viel Urlaub hat der Arbeitnehmer?", "vacation"),
    ("Muss eine Vertragsstrafe gezahlt werden?", "liquidated-damages"),
]

FRENCH = [
    ("Quelle loi s'applique ?", "governing-law"),
    ("Quel tribunal est compétent ?", "venue"),
    ("Qui supporte les frais de livraison ?", "delivery"),
    ("Comment résilier le contrat ?", "termination"),
    ("Quel est le préavis ?", "notice-period"),
    ("Le locataire peut-il sous-louer ?", "sublease"),
    ("Y a-t-il une clause de non-concurrence ?", "non-compete"),
    ("Faut-il garder le secret ?", "confidentiality"),
    ("À qui appartiennent les inventions ?", "ip-assignment"),
    ("Quelle est la durée du contrat ?", "term"),
    ("Que se passe-t-il en cas de retard de paiement ?", "late-payment"),
    ("La responsabilité est-elle plafonnée ?", "liability-cap"),
    ("Combien de jours de congés ?", "vacation"),
    ("Le contrat est-il renouvelé par tacite reconduction ?", "renewal"),
]

OTHERS = [
    ("¿Qué ley se aplica?", "governing-law"),
    ("¿Se puede subarrendar el local?", "sublease"),
    ("Qual è il preavviso?", "notice-period"),
    ("Quanto dura il contratto?", "term"),
]

NOTHING = [
    "The weather is nice today.",
    "Where did the cat sleep last night?",
    "J'ai vu un film.",
    "Das ist ein schöner Tag.",
    "This is a clause of a contract: a provision that has legal effect between the parties.",
]

OTHER_THINGS = [
    ("This is a severability clause.", "severance"),
    ("The license extends to affiliates of the licensee.", "renewal"),
    ("This limits the amount of use of the product or service.", "unlimited-license"),
    ("This is a force majeure clause.", "remedies"),
    ("This requires payment of a share of revenue.", "compelled-disclosure"),
    ("Does the lease end early?", "sublease"),
    ("Is the rent paid late?", "salary"),
]


@pytest.fixture(scope="module")
def reader() -> ContentReader:
    stemmer = Stemmer()
    return ContentReader(stemmer, WordStatistics({}, 1.0, {}), load_concepts(stemmer))


@pytest.mark.parametrize(("question", "concept"), [*ENGLISH, *GERMAN, *FRENCH, *OTHERS])
def test_everyday_words_bring_up_the_concept(reader: ContentReader, question: str, concept: str) -> None:
    assert concept in dict(reader.read(question).concepts)


@pytest.mark.parametrize("text", NOTHING)
def test_texts_about_nothing_in_contracts_bring_up_none(reader: ContentReader, text: str) -> None:
    assert reader.read(text).concepts == ()


@pytest.mark.parametrize(("text", "concept"), OTHER_THINGS)
def test_words_with_two_meanings_bring_up_no_other_concept(reader: ContentReader, text: str, concept: str) -> None:
    assert concept not in dict(reader.read(text).concepts)


@pytest.mark.parametrize(("short", "typed"), [("Who can t sue?", "Who can\u2019t sue?"), ("l accord", "l'accord")])
def test_apostrophes_end_words(reader: ContentReader, short: str, typed: str) -> None:
    assert reader.read(short) == reader.read(typed)
