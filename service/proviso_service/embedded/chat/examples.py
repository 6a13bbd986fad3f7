"""Example questions for each intent. A question is compared with them by meaning, so they need not be complete."""

from enum import StrEnum


class Intent(StrEnum):
    LIST = "list"
    SHOW = "show"
    SUMMARY = "summary"
    FIND = "find"
    COUNT = "count"
    FACT = "fact"
    CLAUSE = "clause"
    COMPARE = "compare"
    GREETING = "greeting"
    THANKS = "thanks"
    ABOUT = "about"
    ADVICE = "advice"
    OFF_TOPIC = "off_topic"


EXAMPLES: dict[Intent, tuple[str, ...]] = {
    Intent.LIST: (
        "Which documents are in this matter?",
        "List all documents.",
        "What files do we have?",
        "Show me the files in this case.",
        "What has been uploaded so far?",
        "Give me an overview of the documents in the matter.",
        "Are there any documents here?",
        "Which documents are still being processed?",
    ),
    Intent.SHOW: (
        "Show me the agreement.",
        "Open the contract.",
        "Display the full text of the document.",
        "Read section 5 of the agreement to me.",
        "Let me see the whole document.",
        "Print the first page of the contract.",
        "What does section 3 say?",
        "Can I see the text of the agreement?",
    ),
    Intent.SUMMARY: (
        "Summarise this document.",
        "What is this agreement about?",
        "Give me a summary of the contract.",
        "Can you sum up the main points of the agreement?",
        "What are the key terms of the document?",
        "Explain briefly what this contract does.",
    ),
    Intent.FIND: (
        "Find passages about data protection.",
        "Search for mentions of late payment.",
        "Where do the documents talk about insurance?",
        "Look for language on subcontracting.",
        "Show everything related to warranties.",
        "Locate the text on intellectual property.",
        "Quote what is said about termination.",
        "What do the documents say about confidentiality?",
    ),
    Intent.COUNT: (
        "How many documents are in this matter?",
        "How many agreements mention arbitration?",
        "Which documents mention insurance?",
        "How often does the word warranty appear?",
        "Count the documents that contain a renewal term.",
        "In which contracts is personal data mentioned?",
        "What number of files refer to royalties?",
        "How many times is the customer mentioned?",
    ),
    Intent.FACT: (
        "What is the governing law of the agreement?",
        "How long is the notice period?",
        "Who are the parties to the contract?",
        "What are the fees?",
        "When does the agreement take effect?",
        "When does the contract expire?",
        "How much is the monthly rent?",
        "What happens if the customer pays late?",
        "Can the supplier assign the contract?",
        "Who owns the work product?",
        "Is the provider allowed to use subcontractors?",
        "What is the cap on liability?",
        "Under what circumstances may a party terminate?",
        "Where must disputes be brought?",
        "What must the recipient do with confidential information?",
        "Does the customer have to pay a deposit?",
    ),
    Intent.CLAUSE: (
        "Is there an indemnity clause?",
        "Does the agreement contain a non-compete?",
        "Are there any termination clauses?",
        "Find the force majeure clause.",
        "Is there a provision on assignment?",
        "Does any contract have an arbitration clause?",
        "Show me the confidentiality clause.",
        "Do we have a limitation of liability provision?",
    ),
    Intent.COMPARE: (
        "Compare the liability caps of the two agreements.",
        "Which agreement has the longer notice period?",
        "What is the difference between the contracts regarding termination?",
        "How do the payment terms differ?",
        "Do both agreements have the same governing law?",
        "Contrast the confidentiality provisions side by side.",
        "Which contract has the higher fees?",
        "Are the renewal terms in the two documents identical?",
    ),
    Intent.GREETING: ("Hello.", "Hi there!", "Good morning.", "Hey", "Good evening, how are you?", "Greetings"),
    Intent.THANKS: (
        "Thanks!",
        "Thank you very much.",
        "Great, that helps.",
        "Goodbye.",
        "Perfect, that's all.",
        "Ok, got it.",
        "See you later.",
    ),
    Intent.ABOUT: (
        "Who are you?",
        "What can you do?",
        "How can you help me?",
        "Are you a real lawyer or a robot?",
        "What kind of assistant are you?",
        "How do I use this?",
        "Help",
        "What questions can I ask you?",
    ),
    Intent.ADVICE: (
        "Should I sign this contract?",
        "Will we win the lawsuit?",
        "What are our chances in court?",
        "Is this clause enforceable?",
        "What would you advise my client to do?",
        "Is this a good deal for us?",
        "Can I sue them for this?",
        "Which strategy should we take in the litigation?",
        "How would a judge decide?",
        "Is it legal to fire him?",
    ),
    Intent.OFF_TOPIC: (
        "What is the weather like today?",
        "Write a Python function that sorts a list.",
        "Who won the football world cup?",
        "Tell me a joke.",
        "What is the capital of France?",
        "Translate this sentence into German.",
        "Recommend a good restaurant.",
        "Write a poem about the sea.",
        "What is two plus two?",
        "Who is the president of the United States?",
        "Draft an email to my boss.",
        "How do I bake bread?",
        "What is the stock price of Apple?",
        "Explain quantum physics.",
        "Play some music.",
        "Draft a new clause for me.",
    ),
}
