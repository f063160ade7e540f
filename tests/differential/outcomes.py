"""What came of a step, as plain values that compare between libraries."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

PACKAGES = ("tokenizers", "lexmill")
ENCODING_FIELDS = (
    "ids", "type_ids", "tokens", "offsets", "word_ids", "sequence_ids", "special_tokens_mask", "attention_mask",
    "n_sequences",
)  # fmt: skip
# Encodings overflow into hundreds; the first few show any difference.
SHOWN = 4


@dataclass(frozen=True)
class Raised:
    """An exception: `kinds` are all builtin classes that it is of."""

    name: str
    kinds: tuple[str, ...]
    message: str


@dataclass(frozen=True)
class Panic:
    """The library panicked."""

    message: str


def outcome(call: Callable[[], Any], clean: Callable[[str], str]) -> Any:
    """What `call` returns, as plain values, or what it raises."""
    try:
        return plain(call(), clean)
    except BaseException as error:
        # Of a coroutine, the exception is `RustPanic`.
        if type(error).__name__ in ("PanicException", "RustPanic"):
            return Panic(str(error))
        if not isinstance(error, Exception):
            raise
        return raised(error)


def raised(error: BaseException) -> Raised:
    kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins" and kind is not object]
    return Raised(type(error).__name__, tuple(kinds), str(error))


def plain(value: Any, clean: Callable[[str], str]) -> Any:
    """A value without anything of its library: strings, numbers and lists, with the names of classes."""
    if value is None or type(value) in (bool, int, bytes):
        return value
    if type(value) is float:
        return repr(value)
    if type(value) is str:
        return clean(value)
    if type(value) in (list, tuple):
        return [type(value).__name__, *(plain(item, clean) for item in value)]
    if type(value) is dict:
        # The order of a vocabulary is random in the peer.
        items = sorted(value.items(), key=lambda item: repr(item[0]))
        return ["dict", *([plain(key, clean), plain(item, clean)] for key, item in items)]
    if typing.get_origin(value) is not None:
        # For readers and type checkers alone.
        is_union = typing.get_origin(value) in (typing.Union, types.UnionType)
        return ["alias", "union" if is_union else str(typing.get_origin(value))]
    if isinstance(value, set | frozenset):
        return ["set", *sorted(map(repr, value))]
    if isinstance(value, BaseException):
        return raised(value)
    if isinstance(value, np.ndarray):
        return ["array", str(value.dtype), value.tolist()]
    if isinstance(value, type):
        return ["class", without_package(value.__module__, value.__qualname__)]
    if isinstance(value, Enum):
        return ["enum", type(value).__name__, value.name]
    if isinstance(value, types.ModuleType):
        return ["module", without_package(value.__name__, "")]
    if callable(value) and not type(value).__module__.startswith(PACKAGES):
        return ["callable", getattr(value, "__name__", "?")]
    return described(value, clean)


def without_package(module: str, name: str) -> str:
    """A qualified name from the package on; private modules are of the package itself."""
    parts = [part for part in module.split(".")[1:] if not part.startswith("_") and part != "tokenizers"]
    home = module if module.split(".")[0] not in PACKAGES else ".".join(parts)
    return f"{home}.{name}".strip(".")


def described(value: Any, clean: Callable[[str], str]) -> Any:
    """An object of the library by its class and all that can be asked of it."""
    kind = type(value)
    name = kind.__name__
    shown: list[Any] = [without_package(kind.__module__, kind.__qualname__)]
    see = VIEWS.get(name)
    if see is None and hasattr(value, "_tokenizer"):
        see = see_implementation
    if see is None and kind.__module__.split(".")[0] in PACKAGES:
        see = see_stage
    return shown if see is None else [*shown, outcome(lambda: see(value), clean)]


def see_encoding(value: Any) -> Any:
    return {
        **{field: getattr(value, field) for field in ENCODING_FIELDS},
        "count": len(value.overflowing),
        "overflowing": value.overflowing[:SHOWN],
    }


def see_tokenizer(value: Any) -> Any:
    return [value.to_str(), value.padding, value.truncation, value.encode_special_tokens]


def see_implementation(value: Any) -> Any:
    return [repr(value), value.to_str(), value._parameters]


def see_stage(value: Any) -> Any:
    return [repr(value), str(value), value.__getstate__()]


def see_trainer(value: Any) -> Any:
    options = {name: getattr(value, name) for name in TRAINER_OPTIONS if hasattr(value, name)}
    # A set in the peer, whose order is random.
    return {name: sorted(option) if name == "initial_alphabet" else option for name, option in options.items()}


TRAINERS = ["BpeTrainer", "ParityBpeTrainer", "UnigramTrainer", "WordLevelTrainer", "WordPieceTrainer", "Trainer"]
TRAINER_OPTIONS = {
    "vocab_size", "min_frequency", "show_progress", "special_tokens", "limit_alphabet", "initial_alphabet",
    "continuing_subword_prefix", "end_of_word_suffix", "max_token_length",
}  # fmt: skip


def see_splits(value: Any) -> Any:
    return [value.get_splits(place, kind) for place in ("original", "normalized") for kind in ("char", "byte")]


def see_model(value: Any) -> Any:
    return value.__getstate__()


VIEWS: dict[str, Callable[[Any], Any]] = {
    "Encoding": see_encoding,
    "Tokenizer": see_tokenizer,
    "Token": lambda value: value.as_tuple(),
    "Regex": lambda _: None,
    "DecodeStream": lambda _: None,
    "AddedToken": lambda value: [repr(value), str(value), value.__getstate__()],
    "NormalizedString": lambda value: [repr(value), str(value), value.normalized, value.original],
    "PreTokenizedString": see_splits,
    "EncodingVisualizer": lambda value: value.default_to_notebook,
    **dict.fromkeys(["Model", "BPE", "WordPiece", "Unigram", "WordLevel"], see_model),
    **dict.fromkeys(TRAINERS, see_trainer),
}

ADDRESS = re.compile(r" at 0x[0-9a-f]+")
HOMES = re.compile(r"\b(?:tokenizers|lexmill)\.(?:_core\.|_\w+\.)?")
# Files of published tokenizers, in which nothing is to be cleaned.
LONG = 100_000
STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)


def cleaner(folder: str, home: str) -> Callable[[str], str]:
    """Takes from strings what is of one run: the folder, addresses, the library's name and home, the style sheet."""

    def clean(value: str) -> str:
        if len(value) > LONG:
            return value
        value = ADDRESS.sub("", value.replace(folder, "{folder}").replace(home, "{home}"))
        return (
            STYLE.sub("", HOMES.sub("lib.", value))
            if "tokenizers." in value or "lexmill." in value or "<st" in value
            else value
        )

    return clean
