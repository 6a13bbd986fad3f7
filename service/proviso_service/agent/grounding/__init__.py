"""Grounding: no sentence of an answer reaches a person unless a source holds it.

`AnswerCheck` takes an answer as the model writes it and releases it sentence by sentence. `check.py` has the rule for
one sentence; `sources.py` and `facts.py` what it is held against; `orders.py` leaves out orders to the model;
`opposites.py` and `twins.py` find what says something else with the words of its source. The others read sentences:
`sentences.py` cuts them, `names.py` reads parties and places, `words.py` their words, `marks.py` the marks of their
sources, and `wording.py` tells which of them state no facts."""

from proviso_service.agent.grounding.answer import AnswerCheck, CheckedAnswer, DocumentOnView
from proviso_service.agent.grounding.sources import Sources
from proviso_service.agent.grounding.statement import Outcome

__all__ = ["AnswerCheck", "CheckedAnswer", "DocumentOnView", "Outcome", "Sources"]
