"""The part of the wiring that chooses the models and loads them: those that embed, classify, extract and rerank, and
the chat model, with the caches of what they say."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from enum import StrEnum

import structlog

from proviso_service.agent.caching import CachedReply, Caches, SharedCache
from proviso_service.agent.chat_models import ChatModelConfig, ChatModels, ModelGate, NamedChatModel
from proviso_service.backends.isaacus.analysis import IsaacusClassifier, IsaacusExtractor
from proviso_service.backends.isaacus.client import IsaacusClient, IsaacusConfig
from proviso_service.backends.isaacus.retrieval import IsaacusEmbedder, IsaacusReranker, embedder_id
from proviso_service.backends.llm.factory import build_chat_model
from proviso_service.backends.memory import MemoryCache
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.vectors.chroma import approximate_index
from proviso_service.embedded import (
    DIMENSIONS,
    MODEL_ID,
    EmbeddedChatModel,
    EmbeddedClassifier,
    EmbeddedExtractor,
    MiniLmEmbedder,
    MiniLmEncoder,
)
from proviso_service.matters import ResidentIndexes
from proviso_service.models import AnswerExtractor, Classifier, Embedder, Reranker
from proviso_service.settings import Settings
from proviso_service.telemetry.spans import NO_SPANS, Spans
from proviso_service.tools.base import ToolResult
from proviso_service.tools.rendering import to_json

LOCAL_MODEL = "local"

_log = structlog.get_logger(__name__)


class BackEnd(StrEnum):
    EMBEDDED = "embedded"
    ISAACUS = "isaacus"
    NONE = "none"


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


@dataclass(frozen=True, slots=True)
class Models:
    """The loaded models. `classifier_vectors` is the id of the model whose vectors the classifier takes along with
    passages; it is empty if the classifier takes none."""

    embedder: Embedder
    classifier: Classifier
    classifier_vectors: str
    extractor: AnswerExtractor
    reranker: Reranker | None


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
        embedder=BackEnd(wanted.embedder),
        classifier=auto if wanted.classifier == "auto" else BackEnd(wanted.classifier),
        extractor=auto if wanted.extractor == "auto" else BackEnd(wanted.extractor),
        reranker=(auto if key else BackEnd.NONE) if wanted.reranker == "auto" else BackEnd(wanted.reranker),
    )


def vector_model(settings: Settings, isaacus: IsaacusConfig | None = None) -> VectorModel:
    """The model whose vectors the settings ask for; it is not loaded."""
    config = isaacus or IsaacusConfig()
    if BackEnd(settings.models.embedder) is BackEnd.ISAACUS:
        return VectorModel(embedder_id(config), config.dimensions)
    return VectorModel(MODEL_ID, DIMENSIONS)


def search_indexes(settings: Settings, store: SqlMatterStore, model: Embedder | VectorModel) -> ResidentIndexes:
    """The search indexes of matters whose passages this model embeds. Raises BackEndUnavailable."""
    try:
        approximate = approximate_index(settings.documents.vector_index, settings.data_dir / "vectors", model.model_id)
    except ModuleNotFoundError as error:
        raise BackEndUnavailable(
            "PROVISO_DOCUMENTS__VECTOR_INDEX asks for Chroma: install proviso-service[chroma]"
        ) from error
    max_bytes = settings.documents.index_memory_mb * 1024 * 1024
    return ResidentIndexes(store, model.model_id, model.dimensions, max_bytes, approximate)


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
    ) -> None:
        """An encoder that is given is used in place of one that would be loaded."""
        self._settings = settings
        self._chosen = chosen
        self._stack = stack
        self._spans = spans
        self._encoder = encoder
        self._isaacus_config = isaacus
        self._client: IsaacusClient | None = None
        self._minilm: MiniLmEmbedder | None = None

    async def models(self, classifier: Classifier | None = None, extractor: AnswerExtractor | None = None) -> Models:
        """Loads the chosen models; a model that is given takes the place of the chosen one. Raises ModelNotPrepared."""
        embedder = await self._embedder()
        return Models(
            embedder=embedder,
            classifier=classifier or await self._classifier(),
            classifier_vectors=embedder.model_id if classifier else _vectors_of(self._chosen.classifier),
            extractor=extractor or await self._extractor(),
            reranker=await self._reranker(),
        )

    async def minilm(self) -> MiniLmEmbedder:
        """The embedded embedding model. Raises ModelNotPrepared."""
        if self._minilm is None:
            if self._encoder is None:
                self._encoder = await asyncio.to_thread(self._load_encoder)
            self._minilm = MiniLmEmbedder(self._encoder)
            self._stack.push_async_callback(self._minilm.close)
        return self._minilm

    def _load_encoder(self) -> MiniLmEncoder:
        return MiniLmEncoder.load(self._settings.resolved_models_dir, self._settings.models.embed_threads)

    async def _embedder(self) -> Embedder:
        if self._chosen.embedder is BackEnd.ISAACUS:
            return IsaacusEmbedder(await self._isaacus(), self._isaacus_config)
        return await self.minilm()

    async def _classifier(self) -> Classifier:
        if self._chosen.classifier is BackEnd.ISAACUS:
            return IsaacusClassifier(await self._isaacus(), self._isaacus_config)
        embedded = await asyncio.to_thread(EmbeddedClassifier.load, await self.minilm())
        self._stack.push_async_callback(embedded.close)
        return embedded

    async def _extractor(self) -> AnswerExtractor:
        if self._chosen.extractor is BackEnd.ISAACUS:
            return IsaacusExtractor(await self._isaacus(), self._isaacus_config)
        embedded = await asyncio.to_thread(EmbeddedExtractor.load)
        self._stack.push_async_callback(embedded.close)
        return embedded

    async def _reranker(self) -> Reranker | None:
        if self._chosen.reranker is BackEnd.ISAACUS:
            return IsaacusReranker(await self._isaacus(), self._isaacus_config)
        return None

    async def _isaacus(self) -> IsaacusClient:
        if self._client is None:
            settings = self._settings
            self._client = await asyncio.to_thread(
                IsaacusClient.open, _key(settings), settings.isaacus_base_url, self._isaacus_config, spans=self._spans
            )
            self._stack.push_async_callback(self._client.close)
        return self._client


def _vectors_of(classifier: BackEnd) -> str:
    """The embedded classifier takes the vectors of its own model; Isaacus takes none."""
    return MODEL_ID if classifier is BackEnd.EMBEDDED else ""


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


def response_caches(settings: Settings, models: Models, stack: AsyncExitStack) -> Caches | None:
    """The caches of the agent; None where nothing is kept."""
    ttl_s = settings.turns.cache_ttl_s
    if not ttl_s:
        return None
    replies = MemoryCache[CachedReply](ttl_s)
    results = MemoryCache[ToolResult](ttl_s)
    caches = Caches(
        SharedCache(replies, lambda reply: reply.size_bytes),
        SharedCache(results, lambda result: len(to_json(result.data()))),
        _retrieval_setup(settings, models),
    )
    stack.callback(_log_use, caches)
    return caches


def _retrieval_setup(settings: Settings, models: Models) -> str:
    """Identifies the settings and models on which results of retrieval depend."""
    sections = settings.model_dump_json(include={"documents"})
    reranker = models.reranker.model_id if models.reranker else ""
    return f"{sections} {models.embedder.model_id} {models.extractor.model_id} {reranker}"


def _log_use(caches: Caches) -> None:
    for name, cache in (("replies", caches.replies), ("retrieval", caches.results)):
        _log.info("cache_used", cache=name, hits=cache.hits, misses=cache.misses)


async def no_caches(_tenant: str) -> None:
    """Takes the place of `Caches.forget_tenant` where nothing is kept."""
