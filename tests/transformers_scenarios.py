"""What transformers and datasets do with one tokenizer, as JSON: run in a process of its own for each backend.

Usage: transformers_scenarios.py BACKEND FOLDER SCRATCH SCENARIO...
"""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
import sys
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
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


@scenario
def loading(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    file = str(folder / "tokenizer.json")
    ways: dict[str, Callable[[], Any]] = {
        "auto": lambda: load(folder),
        "auto, sides": lambda: load(folder, padding_side="left", truncation_side="left"),
        "auto, tokens": lambda: load(folder, pad_token="<my pad>", additional_special_tokens=["<x>"]),
        "auto, bos and eos": lambda: load(folder, add_bos_token=True, add_eos_token=True),
        "auto, prefix space": lambda: load(folder, add_prefix_space=True),
        "base": lambda: swapped(PreTrainedTokenizerFast.from_pretrained(folder)),
        "base, file": lambda: swapped(PreTrainedTokenizerFast(tokenizer_file=file)),
        "base, object": lambda: swapped(PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_file(file))),
        "base, object, tokens": lambda: swapped(
            PreTrainedTokenizerFast(
                tokenizer_object=Tokenizer.from_file(file), unk_token="<u>", pad_token="<p>", eos_token="<e>"
            )
        ),
    }
    for name, way in ways.items():
        try:
            fast = way()
        except Exception as error:
            yield name, {"raises": isinstance(error, Exception)}
            continue
        yield (
            name,
            {
                "class": type(fast).__name__,
                "repr": repr(fast),
                "file": parts_of(fast.backend_tokenizer.to_str()),
                "vocab": digest(sorted(fast.get_vocab().items())),
                "vocab, in order of ids": digest(sorted(fast.vocab.items(), key=lambda item: item[1])),
                "sizes": [len(fast), fast.vocab_size, fast.model_max_length, fast.is_fast],
                "special tokens": plain([fast.special_tokens_map, fast.all_special_tokens, fast.all_special_ids]),
                "added": plain([fast.added_tokens_decoder, fast.added_tokens_encoder, fast.get_added_vocab()]),
                "added by a call": [fast.num_special_tokens_to_add(False), fast.num_special_tokens_to_add(True)],
                "input names": fast.model_input_names,
                "calls": [attempt(fast, text) for text in TEXTS],
                "decoded": [attempt(fast.decode, fast(text)["input_ids"]) for text in TEXTS],
            },
        )


@scenario
def batch_encoding(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    """All that a `BatchEncoding` answers about tokens, words and characters, also out of bounds."""
    fast = padded(load(folder))
    for name, batch, texts in [
        ("single", fast(SENTENCE), [[SENTENCE]]),
        ("batch", fast(TEXTS[2:8], padding=True), [[text] for text in TEXTS[2:8]]),
        ("pairs", fast([a for a, _ in PAIRS], [b for _, b in PAIRS], padding=True), PAIRS),
        ("words", fast(WORDS, is_split_into_words=True, padding=True), [[" ".join(words)] for words in WORDS]),
    ]:
        yield f"{name}: all", batch
        for row, sequences in enumerate(texts):
            length = len(batch["input_ids"][row] if name != "single" else batch["input_ids"])
            tokens = [*range(length), length, length + 5, -1, -length - 1]
            answers: dict[str, Any] = {
                "tokens": attempt(batch.tokens, row),
                "word_ids": attempt(batch.word_ids, row),
                "sequence_ids": attempt(batch.sequence_ids, row),
                "token_to_chars": [attempt(batch.token_to_chars, row, token) for token in tokens],
                "token_to_word": [attempt(batch.token_to_word, row, token) for token in tokens],
                "token_to_sequence": [attempt(batch.token_to_sequence, row, token) for token in tokens],
            }
            for sequence, text in enumerate(sequences):
                chars = [*range(len(text) + 2), -1]
                words = range(-1, len(text.split()) + 12)
                at = {"sequence_index": sequence}
                answers[f"char_to_token {sequence}"] = [attempt(batch.char_to_token, row, c, **at) for c in chars]
                answers[f"char_to_word {sequence}"] = [attempt(batch.char_to_word, row, c, **at) for c in chars]
                answers[f"word_to_chars {sequence}"] = [attempt(batch.word_to_chars, row, w, **at) for w in words]
                answers[f"word_to_tokens {sequence}"] = [attempt(batch.word_to_tokens, row, w, **at) for w in words]
            yield f"{name}: row {row}", answers
        yield f"{name}: one index", [attempt(call, 0) for call in (batch.char_to_token, batch.token_to_chars)]
        yield f"{name}: no row", [attempt(call, 99) for call in (batch.tokens, batch.word_ids, batch.sequence_ids)]
        copied = pickle.loads(pickle.dumps(batch))
        yield f"{name}: pickled", [copied, copied.encodings is not None and attempt(copied.word_ids, 0)]
        yield f"{name}: sliced", [attempt(lambda b=batch: b[0]), attempt(lambda b=batch: b[1:3]), batch.n_sequences]


@scenario
def calls(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    fast = padded(load(folder))
    every = {
        "return_offsets_mapping": True,
        "return_special_tokens_mask": True,
        "return_token_type_ids": True,
        "return_length": True,
    }
    options: list[dict[str, Any]] = [
        {},
        every,
        {"add_special_tokens": False, **every},
        {"split_special_tokens": True},
        {"padding": "longest"},
        {"padding": "max_length", "max_length": 40},
        {"padding": True, "pad_to_multiple_of": 8},
        {"padding": "max_length", "max_length": 21, "pad_to_multiple_of": 8, "truncation": True},
        {"padding": True, "padding_side": "left", **every},
        {"padding": True, "padding_side": "right"},
        {"padding": True, "return_tensors": "np"},
        {"padding": True, "return_tensors": "np", "return_attention_mask": False, **every},
        {"truncation": True, "max_length": 7},
        {"truncation": "longest_first", "max_length": 9},
        {"truncation": "only_first", "max_length": 9},
        {"truncation": "only_second", "max_length": 9},
        {"truncation": True, "max_length": 0},
        {"truncation": True, "max_length": 1},
        {"truncation": True, "max_length": 3},
        {"truncation": "do_not_truncate", "max_length": 3},
        {"truncation": True, "max_length": 6, "padding": "max_length", "return_tensors": "np"},
    ]
    for option in options:
        yield f"texts, {option}", [attempt(fast, text, **option) for text in TEXTS]
        yield f"batch, {option}", attempt(fast, TEXTS, **option)
        yield f"pairs, {option}", attempt(fast, [a for a, _ in PAIRS], [b for _, b in PAIRS], **option)
        yield f"pair, {option}", [attempt(fast, a, b, **option) for a, b in PAIRS]
    yield "list of pairs", attempt(fast, PAIRS, padding=True)
    for side in ["left", "right"]:
        fast.truncation_side = side
        yield f"truncation side {side}", [attempt(fast, a, b, truncation=True, max_length=9) for a, b in PAIRS]
        fast.padding_side = side
        yield f"padding side {side}", attempt(fast, TEXTS, padding=True)
    yield "encode", [attempt(fast.encode, text, add_special_tokens=add) for text in TEXTS for add in (True, False)]
    yield "tokenize", [attempt(fast.tokenize, text, add_special_tokens=a) for text in TEXTS for a in (True, False)]
    yield "tokenize pair", [attempt(fast.tokenize, a, pair=b) for a, b in PAIRS]
    yield "target", attempt(fast, text_target=TEXTS[2:4])
    yield "text and target", attempt(fast, TEXTS[2:4], text_target=TEXTS[4:6])
    yield "wrong input", [attempt(fast, wrong) for wrong in (5, [5], None, [None], {"a": "b"}, [["a", 5]], b"a")]
    rows = [{"input_ids": fast(text)["input_ids"]} for text in TEXTS[2:6]]
    yield "pad", [attempt(fast.pad, rows, return_tensors="np"), attempt(fast.pad, rows, pad_to_multiple_of=16)]
    yield (
        "mask of ids",
        attempt(fast.get_special_tokens_mask, fast(SENTENCE)["input_ids"], already_has_special_tokens=True),
    )
    yield "state", plain([fast.backend_tokenizer.truncation, fast.backend_tokenizer.padding])


@scenario
def overflow(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    fast = padded(load(folder))
    texts = [*TEXTS, CONTEXT[:600]]
    for length, stride in [(12, 0), (12, 3), (20, 8), (9, 5), (5, 4), (4, 9)]:
        shared = {"max_length": length, "stride": stride, "return_overflowing_tokens": True}
        for extra in [
            {"truncation": True},
            {"truncation": True, "padding": "max_length", "return_tensors": "np"},
            {"truncation": True, "padding": True, "return_offsets_mapping": True, "return_special_tokens_mask": True},
        ]:
            yield f"texts {shared | extra}", attempt(fast, texts, **shared, **extra)
            yield f"single {shared | extra}", attempt(fast, texts[-1], **shared, **extra)
        for truncation in ["longest_first", "only_first", "only_second"]:
            firsts, seconds = [a for a, _ in PAIRS], [b for _, b in PAIRS]
            yield f"pairs {shared} {truncation}", attempt(fast, firsts, seconds, truncation=truncation, **shared)
        fast.truncation_side = "left"
        yield f"left {shared}", attempt(fast, texts, truncation=True, **shared)
        yield f"left pairs {shared}", [attempt(fast, a, b, truncation="only_second", **shared) for a, b in PAIRS]
        fast.truncation_side = "right"
    words = CONTEXT[:300].split()
    yield (
        "words",
        attempt(
            fast,
            [words, words[:9]],
            is_split_into_words=True,
            truncation=True,
            max_length=16,
            stride=4,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        ),
    )


@scenario
def words(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    """Text that comes as words, and what the two ways to name pairs of it give."""
    for options in [{}, {"add_prefix_space": True}]:
        fast = padded(load(folder, **options))
        shared = {"is_split_into_words": True, "return_offsets_mapping": True}
        yield f"rows {options}", [attempt(fast, row, **shared) for row in [*WORDS, [], [""]]]
        yield f"batch {options}", attempt(fast, WORDS, padding=True, **shared)
        yield f"pairs {options}", attempt(fast, WORDS, WORDS[::-1], padding=True, **shared)
        yield f"list {options}", attempt(fast, [(a, b) for a, b in zip(WORDS, WORDS[::-1], strict=True)], **shared)
        yield f"cut {options}", attempt(fast, WORDS, truncation=True, max_length=5, **shared)
        yield f"tokenize {options}", [attempt(fast.tokenize, row, is_split_into_words=True) for row in WORDS]
        yield f"without specials {options}", attempt(fast, WORDS, add_special_tokens=False, **shared)


@scenario
def added_tokens(folder: Path, scratch: Path) -> Iterator[tuple[str, Any]]:
    from transformers import AddedToken

    fast = load(folder)
    texts = [
        *TEXTS,
        "a newword newwordly NEWWORD new word x<ent>y < ent > <ent><ent>  <strip>  z",
        "lexical LEXICAL lexically, \u00e9t\u00e9 e\u0301te\u0301 \u00c9T\u00c9",
    ]
    steps: list[tuple[str, Callable[[], Any]]] = [
        ("words", lambda: fast.add_tokens(["newword", "the", "newword", ""])),
        ("no words", lambda: fast.add_tokens([])),
        ("one", lambda: fast.add_tokens("lexical")),
        ("single word", lambda: fast.add_tokens(AddedToken("lex", single_word=True, lstrip=True))),
        ("normalized", lambda: fast.add_tokens([AddedToken("\u00e9t\u00e9", normalized=True)])),
        ("special by flag", lambda: fast.add_tokens(["<ent>"], special_tokens=True)),
        ("strips", lambda: fast.add_tokens([AddedToken("<strip>", lstrip=True, rstrip=True, special=True)])),
        ("special tokens", lambda: fast.add_special_tokens({"additional_special_tokens": ["<a>", "<b>"]})),
        ("more", lambda: fast.add_special_tokens({"additional_special_tokens": ["<c>"]}, False)),
        ("pad", lambda: fast.add_special_tokens({"pad_token": AddedToken("<new pad>", lstrip=True)})),
        ("cls, bos", lambda: fast.add_special_tokens({"cls_token": "<cls2>", "bos_token": "<bos2>"})),
        ("extra", lambda: fast.add_special_tokens({"extra_special_tokens": ["<img>"]})),
    ]
    for name, step in steps:
        yield f"{name}: returned", attempt(step)
        yield f"{name}: sizes", [len(fast), fast.vocab_size]
        yield f"{name}: decoder", plain(fast.added_tokens_decoder)
        yield f"{name}: calls", [attempt(fast, text, return_offsets_mapping=True) for text in texts]
        yield f"{name}: tokens", [attempt(fast.tokenize, text) for text in texts]
        ids = [fast(text)["input_ids"] for text in texts]
        yield (
            f"{name}: decoded",
            [attempt(fast.decode, row, skip_special_tokens=s) for row in ids for s in (True, False)],
        )
    yield "special", plain([fast.special_tokens_map, fast.all_special_tokens, fast.all_special_ids])
    yield "ids", [attempt(fast.convert_tokens_to_ids, token) for token in ["newword", "<ent>", "<c>", "no such", ""]]
    size = len(fast)
    yield "tokens", [attempt(fast.convert_ids_to_tokens, at) for at in [0, size - 1, size, size + 9, -1, [0, size - 1]]]
    fast.save_pretrained(scratch / "added")
    again = load(scratch / "added")
    yield "saved", [len(again), plain(again.added_tokens_decoder), [attempt(again, text) for text in texts]]


@scenario
def decoding(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    fast = padded(load(folder))
    rows = [fast(text)["input_ids"] for text in TEXTS]
    rows += [[], list(range(0, 400, 7)), [fast.vocab_size - 1, len(fast) - 1], rows[4][::-1]]
    for skip in [True, False]:
        for clean in [True, False, None]:
            shared = {"skip_special_tokens": skip, "clean_up_tokenization_spaces": clean}
            yield f"decode {shared}", [attempt(fast.decode, row, **shared) for row in rows]
            yield f"batch_decode {shared}", attempt(fast.batch_decode, rows, **shared)
    batch = fast(TEXTS, padding=True, return_tensors="np")
    yield "arrays", [attempt(fast.decode, batch["input_ids"][3]), attempt(fast.batch_decode, batch["input_ids"])]
    yield "one id", [attempt(fast.decode, at) for at in [0, 5, 300, len(fast) - 1]]
    yield "no ids", [attempt(fast.decode, wrong) for wrong in [len(fast) + 5, [len(fast) + 5, 4], -1, "a", None, 2**40]]
    yield (
        "tokens",
        [attempt(fast.convert_ids_to_tokens, row, skip_special_tokens=s) for row in rows for s in (True, False)],
    )
    yield "joined", [attempt(fast.convert_tokens_to_string, fast.convert_ids_to_tokens(row)) for row in rows]
    yield "ids again", [attempt(fast.convert_tokens_to_ids, fast.convert_ids_to_tokens(row)) for row in rows]


@scenario
def streaming(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    """Tokens that come one by one, as they do from a model."""
    fast = load(folder)
    # The peer's takes the peer's tokenizers only.
    DecodeStream = import_module("tokenizers" if backend() == "peer" else "lexmill").decoders.DecodeStream
    for at, text in enumerate(TEXTS):
        ids = fast(text)["input_ids"]
        for skip in [True, False]:
            stream = DecodeStream(skip_special_tokens=skip)
            yield f"{at}, {skip}", [attempt(stream.step, fast._tokenizer, token) for token in ids]
        stream = DecodeStream(ids=ids[:2])
        yield f"{at}, begun", [attempt(stream.step, fast._tokenizer, token) for token in ids[2:]]


MESSAGES = [
    {"role": "system", "content": "You are terse."},
    {"role": "user", "content": "Caf\u00e9 \u4f60\u597d?  Two  blanks.\n"},
    {"role": "assistant", "content": "Yes \U0001f44d."},
    {"role": "user", "content": "And <s> now?"},
]
TEMPLATE = (
    "{% for m in messages %}{{ '<' + m['role'] + '> ' }}"
    "{% if m['role'] == 'assistant' %}{% generation %}{{ m['content'] }}{% endgeneration %}"
    "{% else %}{{ m['content'] }}{% endif %}{{ eos_token or '' }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


@scenario
def chat(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    fast = padded(load(folder))
    batch = [MESSAGES, MESSAGES[1:3]]
    for name, template in [("own", fast.chat_template), ("ours", TEMPLATE)]:
        if template is None:
            continue
        fast.chat_template = template
        call = fast.apply_chat_template
        yield f"{name}: text", attempt(call, MESSAGES[1:], tokenize=False)
        yield f"{name}: ids", attempt(call, MESSAGES[1:], add_generation_prompt=True, return_dict=False)
        yield f"{name}: dict", attempt(call, MESSAGES[1:], return_dict=True, return_tensors="np")
        yield f"{name}: batch", attempt(call, batch, padding=True, truncation=True, max_length=30, return_dict=True)
    mask = {"return_assistant_tokens_mask": True, "return_dict": True}
    yield "mask", attempt(fast.apply_chat_template, MESSAGES, **mask)
    yield "mask of a batch", attempt(fast.apply_chat_template, batch, padding=True, **mask)
    yield "mask, cut", attempt(fast.apply_chat_template, batch, truncation=True, max_length=14, **mask)


@scenario
def saving(folder: Path, scratch: Path) -> Iterator[tuple[str, Any]]:
    fast = padded(load(folder))
    fast(TEXTS, padding=True, truncation=True, max_length=12)
    fast.chat_template = TEMPLATE
    target = scratch / "saved"
    yield "files", sorted(Path(path).name for path in fast.save_pretrained(target))
    yield "tokenizer.json", parts_of((target / "tokenizer.json").read_text(encoding="utf-8"))
    yield "bytes", hashlib.sha256((target / "tokenizer.json").read_bytes()).hexdigest()
    yield "config", json.loads((target / "tokenizer_config.json").read_text(encoding="utf-8"))
    again = load(target)
    yield "again", [parts_of(again.backend_tokenizer.to_str()), attempt(again, TEXTS, padding=True)]
    again.save_pretrained(scratch / "twice")
    yield "twice", (scratch / "twice" / "tokenizer.json").read_bytes() == (target / "tokenizer.json").read_bytes()
    (scratch / "vocabulary").mkdir(exist_ok=True)
    yield "vocabulary", attempt(lambda: [Path(p).name for p in fast.save_vocabulary(str(scratch / "vocabulary"))])
    for path in sorted((scratch / "vocabulary").iterdir()):
        yield f"vocabulary, {path.name}", hashlib.sha256(path.read_bytes()).hexdigest()
    for name, file in [("written", target / "tokenizer.json"), ("published", folder / "tokenizer.json")]:
        from tokenizers import Tokenizer

        made = Tokenizer.from_file(str(file))
        yield f"{name}, pretty", hashlib.sha256(made.to_str(pretty=True).encode()).hexdigest()


@scenario
def copies(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    fast = padded(load(folder))
    fast.add_tokens(["newword"])
    before = pickle.dumps(fast)
    called = attempt(fast, TEXTS, padding=True, truncation=True, max_length=12)
    yield "stable", pickle.dumps(load(folder)) == pickle.dumps(load(folder))
    for name, made in [
        ("pickled before", pickle.loads(before)),
        ("pickled", pickle.loads(pickle.dumps(fast))),
        ("protocol 2", pickle.loads(pickle.dumps(fast, protocol=2))),
        ("deep", copy.deepcopy(fast)),
        ("shallow", copy.copy(fast)),
    ]:
        checked(made)
        yield f"{name}: file", parts_of(made.backend_tokenizer.to_str())
        yield f"{name}: called", attempt(made, TEXTS, padding=True, truncation=True, max_length=12) == called
        yield f"{name}: texts", attempt(made, TEXTS)
        yield f"{name}: added", plain(made.added_tokens_decoder)
        yield f"{name}: state", plain([made.backend_tokenizer.truncation, made.backend_tokenizer.padding])
    other = copy.deepcopy(fast)
    other.add_tokens(["another"])
    yield "apart", [len(other) - len(fast), "another" in fast.get_vocab()]


@scenario
def stages(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    """The parts of the backend that programs read and set, with objects that `tokenizers` makes."""
    from tokenizers import AddedToken, Regex, decoders, normalizers, pre_tokenizers, processors

    fast = load(folder)
    core = fast.backend_tokenizer
    for text in TEXTS:
        yield f"{text[:20]!r} normalized", attempt(lambda t=text: core.normalizer.normalize_str(t))
        yield f"{text[:20]!r} split", attempt(lambda t=text: core.pre_tokenizer.pre_tokenize_str(t))
    yield "decoder", attempt(lambda: core.decoder.decode(fast.tokenize(SENTENCE)))
    yield (
        "processed",
        attempt(
            lambda: core.post_processor.process(core.encode("a b", add_special_tokens=False), core.encode("c d"), True)
        ),
    )
    yield "classes", [type(part).__name__ for part in (core.model, core.normalizer, core.pre_tokenizer, core.decoder)]
    yield "strings", [repr(part) if len(repr(part)) < 3000 else "" for part in (core.normalizer, core.decoder)]
    for name, value in [("add_bos_token", True), ("add_eos_token", True), ("add_bos_token", False)]:
        yield f"{name} {value}", [attempt(setattr, fast, name, value), attempt(fast, SENTENCE, "b")]
    first = fast.convert_ids_to_tokens(5)

    def set_part(part: str, value: Any) -> Any:
        setattr(fast.backend_tokenizer, part, value)
        rows = [fast(text, return_offsets_mapping=True) for text in TEXTS]
        return [rows, fast(SENTENCE, "b"), fast.batch_decode([row["input_ids"] for row in rows])]

    changes: list[tuple[str, Any]] = [
        ("post_processor", processors.TemplateProcessing(f"{first} $A", f"{first} $A {first}:1 $B:1", [(first, 5)])),
        ("post_processor", processors.Sequence([processors.ByteLevel(trim_offsets=True)])),
        ("normalizer", normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])),
        ("pre_tokenizer", pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()])),
        ("decoder", decoders.Sequence([decoders.Replace("a", "b"), decoders.Fuse()])),
        ("post_processor", None),
        ("normalizer", None),
        ("decoder", None),
    ]
    for at, (part, value) in enumerate(changes):
        yield f"{at}: {part}", attempt(set_part, part, value)
    yield "added", attempt(core.add_tokens, [AddedToken("zzz", rstrip=True), "yyy"])
    yield "special", attempt(core.add_special_tokens, [AddedToken("<zzz>", special=True)])
    yield "calls", [attempt(fast, text) for text in [*TEXTS, "a zzz yyy<zzz> b"]]
    yield "file", parts_of(core.to_str())


@scenario
def training(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    """A new vocabulary for the same pipeline; of Unigram, whose trainers differ, and of WordPiece less is compared."""
    fast = load(folder)
    kind = type(fast.backend_tokenizer.model).__name__
    # For Unigram a size for which both trainers find pieces enough.
    few = len(fast.added_tokens_decoder) + 110
    full, corpus = (few, CORPUS + VARIED) if kind == "Unigram" else (400, CORPUS)
    for name, texts, size, options in [
        ("texts", corpus, full, {}),
        ("batches", (corpus[at : at + 5] for at in range(0, len(corpus), 5)), full - 5, {}),
        ("special", corpus, full, {"new_special_tokens": ["<new>", "<other>"]}),
        ("map", corpus, full, {"special_tokens_map": {fast.eos_token or fast.sep_token: "<end>"}}),
        ("options", corpus, full, {"min_frequency": 7} if kind != "Unigram" else {"shrinking_factor": 0.8}),
    ]:
        try:
            made = fast.train_new_from_iterator(texts, size, **options)
        except Exception as error:
            yield name, {"raises": isinstance(error, Exception), "text": f"{type(error).__name__}: {error}"}
            continue
        rows = [made(text)["input_ids"] for text in [*CORPUS[:4], "the dog counts tokens"]]
        decoded = [made.decode(row, skip_special_tokens=True) for row in rows]
        yield (
            f"{name}: shape",
            [type(made).__name__, decoded, plain(made.special_tokens_map), plain(made.added_tokens_decoder)],
        )
        parts = parts_of(made.backend_tokenizer.to_str())
        tables = {key: parts["model"].pop(key, None) for key in ("vocab", "merges")}
        yield f"{name}: size", [len(made), made.vocab_size]
        if kind != "Unigram":
            yield f"{name}: file", parts
        if kind == "BPE":
            yield f"{name}: tables", tables
            yield f"{name}: ids", rows
        if kind == "WordPiece":
            yield f"{name}: tokens of length 1", sorted(t for t in made.get_vocab() if len(t.removeprefix("##")) == 1)
        yield f"{name}: parent", [len(fast), attempt(fast, SENTENCE)]


@scenario
def conversion(folder: Path, scratch: Path) -> Iterator[tuple[str, Any]]:
    """Backends that transformers builds from other files than a `tokenizer.json`."""
    import transformers
    from transformers import AutoTokenizer
    from transformers.convert_slow_tokenizer import TikTokenConverter

    others = [path for path in folder.iterdir() if path.name != "tokenizer.json"]
    fast = load(folder)

    def described(made: Any) -> list[Any]:
        swapped(made)
        rows = [attempt(made, text, return_offsets_mapping=True) for text in TEXTS]
        decoded = [attempt(lambda t=text: made.decode(made(t)["input_ids"])) for text in TEXTS]
        return [type(made).__name__, parts_of(made.backend_tokenizer.to_str()), rows, decoded]

    apart = scratch / "without file"
    apart.mkdir(exist_ok=True)
    for path in others:
        if path.is_file() and not (apart / path.name).exists():
            (apart / path.name).symlink_to(path)
    yield "without a tokenizer.json", attempt(lambda: described(AutoTokenizer.from_pretrained(apart)))
    files = {path.name: str(path) for path in others}
    if "merges.txt" in files:
        given = {"vocab": files["vocab.json"], "merges": files["merges.txt"]}
        yield "vocab and merges", attempt(lambda: described(type(fast)(**given)))
        files_of = {"vocab_file": files["vocab.json"], "merges_file": files["merges.txt"]}
        yield "vocab and merges files", attempt(lambda: described(type(fast)(**files_of)))
    if "vocab.txt" in files:
        for options in [{}, {"do_lower_case": False}, {"strip_accents": True, "tokenize_chinese_chars": False}]:
            given = {"vocab": files["vocab.txt"], **options}
            yield f"vocab {options}", attempt(lambda g=given: described(transformers.BertTokenizer(**g)))
    table = sorted(fast.get_vocab().items(), key=lambda item: item[1])
    yield "vocab as a dict", attempt(lambda: described(type(fast)(vocab=dict(table[:500]))))
    for name in ["spiece.model", "tokenizer.model"]:
        if name in files:
            yield name, attempt(lambda n=name: described(type(fast)(vocab_file=files[n])))
    if "vocab.bpe" in files:
        yield "tiktoken", attempt(lambda: parts_of(TikTokenConverter(files["vocab.bpe"]).converted().to_str()))
    yield "class without files", attempt(lambda: described(type(fast)()))


@scenario
def question_answering(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    """Windows over a long context, and the answer's tokens in each, by offsets."""
    fast = padded(load(folder))
    questions = ["Which town built a bridge of 84 stones?", "  What was built in 1833?"]
    answers = ["the town of Number 12", "a bridge of 231 stones, a caf\u00e9"]
    for length, stride, side in [(384, 128, "right"), (200, 64, "right"), (200, 128, "left")]:
        fast.padding_side = side
        batch = fast(
            questions,
            [CONTEXT, CONTEXT],
            truncation="only_second",
            max_length=length,
            stride=stride,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            padding="max_length",
        )
        spans = []
        for row, sample in enumerate(batch["overflow_to_sample_mapping"]):
            start = CONTEXT.index(answers[sample])
            end = start + len(answers[sample])
            offsets, sequences = batch["offset_mapping"][row], batch.sequence_ids(row)
            inside = [at for at, of in enumerate(sequences) if of == 1]
            held = [at for at in inside if offsets[at][0] < end and offsets[at][1] > start]
            whole = bool(held) and offsets[held[0]][0] <= start and offsets[held[-1]][1] >= end
            text = CONTEXT[offsets[held[0]][0] : offsets[held[-1]][1]] if whole else None
            spans.append(
                [held[:1], held[-1:], text, batch.char_to_token(row, start, 1), batch.char_to_token(row, end - 1, 1)]
            )
        yield f"{length}, {stride}, {side}: spans", spans
        yield f"{length}, {stride}, {side}: batch", digest(batch)
        yield f"{length}, {stride}, {side}: ids", batch["input_ids"]


@scenario
def token_classification(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    """Labels of words moved to tokens, and tokens' labels gathered to words."""
    from transformers import DataCollatorForTokenClassification

    fast = padded(load(folder, add_prefix_space=True))
    sentences = [*WORDS, SENTENCE.split()]
    labels = [[at % 5 for at in range(len(words))] for words in sentences]
    batch = fast(sentences, is_split_into_words=True, truncation=True, max_length=20, return_offsets_mapping=True)
    aligned = []
    for row, tags in enumerate(labels):
        of_words = batch.word_ids(row)
        before = [None, *of_words[:-1]]
        aligned.append(
            [-100 if at is None or at == last else tags[at] for at, last in zip(of_words, before, strict=True)]
        )
    yield "aligned", aligned
    grouped = []
    for row in range(len(sentences)):
        groups: dict[str, list[Any]] = {}
        for at, word in enumerate(batch.word_ids(row)):
            if word is not None:
                groups.setdefault(str(word), []).append([batch.tokens(row)[at], batch["offset_mapping"][row][at]])
        grouped.append(groups)
    yield "grouped", grouped
    text = fast(TEXTS, return_offsets_mapping=True)
    yield (
        "spans of words",
        [
            [
                attempt(text.word_to_chars, row, word)
                for word in sorted({w for w in text.word_ids(row) if w is not None})
            ]
            for row in range(len(TEXTS))
        ],
    )
    features = [{"input_ids": batch["input_ids"][row], "labels": aligned[row]} for row in range(len(sentences))]
    collate = DataCollatorForTokenClassification(fast, return_tensors="np", pad_to_multiple_of=8)
    yield "collated", attempt(collate, features)


@scenario
def collators(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    from transformers import DataCollatorForLanguageModeling, DataCollatorForSeq2Seq, DataCollatorWithPadding

    fast = padded(load(folder))
    features = [dict(fast(text)) for text in TEXTS[2:7]]
    yield "padding", attempt(DataCollatorWithPadding(fast, return_tensors="np"), features)
    targets = [{**row, "labels": row["input_ids"][:5]} for row in features]
    yield "sequences", attempt(DataCollatorForSeq2Seq(fast, return_tensors="np"), targets)
    masked = DataCollatorForLanguageModeling(fast, mlm=fast.mask_token is not None, return_tensors="np", seed=5)
    yield "masked", attempt(masked, [fast(text, return_special_tokens_mask=True) for text in TEXTS[2:7]])


@scenario
def mapping(folder: Path, scratch: Path) -> Iterator[tuple[str, Any]]:
    """`datasets`: batched maps in one and two processes, and fingerprints that calls do not change."""
    import datasets

    datasets.disable_progress_bars()
    datasets.config.HF_DATASETS_CACHE = str(scratch / "cache")
    fast = padded(load(folder))
    texts = [*TEXTS, *CORPUS, *(CONTEXT[at : at + 90] for at in range(0, 900, 30))]
    table = datasets.Dataset.from_dict({"text": texts, "pair": texts[::-1]})

    def encode(rows: dict[str, list[str]], length: int = 24) -> Any:
        return fast(rows["text"], rows["pair"], truncation=True, max_length=length, padding="max_length")

    def windows(rows: dict[str, list[str]]) -> Any:
        batch = fast(rows["text"], truncation=True, max_length=12, stride=3, return_overflowing_tokens=True)
        return {"ids": batch["input_ids"], "of": batch["overflow_to_sample_mapping"]}

    for processes in [None, 1, 2]:
        mapped = table.map(encode, batched=True, batch_size=16, num_proc=processes)
        yield f"mapped by {processes}", [mapped.column_names, plain(mapped[:]), str(mapped.features)]
        wide = table.map(windows, batched=True, remove_columns=["text", "pair"], num_proc=processes)
        yield f"windows by {processes}", [str(wide.features), plain(wide[:])]
    yield "one by one", plain(table.map(lambda row: fast(row["text"]))[:20])
    short = table.filter(lambda row: len(fast(row["text"])["input_ids"]) < 12)
    yield "filtered", plain(short[:])
    table.set_transform(lambda rows: fast(rows["text"], padding=True, return_tensors="np"))
    yield "transformed", plain(table[2:7])
    table.reset_format()


@scenario
def fingerprints(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    """What `datasets` finds results of earlier runs by: it must not move from call to call, or by process."""
    from datasets.fingerprint import Hasher

    fast = padded(load(folder))

    def encode(rows: dict[str, list[str]]) -> Any:
        return fast(rows["text"], truncation=True, max_length=9, padding="max_length")

    hashes = [Hasher.hash(fast), Hasher.hash(encode)]
    fast(TEXTS)
    fast.decode(fast(SENTENCE)["input_ids"])
    yield "plain calls", [Hasher.hash(fast) == hashes[0], Hasher.hash(encode) == hashes[1]]
    encode({"text": TEXTS})
    hashes += [Hasher.hash(fast), Hasher.hash(encode)]
    yield "calls that cut and pad", [Hasher.hash(fast) == hashes[0], Hasher.hash(encode) == hashes[1]]
    encode({"text": TEXTS[::-1]})
    yield "once more", [Hasher.hash(fast) == hashes[2], Hasher.hash(encode) == hashes[3]]
    yield "a copy", Hasher.hash(copy.deepcopy(fast)) == hashes[2]
    yield "loaded twice", Hasher.hash(load(folder)) == Hasher.hash(load(folder))
    fast.add_tokens(["newword"])
    hashes.append(Hasher.hash(fast))
    yield "a new token", hashes[4] == hashes[2]
    yield HASHES, hashes


def run(name: str, folder: Path, scratch: Path) -> dict[str, Any]:
    try:
        return {key: plain(value) for key, value in SCENARIOS[name](folder, scratch)}
    except Exception:
        return {FAILED: traceback.format_exc()}


def main() -> None:
    if backend() == "install":
        import lexmill

        lexmill.install()
    folder, scratch, *names = sys.argv[2:]
    print(json.dumps({name: run(name, Path(folder), Path(scratch)) for name in names}))


if __name__ == "__main__":
    main()
