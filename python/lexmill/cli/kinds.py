"""Kinds of tokenizer files: told by name, read, and written to a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from lexmill import Tokenizer
from lexmill.cli.outcome import UsageError
from lexmill.cli.stages import GPT2_PATTERN, PATTERNS, NormalizerName, PreTokenizerName, put_stages
from lexmill.errors import FormatError, OptionError
from lexmill.models import BPE, WordPiece
from lexmill.pre_tokenizers import ByteLevel as ByteLevelPreTokenizer
from lexmill.processors import ByteLevel, TemplateProcessing

__all__ = ["Kind", "Surroundings", "Version", "kind_of", "paths_of", "pattern_of_name", "read", "write"]


class Kind(str, Enum):
    """Kinds of files that hold a tokenizer, or its model alone."""

    TOKENIZER_JSON = "tokenizer-json"
    SENTENCEPIECE = "sentencepiece"
    SENTENCEPIECE_LITE = "sentencepiece-lite"
    VOCAB_TXT = "vocab-txt"
    VOCAB_JSON = "vocab-json"
    TIKTOKEN = "tiktoken"

    @property
    def holds_model_alone(self) -> bool:
        """True if the file holds no stage but the model, so that `Surroundings` supplies the others."""
        return self in (Kind.VOCAB_TXT, Kind.VOCAB_JSON, Kind.TIKTOKEN)


class Version(str, Enum):
    """Versions of `tokenizer.json`: of Hugging Face `tokenizers` 0.x, and of 1.0."""

    ONE = "1.0"
    TWO = "2.0"


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """The stages and tokens around a model, where its file lacks them; None takes the usual ones of the kind."""

    normalizer: Annotated[
        NormalizerName | None,
        typer.Option(help="The normalizer of a file of a model alone; bert for vocab-txt unless given."),
    ] = None
    pre_tokenizer: Annotated[
        PreTokenizerName | None,
        typer.Option(
            help="The pre-tokenizer of a file of a model alone; bert for vocab-txt, byte-level for vocab-json, told by "
            "the name for tiktoken unless given."
        ),
    ] = None
    unk_token: Annotated[
        str | None, typer.Option(help="The unknown token of a file of a model alone; [UNK] for vocab-txt unless given.")
    ] = None
    special_token: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOKEN[=ID]",
            help="A special token of a file of a model alone (ID for tiktoken); may be given again.",
        ),
    ] = None

    @property
    def special_tokens(self) -> list[str]:
        """All special tokens that are given."""
        return self.special_token or []

    @property
    def given(self) -> list[str]:
        """The options that are given, as the command line has them."""
        options = {
            "--normalizer": self.normalizer,
            "--pre-tokenizer": self.pre_tokenizer,
            "--unk-token": self.unk_token,
            "--special-token": self.special_tokens or None,
        }
        return [name for name, value in options.items() if value is not None]


def kind_of(path: str, option: str) -> Kind:
    """The kind of a file by its name; `option` is the option that names the kind.

    Raises:
        UsageError: the name does not tell.
    """
    name = Path(path).name
    if name.endswith("merges.txt") or name == "vocab.json" or name.endswith("-vocab.json"):
        return Kind.VOCAB_JSON
    kinds = {
        ".json": Kind.TOKENIZER_JSON,
        ".model": Kind.SENTENCEPIECE,
        ".spm": Kind.SENTENCEPIECE,
        ".fb": Kind.SENTENCEPIECE_LITE,
        ".txt": Kind.VOCAB_TXT,
        ".tiktoken": Kind.TIKTOKEN,
    }
    kind = kinds.get(Path(path).suffix)
    if kind is None:
        known = ", ".join(kind.value for kind in Kind)
        message = f"{path} does not tell its kind by its name; give {option} as one of {known}"
        raise UsageError(message)
    return kind


def paths_of(path: str, kind: Kind) -> list[str]:
    """The file itself, or for merges both files, the vocabulary first."""
    if kind is not Kind.VOCAB_JSON:
        return [path]
    given = Path(path)
    for ending, other in (("merges.txt", "vocab.json"), ("vocab.json", "merges.txt")):
        if given.name.endswith(ending):
            sibling = str(given.with_name(given.name.removesuffix(ending) + other))
            return [sibling, path] if ending == "merges.txt" else [path, sibling]
    return [path, str(given.with_name("merges.txt"))]


def pattern_of_name(path: str) -> PreTokenizerName | None:
    """How the text for a `.tiktoken` file with a published name is cut."""
    stems = {
        "cl100k": PreTokenizerName.CL100K,
        "o200k": PreTokenizerName.O200K,
        "gpt2": PreTokenizerName.BYTE_LEVEL,
        "r50k": PreTokenizerName.BYTE_LEVEL,
        "p50k": PreTokenizerName.BYTE_LEVEL,
    }
    return next((name for stem, name in stems.items() if Path(path).name.startswith(stem)), None)


def read(paths: list[str], kind: Kind, around: Surroundings) -> Tokenizer:
    """The tokenizer in the file or files.

    Raises:
        LexmillError: they cannot be read or do not hold one.
    """
    if kind is Kind.TOKENIZER_JSON:
        return Tokenizer.from_file(paths[0])
    if kind in (Kind.SENTENCEPIECE, Kind.SENTENCEPIECE_LITE):
        return Tokenizer.from_spm(paths[0])
    readers: dict[Kind, Callable[[list[str], Surroundings], Tokenizer]] = {
        Kind.VOCAB_TXT: _read_vocab_txt,
        Kind.VOCAB_JSON: _read_vocab_json,
        Kind.TIKTOKEN: _read_tiktoken,
    }
    return readers[kind](paths, around)


def _read_vocab_txt(paths: list[str], around: Surroundings) -> Tokenizer:
    unk_token = "[UNK]" if around.unk_token is None else around.unk_token
    tokenizer = Tokenizer(WordPiece.from_file(paths[0], unk_token=unk_token))
    cut = around.pre_tokenizer or PreTokenizerName.BERT
    put_stages(tokenizer, around.normalizer or NormalizerName.BERT, cut)
    usual = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.add_special_tokens([token for token in usual if tokenizer.token_to_id(token) is not None])
    _add_special_tokens(tokenizer, around)
    ids = [(token, id_) for token in ("[CLS]", "[SEP]") if (id_ := tokenizer.token_to_id(token)) is not None]
    if len(ids) == len(("[CLS]", "[SEP]")):
        tokenizer.post_processor = TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ids
        )
    return tokenizer


def _read_vocab_json(paths: list[str], around: Surroundings) -> Tokenizer:
    tokenizer = Tokenizer(BPE.from_file(*paths, unk_token=around.unk_token))
    cut = around.pre_tokenizer or PreTokenizerName.BYTE_LEVEL
    put_stages(tokenizer, around.normalizer or NormalizerName.NONE, cut)
    if cut.is_byte_level:
        lacking = sorted(char for char in ByteLevelPreTokenizer.alphabet() if tokenizer.token_to_id(char) is None)
        if lacking and around.unk_token is None:
            message = (
                f"{paths[0]}: {len(lacking)} bytes have no token, such as `{lacking[0]}`; is --pre-tokenizer right?"
            )
            raise FormatError(message)
        tokenizer.post_processor = ByteLevel(trim_offsets=False)
    _add_special_tokens(tokenizer, around)
    return tokenizer


def _read_tiktoken(paths: list[str], around: Surroundings) -> Tokenizer:
    cut = around.pre_tokenizer or pattern_of_name(paths[0])
    if cut is None or not cut.is_byte_level:
        message = f"{paths[0]} needs a pattern: give --pre-tokenizer as one of byte-level, cl100k, o200k"
        raise UsageError(message)
    pattern = PATTERNS.get(cut.value, GPT2_PATTERN)
    with_ids = dict(given for token in around.special_tokens if (given := _with_id(token)))
    tokenizer = Tokenizer.from_tiktoken(paths[0], pattern, with_ids)
    put_stages(tokenizer, around.normalizer or NormalizerName.NONE, cut)
    tokenizer.add_special_tokens([token for token in around.special_tokens if _with_id(token) is None])
    return tokenizer


def _with_id(token: str) -> tuple[str, int] | None:
    """The token and the id of `TOKEN=ID`; None if `token` has no id."""
    content, equals, digits = token.rpartition("=")
    return (content, int(digits)) if equals and content and digits.isascii() and digits.isdigit() else None


def _add_special_tokens(tokenizer: Tokenizer, around: Surroundings) -> None:
    """Adds them; one that the vocabulary lacks gets the next id.

    Raises:
        OptionError: one has not the id that is told.
    """
    tokenizer.add_special_tokens([_without_id(token) for token in around.special_tokens])
    for content, id_ in filter(None, map(_with_id, around.special_tokens)):
        found = tokenizer.token_to_id(content)
        if found != id_:
            message = f"--special-token {content}={id_}, but `{content}` has id {found}"
            raise OptionError(message)


def _without_id(token: str) -> str:
    with_id = _with_id(token)
    return token if with_id is None else with_id[0]


def write(tokenizer: Tokenizer, kind: Kind, folder: Path, version: Version = Version.ONE) -> list[Path]:
    """Writes the file or files of a kind to a folder, the vocabulary first. Version 2.0 loses trimming and dropout.

    Raises:
        OptionError: the kind cannot hold this model.
    """
    model = tokenizer.model
    models = {Kind.VOCAB_TXT: WordPiece, Kind.VOCAB_JSON: BPE}
    if kind in models:
        if not isinstance(model, models[kind]):
            message = f"{kind.value} holds {models[kind].__name__}, this model is {type(model).__name__}"
            raise OptionError(message)
        return [Path(path) for path in model.save(str(folder))]
    path = folder / "file"
    if kind is Kind.TOKENIZER_JSON:
        # Like `save`, but without its warning: the command itself names the settings that the file does not hold.
        is_version_1 = version is Version.ONE
        text = tokenizer.to_str(pretty=is_version_1, version=version.value, lossy=not is_version_1)
        path.write_text(text, encoding="utf-8", newline="")
    elif kind is Kind.SENTENCEPIECE:
        tokenizer.save_spm(path)
    elif kind is Kind.SENTENCEPIECE_LITE:
        # The name tells `save_spm` the kind of file.
        path = path.with_suffix(".fb")
        tokenizer.save_spm(path)
    else:
        tokenizer.save_tiktoken(path)
    return [path]
