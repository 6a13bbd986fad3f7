"""The embedded models: an encoder of sentences, a judge, a chat model, a classifier and an extractor that run in the
process.

    prepare_minilm(models_dir)                                     # once: writes the files of encoder and judge
    embedder = MiniLmEmbedder.load(models_dir)
    classifier = EmbeddedClassifier.load(embedder)
    scores = await classifier.score("This clause limits liability.", passages)

A library that needs no service: it knows the ports of the models (`models.py`), the shapes of the tools' results
(`tool_results.py`) and the libraries of reading and of IQL. Nothing is downloaded: weights and fitted numbers come out
of installed packages.

`prepare.py` writes the encoders and the judge as ONNX files (`bert_graph.py`, `onnx_format.py`, `e5_format.py`) of
packages' weights and those of `tuned`, `prepared.py` finds them, `minilm.py` runs the encoder in a thread of its own
(`embedding_queue.py`), `judge.py` has the judge, and `reranker.py` reads the best results of a search with it.
`process` runs the models in processes of their own. `chat`, `classifier` and `extractor` are a folder each;
`chat_model.py` is `chat` as LangChain sees it. `pieces.py` cuts passages into what models read, and `sentences.py` into
what is quoted.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from proviso_service.embedded.prepared import (
    DIMENSIONS,
    ENGLISH_FOLDER,
    LANGUAGES_FOLDER,
    MODEL_ID,
    ModelNotPrepared,
    encoder_id,
    find_prepared,
    has_languages,
    verify_prepared,
)

if TYPE_CHECKING:
    from proviso_service.embedded.chat_model import EmbeddedChatModel
    from proviso_service.embedded.classifier.model import EmbeddedClassifier
    from proviso_service.embedded.extractor.model import EmbeddedExtractor
    from proviso_service.embedded.judge import Judge
    from proviso_service.embedded.minilm import Encoders, MiniLmEmbedder, MiniLmEncoder
    from proviso_service.embedded.prepare import ModelSourceMissing, prepare_languages, prepare_minilm
    from proviso_service.embedded.process.pool import ModelProcesses
    from proviso_service.embedded.process.ports import (
        ProcessClassifier,
        ProcessEmbedder,
        ProcessExtractor,
        ProcessReranker,
    )
    from proviso_service.embedded.reranker import EmbeddedReranker

__all__ = [
    "DIMENSIONS",
    "ENGLISH_FOLDER",
    "LANGUAGES_FOLDER",
    "MODEL_ID",
    "EmbeddedChatModel",
    "EmbeddedClassifier",
    "EmbeddedExtractor",
    "EmbeddedReranker",
    "Encoders",
    "Judge",
    "MiniLmEmbedder",
    "MiniLmEncoder",
    "ModelNotPrepared",
    "ModelProcesses",
    "ModelSourceMissing",
    "ProcessClassifier",
    "ProcessEmbedder",
    "ProcessExtractor",
    "ProcessReranker",
    "encoder_id",
    "find_prepared",
    "has_languages",
    "prepare_languages",
    "prepare_minilm",
    "verify_prepared",
]

_LATER = {
    "EmbeddedClassifier": "classifier.model",
    "EmbeddedExtractor": "extractor.model",
    "EmbeddedChatModel": "chat_model",
    "EmbeddedReranker": "reranker",
    "Encoders": "minilm",
    "Judge": "judge",
    "MiniLmEmbedder": "minilm",
    "MiniLmEncoder": "minilm",
    "ModelProcesses": "process.pool",
    "ModelSourceMissing": "prepare",
    "ProcessClassifier": "process.ports",
    "ProcessEmbedder": "process.ports",
    "ProcessExtractor": "process.ports",
    "ProcessReranker": "process.ports",
    "prepare_languages": "prepare",
    "prepare_minilm": "prepare",
}


def __getattr__(name: str) -> object:
    """Imports a model when it is first asked for: the runtime of the encoder and LangChain take long to import, and the
    commands that look after the model's files need neither."""
    if name in _LATER:
        found: object = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
