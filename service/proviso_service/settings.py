"""Everything that an operator can set. Limits that nobody sets stand in the folders that use them (see `config.py`).

A setting comes from a command-line flag, else from an environment variable (`PROVISO_` and its path joined by `__`, as
in `PROVISO_TURNS__TIME_LIMIT_S=60`), else from `proviso.toml` (or the file that `PROVISO_CONFIG` names), else from the
defaults below. `variables.py` lists the variables; `make settings` writes the page about them."""

import os
import re
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from proviso_service.model_address import ClassifierChoice, EmbedderChoice, RerankerChoice
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


def is_safe_url(url: str) -> bool:
    """Whether what an address is sent, and answers, stays between it and this machine."""
    try:
        return url.startswith("https://") or urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")
    except ValueError:
        return False


ApiUrl = Annotated[str, AfterValidator(_api_url)]


class Section(BaseModel):
    """A group of settings. A name that it does not have is an error, so that typing mistakes are noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ServerSettings(Section):
    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(50051, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    insecure: bool = Field(False, description="Allow an address other than loopback without TLS and authentication.")
    tls_cert: Path | None = Field(None, description="PEM file of the server's certificate, with its chain.")
    tls_key: Path | None = Field(None, description="PEM file of the certificate's private key.")
    tls_client_ca: Path | None = Field(
        None, description="PEM file of the authorities whose client certificates are accepted; every client needs one."
    )
    reflection: bool = Field(True, description="Show the contract by reflection, to everybody.")
    drain_s: Seconds = Field(20.0, description="Seconds that running turns get to end after SIGTERM.")
    max_turns_running: int = Field(512, ge=1, description="Turns that run at once, also those that wait for a model.")


class AuthSettings(Section):
    """Which credentials are accepted. With none of them every caller may do everything, which only a loopback address
    allows."""

    api_keys: bool = Field(False, description="Accept API keys; `proviso keys create` makes them.")
    key_secret: SecretStr | None = Field(
        None, description="Secret that API keys are hashed with, for all replicas; one in the data folder when empty."
    )
    jwks: str = Field("", description="Accept JSON Web Tokens: file or https address of the issuer's key set.")
    issuer: str = Field("", description="Issuer that tokens have to name (`iss`).")
    audience: str = Field("", description="Audience that tokens have to name (`aud`).")
    tenant_claim: str = Field("tenant", description="Claim of a token that names the tenant.")
    user_claim: str = Field("sub", description="Claim of a token that names the user.")
    roles_claim: str = Field(
        "roles", description="Claim of a token that lists its roles; a dot leads into an object: `realm_access.roles`."
    )
    peers_file: Path | None = Field(
        None, description="Accept client certificates: TOML file of the names in them, and whom each stands for."
    )

    @property
    def is_open(self) -> bool:
        """Whether no credentials are asked for."""
        return not (self.api_keys or self.jwks or self.peers_file)


class LimitSettings(Section):
    """What each tenant may use; 0 means no limit."""

    requests_per_minute: int = Field(0, ge=0, description="Requests of a tenant in a minute; 0 sets no limit.")
    turns_per_day: int = Field(0, ge=0, description="Turns of a tenant in a day; 0 sets no limit.")
    tokens_per_day: int = Field(
        0, ge=0, description="Tokens of chat models that a tenant's turns use in a day; 0 sets no limit."
    )
    streams: int = Field(0, ge=0, description="Streams that a tenant has open at once; 0 sets no limit.")
    documents: int = Field(0, ge=0, description="Documents that a tenant keeps; 0 sets no limit.")
    bytes: int = Field(0, ge=0, description="Bytes of documents that a tenant keeps; 0 sets no limit.")
    key_share: float = Field(
        1.0, gt=0, le=1, description="Share of its tenant's requests, turns, tokens and streams that one key may use."
    )

    @property
    def any(self) -> bool:
        """Whether anything is limited."""
        return any(getattr(self, name) for name in type(self).model_fields if name != "key_share")


class TurnSettings(Section):
    max_turns: int = Field(6, ge=1, le=100, description="Most calls of the chat model in a turn.")
    max_tool_calls: int = Field(3, ge=0, le=100, description="Most tool calls in a turn.")
    max_context_chars: int = Field(
        12_000, ge=500, le=1_000_000, description="Most characters of conversation and tool results in a turn."
    )
    time_limit_s: Seconds = Field(120.0, description="Time limit of a turn in seconds.")
    approval_s: Seconds = Field(
        600.0, description="Seconds that a person has to decide on a tool call; the turn's time limit is paused."
    )
    grace_s: Seconds = Field(
        30.0, description="Seconds that a turn goes on without a reader, where the request asks for GRACE."
    )
    log_ttl_s: Seconds = Field(600.0, description="Seconds that a turn's events are kept after its end.")
    cache_ttl_s: float = Field(
        3_600.0,
        ge=0,
        description="Seconds that replies of the chat model and results of retrieval are kept for equal requests; "
        "0 keeps none.",
    )


def _none_for_empty(value: object) -> object:
    return None if value == "" else value


class ChatModelSettings(Section):
    """Calls of a hosted chat model."""

    timeout_s: Seconds = Field(
        60.0, description="Time limit of one call of a hosted chat model in seconds; each retry has its own."
    )
    silence_s: Seconds = Field(
        30.0, description="Longest time in seconds in which nothing of a hosted chat model's reply may come."
    )
    calls_at_once: int = Field(64, ge=1, le=4_096, description="Most calls of a hosted chat model at once.")
    temperature: Annotated[Annotated[float, Field(ge=0, le=2)] | None, BeforeValidator(_none_for_empty)] = Field(
        0.0,
        description="How much chance there is in a hosted chat model's words; the provider's own when empty. Models "
        "that take no temperature are sent none.",
    )
    max_output_tokens: Annotated[Annotated[int, Field(ge=1)] | None, BeforeValidator(_none_for_empty)] = Field(
        None, description="Most tokens of one reply of a hosted chat model; the provider's own limit when empty."
    )
    thinking: Literal["", "minimal", "low", "medium", "high"] | Annotated[int, Field(ge=-1)] = Field(
        "",
        description="How much a hosted chat model thinks before it writes: a level (`minimal`, `low`, `medium`, `high`)"
        " or the most tokens of it, as the model takes it; the provider's own when empty.",
    )
    safety: Literal["", "off", "none", "only_high", "medium_and_above", "low_and_above"] = Field(
        "", description="What Gemini blocks as harmful, in all categories; Google's own rule when empty."
    )


class ModelSettings(Section):
    """Which models embed, classify, extract and rerank; `auto` is Isaacus where its key is set, else the embedded model
    (and no reranker). An address is that of a model server."""

    embedder: EmbedderChoice = Field(
        "embedded",
        description="Model of embeddings: `embedded`, `isaacus`, or the address of a "
        "[model server](models.md#a-model-server-of-your-own), as in `https://:KEY@gpu.example.com:8080`. After a "
        "change all documents have to be deleted and uploaded again.",
    )
    classifier: ClassifierChoice = Field(
        "auto",
        description="Model that scores statements: `embedded`, `isaacus`, the address of a model server, or `auto`, "
        "which is Isaacus where its key is set and else the embedded one.",
    )
    extractor: Literal["auto", "embedded", "isaacus"] = Field(
        "auto", description="Model that finds answers to questions: `embedded`, `isaacus` or `auto`."
    )
    reranker: RerankerChoice = Field(
        "auto",
        description="Model that orders search results: `none`, `embedded` (some 0.1 s a search), `isaacus`, "
        "the address of a model server, or `auto`, which is Isaacus where its key is set and else none.",
    )
    embed_threads: int = Field(2, ge=1, le=64, description="Threads of the embedded embedding model.")
    isaacus_calls_at_once: int = Field(8, ge=1, le=64, description="Most calls of Isaacus's API at once.")


_IMAGE_HOST = re.compile(r"(?:https?://)?(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]+)?")


def _image_host(value: str) -> str:
    try:
        sound = _IMAGE_HOST.fullmatch(value) and urlsplit(value if "://" in value else f"https://{value}").port != 0
    except ValueError:
        sound = False
    if not sound:
        raise refusal("must be hosts in lower case, as in example.com, example.com:8443 or http://10.0.0.7:9000")
    return value


ImageHost = Annotated[str, AfterValidator(_image_host)]


class BandSettings(Section):
    """The scores of a model from which an answer is possible, and from which it is likely."""

    possible: Fraction = Field(0.3, description="From this score on an answer is possible.")
    likely: Fraction = Field(0.7, description="From this score on an answer is likely.")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.possible > self.likely:
            raise refusal("possible must not be above likely")
        return self


class ImageSettings(Section):
    """Images of messages, which the service loads itself and hands to chat models that read images."""

    allowed_hosts: tuple[ImageHost, ...] = Field(
        (),
        description="Hosts that images of messages are loaded from, as a JSON list in lower case; every public host "
        "when empty. A listed host may have a private address. With a port only that port is meant; with `http://` "
        "plain http is allowed too.",
    )


def _vector_index(value: str) -> str:
    if value in ("auto", "exact", "chroma"):
        return value
    if value.startswith(("http://", "https://")):
        return _api_url(value)
    raise refusal("must be auto, exact, chroma, or the URL of a Chroma server")


class DocumentSettings(Section):
    max_upload_bytes: int = Field(50 * 1024 * 1024, ge=1, description="Size of the largest document accepted.")
    read_time_limit_s: Seconds = Field(60.0, description="Time limit of reading one document in seconds.")
    read_memory_mb: int = Field(
        1_024, ge=256, le=65_536, description="Most memory that reading one document may take, in MiB."
    )
    ingest_workers: int = Field(
        2,
        ge=0,
        le=32,
        description="Documents that are embedded at once, and large ones of a matter under way; 0 leaves all documents "
        "to [workers](deployment.md#workers).",
    )
    index_memory_mb: int = Field(
        1_024, ge=16, description="Memory for the search indexes of the matters in use together, in MiB."
    )
    vector_index: Annotated[str, AfterValidator(_vector_index)] = Field(
        "auto",
        description="How vectors are searched: `exact`; `chroma`, or the URL of a Chroma server, for matters of more "
        "than 50,000 passages; or `auto`, which is `chroma` where that package is installed.",
    )


class IqlSettings(Section):
    comparison: Literal["contract", "vendor"] = Field(
        "contract",
        description="Score of `A > B`, where the request names none: `contract` is (A - B + 1) / 2, `vendor` is A if "
        "A > B and else 0.",
    )
    templates_file: Path | None = Field(
        None, description="TOML file of templates that IQL queries may use beside those of the language."
    )


def _redis_url(value: SecretStr) -> SecretStr:
    if not re.fullmatch(r"(rediss?://[^/\s]+(/[0-9]+)?)?", value.get_secret_value()):
        raise refusal("must be an address as in redis://redis.example.com:6379/0, or rediss:// with TLS")
    return value


def _blob_url(value: str) -> str:
    if "://" in value and not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]+(/[A-Za-z0-9._/-]*)?", value):
        raise refusal("must be a folder, or a bucket and a prefix as in s3://bucket/prefix")
    return value


class StorageSettings(Section):
    state_url: SecretStr = Field(
        SecretStr(""),
        description="`sqlite:///file` or `postgresql://user:password@host/database`; in the data folder when empty.",
    )
    blob_url: Annotated[str, AfterValidator(_blob_url)] = Field(
        "",
        description="Where uploaded files lie: a folder, or `s3://bucket/prefix`, which takes the extra `replicas` and "
        "the usual variables of AWS; `blobs` in the data folder when empty.",
    )
    redis_url: Annotated[SecretStr, AfterValidator(_redis_url)] = Field(
        SecretStr(""),
        description="Redis by which processes that share the state show each other their turns, as in "
        "`rediss://:password@redis.example.com:6379/0`; it takes the extra `replicas`. None when empty.",
    )
    seal_keys: str = Field(
        "",
        description="Seal uploaded originals and backups with a key for each tenant: file of the master key "
        "(`proviso seal new-key` makes it), or address of a transit engine of Vault or OpenBao, as in "
        "`https://vault.example.com:8200/v1/transit`, with its token in `VAULT_TOKEN`. Nothing is sealed when empty.",
    )


class TelemetrySettings(Section):
    log_format: Literal["json", "console"] = Field("console", description="Format of log lines.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Lowest level that is logged.")
    otlp_endpoint: str = Field(
        "", description="OTLP gRPC endpoint that traces and metrics are sent to; neither when empty."
    )
    trace_ratio: Fraction = Field(
        1.0, description="Share of traces that are recorded; where a caller sends a trace, its own choice holds."
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

    data_dir: Path = Field(Path(".proviso"), description="Folder of everything that the service stores.")
    models_dir: Path | None = Field(
        None, description="Folder of the embedded models; `models` in the data folder when empty."
    )
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
        None,
        validation_alias="OPENAI_API_KEY",
        description="Key for openai models; not needed when OPENAI_BASE_URL is another server.",
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
    auth: AuthSettings = AuthSettings()
    limits: LimitSettings = LimitSettings()
    turns: TurnSettings = TurnSettings()
    chat_model: ChatModelSettings = ChatModelSettings()
    models: ModelSettings = ModelSettings()
    bands: dict[str, BandSettings] = Field(
        {},
        description="Scores from which answers are possible and likely, by the id of the model; `proviso evaluate` "
        "measures them.",
    )
    images: ImageSettings = ImageSettings()
    documents: DocumentSettings = DocumentSettings()
    iql: IqlSettings = IqlSettings()
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
        return self.storage.state_url.get_secret_value() or f"sqlite:///{self.data_dir.resolve() / 'state.sqlite3'}"

    @property
    def own_blobs_folder(self) -> Path | None:
        """The folder of uploaded files where it has one of its own, which is neither in the data folder nor in S3."""
        url = self.storage.blob_url
        return Path(url) if url and not url.startswith("s3://") else None
