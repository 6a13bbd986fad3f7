"""Chat models of providers (Google, OpenAI, Anthropic and others), through LangChain's clients."""
