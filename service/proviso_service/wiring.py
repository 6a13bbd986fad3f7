"""Puts the service together: the only place that knows which implementation each part uses."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import grpc
import structlog

from proviso_service.access import Authorisation, Quotas
from proviso_service.agent.caching import Caches
from proviso_service.agent.chat_models import ChatModels
from proviso_service.agent.execution import Agent
from proviso_service.agent.matter_context import VisibleMatters
from proviso_service.agent.message_images import ImageLoader
from proviso_service.agent.preparation import AgentDependencies
from proviso_service.agent.rebuilding import RequestRebuilder
from proviso_service.agent.request_context import RequestContextBuilder
from proviso_service.agent_catalog import AgentCatalog
from proviso_service.analysis.classification import Classification, ClauseTypes
from proviso_service.analysis.document_scoring import DocumentScoring
from proviso_service.analysis.extraction import Extraction
from proviso_service.analysis.judging import Judging
from proviso_service.analysis.likelihood import Bands
from proviso_service.analysis.model import IqlConfig
from proviso_service.analysis.scores import ScoreCache
from proviso_service.analysis.scoring import Scorer
from proviso_service.analysis.service import IqlAnalysis
from proviso_service.api.access import AccessServicer
from proviso_service.api.catalog import CatalogServicer
from proviso_service.api.chat import ChatServicer, no_link
from proviso_service.api.interceptors.authentication import AccessControl
from proviso_service.api.maintenance import MaintenanceServicer
from proviso_service.api.matters import MatterServicer
from proviso_service.api.request_models import RequestLimits
from proviso_service.api.server import CannotListen, Servicers, add_services, create_server, listen
from proviso_service.api.sessions import SessionServicer
from proviso_service.api.standard_services import Readiness
from proviso_service.api.tools import ToolServicer
from proviso_service.backends.llm.factory import ChatModelUnavailable
from proviso_service.backends.memory import MemoryVectorCache
from proviso_service.backends.sql.access import SqlMemberStore
from proviso_service.backends.sql.audit import SqlAuditStore
from proviso_service.backends.sql.catalog_vectors import SqlCatalogVectors
from proviso_service.backends.sql.deletions import SqlDeletionStore
from proviso_service.backends.sql.expiry import SqlExpiryStore
from proviso_service.backends.sql.scores import SqlScoreStore
from proviso_service.backends.sql.sessions import SqlContentStore, SqlSessionStore
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.backends.storage import locked
from proviso_service.config import ServiceConfig
from proviso_service.context.catalog.catalog import CatalogHolder
from proviso_service.context.selection.search import ItemSearch, TextSimilarity, keep_prepared
from proviso_service.embedded import MiniLmEncoder
from proviso_service.erasure import Erasure, Retention, UnreadableRetention
from proviso_service.errors import CatalogInvalid
from proviso_service.identity import Caller
from proviso_service.images.image import ImageConfig, ImageFetcher
from proviso_service.images.late import LateImageFetcher
from proviso_service.iql import TemplateCatalog, TemplateFileError
from proviso_service.matters import Documentation, Matters, Reembedding, Retriever
from proviso_service.mcp.servers import open_session
from proviso_service.models import AnswerExtractor, Classifier
from proviso_service.settings import Settings, TelemetrySettings
from proviso_service.telemetry.spans import NO_SPANS, Spans
from proviso_service.tools.base import Tool
from proviso_service.tools.classify import IsaacusClassify
from proviso_service.tools.document_on_view import WithLanguageWarnings
from proviso_service.tools.extract import IsaacusExtract
from proviso_service.tools.get_document_text import GetDocumentText
from proviso_service.tools.iql import IsaacusIql
from proviso_service.tools.list_matter_documents import ListMatterDocuments
from proviso_service.tools.retriever import DocumentationRetriever
from proviso_service.tools.search import IsaacusSearch
from proviso_service.turns import TracedProgram, Turns
from proviso_service.wiring_access import CannotAuthenticate, open_access
from proviso_service.wiring_models import (
    ModelLoader,
    back_ends,
    embedded_chat,
    hosted_models,
    response_caches,
)
from proviso_service.wiring_resources import Resources, failures_told, open_resources
from proviso_service.wiring_storage import state_of

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_log = structlog.get_logger(__name__)

_TRACER = "proviso_service"

_HANG_UP_S = 2.0
"""Seconds that readers have to receive the final states of their turns when the server stops."""


@dataclass(frozen=True, slots=True)
class Wired:
    """The parts of the service that work on their own, and the servicers, through which callers reach all others."""

    turns: Turns
    catalog: CatalogHolder
    matters: Matters
    servicers: Servicers
    quotas: Quotas
    erasure: Erasure
    retention: Retention
    item_search: ItemSearch


_MENDABLE = (
    CannotAuthenticate,
    CannotListen,
    CatalogInvalid,
    ChatModelUnavailable,
    TemplateFileError,
    UnreadableRetention,
)
"""Failures of the start of a service that an operator can mend."""


def _image_fetcher(settings: ImageConfig, stack: AsyncExitStack) -> LateImageFetcher:
    fetcher = LateImageFetcher(settings)
    stack.callback(fetcher.close)
    return fetcher


class App:
    """The running service. `start` makes it, and `stop` ends it."""

    def __init__(
        self,
        settings: Settings,
        port: int,
        readiness: Readiness,
        turns: Turns,
        catalog: CatalogHolder,
        caches: Caches | None,
        stack: AsyncExitStack,
    ) -> None:
        self.port = port
        self.catalog = catalog
        self.caches = caches
        self._settings = settings
        self._readiness = readiness
        self._turns = turns
        self._stack = stack

    @classmethod
    async def start(
        cls,
        settings: Settings,
        chat_models: ChatModels | None = None,
        classifier: Classifier | None = None,
        extractor: AnswerExtractor | None = None,
        images: ImageFetcher | None = None,
        encoder: MiniLmEncoder | None = None,
        config: ServiceConfig | None = None,
        workers: int = 0,
    ) -> Self:
        """Starts the service and returns once it is SERVING. Models, images and limits that are given take the place of
        those that the settings name.

        Raises StartupError; then nothing is left running, and nothing was changed except the schema of the database."""
        with failures_told(*_MENDABLE):
            config = config or ServiceConfig.of(settings)
            async with AsyncExitStack() as stack:
                hosted = chat_models or hosted_models(settings, config.chat_model)
                chosen = back_ends(settings)
                state = state_of(settings)
                traces = _traces(settings.telemetry, stack)
                readiness = await Readiness.starting()
                access = AccessControl()
                server = create_server(settings.server, readiness, access, traces)
                port = listen(server, settings.server, is_open=settings.auth.is_open)
                stack.enter_context(locked(settings.data_dir, state, settings.own_blobs_folder))
                spans, servers = _spans(traces), config.model_server
                loader = ModelLoader(settings, chosen, config.isaacus, stack, spans, encoder, workers, servers)
                models = await loader.models(classifier, extractor)
                chat = hosted or embedded_chat(await loader.minilm())
                stack.push_async_callback(chat.close)
                resources = await open_resources(settings, config, stack, models)
                caches = response_caches(settings, models, stack, resources.shared.link)
                wired = await _wire(settings, config, stack, resources, chat, traces, caches, images)
                await open_access(access, settings, resources.database, wired.quotas, stack)
                add_services(server, wired.servicers, readiness, reflection=settings.server.reflection)
                await _run(server, wired, stack)
                await readiness.set_ready()
                resources.shared.tell(readiness.set_reachable, stack)
                warm = keep_prepared(wired.catalog, wired.item_search, loader.warm_up, chat.warm_up)
                await stack.enter_async_context(warm)
                await stack.enter_async_context(resources.keeper.keeping(readiness.set_sound))
                await _send_metrics(settings.telemetry, wired, resources, stack)
                return cls(settings, port, readiness, wired.turns, wired.catalog, caches, stack.pop_all())

    async def stop(self) -> None:
        """Stops the service. It is NOT_SERVING from now on and refuses new turns; running turns have `drain_s` seconds
        to end, and are cancelled after that."""
        await self._readiness.enter_shutdown()
        _log.info("draining", turns=self._turns.running)
        await self._turns.drain(self._settings.server.drain_s)
        await self._stack.aclose()


def _traces(settings: TelemetrySettings, stack: AsyncExitStack) -> "TracerProvider | None":
    """What records traces, if they are wanted at all: the exporter takes long to import."""
    if not settings.otlp_endpoint:
        return None
    from proviso_service.telemetry.tracing import tracer_provider

    traces = tracer_provider(settings)
    if traces is not None:
        stack.push_async_callback(asyncio.to_thread, traces.shutdown)
    return traces


async def _send_metrics(settings: TelemetrySettings, wired: Wired, resources: Resources, stack: AsyncExitStack) -> None:
    """Sends metrics until the stack is closed, if they are wanted."""
    if not settings.otlp_endpoint:
        return
    from proviso_service.telemetry.metrics import sending
    from proviso_service.wiring_metrics import metrics_of_service

    servicers = wired.servicers
    admissions = [wired.turns.admission, servicers.tools.admission, servicers.matters.admission]
    metrics = metrics_of_service(wired.turns, admissions, wired.matters, resources)
    await stack.enter_async_context(sending(settings, metrics))


def _spans(traces: "TracerProvider | None") -> Spans:
    return Spans(traces.get_tracer(_TRACER)) if traces else NO_SPANS


async def _wire(
    settings: Settings,
    config: ServiceConfig,
    stack: AsyncExitStack,
    resources: Resources,
    chat: ChatModels,
    traces: "TracerProvider | None",
    caches: Caches | None,
    images: ImageFetcher | None,
) -> Wired:
    """Builds every part of the service; none of them has begun to work."""
    shared = resources.shared
    sessions = SqlSessionStore(resources.database)
    members = SqlMemberStore(resources.database)
    matters = resources.matters(settings)
    models = resources.models
    spans = _spans(traces)
    retriever = Retriever(resources.store, resources.indexes, models.embedder, models.reranker, spans)
    documentation = Documentation(resources.store, retriever)
    templates = TemplateCatalog.load(settings.iql.templates_file)
    scores = SqlScoreStore(resources.database)
    scoring = _document_scoring(config.iql, resources)
    bands = Bands.of_model(scoring.model_id, settings.bands)
    analysis = IqlAnalysis(resources.store, scores, scoring, templates, config.iql, bands)
    classification = Classification(resources.store, scores, scoring, ClauseTypes(templates), config.iql, bands)
    extraction = Extraction(
        resources.store,
        retriever,
        models.extractor,
        scoring.party_names,
        bands=Bands.of_model(models.extractor.model_id, settings.bands),
    )
    tools: list[Tool] = [
        ListMatterDocuments(matters),
        GetDocumentText(matters),
        *(
            WithLanguageWarnings(tool, matters)
            for tool in (
                IsaacusSearch(retriever, resources.store),
                IsaacusExtract(extraction),
                IsaacusClassify(classification, resources.store),
                IsaacusIql(analysis, resources.store),
            )
        ),
        DocumentationRetriever(documentation),
    ]
    catalog = AgentCatalog(settings.agent_dir, tools, resources.reader, open_session, notices=shared.notices)
    stack.push_async_callback(catalog.stop)
    loading = ImageLoader(images or _image_fetcher(config.images, stack))
    search = ItemSearch(models.embedder, SqlCatalogVectors(resources.database), config.selection, spans)
    similarity = TextSimilarity(models.embedder, MemoryVectorCache())
    request_contexts = RequestContextBuilder(
        catalog.toolbox, documentation, search, similarity, config.selection, config.assets
    )
    visible = VisibleMatters(matters, Authorisation(members))
    agent = Agent(
        AgentDependencies(
            chat, request_contexts, sessions, visible, loading, config.turns, catalog.holder, caches, spans
        )
    )
    traced = TracedProgram(agent, traces.get_tracer(_TRACER)) if traces else None
    turn_store = SqlTurnStore(resources.database)
    quotas = Quotas(settings.limits, shared.counters, resources.store.stored)
    turns = Turns(
        traced or agent,
        turn_store,
        config.turns,
        owner=shared.owner,
        max_running=settings.server.max_turns_running,
        charge=quotas.charge_tokens if settings.limits.any else None,
        replicas=shared.replicas,
    )
    deletions = SqlDeletionStore(resources.database)
    erasure = Erasure(deletions, turns, agent.forget, resources.keeper.compact, shared.notices)
    retention = Retention(
        settings.data_dir / "retention.toml",
        SqlExpiryStore(resources.database),
        lambda tenant, user, session_id: sessions.delete(Caller(tenant, user), session_id),
        matters.delete_document,
        erasure.begin,
        resources.database.now,
    )
    limits = RequestLimits(config.turns, chat.names)
    rebuilder = RequestRebuilder(turn_store, SqlContentStore(resources.database), catalog.holder)
    servicers = Servicers(
        chat=ChatServicer(turns, catalog.holder, limits, link_turn=traced.link if traced else no_link),
        sessions=SessionServicer(sessions, catalog.holder, agent.preview, rebuilder, limits, deleted=erasure.begin),
        catalog=CatalogServicer(catalog.holder, catalog.tool_servers),
        access=AccessServicer(quotas, SqlAuditStore(resources.database), deletions),
        matters=MatterServicer(matters, members, sessions, deleted=erasure.begin),
        tools=ToolServicer(
            matters, retriever, documentation, analysis, classification, extraction, config.turns.tool_result_chars
        ),
        maintenance=MaintenanceServicer(
            matters, resources.indexes, Reembedding(resources.store, models.embedder, resources.indexes), sessions
        ),
    )
    return Wired(turns, catalog.holder, matters, servicers, quotas, erasure, retention, search)


def _document_scoring(settings: IqlConfig, resources: Resources) -> DocumentScoring:
    cache = ScoreCache(settings.max_cached_scores)
    scores = SqlScoreStore(resources.database)
    models = resources.models
    scorer = Scorer(models.classifier, scores, cache, models.classifier_vectors, settings.max_kept_statements)
    judge = models.statement_judge
    judging = Judging(judge, scores, settings.judged_passages) if judge and settings.judged_passages else None
    return DocumentScoring(scorer, settings, judging=judging)


async def _run(server: grpc.aio.Server, wired: Wired, stack: AsyncExitStack) -> None:
    """Starts the parts that work on their own, and then the server."""
    await wired.catalog.reload()
    await wired.turns.open()
    stack.push_async_callback(wired.turns.close)
    await wired.matters.open()
    stack.push_async_callback(wired.matters.close)
    await wired.erasure.open()
    stack.push_async_callback(wired.erasure.close)
    await wired.retention.open()
    stack.push_async_callback(wired.retention.close)
    await server.start()
    stack.push_async_callback(server.stop, _HANG_UP_S)
