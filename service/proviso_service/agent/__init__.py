"""The agent: a LangGraph graph that answers one user message with the help of tools."""
