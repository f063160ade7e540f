"""`lexmill train`: learns a tokenizer from text files."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated

import typer

from lexmill import DomainTokens, Tokenizer
from lexmill.cli.display import megabytes
from lexmill.cli.domains import mixture_of, shown
from lexmill.cli.options import (
    LARGEST,
    CharacterCoverage,
    Forbid,
    LimitAlphabet,
    MinFrequency,
    Normalizer,
    SpecialToken,
    Superwords,
    TrainingOptions,
)
from lexmill.cli.outcome import Outcome, UsageError
from lexmill.cli.sources import read_by
from lexmill.cli.stages import NormalizerName, PreTokenizerName, put_stages
from lexmill.cli.training_corpus import TrainingCorpus, Ways, saved_tokenizer
from lexmill.models import BPE, Model, Unigram, WordLevel, WordPiece
from lexmill.pre_tokenizers import ByteLevel
from lexmill.trainers import (
    BpeTrainer,
    SuperwordOptions,
    Trainer,
    UnigramTrainer,
    WordLevelTrainer,
    WordPieceTrainer,
)

__all__ = [
    "AlgorithmName",
    "ModelName",
    "Options",
    "ScoreName",
    "TieBreakName",
    "train",
]


class ModelName(str, Enum):
    """Models that the command can train."""

    BPE = "bpe"
    WORDPIECE = "wordpiece"
    WORDLEVEL = "wordlevel"
    UNIGRAM = "unigram"


class ScoreName(str, Enum):
    """The rule by which WordPiece chooses the next merge."""

    FREQUENCY = "frequency"
    LIKELIHOOD = "likelihood"
    LIKELIHOOD_FLOAT64 = "likelihood-float64"


class AlgorithmName(str, Enum):
    """How unigram chooses its pieces."""

    EM = "em"
    EXACT_LOSS = "exact-loss"


class TieBreakName(str, Enum):
    """The rule that decides between pairs of equal count or score."""

    SMALLEST_IDS = "smallest-ids"
    FIRST_SEEN = "first-seen"


@dataclass(frozen=True, kw_only=True)
class Options:
    """The arguments and options of `lexmill train`."""

    vocab_size: Annotated[
        int, typer.Option(min=1, max=LARGEST, help="Tokens at most, special tokens included.", show_default=False)
    ]
    corpus: TrainingOptions
    domain: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILES", help="In place of files: the files of a domain; may be given again."),
    ] = None
    weight: Annotated[
        list[str] | None, typer.Option(metavar="NAME=NUMBER", help="How often a domain is counted; once unless given.")
    ] = None
    share: Annotated[
        list[str] | None, typer.Option(metavar="NAME=NUMBER", help="The part of a domain in the bytes of all.")
    ] = None
    model: Annotated[ModelName, typer.Option(help="The kind of model.")] = ModelName.BPE
    min_frequency: MinFrequency = 0
    special_token: SpecialToken = None
    unk_token: Annotated[str | None, typer.Option(help="Stands for unknown text, which bpe drops without it.")] = None
    tie_break: Annotated[
        TieBreakName | None,
        typer.Option(
            help="Which of several equal pairs is merged first; smallest-ids unless given, first-seen for likelihoods.",
            show_default=False,
        ),
    ] = None
    score: Annotated[
        ScoreName | None,
        typer.Option(help="The score by which wordpiece merges; frequency unless given.", show_default=False),
    ] = None
    normalizer: Normalizer = NormalizerName.NONE
    pre_tokenizer: Annotated[
        PreTokenizerName | None,
        typer.Option(
            help="How text is cut into words: at the byte level by GPT-2's, cl100k's or o200k's pattern, or plainly; "
            "byte-level for bpe, bert for wordpiece, whitespace for wordlevel, metaspace for unigram unless given.",
            show_default=False,
        ),
    ] = None
    limit_alphabet: LimitAlphabet = None
    forbid: Forbid = None
    initial_token: Annotated[
        list[str] | None, typer.Option(help="A token that the vocabulary must have; may be given again.")
    ] = None
    max_token_length: Annotated[int | None, typer.Option(min=1, max=LARGEST, help="Characters at most in a token.")] = (
        None
    )
    superwords: Superwords = None
    initial_vocab_size: Annotated[
        int | None,
        typer.Option(min=0, max=LARGEST, help="Tokens before superwords; nine tenths of --vocab-size unless given."),
    ] = None
    algorithm: Annotated[
        AlgorithmName | None,
        typer.Option(help="How unigram chooses its pieces; em unless given.", show_default=False),
    ] = None
    max_piece_length: Annotated[
        int | None, typer.Option(min=1, max=LARGEST, help="Characters at most in a piece of unigram.")
    ] = None
    character_coverage: CharacterCoverage = None
    seed_size: Annotated[int | None, typer.Option(min=1, max=LARGEST, help="Pieces that unigram starts from.")] = None


def train(options: Options) -> Outcome:
    """Train a tokenizer on the texts of files and save it as a tokenizer.json."""
    if (options.weight or options.share) and not options.domain:
        message = "--weight and --share are for --domain, which is not given"
        raise UsageError(message)
    given = options.corpus
    mixture = mixture_of(options.domain or [], options.weight, options.share, given.read)
    corpus = TrainingCorpus.of(given, {"FILES": bool(given.files), "--domain": bool(options.domain)}, mixture.files)
    _check_model(options)
    tokenizer = _untrained(options)
    trainer = _trainer(options)
    domains: dict[str, DomainTokens] = {}
    started = time.perf_counter()
    if options.domain:
        with corpus.progress() as progress:
            domains = tokenizer.train(
                {name: [read_by(one, given.read) for one in own] for name, own in mixture.inputs.items()},
                trainer,
                weights=mixture.weights,
                shares=mixture.shares,
                max_memory=given.max_memory,
                folder=given.folder,
                errors=given.read.errors.value,
                on_progress=progress.callback,
                num_threads=given.threads,
            )
    else:
        corpus.teach(Ways(tokenizer.train, tokenizer.train_from_iterator, tokenizer.train_from_counts), trainer=trainer)
    seconds = time.perf_counter() - started
    saved = saved_tokenizer(tokenizer, given)
    outcome = _outcome(options, tokenizer, json.loads(saved)["model"].get("merges"), corpus, seconds)
    return replace(outcome, data={**outcome.data, "domains": shown(domains)}) if domains else outcome


# Options that only some models have, and those models.
_OPTION_MODELS = {
    "tie_break": (ModelName.BPE, ModelName.WORDPIECE),
    "limit_alphabet": (ModelName.BPE, ModelName.WORDPIECE),
    "forbid": (ModelName.BPE, ModelName.WORDPIECE, ModelName.UNIGRAM),
    "initial_token": (ModelName.BPE, ModelName.WORDPIECE, ModelName.UNIGRAM),
    "max_token_length": (ModelName.BPE,),
    "superwords": (ModelName.BPE,),
    "initial_vocab_size": (ModelName.BPE,),
    "score": (ModelName.WORDPIECE,),
    "algorithm": (ModelName.UNIGRAM,),
    "max_piece_length": (ModelName.UNIGRAM,),
    "character_coverage": (ModelName.UNIGRAM,),
    "seed_size": (ModelName.UNIGRAM,),
}


def _check_model(options: Options) -> None:
    for name, models in _OPTION_MODELS.items():
        if getattr(options, name) is not None and options.model not in models:
            known = " or ".join(model.value for model in models)
            message = f"--{name.replace('_', '-')} is for --model {known}, not for {options.model.value}"
            raise UsageError(message)

    if options.initial_vocab_size is not None and options.superwords is None:
        message = "--initial-vocab-size is for --superwords, which is not given"
        raise UsageError(message)
    if options.min_frequency > 0 and options.model is ModelName.UNIGRAM:
        message = "--min-frequency is not for --model unigram"
        raise UsageError(message)


def _pre_tokenizer_name(options: Options) -> PreTokenizerName:
    usual = {
        ModelName.BPE: PreTokenizerName.BYTE_LEVEL,
        ModelName.WORDPIECE: PreTokenizerName.BERT,
        ModelName.WORDLEVEL: PreTokenizerName.WHITESPACE,
        ModelName.UNIGRAM: PreTokenizerName.METASPACE,
    }
    return options.pre_tokenizer or usual[options.model]


def _unk_token(options: Options) -> str | None:
    usual = {
        ModelName.BPE: None,
        ModelName.WORDPIECE: "[UNK]",
        ModelName.WORDLEVEL: "<unk>",
        ModelName.UNIGRAM: "<unk>",
    }
    return options.unk_token if options.unk_token is not None else usual[options.model]


def _untrained(options: Options) -> Tokenizer:
    unk_token, cut = _unk_token(options), _pre_tokenizer_name(options)
    models: dict[ModelName, Callable[[], Model]] = {
        ModelName.BPE: lambda: BPE(unk_token=unk_token),
        ModelName.WORDPIECE: lambda: WordPiece(unk_token=unk_token or ""),
        ModelName.WORDLEVEL: lambda: WordLevel(unk_token=unk_token),
        ModelName.UNIGRAM: Unigram,
    }
    tokenizer = Tokenizer(models[options.model]())
    put_stages(tokenizer, options.normalizer, cut)
    return tokenizer


def _trainer(options: Options) -> Trainer:
    special_tokens, unk_token = list(dict.fromkeys(options.special_token or [])), _unk_token(options)
    if unk_token is not None and unk_token not in special_tokens:
        special_tokens.insert(0, unk_token)
    alphabet = ByteLevel.alphabet() if _pre_tokenizer_name(options).is_byte_level else []
    if options.model is ModelName.WORDLEVEL:
        return WordLevelTrainer(
            vocab_size=options.vocab_size,
            min_frequency=options.min_frequency,
            special_tokens=special_tokens,
            show_progress=False,
        )
    if options.model is ModelName.WORDPIECE:
        wordpiece = WordPieceTrainer(
            vocab_size=options.vocab_size,
            min_frequency=options.min_frequency,
            special_tokens=special_tokens,
            initial_alphabet=alphabet,
            score=(options.score or ScoreName.FREQUENCY).value,
            tie_break=options.tie_break.value if options.tie_break else None,
            forbid=options.forbid or [],
            initial_tokens=options.initial_token or [],
            show_progress=False,
        )
        # As in Hugging Face, the keyword refuses None and the property takes it.
        wordpiece.limit_alphabet = options.limit_alphabet
        return wordpiece
    if options.model is ModelName.UNIGRAM:
        return UnigramTrainer(
            vocab_size=options.vocab_size,
            special_tokens=special_tokens,
            initial_alphabet=alphabet,
            unk_token=unk_token,
            max_piece_length=options.max_piece_length or 16,
            seed_size=options.seed_size or 1_000_000,
            character_coverage=1.0 if options.character_coverage is None else options.character_coverage,
            algorithm=(options.algorithm or AlgorithmName.EM).value,
            forbid=options.forbid or [],
            initial_tokens=options.initial_token or [],
            show_progress=False,
        )
    bpe = BpeTrainer(
        vocab_size=options.vocab_size,
        min_frequency=options.min_frequency,
        special_tokens=special_tokens,
        initial_alphabet=alphabet,
        max_token_length=options.max_token_length,
        superwords=_superwords(options),
        tie_break=(options.tie_break or TieBreakName.SMALLEST_IDS).value,
        forbid=options.forbid or [],
        initial_tokens=options.initial_token or [],
        show_progress=False,
    )
    # As in Hugging Face, the keyword refuses None and the property takes it.
    bpe.limit_alphabet = options.limit_alphabet
    return bpe


def _superwords(options: Options) -> SuperwordOptions | None:
    if options.superwords is None:
        return None
    initial = options.vocab_size * 9 // 10 if options.initial_vocab_size is None else options.initial_vocab_size
    return SuperwordOptions(initial, algorithm=options.superwords.value)


def _outcome(
    options: Options, tokenizer: Tokenizer, merges: list[object] | None, corpus: TrainingCorpus, seconds: float
) -> Outcome:
    vocab_size = tokenizer.get_vocab_size()
    data: dict[str, object] = {
        "output": options.corpus.output,
        "model": options.model.value,
        "vocab_size": vocab_size,
        **({} if merges is None else {"merges": len(merges)}),
        "files": len(corpus.inputs),
        "bytes": corpus.size,
        "seconds": round(seconds, 6),
    }
    learnt = f"{vocab_size:,} tokens" if merges is None else f"{vocab_size:,} tokens, {len(merges):,} merges"
    note = f"{options.corpus.output}: {learnt}, from {megabytes(corpus.size)} in {seconds:.1f} s"
    if vocab_size < options.vocab_size:
        note += f" (the corpus has no more than these of the {options.vocab_size:,} asked for)"
    return Outcome(data, note=note)
