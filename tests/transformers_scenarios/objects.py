"""Tokenizers as objects: files, copies, stages, training, conversion."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import (
    CORPUS,
    SENTENCE,
    TEXTS,
    VARIED,
    attempt,
    checked,
    load,
    padded,
    parts_of,
    plain,
    scenario,
    swapped,
)
from texts import TEMPLATE


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
