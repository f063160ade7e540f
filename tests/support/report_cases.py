"""What the tests of reports share: texts, tokenizers of each kind, and the numbers that plain loops find."""

from __future__ import annotations

import bisect
import collections
import itertools
import json
import re
from pathlib import Path
from typing import Any

from lexmill import Tokenizer, _core, decoders, models, normalizers, pre_tokenizers, processors, trainers
from lexmill.reports.vocabulary import vocabulary_of

TEXTS = [
    "The cat sat on the mat, and the cat sat on the hat.\n",
    "\n",
    "  den Größen nach 東京タワーは 333 m hoch\r\n",
    "Жили-были кот да кошка e\u0301te\u0301 🦀🦀\n",
    "\u3000\u3000\n",
    "12, 34 -- 56 <end>the <end> aaaaaaaa\n",
    "संस्कृत ไทย the end, no newline",
]


# The property White_Space; `str.isspace` takes four control characters more.
SPACE = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")


def trained(model: Any, trainer: Any, **stages: Any) -> Tokenizer:
    tokenizer = Tokenizer(model)
    for name, stage in stages.items():
        setattr(tokenizer, name, stage)
    tokenizer.train_from_iterator(TEXTS * 3, trainer)
    return tokenizer


def byte_level() -> Tokenizer:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=340, initial_alphabet=alphabet, special_tokens=["<end>"], show_progress=False
    )
    split = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = trained(models.BPE(), trainer, pre_tokenizer=split, decoder=decoders.ByteLevel())
    # None of this may change what is counted.
    tokenizer.post_processor = processors.TemplateProcessing(single="<end> $A", special_tokens=[("<end>", 0)])
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=5)
    return tokenizer


def whitespace_bpe() -> Tokenizer:
    trainer = trainers.BpeTrainer(vocab_size=70, special_tokens=["[UNK]"], limit_alphabet=30, show_progress=False)
    tokenizer = trained(models.BPE(unk_token="[UNK]"), trainer, pre_tokenizer=pre_tokenizers.Whitespace())
    tokenizer.add_tokens(["the end"])
    return tokenizer


def unigram() -> Tokenizer:
    trainer = trainers.UnigramTrainer(vocab_size=90, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False)
    return trained(models.Unigram(), trainer, normalizer=normalizers.NFKC(), pre_tokenizer=pre_tokenizers.Metaspace())


def wordpiece() -> Tokenizer:
    trainer = trainers.WordPieceTrainer(vocab_size=110, special_tokens=["[UNK]"], show_progress=False)
    stages = {"normalizer": normalizers.BertNormalizer(), "pre_tokenizer": pre_tokenizers.BertPreTokenizer()}
    return trained(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=6), trainer, **stages)


def without_pre_tokenizer() -> Tokenizer:
    """As tokenizers converted from SentencePiece: blanks are visible, unknown characters are bytes."""
    tokens = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁theacsomdn"]
    merges = [("t", "h"), ("th", "e"), ("▁", "the"), ("a", "t"), ("s", "at"), ("▁", "s"), ("▁s", "at"), ("h", "▁")]
    tokens += dict.fromkeys(left + right for left, right in merges)
    vocab = {token: id_ for id_, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    return tokenizer


ALL = [byte_level, whitespace_bpe, unigram, wordpiece, without_pre_tokenizer]


def words_of(text: str) -> list[tuple[int, int]]:
    """Where the words of a text begin and end, with the white space that belongs to each of them."""
    ends = [
        at + 1
        for at in range(len(text))
        if not SPACE.match(text[at]) and (at + 1 == len(text) or SPACE.match(text[at + 1]))
    ]
    if ends:
        ends[-1] = len(text)
    return list(itertools.pairwise([0, *ends]))


RANGES = _core.script_ranges()


def script_of(word: str) -> str:
    for char in word:
        name = RANGES[bisect.bisect([first for first, *_ in RANGES], ord(char)) - 1][2]
        if name in ("Han", "Hiragana", "Katakana"):
            return "Han and kana"
        if name not in ("Common", "Inherited", "Unknown"):
            return name.replace("_", " ")
    return "no letters"


def naive(tokenizer: Tokenizer, texts: list[str]) -> dict[str, Any]:
    """The sums over texts, by loops alone."""
    tokenizer = Tokenizer.from_str(tokenizer.to_str())
    tokenizer.post_processor = None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ids: collections.Counter[int] = collections.Counter()
    scripts: dict[str, list[int]] = {}
    lengths: collections.Counter[int] = collections.Counter()
    unknown = 0
    unk = vocabulary_of(tokenizer).unknown
    for text in texts:
        encoding = tokenizer.encode(text, add_special_tokens=False)
        ids.update(encoding.ids)
        lengths[len(encoding.ids)] += 1
        unknown += sum(
            end - start for id_, (start, end) in zip(encoding.ids, encoding.offsets, strict=True) if id_ == unk
        )
        words = words_of(text)
        names = [script_of(text[start:end]) for start, end in words]
        for (start, end), name in zip(words or [(0, len(text))], names or ["white space only"], strict=True):
            row = scripts.setdefault(name, [0, 0, 0, 0])
            own = text[start:end]
            counted = [max(end - 1, start) for start, end in encoding.offsets]
            row[0] += len(own.encode())
            row[1] += len(own)
            row[2] += bool(words)
            row[3] += sum(start <= at < end for at in counted)
    return {"ids": ids, "scripts": scripts, "lengths": dict(sorted(lengths.items())), "unknown": unknown}


def pairs(lengths: dict[str, Any]) -> dict[int, int]:
    return dict(zip(lengths["lengths"], lengths["counts"], strict=True))


def write_corpus(folder: Path) -> list[Path]:
    """Puts the texts into a text file and into JSON lines of two languages."""
    first, second = folder / "first.txt", folder / "second.jsonl"
    first.write_text("".join(TEXTS[:3]), encoding="utf-8", newline="")
    records = [{"text": text, "meta": {"lang": "ab"[at % 2]}} for at, text in enumerate(TEXTS[3:])]
    second.write_text("".join(json.dumps(record) + "\n" for record in records))
    return [first, second]
