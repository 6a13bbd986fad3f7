"""Whether the service is ready, as grpc.health.v1 tells it: for the server as a whole and for each service."""

from google.protobuf.message import Message
from grpc_health.v1 import health, health_pb2

from proviso_service.api.identity import Context
from proviso_service.api.services import SERVICE_NAMES

WHOLE_SERVER = ""
NAMES = (WHOLE_SERVER, *SERVICE_NAMES)

_List: type[Message] = health_pb2.HealthListResponse  # type: ignore[attr-defined]  # the type stubs are older


class Health(health.aio.HealthServicer):
    """Answers List too, which Python's gRPC leaves out."""

    async def List(self, request: Message, context: Context) -> Message:  # noqa: N802 - gRPC's name
        checks = {name: health_pb2.HealthCheckRequest(service=name) for name in NAMES}
        statuses = {name: await self.Check(check, context) for name, check in checks.items()}
        return _List(statuses=statuses)


class Readiness:
    """Driven by the composition root: starting, then ready, then stopping. Only ready is SERVING."""

    def __init__(self, servicer: Health) -> None:
        self.servicer = servicer
        self.started = False
        self.stopping = False

    @classmethod
    async def starting(cls) -> "Readiness":
        """Of a service that is not ready yet."""
        readiness = cls(Health())
        await readiness._set(health_pb2.HealthCheckResponse.NOT_SERVING)
        return readiness

    async def set_ready(self) -> None:
        """From here on calls are answered. Changes nothing once the service is stopping."""
        self.started = True
        await self._set(health_pb2.HealthCheckResponse.SERVING)

    async def enter_shutdown(self) -> None:
        """From here on no new work is accepted; for good."""
        self.stopping = True
        await self.servicer.enter_graceful_shutdown()

    async def _set(self, status: int) -> None:
        for name in NAMES:
            await self.servicer.set(name, status)
