"""Answers questions from the results of tools: of the messages of a conversation it makes calls of tools, or an answer
of quotes, names and counts.

    step = await respond(messages, tools, embedder, IntentRecogniser(embedder))

How people ask is in `phrases.toml`, which tools are called for what in `plans.toml`, and what is said in
`templates.toml`. `conversation.py` reads the messages, `understanding.py` what is asked (`request.py`), `planning.py`
makes the calls, and `answers.py` writes what their results say.
"""

from proviso_service.embedded.chat.intents import IntentRecogniser
from proviso_service.embedded.chat.planning import Tools
from proviso_service.embedded.chat.steps import ModelStep, respond

__all__ = ["IntentRecogniser", "ModelStep", "Tools", "respond"]
