"""`lexmill continue`: learns further tokens for a tokenizer."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from lexmill import Tokenizer
from lexmill.cli.display import megabytes
from lexmill.cli.load import load_tokenizer
from lexmill.cli.options import (
    LARGEST,
    CharacterCoverage,
    Forbid,
    LimitAlphabet,
    MinFrequency,
    SpecialToken,
    TokenizerFile,
    TrainingOptions,
)
from lexmill.cli.outcome import Outcome, UsageError
from lexmill.cli.training_corpus import TrainingCorpus, Ways, saved_tokenizer
from lexmill.models import BPE, Unigram, WordPiece
from lexmill.trainers import BpeTrainer, Trainer, UnigramTrainer, WordLevelTrainer, WordPieceTrainer

__all__ = ["Options", "learn"]

_UNUSED: Literal["unused"] = "unused"


@dataclass(frozen=True, kw_only=True)
class Options:
    """The arguments and options of `lexmill continue`."""

    tokenizer: TokenizerFile
    vocab_size: Annotated[
        int, typer.Option(min=1, max=LARGEST, help="Tokens at most, the present ones included.", show_default=False)
    ]
    corpus: TrainingOptions
    replace: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|unused",
            help="Give the ids of tokens that the corpus does not use to new ones: at most so many, or unused for all.",
        ),
    ] = None
    max_words: Annotated[
        int | None, typer.Option(min=0, max=LARGEST, help="Words at most in a new token, of a tokenizer of superwords.")
    ] = None
    min_frequency: MinFrequency = 0
    special_token: SpecialToken = None
    limit_alphabet: LimitAlphabet = None
    forbid: Forbid = None
    character_coverage: CharacterCoverage = None


def learn(options: Options) -> Outcome:
    """Learn further tokens for a tokenizer, whose tokens keep their ids."""
    given = options.corpus
    corpus = TrainingCorpus.of(given, {"FILES": bool(given.files)}, base=options.tokenizer)
    tokenizer = load_tokenizer(options.tokenizer)
    trainer, replace = _trainer(options, tokenizer), _replace(options.replace)
    before, started = tokenizer.get_vocab_size(), time.perf_counter()
    ways = Ways(
        tokenizer.continue_training,
        tokenizer.continue_training_from_iterator,
        tokenizer.continue_training_from_counts,
    )
    replaced = corpus.teach(ways, trainer=trainer, replace=replace, max_words=options.max_words)
    seconds = time.perf_counter() - started
    saved_tokenizer(tokenizer, given)
    size = tokenizer.get_vocab_size()
    data: dict[str, object] = {
        "output": given.output,
        "vocab_size": size,
        "appended": size - before,
        "replaced": {str(id_): token for id_, token in replaced.items()},
        "files": len(corpus.inputs),
        "bytes": corpus.size,
        "seconds": round(seconds, 6),
    }
    note = f"{given.output}: {size:,} tokens, {size - before:,} of them appended and {len(replaced):,} replaced, "
    return Outcome(data, note=f"{note}from {megabytes(corpus.size)} in {seconds:.1f} s")


def _replace(given: str | None) -> int | Literal["unused"] | None:
    if given is None or given == _UNUSED:
        return None if given is None else _UNUSED
    if not (given.isascii() and given.isdigit() and len(given) < 20 and int(given) <= LARGEST):
        message = f"--replace is {given[:40]!r} but must be {_UNUSED} or a number of tokens, at most {LARGEST}"
        raise UsageError(message)
    return int(given)


def _trainer(options: Options, tokenizer: Tokenizer) -> Trainer:
    """The trainer of the model's kind.

    Raises:
        UsageError: an option is not for this kind.
    """
    model = tokenizer.model
    common: dict[str, Any] = {
        "vocab_size": options.vocab_size,
        "special_tokens": options.special_token or [],
        "show_progress": False,
    }
    if isinstance(model, Unigram):
        _refuse("Unigram", min_frequency=options.min_frequency or None, limit_alphabet=options.limit_alphabet)
        coverage = 1.0 if options.character_coverage is None else options.character_coverage
        return UnigramTrainer(**common, forbid=options.forbid or [], character_coverage=coverage)
    common["min_frequency"] = options.min_frequency
    if not isinstance(model, BPE | WordPiece):
        _refuse(
            "WordLevel",
            limit_alphabet=options.limit_alphabet,
            forbid=options.forbid,
            character_coverage=options.character_coverage,
        )
        return WordLevelTrainer(**common)
    is_bpe = isinstance(model, BPE)
    _refuse("BPE" if is_bpe else "WordPiece", character_coverage=options.character_coverage)
    trainer = (BpeTrainer if is_bpe else WordPieceTrainer)(**common, forbid=options.forbid or [])
    # As in Hugging Face, the keyword refuses None and the property takes it.
    trainer.limit_alphabet = options.limit_alphabet
    return trainer


def _refuse(kind: str, **given: object) -> None:
    for name, value in given.items():
        if value is not None:
            message = f"--{name.replace('_', '-')} is not for a tokenizer whose model is {kind}"
            raise UsageError(message)
