"""The embedded chat model as LangChain sees it, and the one step that it makes in each call: from the messages so far
to tool calls or to an answer. The same messages always lead to the same step."""

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
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

from proviso_service.embedded.chat.answers import answer, language_notes, no_answer
from proviso_service.embedded.chat.conversation import Call, ReadConversation, read_conversation, read_evidence
from proviso_service.embedded.chat.intents import IntentRecogniser
from proviso_service.embedded.chat.phrases import DOCUMENT_FREE, Intent, pattern
from proviso_service.embedded.chat.planning import Tools, documentation_call, next_calls, read_on, second_look
from proviso_service.embedded.chat.request import TargetDocuments, find_target_documents
from proviso_service.embedded.chat.result_answers import is_about_uploads, uploads_answer
from proviso_service.embedded.chat.understanding import understand
from proviso_service.embedded.chat.wording import fixed_answer, said
from proviso_service.models import Embedder
from proviso_service.tool_results import RETRIEVER_TOOL

MODEL_NAME = "local-extractive-1"
_CHARS_PER_TOKEN = 4
_TOKEN = re.compile(r"\s*\S+|\s+$")


@dataclass(frozen=True, slots=True)
class ModelStep:
    """What the model does next: it makes the `calls`, or it answers with the `text`."""

    text: str = ""
    calls: Sequence[Call] = ()


async def respond(
    messages: Sequence[BaseMessage], tools: Tools, embedder: Embedder, recogniser: IntentRecogniser
) -> ModelStep:
    """Decides on the next step. `tools` are those that may be called in it, none in a step that must answer."""
    conversation = read_conversation(messages)
    message = conversation.current
    if not message.text or (message.has_images and pattern("about_image").search(message.text)):
        return ModelStep(said("no_images") if message.has_images else fixed_answer(Intent.GREETING))
    if is_about_uploads(message):
        step = ModelStep(uploads_answer(message.text, message.assets))
    else:
        step = await _document_step(conversation, tools, embedder, recogniser)
    return ModelStep(f"{said('no_images')}\n\n{step.text}") if message.has_images and step.text else step


async def _document_step(
    conversation: ReadConversation, tools: Tools, embedder: Embedder, recogniser: IntentRecogniser
) -> ModelStep:
    request = await understand(conversation, recogniser)
    if request.intent in DOCUMENT_FREE and not request.is_about_clauses:
        return ModelStep(fixed_answer(request.intent))
    evidence = read_evidence(conversation.steps)
    if not conversation.current.has_matter and (call := documentation_call(request, evidence, tools)):
        return ModelStep(calls=(call,))
    if any(call.name == RETRIEVER_TOOL for call in evidence.calls):
        request, target = replace(request, intent=Intent.FACT), TargetDocuments()
    else:
        target = find_target_documents(request, evidence, conversation.last_answer)
        calls = next_calls(request, target, evidence, tools) or read_on(request, target, evidence, tools)
        if calls:
            return ModelStep(calls=calls)
        if not evidence.calls:
            return ModelStep(said("no_tools" if conversation.current.has_matter else "no_matter"))
    text = await answer(request, target, evidence, embedder)
    if not text and (calls := second_look(request, target, evidence, tools)):
        return ModelStep(calls=calls)
    text = text or no_answer(request, target, evidence)
    return ModelStep("\n\n".join((text, *language_notes(evidence, request.language))))


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
