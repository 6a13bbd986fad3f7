"""Every setting, one typed tree.

Sources, strongest first: command-line flags, environment (`PROVISO_` and the path joined by `__`, for example
`PROVISO_TURNS__TIME_LIMIT_S=60`), `proviso.toml` (path in `PROVISO_CONFIG`), the defaults below.
"""

import os
import re
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from proviso_service.value_faults import refusal

Fraction = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(gt=0)]

OPENAI_URL = "https://api.openai.com/v1"


def _api_url(value: str) -> str:
    try:
        parts = urlsplit(value)
        is_bare = parts.port != 0 and not (parts.query or parts.fragment)
        sound = parts.scheme in ("http", "https") and parts.hostname and is_bare
    except ValueError:
        sound = False
    if not sound:
        raise refusal("must be an address such as https://api.isaacus.com/v1")
    if parts.username or parts.password:
        raise refusal("must hold no name or password")
    return value


ApiUrl = Annotated[str, AfterValidator(_api_url)]


class Section(BaseModel):
    """A group of settings; unknown names are errors, so that a typing mistake is noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ServerSettings(Section):
    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(50051, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    insecure: bool = Field(False, description="Allow an address other than loopback without TLS and authentication.")
    drain_s: Seconds = Field(20.0, description="Time that running turns get after SIGTERM.")
    max_turns_running: int = Field(512, ge=1, description="Turns at once; more are RESOURCE_EXHAUSTED.")
    max_calls_running: int = Field(2048, ge=1, description="Calls at once; more are RESOURCE_EXHAUSTED.")
    max_request_bytes: int = Field(4 * 1024 * 1024, ge=1024, description="Largest message accepted.")
    unary_timeout_s: Seconds = Field(60.0, description="Time limit of a unary call that sets no deadline.")


class TurnSettings(Section):
    max_turns: int = Field(6, ge=1, le=100, description="Model calls in a turn.")
    max_tool_calls: int = Field(3, ge=0, le=100, description="Tool executions in a turn.")
    max_context_chars: int = Field(12_000, ge=500, le=1_000_000, description="Characters of conversation.")
    tool_result_chars: int = Field(2_500, ge=100, description="Characters of one tool result.")
    min_tool_result_chars: int = Field(
        500, ge=1, description="With less than this left at the start a turn ends in MAX_CONTEXT_REACHED."
    )
    time_limit_s: Seconds = Field(120.0, description="Time limit of a turn.")
    approval_s: Seconds = Field(
        600.0, description="Time for a person's decision on a tool call; the limit stands still."
    )
    heartbeat_s: Seconds = Field(15.0, description="Silence after which a reader sends a heartbeat.")
    token_interval_s: float = Field(
        0.01, ge=0, le=1, description="Tokens that come faster than this are sent together; 0 sends each as it comes."
    )
    grace_s: Seconds = Field(30.0, description="Time a turn goes on when nobody reads it (GRACE).")
    log_ttl_s: Seconds = Field(600.0, description="Time a turn's events are kept after its end.")
    log_max_events: int = Field(20_000, ge=100, description="Events of one turn.")
    log_max_bytes: int = Field(8 * 1024 * 1024, ge=64 * 1024, description="Text held by one turn's events.")
    lease_s: Seconds = Field(15.0, description="Time after which a dead replica's turns are closed.")
    model_retries: int = Field(2, ge=0, le=10, description="Retries of a model call after a transient failure.")
    tool_retries: int = Field(3, ge=0, le=10, description="Retries of a tool after a transient failure.")
    retry_base_s: Seconds = Field(0.5, description="First wait before a retry; doubles, with jitter.")
    retry_max_s: Seconds = Field(8.0, description="Longest wait before a retry.")


class ContextSettings(Section):
    max_images: int = Field(5, ge=0, le=5, description="Images of one message.")
    max_documents: int = Field(20, ge=0, le=20, description="Document summaries of one message.")
    summary_chars: int = Field(200, ge=1, description="Characters of a document summary shown to the model.")
    documents_chars: int = Field(4_000, ge=0, description="Characters of all document summaries of a message.")
    documents_tokens: int = Field(1_000, ge=0, description="Tokens of all document summaries, as estimated.")
    documents_time_limit_s: Seconds = Field(
        2.0, description="Time limit of comparing summaries over those limits with the message."
    )
    suggest_after: int = Field(
        3, ge=1, le=200, description="Answers an item entered unused before SuggestRemovals names it."
    )


class SelectionSettings(Section):
    """Which of the catalog's agent items enter a request."""

    chunk_chars: int = Field(500, ge=50, le=4_000, description="Longest piece of an item that is searched.")
    top_k: int = Field(20, ge=1, le=1_000, description="Best pieces whose items may enter a request.")
    top_n: int = Field(5, ge=0, le=100, description="Agent items of one request; 0 takes none.")
    min_score: Fraction = Field(0.41, description="Lowest similarity of an agent item to the message.")
    max_distance: Fraction = Field(0.05, description="How far an agent item may be below the best one.")
    word_weight: Fraction = Field(0.4, description="Share of common words in the similarity; the rest is of meaning.")
    time_limit_s: Seconds = Field(2.0, description="Time limit of the search; a turn goes on without agent items.")
    max_chars: int = Field(40_000, ge=0, description="Characters of all items; more drop agent items.")
    max_tokens: int = Field(12_000, ge=0, description="Tokens of all items, as estimated; more drop agent items.")
    warn_share: Fraction = Field(0.8, description="Share of either of those from which a request warns.")
    max_omitted: int = Field(200, ge=0, description="Items left out that a request records, best first.")
    max_cached_vectors: int = Field(20_000, ge=1, description="Vectors of pieces kept in memory.")


def _host_name(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9.:-]+", value):
        raise refusal("must be names of hosts in lower case, as in example.com")
    return value


HostName = Annotated[str, AfterValidator(_host_name)]


class ImageSettings(Section):
    """Images of messages, which the service loads itself and hands to chat models that see."""

    allowed_hosts: tuple[HostName, ...] = Field(
        (), description="Hosts that images are loaded from, in lower case, a JSON list; every public one when empty."
    )
    time_limit_s: Seconds = Field(10.0, description="Time limit of loading the images of a message.")
    max_bytes: int = Field(4 * 1024 * 1024, ge=1, description="Largest image.")
    max_message_bytes: int = Field(12 * 1024 * 1024, ge=1, description="All images of a message together.")
    max_side_pixels: int = Field(16_384, ge=1, description="Widest and highest image, in pixels.")
    max_pixels: int = Field(40_000_000, ge=1, description="Most pixels of an image.")
    at_once: int = Field(32, ge=1, le=256, description="Images loaded at once.")
    tenant_at_once: int = Field(16, ge=1, le=256, description="Images loaded at once of one tenant's messages.")


class DocumentSettings(Section):
    max_upload_bytes: int = Field(50 * 1024 * 1024, ge=1, description="Largest document accepted.")
    max_text_chars: int = Field(20_000_000, ge=1, description="Longest text of a document.")
    max_pages: int = Field(3_000, ge=1, description="Most pages of a document.")
    read_time_limit_s: Seconds = Field(60.0, description="Time limit of reading a document.")
    read_memory_mb: int = Field(
        1_024, ge=256, le=65_536, description="Memory that reading a document may take, in MiB."
    )
    chunk_chars: int = Field(900, ge=100, le=4_000, description="Longest chunk.")
    ingest_workers: int = Field(2, ge=1, le=32, description="Documents ingested at once.")
    max_searches_running: int = Field(32, ge=1, description="Searches at once.")


class IqlSettings(Section):
    min_score: Fraction = Field(0.5, description="A chunk above this score is a match.")
    comparison: Literal["contract", "vendor"] = Field(
        "contract", description="Meaning of `>`: (A - B + 1) / 2, or with `vendor` A if A > B else 0; so for `<`."
    )
    max_length: int = Field(4_000, ge=1, le=100_000, description="Characters of a query.")
    max_statements: int = Field(16, ge=1, le=128, description="Statements of a query.")
    max_depth: int = Field(32, ge=1, le=64, description="Depth of a query.")
    templates_file: Path | None = Field(None, description="TOML file of templates beside those of the language.")
    batches_at_once: int = Field(
        4, ge=1, le=64, description="Batches scored at once, of a long document or of several up to 512 passages."
    )
    time_limit_s: Seconds = Field(45.0, description="Time limit of a query; of each batch where results stream.")
    max_cached_scores: int = Field(5_000_000, ge=0, description="Scores kept in memory.")
    max_kept_statements: int = Field(1_000, ge=128, description="Statements whose scores are stored, per document.")


class ExtractionSettings(Section):
    min_confidence: Fraction = Field(0.3, description="Lowest confidence of an extracted answer.")
    passages: int = Field(40, ge=1, le=100, description="Passages that an answer is looked for in.")
    max_running: int = Field(8, ge=1, le=256, description="Extractions at once.")
    time_limit_s: Seconds = Field(45.0, description="Time limit of an extraction.")


class ModelSettings(Section):
    embed_threads: int = Field(2, ge=1, le=64, description="Threads of the embedding model.")
    embed_batch: int = Field(16, ge=1, le=256, description="Texts in one batch of the embedding model.")
    embed_queue: int = Field(4_096, ge=1, description="Texts that may wait for the embedding model.")


class BackendSettings(Section):
    """Which models serve; `auto` is Isaacus where its key is set, else the embedded model (no reranker)."""

    embedder: Literal["embedded", "isaacus"] = Field(
        "embedded",
        description="Embeddings: `embedded` or `isaacus`. A change means deleting and uploading all documents again.",
    )
    classifier: Literal["auto", "embedded", "isaacus"] = Field(
        "auto", description="Scores of statements: `embedded`, `isaacus`, or `auto`: Isaacus where its key is set."
    )
    extractor: Literal["auto", "embedded", "isaacus"] = Field(
        "auto", description="Answers to questions: `embedded`, `isaacus` or `auto`."
    )
    reranker: Literal["auto", "none", "isaacus"] = Field(
        "auto", description="Order of search results: `none`, `isaacus` or `auto`."
    )


class IsaacusSettings(Section):
    timeout_s: Seconds = Field(20.0, description="Time limit of a call to Isaacus, each try on its own.")
    retries: int = Field(2, ge=0, le=10, description="Tries after a call that failed for the moment.")
    retry_base_s: Seconds = Field(0.5, description="First wait before a try; doubles, with jitter.")
    retry_max_s: Seconds = Field(8.0, description="Longest wait before a try that Isaacus has not asked for.")
    retry_after_max_s: Seconds = Field(
        30.0, description="Longest wait that Isaacus may ask for; where it asks for more, the call fails."
    )
    calls_at_once: int = Field(8, ge=1, le=64, description="Calls at once.")
    texts_per_call: int = Field(64, ge=1, le=128, description="Texts in one call.")
    dimensions: int = Field(1_024, ge=1, le=1_792, description="Dimensions of Isaacus's embeddings.")
    embedder_model: str = Field("kanon-2-embedder", min_length=1, description="Model of embeddings.")
    classifier_model: str = Field("kanon-universal-classifier", min_length=1, description="Model of statements.")
    reranker_model: str = Field("kanon-2-reranker", min_length=1, description="Model of search results.")
    extractor_model: str = Field("kanon-answer-extractor", min_length=1, description="Model of answers.")


class ChatModelSettings(Section):
    """Calls of a provider's chat model; the embedded one needs none of it."""

    timeout_s: Seconds = Field(60.0, description="Time limit of a call to the chat model, each try on its own.")
    silence_s: Seconds = Field(30.0, description="Longest time in which nothing of the chat model's reply may come.")
    calls_at_once: int = Field(64, ge=1, le=4_096, description="Calls to the chat model at once.")
    wait_s: Seconds = Field(10.0, description="Longest wait of a call for its place among those.")
    failures_in_a_row: int = Field(
        10, ge=1, le=1_000, description="Failed calls in a row, for the moment, after which the model is left alone."
    )
    pause_s: Seconds = Field(15.0, description="Time for which it is; then one call tries whether it is back.")


class CacheSettings(Section):
    """What is kept from turn to turn: replies of the chat model, and results of retrieval."""

    ttl_s: Seconds = Field(3_600.0, description="Time that replies and retrieval results are kept.")
    entries: int = Field(2_000, ge=0, description="Most replies kept, and most retrieval results; 0 keeps none.")
    max_bytes: int = Field(
        64 * 1024 * 1024, ge=1, description="Memory of all replies kept, and of all retrieval results, as estimated."
    )


class StorageSettings(Section):
    state_url: str = Field("", description="SQLAlchemy URL of the state; a SQLite file in the data folder when empty.")
    vector_collections: int = Field(16, ge=1, le=256, description="Chroma collections that matters are spread over.")


class TelemetrySettings(Section):
    log_format: Literal["json", "console"] = Field("console", description="How logs are written.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least severe level logged.")
    otlp_endpoint: str = Field("", description="OTLP gRPC endpoint for traces; no traces when empty.")
    trace_ratio: Fraction = Field(
        1.0, description="Share of traces recorded; a caller's trace keeps the caller's choice."
    )


class Settings(BaseSettings):
    """All settings of the service."""

    model_config = SettingsConfigDict(
        env_prefix="PROVISO_",
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        nested_model_default_partial_update=True,
    )

    data_dir: Path = Field(Path(".proviso"), description="Folder of everything the service keeps.")
    models_dir: Path | None = Field(None, description="Folder of the embedded models; `models` in the data folder.")
    agent_dir: Annotated[Path | None, BeforeValidator(lambda value: value or None)] = Field(
        None, description="Folder of the agent: its rules, references and MCP servers; the service's own when empty."
    )
    llm: str = Field(
        "local",
        description="Chat model: `local`, `google_genai:<model>`, `openai:<model>`, `anthropic:<model>`, or that of "
        "any other provider that LangChain's `init_chat_model` knows.",
    )
    google_api_key: SecretStr | None = Field(
        None, validation_alias="GOOGLE_API_KEY", description="Key for google_genai models."
    )
    google_base_url: ApiUrl = Field(
        "https://generativelanguage.googleapis.com",
        validation_alias="GOOGLE_GEMINI_BASE_URL",
        description="Address of Gemini's API.",
    )
    openai_api_key: SecretStr | None = Field(
        None, validation_alias="OPENAI_API_KEY", description="Key for openai models; not needed at another address."
    )
    openai_base_url: ApiUrl = Field(
        OPENAI_URL,
        validation_alias="OPENAI_BASE_URL",
        description="Address of OpenAI's API, or of another server that speaks it, such as vLLM or Ollama.",
    )
    anthropic_api_key: SecretStr | None = Field(
        None, validation_alias="ANTHROPIC_API_KEY", description="Key for anthropic models."
    )
    anthropic_base_url: ApiUrl = Field(
        "https://api.anthropic.com", validation_alias="ANTHROPIC_BASE_URL", description="Address of Anthropic's API."
    )
    isaacus_api_key: SecretStr | None = Field(
        None, validation_alias="ISAACUS_API_KEY", description="Key for Isaacus's models."
    )
    isaacus_base_url: ApiUrl = Field(
        "https://api.isaacus.com/v1", validation_alias="ISAACUS_BASE_URL", description="Address of Isaacus's API."
    )
    server: ServerSettings = ServerSettings()
    turns: TurnSettings = TurnSettings()
    context: ContextSettings = ContextSettings()
    selection: SelectionSettings = SelectionSettings()
    images: ImageSettings = ImageSettings()
    documents: DocumentSettings = DocumentSettings()
    iql: IqlSettings = IqlSettings()
    extraction: ExtractionSettings = ExtractionSettings()
    models: ModelSettings = ModelSettings()
    backends: BackendSettings = BackendSettings()
    isaacus: IsaacusSettings = IsaacusSettings()
    chat_model: ChatModelSettings = ChatModelSettings()
    cache: CacheSettings = CacheSettings()
    storage: StorageSettings = StorageSettings()
    telemetry: TelemetrySettings = TelemetrySettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        toml = Path(os.environ.get("PROVISO_CONFIG", "proviso.toml"))
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, toml)

    @property
    def resolved_models_dir(self) -> Path:
        return self.models_dir or self.data_dir / "models"

    @property
    def resolved_state_url(self) -> str:
        return self.storage.state_url or f"sqlite:///{self.data_dir.resolve() / 'state.sqlite3'}"
