"""The part of the wiring that chooses the models and loads them: those that embed, classify, extract and rerank, and
the chat model, with the caches of what they say."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

import structlog
from pydantic import SecretStr

from proviso_service.agent.caching import Cache, CachedReply, Caches, SharedCache
from proviso_service.agent.chat_models import ChatModelConfig, ChatModels, ModelGate, NamedChatModel
from proviso_service.backends.isaacus.analysis import IsaacusClassifier, IsaacusExtractor
from proviso_service.backends.isaacus.client import IsaacusClient, IsaacusConfig
from proviso_service.backends.isaacus.retrieval import IsaacusEmbedder, IsaacusReranker, embedder_id
from proviso_service.backends.llm.factory import build_chat_model
from proviso_service.backends.memory import MemoryCache, RecentQueries
from proviso_service.backends.model_server.client import ModelServer, ModelServerConfig
from proviso_service.backends.model_server.embedding import ServerEmbedder
from proviso_service.backends.model_server.pairs import PairScorer
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.vectors.chroma import approximate_index
from proviso_service.embedded import (
    DIMENSIONS,
    LANGUAGES_FOLDER,
    EmbeddedChatModel,
    EmbeddedClassifier,
    EmbeddedExtractor,
    EmbeddedReranker,
    Encoders,
    Judge,
    MiniLmEmbedder,
    MiniLmEncoder,
    ModelProcesses,
    ProcessClassifier,
    ProcessEmbedder,
    ProcessExtractor,
    ProcessReranker,
    encoder_id,
    find_prepared,
    has_languages,
    verify_prepared,
)
from proviso_service.errors import ModelApiError
from proviso_service.language import ENGLISH
from proviso_service.matters import ResidentIndexes
from proviso_service.model_address import BackEndChoice, ServerAddress
from proviso_service.models import (
    AnswerExtractor,
    Classifier,
    Embedder,
    ReadingClassifier,
    Reranker,
    StatementJudge,
)
from proviso_service.notices import ALONE, Notices
from proviso_service.settings import Settings
from proviso_service.telemetry.spans import NO_SPANS, Spans
from proviso_service.tools.base import ToolResult
from proviso_service.tools.rendering import to_json

if TYPE_CHECKING:
    from proviso_service.backends.redis.link import RedisLink

LOCAL_MODEL = "local"

T = TypeVar("T")

_ASKED_ONCE = ModelServerConfig(retries=0)

_log = structlog.get_logger(__name__)


class BackEnd(StrEnum):
    EMBEDDED = "embedded"
    ISAACUS = "isaacus"
    SERVER = "server"
    NONE = "none"

    @classmethod
    def of(cls, choice: BackEndChoice) -> "BackEnd":
        return cls(choice) if isinstance(choice, str) else cls.SERVER


class BackEndUnavailable(Exception):
    """A chosen back end cannot be used; the message says which variable to set."""


@dataclass(frozen=True, slots=True)
class BackEnds:
    """The back end that was chosen for each kind of model."""

    embedder: BackEnd
    classifier: BackEnd
    extractor: BackEnd
    reranker: BackEnd

    @property
    def by_port(self) -> dict[str, BackEnd]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class VectorModel:
    """The model whose vectors are stored and searched."""

    model_id: str
    dimensions: int


_READS = {
    encoder_id(with_languages=False): (ENGLISH,),
    encoder_id(with_languages=True): (ENGLISH, "de", "es", "fr", "it"),
}


@dataclass(frozen=True, slots=True)
class Models:
    """The loaded models. `classifier_vectors` is the id of the model whose vectors the classifier takes along with
    passages; it is empty if the classifier takes none."""

    embedder: Embedder
    classifier: Classifier
    classifier_vectors: str
    extractor: AnswerExtractor
    reranker: Reranker | None

    @property
    def languages(self) -> frozenset[str]:
        """The languages that the models read, where it is known: of the embedded ones, which search, score and extract
        together."""
        reads = _READS.get(self.embedder.model_id, ())
        return frozenset(reads if self.reading_classifier is not None else ())

    @property
    def statement_judge(self) -> StatementJudge | None:
        """The classifier, if it is one that has a judge."""
        return self.classifier if isinstance(self.classifier, EmbeddedClassifier | ProcessClassifier) else None

    @property
    def reading_classifier(self) -> ReadingClassifier | None:
        """The classifier, if it is one that reads passages when they come in."""
        return self.classifier if isinstance(self.classifier, ReadingClassifier) else None


def back_ends(settings: Settings) -> BackEnds:
    """Chooses by the settings, without making a call. Raises BackEndUnavailable if the settings name Isaacus and it
    cannot be used."""
    wanted = settings.models
    key = _key(settings)
    for port, name in wanted:
        if name == BackEnd.ISAACUS and not key:
            raise BackEndUnavailable(f"PROVISO_MODELS__{port.upper()}=isaacus needs a key: set ISAACUS_API_KEY")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise BackEndUnavailable("ISAACUS_API_KEY is not a key: it holds spaces or characters that no key has")
    auto = BackEnd.ISAACUS if key else BackEnd.EMBEDDED
    return BackEnds(
        embedder=BackEnd.of(wanted.embedder),
        classifier=auto if wanted.classifier == "auto" else BackEnd.of(wanted.classifier),
        extractor=auto if wanted.extractor == "auto" else BackEnd(wanted.extractor),
        reranker=(auto if key else BackEnd.NONE) if wanted.reranker == "auto" else BackEnd.of(wanted.reranker),
    )


def server_addresses(settings: Settings) -> dict[str, ServerAddress]:
    """The addresses of model servers, by the variables that name them."""
    named = {f"PROVISO_MODELS__{port.upper()}": choice for port, choice in settings.models}
    return {name: ServerAddress.of(choice) for name, choice in named.items() if isinstance(choice, SecretStr)}


async def vector_model(settings: Settings, isaacus: IsaacusConfig | None = None) -> VectorModel:
    """The model whose vectors the settings ask for; it is not loaded. Only a model server is asked what it has. Raises
    BackEndUnavailable."""
    config = isaacus or IsaacusConfig()
    chosen = BackEnd.of(settings.models.embedder)
    if chosen is BackEnd.SERVER:
        async with AsyncExitStack() as stack:
            embedder = await _on_server(settings, "embedder", ServerEmbedder.start, _ASKED_ONCE, stack)
            return VectorModel(embedder.model_id, embedder.dimensions)
    if chosen is BackEnd.ISAACUS:
        return VectorModel(embedder_id(config), config.dimensions)
    return VectorModel(_encoder_id(settings), DIMENSIONS)


async def models_on_servers(settings: Settings) -> dict[str, str]:
    """The ids of the models that model servers have, by port. Raises BackEndUnavailable."""
    starts: dict[str, Callable[[ModelServer, str], Awaitable[Embedder | Reranker]]] = {
        "embedder": ServerEmbedder.start,
        "classifier": PairScorer.classifier,
        "reranker": PairScorer.reranker,
    }
    wanted = [port for port, choice in settings.models if isinstance(choice, SecretStr)]
    async with AsyncExitStack() as stack:
        return {port: (await _on_server(settings, port, starts[port], _ASKED_ONCE, stack)).model_id for port in wanted}


async def _on_server(
    settings: Settings,
    port: str,
    start: Callable[[ModelServer, str], Awaitable[T]],
    config: ModelServerConfig,
    stack: AsyncExitStack,
    spans: Spans = NO_SPANS,
) -> T:
    """The model of a port on the server that the settings name, which is asked what it serves. The stack closes the
    connections. Raises BackEndUnavailable."""
    variable = f"PROVISO_MODELS__{port.upper()}"
    address = server_addresses(settings)[variable]
    server = await asyncio.to_thread(ModelServer.open, address, config, spans=spans)
    stack.push_async_callback(server.close)
    try:
        return await start(server, address.model)
    except ModelApiError as error:
        raise BackEndUnavailable(f"{variable}: {address.url} cannot be used: {error.message}") from error


def search_indexes(
    settings: Settings,
    store: SqlMatterStore,
    model: Embedder | VectorModel,
    notices: Notices = ALONE,
    *,
    keeps: bool = True,
) -> ResidentIndexes:
    """The search indexes of matters whose passages this model embeds; a process that never searches `keeps` none.
    Raises BackEndUnavailable."""
    try:
        approximate = approximate_index(settings.documents.vector_index, settings.data_dir / "vectors", model.model_id)
    except ModuleNotFoundError as error:
        raise BackEndUnavailable(
            "PROVISO_DOCUMENTS__VECTOR_INDEX asks for Chroma: install proviso-service[chroma]"
        ) from error
    max_bytes = settings.documents.index_memory_mb * 1024 * 1024
    return ResidentIndexes(
        store, model.model_id, model.dimensions, max_bytes, approximate, notices=notices, keeps=keeps
    )


class ModelLoader:
    """Loads each model that is used, once. The stack closes what was loaded."""

    def __init__(
        self,
        settings: Settings,
        chosen: BackEnds,
        isaacus: IsaacusConfig,
        stack: AsyncExitStack,
        spans: Spans = NO_SPANS,
        encoder: MiniLmEncoder | None = None,
        workers: int = 0,
        servers: ModelServerConfig | None = None,
    ) -> None:
        """An encoder that is given is used in place of one that would be loaded. The embedded models run in so many
        processes of their own, or in this one."""
        self._settings = settings
        self._chosen = chosen
        self._stack = stack
        self._spans = spans
        self._encoder = encoder
        self._workers = workers
        self._isaacus_config = isaacus
        self._server_config = servers or ModelServerConfig()
        self._client: IsaacusClient | None = None
        self._minilm: RecentQueries | None = None
        self._judging: Judge | None = None
        self._processes: ModelProcesses | None = None

    async def models(self, classifier: Classifier | None = None, extractor: AnswerExtractor | None = None) -> Models:
        """Loads the chosen models; a model that is given takes the place of the chosen one. Raises ModelNotPrepared."""
        embedder, reranker = await self._embedder(), await self._reranker()
        return Models(
            embedder=embedder,
            classifier=classifier or await self._classifier(),
            classifier_vectors=embedder.model_id if classifier else self._vectors_of_classifier(),
            extractor=extractor or await self._extractor(),
            reranker=reranker,
        )

    def _vectors_of_classifier(self) -> str:
        """The embedded classifier takes the vectors of its own model; others take none."""
        return _encoder_id(self._settings) if self._chosen.classifier is BackEnd.EMBEDDED else ""

    async def minilm(self) -> Embedder:
        """The embedded embedding model, in this process or in those of the models. Raises ModelNotPrepared."""
        if self._minilm is None:
            given, models_dir = self._encoder, self._settings.resolved_models_dir
            if given is None:
                await asyncio.to_thread(verify_prepared, models_dir)
                if has_languages(models_dir):
                    await asyncio.to_thread(find_prepared, models_dir, LANGUAGES_FOLDER)
            threads = self._settings.models.embed_threads
            if processes := self._model_processes():
                self._minilm = RecentQueries(ProcessEmbedder(processes))
            else:
                embedder = MiniLmEmbedder(Encoders.prepared(models_dir, threads, given))
                self._stack.push_async_callback(embedder.close)
                self._minilm = RecentQueries(embedder)
        return self._minilm

    def _model_processes(self) -> ModelProcesses | None:
        """The processes of the embedded models; None where these run in this one."""
        settings = self._settings
        if self._processes is None and self._workers:
            threads = settings.models.embed_threads
            self._processes = ModelProcesses(settings.resolved_models_dir, threads, self._workers)
            self._stack.push_async_callback(self._processes.close)
        return self._processes

    async def warm_up(self) -> None:
        """Has the processes of models started, and the embedded embedding model loaded, where they are in use."""
        if self._processes is not None:
            await self._processes.start()
        if self._minilm is not None:
            await self._minilm.embed_query("")

    async def _embedder(self) -> Embedder:
        if self._chosen.embedder is BackEnd.ISAACUS:
            return RecentQueries(IsaacusEmbedder(await self._isaacus(), self._isaacus_config))
        if self._chosen.embedder is BackEnd.SERVER:
            return RecentQueries(await self._on_server("embedder", ServerEmbedder.start))
        return await self.minilm()

    async def _classifier(self) -> Classifier:
        if self._chosen.classifier is BackEnd.ISAACUS:
            return IsaacusClassifier(await self._isaacus(), self._isaacus_config)
        if self._chosen.classifier is BackEnd.SERVER:
            return await self._on_server("classifier", PairScorer.classifier)
        embedder = await self.minilm()
        embedded = await asyncio.to_thread(EmbeddedClassifier.load, embedder, self._judge_of_embedded())
        self._stack.push_async_callback(embedded.close)
        processes = self._model_processes()
        return ProcessClassifier(processes, embedded) if processes else embedded

    async def _extractor(self) -> AnswerExtractor:
        if self._chosen.extractor is BackEnd.ISAACUS:
            return IsaacusExtractor(await self._isaacus(), self._isaacus_config)
        embedded = await asyncio.to_thread(EmbeddedExtractor.load, self._judge_of_embedded())
        self._stack.push_async_callback(embedded.close)
        processes = self._model_processes()
        return ProcessExtractor(processes, embedded) if processes else embedded

    def _judge_of_embedded(self) -> Judge | None:
        """The judge; None where nothing else needs the files of the embedded models, which then need not be there."""
        return self._judge() if self._minilm is not None else None

    def _judge(self) -> Judge:
        if self._judging is None:
            settings = self._settings
            self._judging = Judge(settings.resolved_models_dir, settings.models.embed_threads)
            self._stack.push_async_callback(self._judging.close)
        return self._judging

    async def _reranker(self) -> Reranker | None:
        if self._chosen.reranker is BackEnd.ISAACUS:
            return IsaacusReranker(await self._isaacus(), self._isaacus_config)
        if self._chosen.reranker is BackEnd.SERVER:
            return await self._on_server("reranker", PairScorer.reranker)
        if self._chosen.reranker is BackEnd.NONE:
            return None
        await self.minilm()
        embedded = EmbeddedReranker(self._judge())
        processes = self._model_processes()
        return ProcessReranker(processes, embedded) if processes else embedded

    async def _on_server(self, port: str, start: Callable[[ModelServer, str], Awaitable[T]]) -> T:
        return await _on_server(self._settings, port, start, self._server_config, self._stack, self._spans)

    async def _isaacus(self) -> IsaacusClient:
        if self._client is None:
            settings = self._settings
            self._client = await asyncio.to_thread(
                IsaacusClient.open, _key(settings), settings.isaacus_base_url, self._isaacus_config, spans=self._spans
            )
            self._stack.push_async_callback(self._client.close)
        return self._client


def _encoder_id(settings: Settings) -> str:
    return encoder_id(with_languages=has_languages(settings.resolved_models_dir))


def _key(settings: Settings) -> str:
    return settings.isaacus_api_key.get_secret_value().strip() if settings.isaacus_api_key else ""


def hosted_models(settings: Settings, config: ChatModelConfig) -> ChatModels | None:
    """The hosted chat model that the settings name; None if they name the embedded one."""
    if settings.llm == LOCAL_MODEL:
        return None
    hosted = build_chat_model(settings)
    gate = ModelGate(config)
    return ChatModels(NamedChatModel(settings.llm, hosted.model, gate=gate, close=hosted.close))


def embedded_chat(embedder: Embedder) -> ChatModels:
    model = EmbeddedChatModel(embedder=embedder)
    return ChatModels(NamedChatModel(LOCAL_MODEL, model, takes_image_urls=True, warm_up=model.warm_up))


def response_caches(
    settings: Settings, models: Models, stack: AsyncExitStack, link: "RedisLink | None" = None
) -> Caches | None:
    """The caches of the agent, in the Redis that processes share, where there is one; None where nothing is kept."""
    ttl_s = settings.turns.cache_ttl_s
    if not ttl_s:
        return None
    replies: Cache[CachedReply] = MemoryCache(ttl_s)
    results: Cache[ToolResult] = MemoryCache(ttl_s)
    if link is not None:
        replies, results = _shared_caches(link, ttl_s)
    caches = Caches(
        SharedCache(replies, lambda reply: reply.size_bytes),
        SharedCache(results, lambda result: len(to_json(result.data()))),
        _retrieval_setup(settings, models),
    )
    stack.callback(_log_use, caches)
    return caches


def _shared_caches(link: "RedisLink", ttl_s: float) -> tuple[Cache[CachedReply], Cache[ToolResult]]:
    from proviso_service.agent.cached_values import read_reply, read_result, write_reply, write_result
    from proviso_service.backends.redis.caches import RedisCache
    from proviso_service.backends.redis.computations import Computations

    computations = Computations(link)
    return (
        RedisCache(link, computations, "replies", ttl_s, write_reply, read_reply),
        RedisCache(link, computations, "results", ttl_s, write_result, read_result),
    )


def _retrieval_setup(settings: Settings, models: Models) -> str:
    """Identifies the settings and models on which results of retrieval depend."""
    sections = settings.model_dump_json(include={"documents"})
    reranker = models.reranker.model_id if models.reranker else ""
    return f"{sections} {models.embedder.model_id} {models.extractor.model_id} {reranker}"


def _log_use(caches: Caches) -> None:
    for name, cache in (("replies", caches.replies), ("retrieval", caches.results)):
        _log.info("cache_used", cache=name, hits=cache.hits, misses=cache.misses)
