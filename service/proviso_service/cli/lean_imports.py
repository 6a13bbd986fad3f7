"""What libraries import and the service never uses is left out of its start: LangSmith, which traces LangChain, the
client of LangGraph's own server, requests and the models of pydantic 1, which LangChain asks whether it was given one
of theirs, rich, with which structlog would draw tracebacks, and the command line of httpx.

`leave_out_unused` has to come before the first import of LangChain, LangGraph, httpx or structlog. It puts stand-ins
into `sys.modules`, which hold what is asked for while nothing is traced. Whoever asks a stand-in for more, as some
packages of chat models do, gets the library itself, and from then on so does everybody.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any, NoReturn

_LIBRARIES = frozenset({"click", "langgraph_sdk", "langsmith", "pydantic.v1", "requests", "rich"})


class _StandIn(ModuleType):
    """Stands in the place of a library's module until somebody asks for what only the library has."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        for loaded in [loaded for loaded, module in sys.modules.items() if isinstance(module, _StandIn)]:
            if loaded.partition(".")[0] == self.__name__.partition(".")[0]:
                del sys.modules[loaded]
        found: object = getattr(import_module(self.__name__), name)
        return found


class _Untraced:
    """Stands for classes of LangSmith that LangChain names at its import and makes only to trace."""

    def __init__(self, *_arguments: object, **_named: object) -> NoReturn:
        raise RuntimeError("the service traces nothing with LangSmith")


class _NeverMade:
    """Stands for classes of which LangChain asks whether something is one of them."""

    def __init__(self, *_arguments: object, **_named: object) -> NoReturn:
        raise RuntimeError("the service does without it")

    def __init_subclass__(cls) -> NoReturn:
        raise RuntimeError("the service does without it")


class _NeverRaised(Exception):
    """Stands for the errors of these libraries, which LangChain catches where it uses them."""


_NEVER_CALLED: Mapping[str, Any] = dict.fromkeys(("Field", "create_model", "validate_arguments"), _NeverMade)
"""What LangChain uses of pydantic 1 with models of it."""


def leave_out_unused() -> None:
    """Puts the stand-ins in place, unless the process has imported one of the libraries already."""
    if not _LIBRARIES.isdisjoint(sys.modules):
        return
    _stand_in("langsmith", RunTree=_Untraced, Client=_Untraced, get_tracing_context=_no_context)
    _stand_in("langsmith.run_trees", RunTree=_Untraced)
    _stand_in("langsmith.address")
    _stand_in("langsmith.utils", tracing_is_enabled=lambda: False, LangSmithError=_NeverRaised)
    _stand_in(
        "langsmith.run_helpers",
        get_tracing_context=_no_context,
        _set_tracing_context=lambda _context: None,
        tracing_context=_untraced,
    )
    _stand_in("langgraph_sdk")
    _stand_in("requests", HTTPError=_NeverRaised, Response=_NeverMade)
    import_module("pydantic")
    _stand_in("pydantic.v1", BaseModel=_NeverMade, ValidationError=_NeverRaised, **_NEVER_CALLED)
    _stand_in("httpx._main", main=_no_command_line)
    with _absent("rich"):
        import_module("structlog")


def _stand_in(name: str, **attributes: object) -> None:
    parent, _, own = name.rpartition(".")
    module = sys.modules[name] = _StandIn(name)
    vars(module).update(attributes)
    if parent in sys.modules:
        setattr(sys.modules[parent], own, module)
    elif not parent and (spec := PathFinder.find_spec(name)):
        module.__path__ = list(spec.submodule_search_locations or ())


def _no_context() -> Mapping[str, Any]:
    """What LangSmith says where nothing is traced."""
    return dict.fromkeys(("parent", "project_name", "address", "tags", "metadata", "enabled", "client", "replicas"))


def _no_command_line() -> NoReturn:
    raise RuntimeError("the service does without it")


@contextmanager
def _untraced(*, enabled: bool) -> Iterator[None]:
    if enabled:
        raise RuntimeError("the service traces nothing with LangSmith")
    yield


@contextmanager
def _absent(name: str) -> Iterator[None]:
    """While the context is open, the package cannot be imported, as where it is not installed."""
    sys.modules[name] = None  # type: ignore[assignment]  # this is how the import system is told
    try:
        yield
    finally:
        del sys.modules[name]
