"""The fixed sentences of the model."""

from proviso_service.embedded.chat.examples import Intent

NO_ANSWER = "I don't have enough information in the current documentation to answer that."
NO_IMAGES = "I can't see images; I can only read the text of documents."
NO_MATTER = (
    "I can't look into documents here, because no matter is selected. "
    "Please select the matter that you are working with and ask again."
)
NO_TOOLS = "I can't look into the documents for this answer, because the tool that this needs is not available."
NO_DOCUMENTS = "The matter has no documents yet, so there is nothing to quote from."
TOOL_FAILED = "I could not look that up, because the search did not work. Please try again."
WHICH_DOCUMENT = "Please name the document that you mean."

_CAN = (
    "I can list the documents of a matter, show their text, find and quote passages, count the documents that mention "
    "something, and compare what two documents say."
)
FIXED_ANSWERS = {
    Intent.GREETING: f"Hello. {_CAN} What would you like to know?",
    Intent.THANKS: "You're welcome. Ask whenever you need something else from the documents.",
    Intent.ABOUT: (
        f"I'm Proviso's built-in assistant. {_CAN} I answer with quotes and their sources only, and I can't see images."
    ),
    Intent.ADVICE: (
        "I can't give legal advice or predict an outcome. I can quote what the documents say, "
        "for example on termination, liability or governing law."
    ),
    Intent.OFF_TOPIC: f"I can only help with the documents of a legal matter. {_CAN}",
}
