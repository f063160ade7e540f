"""Texts, and what all scenarios do."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# `peer`: the installed `tokenizers`; `install`: lexmill in its place from the start; `accelerate`: lexmill inside
# tokenizers that transformers made with the peer.
BACKENDS = ["peer", "install", "accelerate"]

# The key of the traceback of a scenario that did not come to its end.
FAILED = "failed"
# The key of what the processes of one backend must agree in, and backends need not.
HASHES = "hashes"

Scenario = Callable[[Path, Path], Iterator[tuple[str, Any]]]
SCENARIOS: dict[str, Scenario] = {}

TEXTS = [
    "",
    " ",
    "Hello world! This is a test.",
    "  leading, trailing and   inner blanks  ",
    "The quick brown fox (aged 12) can't jump over 3,141 lazy dogs; it won't, it hasn't.",
    "caf\u00e9 cafe\u0301 na\u00efve \u0130stanbul stra\u00dfe \ufb01ne",
    "\u4f60\u597d\u4e16\u754c\u3002\u65e5\u672c\u8a9e \ud55c\uad6d "
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd ok",
    "line one\nline two\r\n\r\n\tindented\u00a0x\u3000y",
    "<s> a </s> <mask>[MASK] [SEP]<|endoftext|><pad> <unk> <extra_id_7>x <|im_start|>",
    "internationalization antidisestablishmentarianism xzqjkvbwpfg" + "a" * 130,
]
SENTENCE = TEXTS[4]
PAIRS = [(TEXTS[2], TEXTS[4]), (TEXTS[5], TEXTS[6]), ("", TEXTS[2]), (TEXTS[4], ""), (TEXTS[7], TEXTS[9])]
WORDS = [
    ["Hello", "world", "!"],
    ["internationalization", "caf\u00e9", "", "\u4f60\u597d", "two words", " x"],
    ["\U0001f44d\U0001f3fd", "can't", "3,141"],
]
CORPUS = [
    "the cat sat on the mat and the dog sat on the log",
    "a quick brown fox jumps over the lazy dog, again and again",
    "counting words: one, two, three, four, five; counting tokens is like counting words",
    "caf\u00e9 na\u00efve stra\u00dfe \u4f60\u597d \U0001f44d don't can't won't",
] * 6
# Words enough for a large Unigram vocabulary.
VARIED = [
    f"{root}{ending} un{root} {root}er{ending}"
    for root in ["walk", "talk", "paint", "build", "count", "learn", "print", "mark", "train", "plant", "scan", "sort"]
    for ending in ["s", "ed", "ing", "able", "ment", "ly", "ness", "ful"]
]
CONTEXT = " ".join(
    f"In the year {1800 + at} the town of Number {at} built a bridge of {at * 7} stones, a caf\u00e9 and a library."
    for at in range(40)
)


def scenario(run: Scenario) -> Scenario:
    SCENARIOS[run.__name__] = run
    return run


def plain(value: Any) -> Any:
    """The same value of what JSON has; classes of the backend, which differ in name only, as what they hold."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if hasattr(value, "dtype"):
        return {"dtype": str(value.dtype), "shape": list(getattr(value, "shape", [])), "values": value.tolist()}
    if hasattr(value, "encodings") and hasattr(value, "data"):
        return {"data": [[key, plain(part)] for key, part in value.data.items()], "encodings": plain(value.encodings)}
    if hasattr(value, "overflowing"):
        return encoding(value)
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, set):
        return sorted(plain(part) for part in value)
    return repr(value)


def encoding(value: Any) -> dict[str, Any]:
    names = ["ids", "tokens", "offsets", "word_ids", "sequence_ids", "type_ids", "attention_mask"]
    parts = {name: plain(getattr(value, name)) for name in [*names, "special_tokens_mask", "n_sequences"]}
    return {**parts, "repr": repr(value), "overflowing": [encoding(part) for part in value.overflowing]}


def attempt(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What a call returns, or that it raises: texts of errors and their classes are lexmill's own."""
    try:
        return plain(call(*arguments, **options))
    except Exception as error:
        # One that says that a call or a module is missing must be the same.
        if isinstance(error, AttributeError | ImportError | NameError):
            return {"raises": f"{type(error).__name__}: {error}"}
        return {"raises": True}
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return {"raises": True}


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(plain(value)).encode()).hexdigest()


def parts_of(file: str) -> dict[str, Any]:
    """A `tokenizer.json` in short: long tables as their digest."""
    parsed = json.loads(file)
    model = parsed.get("model", {})
    parsed["model"] = {key: digest(part) if key in ("vocab", "merges") else part for key, part in model.items()}
    return {key: part if len(str(part)) < 2000 else digest(part) for key, part in parsed.items()}


def backend() -> str:
    return sys.argv[1]


def load(folder: Path, **options: Any) -> Any:
    from transformers import AutoTokenizer

    return swapped(AutoTokenizer.from_pretrained(folder, **options))


def swapped(fast: Any) -> Any:
    """A tokenizer that transformers made, with the backend of this process."""
    if backend() == "accelerate":
        import lexmill

        lexmill.accelerate(fast)
    return checked(fast)


def checked(fast: Any) -> Any:
    """The same tokenizer, which must have the backend of this process."""
    expected = "tokenizers" if backend() == "peer" else "lexmill"
    found = type(fast._tokenizer).__module__
    if found != expected:
        raise RuntimeError(f"the backend is {found}, not {expected}")
    return fast


def padded(fast: Any) -> Any:
    """A tokenizer that can pad."""
    if fast.pad_token is None:
        fast.pad_token = fast.eos_token or fast.unk_token
    return fast
