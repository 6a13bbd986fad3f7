"""Chat models of providers, through LangChain. Retries are the service's own, so the clients' are off."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from proviso_service.backends.llm.replies import GuardedChatModel
from proviso_service.settings import OPENAI_URL, Settings

GOOGLE = "google_genai"
OPENAI = "openai"
ANTHROPIC = "anthropic"

_NO_KEY = SecretStr("none")
"""For servers of one's own that ask for no key; OpenAI's client wants one."""


class ChatModelUnavailable(Exception):
    """The chosen chat model cannot be used; the message says what to set."""


@dataclass(frozen=True, slots=True)
class HostedChatModel:
    """A provider's model; `close` ends its connections."""

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
    # Each takes long to import, and may not be installed.
    build = {GOOGLE: _google, OPENAI: _openai, ANTHROPIC: _anthropic}.get(provider)
    return build(settings, model) if build else _other(settings, provider, model)


def _google(settings: Settings, model: str) -> HostedChatModel:
    key = _needed(settings, _key(settings.google_api_key, "GOOGLE_API_KEY"), "GOOGLE_API_KEY")
    from proviso_service.backends.llm.gemini import GeminiChatModel

    gemini = GeminiChatModel(
        model=model,
        google_api_key=key,
        base_url=settings.google_base_url,
        max_retries=0,
        timeout=settings.chat_model.timeout_s,
        silence_s=settings.chat_model.silence_s,
        vertexai=False,
    )
    return HostedChatModel(gemini, gemini.aclose)


def _openai(settings: Settings, model: str) -> HostedChatModel:
    key = _key(settings.openai_api_key, "OPENAI_API_KEY")
    if settings.openai_base_url.rstrip("/") == OPENAI_URL:
        key = _needed(settings, key, "OPENAI_API_KEY")
    try:
        from proviso_service.backends.llm.openai_chat import openai_model
    except ImportError:
        raise _not_installed(settings, OPENAI) from None
    chat, connections = openai_model(model, key or _NO_KEY, settings.openai_base_url, settings.chat_model.timeout_s)
    return HostedChatModel(_guarded(settings, chat, OPENAI, tells_end=True), connections.aclose)


def _anthropic(settings: Settings, model: str) -> HostedChatModel:
    key = _needed(settings, _key(settings.anthropic_api_key, "ANTHROPIC_API_KEY"), "ANTHROPIC_API_KEY")
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
    )
    return HostedChatModel(_guarded(settings, claude, ANTHROPIC, tells_end=True), claude.aclose)


def _other(settings: Settings, provider: str, model: str) -> HostedChatModel:
    """By LangChain, with the key and address that its client reads from the environment."""
    try:
        from langchain.chat_models import init_chat_model
    except ImportError:
        raise _not_installed(settings, "langchain") from None
    try:
        chat = init_chat_model(model, model_provider=provider, max_retries=0, timeout=settings.chat_model.timeout_s)
    except ImportError as error:
        raise ChatModelUnavailable(
            f"PROVISO_LLM={settings.llm} needs a package that is not installed: {_wanted(error)}"
        ) from None
    except Exception:  # every client has failures of its own, whose words may hold a key
        raise ChatModelUnavailable(
            f"PROVISO_LLM={settings.llm} cannot be set up: check the provider's name, and its key in the environment"
        ) from None
    return HostedChatModel(_guarded(settings, chat, provider, tells_end=False), None)


def _wanted(error: ImportError) -> str:
    """The command that installs what could not be imported."""
    cause = error.__cause__ if isinstance(error.__cause__, ImportError) else error
    module = (cause.name or "").partition(".")[0]
    return f"pip install {module.replace('_', '-')}" if module else "see LangChain's page about the provider"


def _guarded(settings: Settings, inner: BaseChatModel, provider: str, *, tells_end: bool) -> GuardedChatModel:
    limits = settings.chat_model
    return GuardedChatModel(
        inner=inner,
        provider=provider,
        silence_s=limits.silence_s,
        timeout_s=limits.timeout_s,
        tells_end=tells_end,
    )


def _key(given: SecretStr | None, variable: str) -> SecretStr | None:
    """The key without white space around it, such as the line end of a file; None where nothing is left."""
    key = given.get_secret_value().strip() if given else ""
    if not (key.isascii() and key.isprintable()) or " " in key:
        # Clients would fail at every call, as if the connection had.
        raise ChatModelUnavailable(f"{variable} is no key: it holds spaces or characters that no key has")
    return SecretStr(key) if key else None


def _needed(settings: Settings, key: SecretStr | None, variable: str) -> SecretStr:
    if key is None:
        raise ChatModelUnavailable(f"PROVISO_LLM={settings.llm} needs a key: set {variable}")
    return key


def _not_installed(settings: Settings, extra: str) -> ChatModelUnavailable:
    return ChatModelUnavailable(
        f"PROVISO_LLM={settings.llm} needs a package that is not installed: pip install 'proviso-service[{extra}]'"
    )
