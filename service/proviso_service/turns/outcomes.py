"""The outcomes of turns whose program gives none."""

import logging

from proviso_service.language import ENGLISH
from proviso_service.turns.endings import CANNOT_RESUME, in_language, semantics_of
from proviso_service.turns.events import FinalState
from proviso_service.turns.program import TurnOutcome
from proviso_service.turns.records import ExitCause, ExitReason, Retryable, TurnSummary
from proviso_service.turns.sessions import ChatMessage, MessageRole
from proviso_service.turns.suspension import SuspensionUnreadable

_logger = logging.getLogger(__name__)


def bare_outcome(reason: ExitReason, cause: ExitCause | None = None, language: str = ENGLISH) -> TurnOutcome:
    """The outcome of a turn whose program gave none."""
    semantics = semantics_of(reason, cause)
    message = semantics.text(language)
    return TurnOutcome(FinalState(reason, semantics.retryable, semantics.display_message, message, exit_cause=cause))


def unreadable_outcome(
    turn_id: str, error: SuspensionUnreadable, language: str, question: str = "", *, waits: bool = True
) -> TurnOutcome:
    """The outcome of a turn with which no process can go on, because what is stored of it cannot be read. The session
    keeps the question, where that is known. When the turn waited for a person, the user can ask again, since none of
    the calls that it waited for was made."""
    _logger.error("turn %s: its stored state cannot be gone on from: %s", turn_id, error)
    reason = ExitReason.INTERNAL_ERROR
    text = in_language(CANNOT_RESUME, language) if waits else semantics_of(reason).text(language)
    asked = (ChatMessage(MessageRole.USER, question, turn_id=turn_id),) if question else ()
    message = ChatMessage(MessageRole.ERROR, text, turn_id=turn_id, turn=TurnSummary(reason))
    retryable = Retryable.YES if waits else semantics_of(reason).retryable
    final_state = FinalState(reason, retryable, display_message=True, message=text)
    return TurnOutcome(final_state, new_messages=(*asked, message))
