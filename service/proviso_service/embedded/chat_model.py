"""The embedded chat model as LangChain sees it: it streams, counts and names the steps of `chat`."""

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import ToolCall, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr, SkipValidation

from proviso_service.embedded.chat import IntentRecogniser, ModelStep, Tools, respond
from proviso_service.models import Embedder

MODEL_NAME = "local-extractive-1"
_CHARS_PER_TOKEN = 4
_TOKEN = re.compile(r"\s*\S+|\s+$")


class EmbeddedChatModel(BaseChatModel):
    """A chat model that answers from the results of tools only, with quotes and their references. It is deterministic,
    and it cannot see images. Its token counts are estimates. A call raises what `embedder` raises: ModelClosed,
    ModelBusy."""

    embedder: SkipValidation[Embedder]
    _recogniser: IntentRecogniser = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self._recogniser = IntentRecogniser(self.embedder)

    async def warm_up(self) -> None:
        """Embeds the examples of intents, for which the first question would otherwise wait."""
        await self._recogniser.warm_up()

    @property
    def _llm_type(self) -> str:
        return "proviso-local"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": MODEL_NAME, "embedder": self.embedder.model_id}

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offers `tools`; those that the model does not know are ignored. With `tool_choice` "none" no tool is
        offered; every other value means "auto"."""
        offered = [] if tool_choice == "none" else [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=offered, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        """Answers callers that have no event loop; raises RuntimeError inside one."""
        return asyncio.run(self._agenerate(messages, stop, **kwargs))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = await self._message(messages, kwargs.get("tools") or ())
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        message = await self._message(messages, kwargs.get("tools") or ())
        for chunk in _chunks(message):
            generation = ChatGenerationChunk(message=chunk)
            if run_manager:
                await run_manager.on_llm_new_token(str(chunk.text), chunk=generation)
            yield generation

    async def _message(self, messages: Sequence[BaseMessage], tools: Sequence[dict[str, Any]]) -> AIMessage:
        offered = declared_arguments(tools)
        step = await respond(messages, offered, self.embedder, self._recogniser)
        calls = _tool_calls(step, len(messages), offered)
        return AIMessage(
            content=step.text,
            tool_calls=calls,
            usage_metadata=_usage(messages, step.text or json.dumps(calls)),
            response_metadata={"model_name": MODEL_NAME, "finish_reason": "tool_calls" if calls else "stop"},
        )


def declared_arguments(tools: Sequence[dict[str, Any]]) -> Tools:
    """Returns the names of the arguments of each tool, from definitions in OpenAI's form."""
    functions = [tool.get("function", {}) for tool in tools]
    return {
        function["name"]: frozenset(function.get("parameters", {}).get("properties", {}))
        for function in functions
        if "name" in function
    }


def _tool_calls(step: ModelStep, position: int, offered: Tools) -> list[ToolCall]:
    """Gives every call an id that follows from its content and its position, so that the same conversation has the
    same ids. Arguments that the tool does not declare are left out."""
    calls: list[ToolCall] = []
    for index, call in enumerate(step.calls):
        args = {name: value for name, value in call.args.items() if name in offered[call.name]}
        key = json.dumps([position, index, call.name, args], sort_keys=True)
        calls.append(ToolCall(name=call.name, args=args, id=f"call_{hashlib.sha256(key.encode()).hexdigest()[:24]}"))
    return calls


def _chunks(message: AIMessage) -> list[AIMessageChunk]:
    """Cuts a message into chunks: the text word by word, and a last chunk with the tool calls and the usage."""
    chunks = [AIMessageChunk(content=token) for token in _TOKEN.findall(str(message.text))]
    calls = [
        tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=index)
        for index, call in enumerate(message.tool_calls)
    ]
    last = AIMessageChunk(
        content="",
        tool_call_chunks=calls,
        usage_metadata=message.usage_metadata,
        response_metadata=message.response_metadata,
        chunk_position="last",
    )
    return [*chunks, last]


def _usage(messages: Sequence[BaseMessage], output: str) -> UsageMetadata:
    read = sum(_estimated_tokens(str(message.text)) for message in messages)
    written = _estimated_tokens(output)
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)


def _estimated_tokens(text: str) -> int:
    return -(-len(text) // _CHARS_PER_TOKEN)
