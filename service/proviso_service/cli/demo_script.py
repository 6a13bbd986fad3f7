"""What the demo asks, and what must come of it."""

from dataclasses import dataclass

from proviso_client.v1 import chat_pb2, turns_pb2

MATTER = "Northwind Robotics"


@dataclass(frozen=True, slots=True)
class Question:
    """`with_matter`: the request names the matter, as a back end does while a person looks at it. Questions of the same
    `session` form one conversation. The turn must end for one of `exit_reasons`, with `context_problem`."""

    title: str
    message: str
    with_matter: bool = True
    session: str = "demo"
    exit_reasons: tuple["turns_pb2.ExitReason", ...] = (turns_pb2.EXIT_REASON_COMPLETED,)
    context_problem: "chat_pb2.ContextProblem" = chat_pb2.CONTEXT_PROBLEM_UNSPECIFIED
    must_cite: bool = False


SCRIPT = (
    Question("List", "What documents are in this matter?"),
    Question("Show", "Show me the mutual non-disclosure agreement."),
    Question("Find", "Find the clauses about termination for convenience."),
    Question("Query", "Find clauses obligating the Customer.", must_cite=True),
    Question("Types", "What types of clauses are in the mutual non-disclosure agreement?", must_cite=True),
    Question("Count", "Which documents mention insurance?"),
    Question("Fact", "What is the governing law of the services agreement?", must_cite=True),
    Question("Clause", "What does the services agreement say about limitation of liability?", must_cite=True),
    Question("Compare", "Compare the governing law of the services agreement and the software licence agreement."),
    Question("Follow-up: the session remembers its matter", "And what about the commercial lease?", with_matter=False),
    Question("Small talk", "Hello, what can you do for me?"),
    Question(
        "Out of scope",
        "What will the weather be like in Oslo tomorrow?",
        exit_reasons=(turns_pb2.EXIT_REASON_COMPLETED, turns_pb2.EXIT_REASON_LLM_GENERATION_FAILURE),
    ),
    Question(
        "No matter: the assistant asks for one",
        "Which documents mention insurance?",
        with_matter=False,
        session="demo-without-matter",
        context_problem=chat_pb2.CONTEXT_PROBLEM_MATTER_REQUIRED,
    ),
)

CUT_QUESTION = "What notice must be given to terminate each agreement?"
EVENTS_BEFORE_CUT = 4

GO_ON = """To go on:
  {proviso} serve
  {proviso} ingest {samples} --matter "{matter}"
  {proviso} chat --matter "{matter}"
  grpcurl -plaintext -d '{{"name": "{matter}"}}' 127.0.0.1:50051 proviso.v1.MatterService/ListMatters
"""
