"""Builds the chat model of a provider that the settings name.

The retries of the providers' clients are off, since the service retries calls itself."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from proviso_service.backends.llm.replies import GuardedChatModel
from proviso_service.settings import OPENAI_URL, Settings

GOOGLE = "google_genai"
OPENAI = "openai"
ANTHROPIC = "anthropic"

_WITHOUT_TEMPERATURE = re.compile(r"o\d|gpt-5(?!.*chat)|claude-(fable-5|sonnet-5-5)")
"""The beginnings of the names of models that refuse every temperature but their own."""

_NO_KEY = SecretStr("none")
"""OpenAI's client needs a key, also for a server that asks for none, such as vLLM or Ollama."""


class ChatModelUnavailable(Exception):
    """The chat model that the settings name cannot be used. The message says what to set."""


@dataclass(frozen=True, slots=True)
class HostedChatModel:
    """A provider's chat model. `close` closes its connections; it is None for a client that cannot close them."""

    model: BaseChatModel
    close: Callable[[], Awaitable[None]] | None


def build_chat_model(settings: Settings) -> HostedChatModel:
    """The model that `settings.llm` names, such as `google_genai:gemini-2.5-flash`. Makes no call. Raises
    ChatModelUnavailable."""
    provider, _, model = settings.llm.partition(":")
    if not provider or not model:
        raise ChatModelUnavailable(
            f"PROVISO_LLM={settings.llm!r} names no chat model; use `local` or `<provider>:<model>`, "
            "for example `google_genai:<model>`"
        )
    # Each function imports the client that it needs: imports take long, and the package may not be installed.
    build = {GOOGLE: _google, OPENAI: _openai, ANTHROPIC: _anthropic}.get(provider)
    return build(settings, model) if build else _other(settings, provider, model)


def _google(settings: Settings, model: str) -> HostedChatModel:
    key = _required(settings, _key(settings.google_api_key, "GOOGLE_API_KEY"), "GOOGLE_API_KEY")
    from proviso_service.backends.llm.gemini import GeminiChatModel, safety_settings

    gemini = GeminiChatModel(
        model=model,
        google_api_key=key,
        base_url=settings.google_base_url,
        max_retries=0,
        timeout=settings.chat_model.timeout_s,
        silence_s=settings.chat_model.silence_s,
        vertexai=False,
        temperature=settings.chat_model.temperature,
        max_output_tokens=settings.chat_model.max_output_tokens,
        safety_settings=safety_settings(settings.chat_model.safety),
        **_thinking(settings, level="thinking_level", tokens="thinking_budget"),
    )
    return HostedChatModel(gemini, gemini.aclose)


def _openai(settings: Settings, model: str) -> HostedChatModel:
    key = _key(settings.openai_api_key, "OPENAI_API_KEY")
    if settings.openai_base_url.rstrip("/") == OPENAI_URL:
        key = _required(settings, key, "OPENAI_API_KEY")
    try:
        from proviso_service.backends.llm.openai_chat import openai_model
    except ImportError:
        raise _not_installed(settings, OPENAI) from None
    options = _options(settings, model) | _thinking(settings, level="reasoning_effort")
    limit_s = settings.chat_model.timeout_s
    chat, connections = openai_model(model, key or _NO_KEY, settings.openai_base_url, limit_s, options)
    return HostedChatModel(_guarded(settings, chat, OPENAI, names_end_reason=True), connections.aclose)


def _anthropic(settings: Settings, model: str) -> HostedChatModel:
    key = _required(settings, _key(settings.anthropic_api_key, "ANTHROPIC_API_KEY"), "ANTHROPIC_API_KEY")
    try:
        from proviso_service.backends.llm.anthropic_chat import ClaudeChatModel
    except ImportError:
        raise _not_installed(settings, ANTHROPIC) from None
    claude = ClaudeChatModel(
        model=model,
        api_key=key,
        base_url=settings.anthropic_base_url,
        max_retries=0,
        timeout=settings.chat_model.timeout_s,
        stop=None,
        **_claude_options(settings, model),
    )
    return HostedChatModel(_guarded(settings, claude, ANTHROPIC, names_end_reason=True), claude.aclose)


def _other(settings: Settings, provider: str, model: str) -> HostedChatModel:
    """A model of any other provider that LangChain knows. Its client reads key and address from the environment."""
    options = _options(settings, model) | _thinking(settings)
    try:
        from langchain.chat_models import init_chat_model
    except ImportError:
        raise _not_installed(settings, "langchain") from None
    try:
        chat = init_chat_model(
            model, model_provider=provider, max_retries=0, timeout=settings.chat_model.timeout_s, **options
        )
    except ImportError as error:
        raise ChatModelUnavailable(
            f"PROVISO_LLM={settings.llm} needs a package that is not installed: {_install_command(error)}"
        ) from None
    except Exception:  # clients raise exceptions of their own, whose messages may hold the key
        raise ChatModelUnavailable(
            f"PROVISO_LLM={settings.llm} cannot be set up: check the provider's name, and its key in the environment"
        ) from None
    return HostedChatModel(_guarded(settings, chat, provider, names_end_reason=False), None)


def _options(settings: Settings, model: str) -> dict[str, Any]:
    """The settings of a model that is not Gemini, under the names that LangChain has for them."""
    chosen = settings.chat_model
    if chosen.safety:
        raise ChatModelUnavailable(f"PROVISO_CHAT_MODEL__SAFETY={chosen.safety} is for {GOOGLE} models only")
    temperature = None if _WITHOUT_TEMPERATURE.match(model) else chosen.temperature
    options = {"temperature": temperature, "max_tokens": chosen.max_output_tokens}
    return {name: value for name, value in options.items() if value is not None}


def _thinking(settings: Settings, *, level: str = "", tokens: str = "") -> dict[str, Any]:
    """The setting of thinking, under the provider's names for a `level` and for a number of `tokens`. A name is empty
    where the provider takes no such thing."""
    thinking = settings.chat_model.thinking
    if thinking == "":
        return {}
    name = tokens if isinstance(thinking, int) else level
    if not name:
        forms = {level: "a level such as low", tokens: "a number of tokens"}
        takes = " or ".join(form for known, form in forms.items() if known) or "no such setting"
        raise ChatModelUnavailable(f"PROVISO_CHAT_MODEL__THINKING={thinking}: {settings.llm} takes {takes}")
    return {name: thinking}


def _claude_options(settings: Settings, model: str) -> dict[str, Any]:
    options = _options(settings, model)
    thinking = _thinking(settings, level="effort", tokens="budget_tokens")
    if "budget_tokens" not in thinking:
        return options | thinking
    options.pop("temperature", None)  # Anthropic refuses both together
    return options | {"thinking": {"type": "enabled"} | thinking}


def _install_command(error: ImportError) -> str:
    """The command that installs the package that could not be imported."""
    cause = error.__cause__ if isinstance(error.__cause__, ImportError) else error
    module = (cause.name or "").partition(".")[0]
    return f"pip install {module.replace('_', '-')}" if module else "see LangChain's page about the provider"


def _guarded(settings: Settings, inner: BaseChatModel, provider: str, *, names_end_reason: bool) -> GuardedChatModel:
    limits = settings.chat_model
    return GuardedChatModel(
        inner=inner,
        provider=provider,
        silence_s=limits.silence_s,
        timeout_s=limits.timeout_s,
        names_end_reason=names_end_reason,
    )


def _key(given: SecretStr | None, variable: str) -> SecretStr | None:
    """The key without white space around it, such as the line end of a file; None when it is blank. Raises
    ChatModelUnavailable for characters that no key has."""
    key = given.get_secret_value().strip() if given else ""
    if not (key.isascii() and key.isprintable()) or " " in key:
        # Clients would fail at every call with an error of the connection.
        raise ChatModelUnavailable(f"{variable} is not a key: it holds spaces or characters that no key has")
    return SecretStr(key) if key else None


def _required(settings: Settings, key: SecretStr | None, variable: str) -> SecretStr:
    if key is None:
        raise ChatModelUnavailable(f"PROVISO_LLM={settings.llm} needs a key: set {variable}")
    return key


def _not_installed(settings: Settings, extra: str) -> ChatModelUnavailable:
    return ChatModelUnavailable(
        f"PROVISO_LLM={settings.llm} needs a package that is not installed: pip install 'proviso-service[{extra}]'"
    )
