"""`python -m evals.training --data DIR [--measured] [--contracts SHARE] [--only PART] [--on] [--target DIR]` tunes an
encoder, then the judge, for which it finds the wrong texts that are near, and then the encoder of other languages, and
writes the weights of all that are shipped.

`DIR` holds `cuad` and `contract_nli`. On two cores it takes a little less than three hours, with `--on` one."""

import argparse
import random
import sys
import time
from collections.abc import Collection
from pathlib import Path

import torch
from tokenizers import Tokenizer

from evals.training import encoder, judge, languages
from evals.training.bert import Arrays, Bert
from evals.training.descent import Tokens, device_of
from evals.training.judge import CaseSource, Judge
from evals.training.nearest import Nearest
from evals.training.pairs import Pair, PairSource
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

_ENCODER_EPOCHS, _JUDGE_EPOCHS = 2, 2
_LANGUAGES_STEPS = 1_000
_ENCODER_SHARE, _JUDGE_SHARE = 0.6, 0.5
"""The shares that an epoch draws of all but what is about the categories that figures are measured with."""

_EPOCHS_ON, _LANGUAGES_STEPS_ON = 1, 700
_ENCODER_SHARE_ON, _JUDGE_SHARE_ON = 0.35, 0.25
"""The same where tuning goes on from weights that were tuned before, which have seen the rest."""

_DROPOUT = 0.1
_SEED = 20_260


PARTS = ("encoder", "judge", "languages")


def tune(
    texts: Texts, target: Path, parts: Collection[str], *, every_category: bool, contracts: float, goes_on: bool
) -> None:
    """Writes `encoder.npz`, `judge.npz` and `languages.npz` into a folder, or those of them that are named; the latter
    two follow from the first, which is there then. Where it `goes_on`, all are there and tuned further, with examples
    that were not drawn before."""
    seed = _SEED + 2 if goes_on else _SEED
    torch.manual_seed(seed)

    def before(name: str) -> Arrays:
        return tuned.from_bytes((target / name).read_bytes()) if goes_on else {}

    source = ENCODER_SOURCE.find()
    weights = read_float_tensors(source / "model.safetensors")
    tokens = _tokens(Tokenizer.from_file(str(source / TOKENIZER_FILE)))
    pairs = PairSource(texts, every_category=every_category, contracts=contracts)
    if "encoder" in parts:
        bert = Bert({**weights, **before(tuned.ENCODER)}, _ENCODER_TUNED_FROM).to(device_of())
        epochs = _EPOCHS_ON if goes_on else _ENCODER_EPOCHS
        share = _ENCODER_SHARE_ON if goes_on else _ENCODER_SHARE

        def drawn(rng: random.Random) -> list[Pair]:
            return pairs.epoch(rng, Nearest(pairs.passages, bert, tokens), share)

        encoder.tune(bert, drawn, texts.others, tokens, epochs, seed, _say)
        _write(target / tuned.ENCODER, bert.tuned())
    given = tuned.from_bytes((target / tuned.ENCODER).read_bytes())
    teacher = Bert({**weights, **given}, _ENCODER_TUNED_FROM).to(device_of())
    if "judge" in parts:
        share = _JUDGE_SHARE_ON if goes_on else _JUDGE_SHARE
        nearest = Nearest(pairs.passages, teacher, tokens)
        cases = CaseSource(texts, pairs, nearest, known_share=share)
        reader = {**read_judge_weights(JUDGE_SOURCE.find() / MODEL_FILE), **before(tuned.JUDGE)}
        judging = Judge(Bert(reader, _JUDGE_TUNED_FROM, _DROPOUT), reader).to(device_of())
        judge.tune(judging, cases.epoch, tokens, _EPOCHS_ON if goes_on else _JUDGE_EPOCHS, seed, _say)
        _write(target / tuned.JUDGE, judging.tuned())
    if "languages" in parts:
        model = read_multilingual(LANGUAGES_SOURCE.find() / LANGUAGES_FILE)
        known = {**languages.one_segment(model.weights), **before(tuned.OTHER_LANGUAGES)}
        student = Bert(known, _LANGUAGES_TUNED_FROM).to(device_of())
        steps = _LANGUAGES_STEPS_ON if goes_on else _LANGUAGES_STEPS
        own_tokens = _tokens(Tokenizer.from_str(model.tokenizer.decode()))
        languages.tune(student, own_tokens, texts, teacher, tokens, steps, seed, _say)
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
    parser.add_argument("--on", action="store_true", help="go on from the weights that are there")
    options = parser.parse_args()
    if not (options.data / "cuad" / "contracts").is_dir():
        print(f"{options.data} has no cuad/contracts", file=sys.stderr)
        return 1
    parts = options.only or PARTS
    tune(
        Texts(options.data),
        options.target,
        parts,
        every_category=not options.measured,
        contracts=options.contracts,
        goes_on=options.on,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
