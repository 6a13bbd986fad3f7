"""`python -m evals.training --data DIR [--measured] [--contracts SHARE] [--only PART] [--target DIR]` tunes an encoder,
then the judge, for which it finds the wrong texts that are near, and then the encoder of other languages, and writes
the weights of all that are shipped.

`DIR` holds `cuad` and `contract_nli`. It takes some two and three quarter hours on two cores."""

import argparse
import sys
import time
from collections.abc import Collection
from pathlib import Path

import torch
from tokenizers import Tokenizer

from evals.training import encoder, judge, languages
from evals.training.bert import Arrays, Bert
from evals.training.descent import device_of
from evals.training.encoder import Tokens
from evals.training.judge import CaseSource, Judge
from evals.training.pairs import PairSource
from evals.training.texts import Texts
from proviso_service.embedded import tuned
from proviso_service.embedded.e5_format import read_multilingual
from proviso_service.embedded.prepare import (
    ENCODER_SOURCE,
    JUDGE_SOURCE,
    LANGUAGES_FILE,
    LANGUAGES_SOURCE,
    read_float_tensors,
    read_judge_weights,
)
from proviso_service.embedded.prepared import MAX_TOKENS, MODEL_FILE, TOKENIZER_FILE

_TARGET = Path(tuned.__file__).parent
_ENCODER_TUNED_FROM, _JUDGE_TUNED_FROM, _LANGUAGES_TUNED_FROM = 2, 6, 6
"""The layers below these stay as they are: they are the packages', and are not shipped."""

_ENCODER_EPOCHS, _JUDGE_EPOCHS = 3, 3
_DROPOUT = 0.1
_SEED = 20_260


PARTS = ("encoder", "judge", "languages")


def tune(texts: Texts, target: Path, parts: Collection[str], *, every_category: bool, contracts: float) -> None:
    """Writes `encoder.npz`, `judge.npz` and `languages.npz` into a folder, or those of them that are named; the latter
    two follow from the first, which is there then."""
    torch.manual_seed(_SEED)
    source = ENCODER_SOURCE.find()
    weights = read_float_tensors(source / "model.safetensors")
    tokens = _tokens(Tokenizer.from_file(str(source / TOKENIZER_FILE)))
    pairs = PairSource(texts, every_category=every_category, contracts=contracts)
    if "encoder" in parts:
        bert = Bert(weights, _ENCODER_TUNED_FROM).to(device_of())
        encoder.tune(bert, pairs.epoch, texts.others, tokens, _ENCODER_EPOCHS, _SEED, _say)
        _write(target / tuned.ENCODER, bert.tuned())
    given = tuned.from_bytes((target / tuned.ENCODER).read_bytes())
    teacher = Bert({**weights, **given}, _ENCODER_TUNED_FROM).to(device_of())
    if "judge" in parts:
        cases = CaseSource(texts, pairs, teacher, tokens, every_category=every_category)
        reader = read_judge_weights(JUDGE_SOURCE.find() / MODEL_FILE)
        judging = Judge(Bert(reader, _JUDGE_TUNED_FROM, _DROPOUT), reader).to(device_of())
        judge.tune(judging, cases.epoch, tokens, _JUDGE_EPOCHS, _SEED, _say)
        _write(target / tuned.JUDGE, judging.tuned())
    if "languages" in parts:
        model = read_multilingual(LANGUAGES_SOURCE.find() / LANGUAGES_FILE)
        student = Bert(languages.one_segment(model.weights), _LANGUAGES_TUNED_FROM).to(device_of())
        own_tokens = _tokens(Tokenizer.from_str(model.tokenizer.decode()))
        languages.tune(student, own_tokens, texts, teacher, tokens, _SEED, _say)
        _write(target / tuned.OTHER_LANGUAGES, student.tuned())


def _tokens(tokenizer: Tokenizer) -> Tokens:
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    known: dict[str, list[int]] = {}

    def tokens(text: str) -> list[int]:
        if text not in known:
            known[text] = tokenizer.encode(text).ids
        return known[text]

    return tokens


def _write(path: Path, weights: Arrays) -> None:
    content = tuned.to_bytes(weights)
    path.write_bytes(content)
    _say(f"{path}: {len(content):,} bytes")


def _say(text: str) -> None:
    print(time.strftime("%H:%M:%S"), text, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.training", description="Tunes the embedded models.")
    parser.add_argument("--data", type=Path, required=True, help="folder with cuad and contract_nli")
    parser.add_argument("--target", type=Path, default=_TARGET, help="where the weights are written [the package]")
    parser.add_argument(
        "--contracts", type=float, default=1.0, metavar="SHARE", help="share of the contracts to tune on [1]"
    )
    parser.add_argument("--only", choices=PARTS, action="append", help="what to tune; may be given twice [all]")
    parser.add_argument(
        "--measured",
        action="store_true",
        help="leave out the categories that figures are shown for: to measure, not to ship",
    )
    options = parser.parse_args()
    if not (options.data / "cuad" / "contracts").is_dir():
        print(f"{options.data} has no cuad/contracts", file=sys.stderr)
        return 1
    parts = options.only or PARTS
    tune(Texts(options.data), options.target, parts, every_category=not options.measured, contracts=options.contracts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
