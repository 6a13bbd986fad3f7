"""Who makes a call, and whether he may: every call of the contract passes here before its handler sees it."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Protocol

from proviso_service.access import Action, AuditTrail, Authorisation, Credentials, Done, Quotas
from proviso_service.api.interceptors.chain import Call, Handle
from proviso_service.api.interceptors.limits import OWN
from proviso_service.api.request_models import acting_caller
from proviso_service.errors import InvalidRequest, MatterNotFound, NotAllowed, NotReady, ProvisoError, Unauthenticated
from proviso_service.identity import LOCAL_CALLER, Act, Caller, current_act
from proviso_service.matters import DOCUMENTATION, is_uuid

AUTHORIZATION = "authorization"
USER_ID = "x-user-id"
MAX_USER_CHARS = 128
BEGINS_TURN = frozenset({f"{OWN}ChatService/Chat", f"{OWN}ChatService/Invoke"})
UPLOAD = f"{OWN}MatterService/UploadDocument"
NOBODY = Caller("", "")
"""The caller of a call until its credentials are known."""

_BEARER = "bearer "
_NAMES = "x509_subject_alternative_name"
_RESOURCES = ("document_id", "turn_id")


@dataclass(frozen=True, slots=True)
class Rule:
    """What a method does, and the field of its request that holds the id of the matter it does it to. `recorded` is
    what the audit calls it, for methods that read contents or what others did, and for those that change what lies in
    memory: what changes the database is recorded where it is changed."""

    action: Action
    matter: str = ""
    recorded: str = ""


_SEE = Rule(Action.READ_MATTER, "matter_id")
_READ = Rule(Action.READ_MATTER, "matter_id", recorded="read")
_EDIT = Rule(Action.EDIT_MATTER, "matter_id")
_OWN = Rule(Action.OWN_MATTER, "matter_id")
_USE = Rule(Action.USE)

RULES: Mapping[str, Mapping[str, Rule]] = {
    # The matter of a turn is the one that its message, its marker or its session names: the agent asks for it.
    "ChatService": dict.fromkeys(("Chat", "ResumeChat", "Invoke", "GetTurn", "DecideToolCall"), _USE)
    | {"CancelTurn": Rule(Action.USE, recorded="cancel")},
    "SessionService": dict.fromkeys(
        (
            "CreateSession",
            "ContinueSession",
            "GetSession",
            "ListSessions",
            "UpdateSession",
            "DeleteSession",
            "AddContextItem",
            "RemoveContextItem",
            "ListMessages",
            "PreviewRequestContext",
            "RebuildRequest",
            "SuggestRemovals",
            "RateAnswer",
        ),
        _USE,
    ),
    "CatalogService": {
        "ListContextItems": _USE,
        "GetContextItem": _USE,
        "ListToolServers": _USE,
        "ReloadCatalog": Rule(Action.OPERATE, recorded="reload"),
    },
    "MatterService": {
        "CreateMatter": _USE,
        "GetMatter": _SEE,
        "ListMatters": _USE,
        "UpdateMatter": Rule(Action.EDIT_MATTER, "matter.matter_id"),
        "DeleteMatter": _OWN,
        "SetLegalHold": Rule(Action.HOLD_MATTER, "matter_id"),
        "LiftLegalHold": Rule(Action.HOLD_MATTER, "matter_id"),
        "GrantMatterAccess": _OWN,
        "RevokeMatterAccess": _OWN,
        "ListMatterMembers": _SEE,
        "ExportMatter": Rule(Action.OWN_MATTER, "matter_id", recorded="export"),
        "UploadDocument": Rule(Action.EDIT_MATTER, "header.matter_id"),
        "GetDocument": _SEE,
        "GetDocumentContent": _READ,
        "GetDocumentPage": _READ,
        "ListDocuments": _SEE,
        "DeleteDocument": _EDIT,
        "WatchDocuments": _SEE,
    },
    "ToolService": {
        "ExecuteIql": _READ,
        "StreamIql": Rule(Action.READ_MATTER, "query.matter_id", recorded="read"),
        "ParseIql": _SEE,
        "ListIqlTemplates": _USE,
        "Search": _READ,
        "Extract": _READ,
        "Classify": _READ,
        "ListMatterDocuments": _SEE,
        "GetDocumentText": _READ,
        "RetrieveDocumentation": _USE,
    },
    "AccessService": {
        "GetCaller": _USE,
        "GetUsage": Rule(Action.ADMINISTER),
        "ListAuditEvents": Rule(Action.AUDIT, recorded="read"),
        # Whose deletions they see depends on the role.
        "GetDeletion": _USE,
        "ListDeletions": _USE,
    },
    "MaintenanceService": {
        "RebuildIndex": Rule(Action.OPERATE, recorded="rebuild"),
        "ListRatings": Rule(Action.OPERATE, recorded="read"),
        "ListJobs": Rule(Action.OPERATE, recorded="read"),
        "RetryJob": Rule(Action.OPERATE),
        "CancelJob": Rule(Action.OPERATE),
    },
}
"""Every method of the contract, by service. A method without a rule is refused."""

_RULES = {f"{OWN}{service}/{name}": rule for service, rules in RULES.items() for name, rule in rules.items()}


class Recogniser(Protocol):
    """Finds the caller by the credentials of a call; raises Unauthenticated."""

    async def authenticate(self, credentials: Credentials) -> Caller: ...


class Open:
    """Asks for no credentials: everybody who reaches the service may do everything."""

    async def authenticate(self, credentials: Credentials) -> Caller:
        del credentials
        return LOCAL_CALLER


class AccessControl:
    """The middleware that finds out who makes a call and sets the current act, and the check of its request.

    The roles come from the credential; the metadata `x-user-id`, like `user_id` of a request, names the user that it
    acts for, and where both are there they name the same one. Before `open` every call is refused, because the stores
    are not open yet. `open` is also given where the audit begins: a call that is refused is recorded there, and one
    that reads contents."""

    def __init__(self) -> None:
        self._recogniser: Recogniser | None = None
        self._authorisation: Authorisation | None = None
        self._audit: AuditTrail | None = None
        self._quotas: Quotas | None = None

    def open(
        self, recogniser: Recogniser, authorisation: Authorisation, audit: AuditTrail, quotas: Quotas | None = None
    ) -> None:
        """Calls are let in from now on, if `recogniser` knows their credentials and `quotas` has room for them."""
        self._recogniser = recogniser
        self._authorisation = authorisation
        self._audit = audit
        self._quotas = quotas

    async def __call__(self, call: Call, handle: Handle) -> Any:
        if not call.method.startswith(OWN):
            return await handle()
        if self._recogniser is None or self._audit is None:
            raise NotReady("The service is starting")
        token = current_act.set(Act(NOBODY, call.method.removeprefix(OWN), call.context.peer(), call.request_id))
        try:
            credentials, call.user = _shown(call)
            caller = await self._recogniser.authenticate(credentials)
            current_act.set(replace(current_act.get(), caller=caller))
            if call.user:
                _act_for(call, call.user)
            answer = await self._within_quotas(call, caller, handle)
        except (Unauthenticated, NotAllowed, MatterNotFound):
            self._audit.refused(current_act.get(), call.done)
            raise
        except ProvisoError:
            raise
        except BaseException:
            await self._audit.note(current_act.get(), call.done)  # a stream that is cut has been read up to there
            raise
        else:
            await self._audit.note(current_act.get(), call.done)
            return answer
        finally:
            current_act.reset(token)

    async def _within_quotas(self, call: Call, caller: Caller, handle: Handle) -> Any:
        if self._quotas is None:
            return await handle()
        await self._quotas.admit_request(caller)
        with nullcontext() if call.unary else self._quotas.stream(caller):
            return await handle()

    async def admit(self, call: Call, request: Any) -> None:
        """Lets a request through to its handler if the caller may make it: the message of a call, or the first one of
        a stream. Raises NotAllowed and MatterNotFound."""
        if not call.method.startswith(OWN) or self._authorisation is None:
            return
        rule = _RULES[call.method]
        user_id = getattr(request, "user_id", "")
        if len(user_id) > MAX_USER_CHARS:
            return  # the handler refuses it, with all else that is wrong with the request
        if user_id and call.user not in ("", user_id):
            raise NotAllowed("user_id names another user than x-user-id: leave it empty")
        if user_id:
            _act_for(call, user_id)
        caller = current_act.get().caller
        matter_id = _at(request, rule.matter)
        call.done = _done(rule, request, matter_id)
        if rule.matter and matter_id == DOCUMENTATION:
            # Everybody of a tenant may read its documentation, and its administrators keep it.
            action = Action.USE if rule.action is Action.READ_MATTER else Action.ADMINISTER
            await self._authorisation.authorise(caller, action)
        elif not rule.matter or is_uuid(matter_id):
            await self._authorisation.authorise(caller, rule.action, matter_id)
        # An id that is none is refused by the handler, which names all that is wrong with the request.
        if self._quotas is not None and call.method in BEGINS_TURN:
            await self._quotas.admit_turn(caller)
        elif self._quotas is not None and call.method == UPLOAD:
            await self._quotas.admit_upload(caller)


def _done(rule: Rule, request: Any, matter_id: str) -> Done:
    """What a call does, if it is let in. What is no id is left out: it may be anything."""
    matter_id = matter_id if is_uuid(matter_id) or matter_id == DOCUMENTATION else ""
    if getattr(request, "all_conversations", False):
        return Done("export with all conversations", matter_id=matter_id)
    for name in _RESOURCES:
        if is_uuid(resource_id := getattr(request, name, "").lower()):
            return Done(rule.recorded, name.removesuffix("_id"), resource_id, matter_id)
    return Done(rule.recorded, matter_id=matter_id)


def _act_for(call: Call, user: str) -> None:
    """Sets the user of the current act."""
    if len(user) > MAX_USER_CHARS:
        raise InvalidRequest.of("user_id", f"must have at most {MAX_USER_CHARS} characters")
    current_act.set(replace(current_act.get(), caller=acting_caller(call.context, user)))


def _at(request: Any, path: str) -> str:
    value = request
    for name in path.split(".") if path else ():
        value = getattr(value, name)
    return value.lower() if path else ""


def _shown(call: Call) -> tuple[Credentials, str]:
    """The credentials of a call, and the user whom its metadata names."""
    token = user = ""
    for key, value in call.context.invocation_metadata() or ():
        if key == AUTHORIZATION:
            if token or not isinstance(value, str) or not value.lower().startswith(_BEARER):
                raise Unauthenticated("The metadata `authorization` must be there once, as `Bearer <token>`")
            token = value[len(_BEARER) :].strip()
        elif key == USER_ID and isinstance(value, str):
            user = value
    names = call.context.auth_context().get(_NAMES, ())
    return Credentials(token, tuple(name.decode("utf-8", "replace") for name in names)), user
