"""A stand-in for text-embeddings-inference on loopback: its wire as router/src/http of that project has it, with every
request checked, its limits kept, and faults on demand. `/v1/embeddings` is in OpenAI's form."""

import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from tests.support.hosted_api import Fault, HostedApi, Reply, serving
from tests.support.isaacus_answers import embedding, score

KEY = "tei-test-key-91ab"


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Embed(_Request):
    inputs: list[str]
    truncate: bool = False
    prompt_name: str | None = None

    @property
    def texts(self) -> list[str]:
        return self.inputs


class Rerank(_Request):
    query: str
    texts: list[str]
    truncate: bool = False
    raw_scores: bool = False


class Predict(_Request):
    inputs: list[list[str]]
    truncate: bool = False
    raw_scores: bool = False

    @property
    def texts(self) -> list[str]:
        return [text for text, _ in self.inputs]


class OpenAiEmbed(_Request):
    input: list[str]
    model: str
    encoding_format: Literal["float", "base64"] = "float"

    @property
    def texts(self) -> list[str]:
        return self.input


REQUESTS: dict[str, type[_Request]] = {
    "/embed": Embed,
    "/rerank": Rerank,
    "/predict": Predict,
    "/v1/embeddings": OpenAiEmbed,
}


@dataclass(frozen=True)
class Asked:
    path: str
    request: Any
    headers: dict[str, str]


def overloaded(**headers: str) -> Fault:
    return _fault(429, "Model is overloaded", "Overloaded", headers)


def unhealthy(**headers: str) -> Fault:
    return _fault(503, "unhealthy", "Unhealthy", headers)


def rejects(status: int, words: str) -> Fault:
    return _fault(status, words, "Validation", {})


def _fault(status: int, words: str, kind: str, headers: dict[str, str]) -> Fault:
    reply = _error(status, words, kind, {name.replace("_", "-"): value for name, value in headers.items()})
    return lambda _: reply


def _error(status: int, words: str, kind: str, headers: dict[str, str] | None = None) -> Reply:
    return Reply(status, json.dumps({"error": words, "error_type": kind}).encode(), headers or {})


class TeiServer(HostedApi):
    """`asked` are the sound requests for models; `kind` is `embedding`, `reranker`, or `classifier` with `labels`."""

    def __init__(self, kind: str, labels: Sequence[str], prompts: dict[str, str]) -> None:
        super().__init__()
        self.asked: list[Asked] = []
        self.model = f"proviso/{kind}"
        self.sha: str | None = "5c38ec7c405ec4b4"
        self.dimensions = 64
        self.most_texts = 32
        self.most_at_once = 512
        self._kind = kind
        self._labels = labels
        self._prompts = prompts

    def address(self, path: str = "") -> str:
        return f"http://:{KEY}@127.0.0.1:{self.port}{path}"

    def asked_for(self, path: str) -> list[Any]:
        return [asked.request for asked in self.asked if asked.path == path]

    def last_texts(self) -> list[str]:
        return list(self.asked[-1].request.texts) if self.asked else []

    def answer(self, method: str, path: str, headers: dict[str, str], content: bytes) -> Reply:
        if headers.get("authorization") != f"Bearer {KEY}":
            return Reply(401, b"")
        if (method, path) == ("GET", "/info"):
            return Reply(200, json.dumps(self._info()).encode())
        return self._served(path, headers, content) if method == "POST" and path in REQUESTS else Reply(404, b"")

    def _served(self, path: str, headers: dict[str, str], content: bytes) -> Reply:
        try:
            request: Any = REQUESTS[path].model_validate_json(content)
        except ValidationError as error:
            return self._refusal(str(error))
        if len(request.texts) > min(self.most_texts, self.most_at_once):
            return self._refusal(f"batch size {len(request.texts)} > maximum allowed batch size")
        self.asked.append(Asked(path, request, headers))
        if path == "/embed" and request.prompt_name not in (None, *self._prompts):
            return _error(422, "`default-prompt-name` is set but was not found", "Validation")
        words = sum(len(text.split()) for text in request.texts)
        return Reply(200, json.dumps(self._results(request, words)).encode(), {"x-compute-tokens": str(words)})

    def _refusal(self, words: str) -> Reply:
        self.refused.append(words)
        return _error(422, words, "Validation")

    def _results(self, request: Any, words: int) -> Any:
        match request:
            case Embed():
                prompt = self._prompts.get(request.prompt_name or "", "")
                return [self._embedding(prompt + text) for text in request.texts]
            case OpenAiEmbed():
                data = [
                    {"object": "embedding", "index": index, "embedding": self._embedding(text)}
                    for index, text in enumerate(request.texts)
                ]
                usage = {"prompt_tokens": words, "total_tokens": words}
                return {"object": "list", "data": data, "model": self.model, "usage": usage}
            case Rerank():
                found = [{"index": i, "score": score(request.query, text)} for i, text in enumerate(request.texts)]
                return sorted(found, key=lambda one: -float(one["score"]))
            case Predict():
                return [self._predictions(score(statement, text)) for text, statement in request.inputs]
        raise NotImplementedError

    def _embedding(self, text: str) -> list[float]:
        return embedding(text, self.dimensions)

    def _predictions(self, first: float) -> list[dict[str, Any]]:
        """The first label has this score; the others share the rest."""
        rest = (1 - first) / max(1, len(self._labels) - 1)
        found = [{"label": label, "score": rest if at else first} for at, label in enumerate(self._labels)]
        return sorted(found, key=lambda one: -float(str(one["score"])))

    def _info(self) -> dict[str, Any]:
        labels = {"id2label": dict(enumerate(self._labels)), "label2id": {one: n for n, one in enumerate(self._labels)}}
        kind: dict[str, Any] = {"pooling": "cls"} if self._kind == "embedding" else labels
        return {
            "model_id": self.model,
            "model_sha": self.sha,
            "model_dtype": "float16",
            "served_model_name": self.model,
            "model_type": {self._kind: kind},
            "max_concurrent_requests": self.most_at_once,
            "max_input_length": 512,
            "max_batch_tokens": 16_384,
            "max_batch_requests": None,
            "max_client_batch_size": self.most_texts,
            "auto_truncate": False,
            "tokenization_workers": 4,
            "version": "1.8.3",
            "sha": None,
            "docker_label": None,
        }


def tei_server(
    kind: str = "embedding", labels: Sequence[str] = ("LABEL_0",), prompts: dict[str, str] | None = None
) -> AbstractAsyncContextManager[TeiServer]:
    return serving(TeiServer(kind, labels, prompts or {}))
