"""The agent answers one message of a person: a LangGraph graph that calls a chat model and tools in turn.

A turn is prepared (`preparation`), run by the graph (`execution`, `llm_node`, `tools_node`) and ended (`outcome`). The
turn engine calls `Agent` in `execution`."""
