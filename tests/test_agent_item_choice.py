"""Agent items are chosen for messages in several languages, by the whole service with the embedded embedding model."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from proviso_client.v1 import context_pb2, sessions_pb2
from proviso_service.context.selection.config import SelectionConfig
from tests.support.catalogs import write
from tests.support.running import RunningService, running_service
from tests.support.scripted_model import text

MARGIN = 0.01
"""How far scores are from the lowest one that is taken, on either side."""


def item(name: str, description: str, content: str, more: str = "") -> str:
    return f"---\nname: {name}\ndescription: {description}\ninclude: agent\n{more}---\n{content}\n"


RULES = {
    "rules__authentication_md": item(
        "Authentication",
        "How users authenticate and reset their password.",
        "Every request carries a token. Users sign in with a password, which they can reset by email.",
    ),
    "rules__holidays_md": item(
        "Holidays",
        "Vacation and sick leave of employees.",
        "Employees have thirty days of paid leave. A doctor's note is due on the third day of an illness.",
    ),
    "rules__invoices_md": item(
        "Invoices",
        "How invoices are issued and paid.",
        "Invoices are due within thirty days. Late payments bear interest.",
    ),
    "rules__termination_md": item(
        "Termination", "How the contract can be ended.", "Either party may terminate with three months' notice."
    ),
}
GERMAN_RULES = {
    "rules__anmeldung_md": item("Anmeldung", "Wie sich Benutzer anmelden.", "Benutzer brauchen ein Passwort."),
    "rules__urlaub_md": item("Urlaub", "Urlaub von Mitarbeitern.", "Mitarbeiter haben dreißig Urlaubstage im Jahr."),
}


@asynccontextmanager
async def serving(tmp_path: Path, models_dir: Path, **rules: str) -> AsyncIterator[RunningService]:
    agent = write(tmp_path / "agent", **rules)
    async with running_service(tmp_path / "data", models_dir, text("Is it?"), agent_dir=agent) as service:
        yield service


async def chosen(service: RunningService, message: str) -> tuple[dict[str, float], dict[str, float]]:
    """The scores of the agent items that a message in a matter gets, and of those that are too far from it."""
    matter = context_pb2.MatterContext(matter_id=await service.create_matter())
    request = sessions_pb2.PreviewRequestContextRequest(message=message, matter_context=matter)
    context = (await service.sessions.PreviewRequestContext(request)).request_context
    agent = [one for one in context.items if one.include_mode == context_pb2.INCLUDE_MODE_AGENT]
    far = context_pb2.OMISSION_REASON_BELOW_THRESHOLD
    return (
        {one.name: one.similarity_score for one in agent},
        {one.item.name: one.score for one in context.omitted if one.reason == far},
    )


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        (
            "Authentication",
            (
                "How do I authenticate?",
                "password reset",
                "Wie authentifiziere ich mich?",
                "Passwort zurücksetzen",
                "Ich habe mein Kennwort vergessen.",
                "Comment m'authentifier ?",
                "mot de passe oublié",
                "¿Cómo me autentico?",
            ),
        ),
        (
            "Holidays",
            (
                "How much vacation do I have?",
                "sick leave",
                "Wie viele Urlaubstage habe ich?",
                "Combien de congés ai-je ?",
            ),
        ),
        ("Invoices", ("When is the invoice due?", "Wann ist die Rechnung fällig?", "Quand payer la facture ?")),
        ("Termination", ("Can we terminate?", "Kündigungsfrist?", "Pouvons-nous résilier ?", "¿Podemos rescindir?")),
    ],
)
async def test_an_item_is_chosen_by_messages_in_several_languages(
    tmp_path: Path, models_dir: Path, name: str, messages: tuple[str, ...]
) -> None:
    lowest = SelectionConfig().min_score
    async with serving(tmp_path, models_dir, **RULES) as service:
        for message in messages:
            taken, others = await chosen(service, message)
            assert set(taken) == {name}, message
            assert lowest + MARGIN <= taken[name] <= 1, message
            assert all(0 <= score <= lowest - MARGIN for score in others.values()), message


async def test_ordinary_messages_get_no_item_in_any_language(tmp_path: Path, models_dir: Path) -> None:
    ordinary = ("Hello!", "Which documents are there?", "Thanks", "next", "Hallo!", "Danke, das war hilfreich.")
    foreign = (
        "Welche Dokumente gibt es?",
        "Merci beaucoup",
        "Quels documents y a-t-il ?",
        "¿Qué tiempo hace?",
        "Dzień dobry",
    )
    lowest = SelectionConfig().min_score
    async with serving(tmp_path, models_dir, **RULES) as service:
        for message in (*ordinary, *foreign):
            taken, others = await chosen(service, message)
            assert not taken, message
            assert all(score <= lowest - MARGIN for score in others.values()), message


async def test_items_may_be_written_in_the_language_of_the_message(tmp_path: Path, models_dir: Path) -> None:
    async with serving(tmp_path, models_dir, **GERMAN_RULES) as service:
        assert set((await chosen(service, "Wie melden sich Benutzer an?"))[0]) == {"Anmeldung"}
        assert set((await chosen(service, "Wie viele Urlaubstage habe ich?"))[0]) == {"Urlaub"}
        assert not (await chosen(service, "Danke!"))[0]


async def test_keywords_find_an_item_in_languages_that_have_no_glossary(tmp_path: Path, models_dir: Path) -> None:
    message = "Ile dni urlopu mi przysługuje?"
    async with serving(tmp_path / "without", models_dir, **RULES) as service:
        assert not (await chosen(service, message))[0]
    named = RULES["rules__holidays_md"].replace("include: agent\n", "include: agent\nkeywords: [urlop, dni urlopu]\n")
    async with serving(tmp_path / "with", models_dir, **(RULES | {"rules__holidays_md": named})) as service:
        assert set((await chosen(service, message))[0]) == {"Holidays"}
        final = await service.ask(message)
        assert "urlopu]" not in str(final)


async def test_the_default_agent_is_chosen_from_in_several_languages(service: RunningService) -> None:
    for message, name in (
        ("Which law governs this agreement?", "Jurisdictions"),
        ("Welches Recht gilt und welches Gericht ist zuständig?", "Jurisdictions"),
        ("Quel tribunal est compétent et quelle loi est applicable ?", "Jurisdictions"),
        ("Vergleiche die beiden Verträge.", "Comparing agreements"),
        ("Comparez les deux contrats.", "Comparing agreements"),
        ("Compara los dos contratos.", "Comparing agreements"),
    ):
        assert name in (await chosen(service, message))[0], message
