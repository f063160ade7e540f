"""Encoding and decoding must equal the other libraries', document by document, on published tokenizers."""

from __future__ import annotations

import base64
import json
from functools import cache
from itertools import chain
from typing import Any

import pytest

import lexmill
from peers import (
    CORPORA,
    HARD,
    assert_same_encoding,
    corpus_file,
    difference,
    documents,
    stdlib_sources,
    tokenizer_file,
)

pytestmark = pytest.mark.external

hf = pytest.importorskip("tokenizers", reason="install the dependency group `peers`")

PUBLISHED = [
    "gpt2",
    "roberta-base",
    "whisper-tiny",
    "cl100k_base",
    "o200k_base",
    "qwen2",
    "gpt-neox-20b",
    "falcon",
    "hf-wiki-bpe",
    "mistral-v1",
    "mistral-v3",
    "phi-3-mini",
    "clip-vit",
    "t5-small",
    "c4-t5-default",
    "xlnet-base-cased",
    "opus-mt-en-mg",
    "spm-test-en",
    "spm-test-ja",
    "llm-jp-v2.2",
    "bert-base-uncased",
    "bert-base-cased",
    "bert-base-chinese",
    "rwkv-midi",
]
PARTS = ("ids", "tokens", "offsets", "word_ids")
ALL_PARTS = (*PARTS, "type_ids", "attention_mask", "special_tokens_mask", "sequence_ids")
# Texts at once: the other library's encodings of a whole corpus would not fit memory.
STEP = 256


@cache
def pair(name: str) -> tuple[Any, Any]:
    """Both libraries' tokenizers of one file."""
    path = str(tokenizer_file(name))
    return lexmill.Tokenizer.from_file(path), hf.Tokenizer.from_file(path)


def trained(model: str, pre_tokenizer: Any, **options: Any) -> tuple[Any, Any]:
    """A tokenizer that Hugging Face trains on the spot, loaded by both."""
    tokenizer = hf.Tokenizer(getattr(hf.models, model)(**options))
    tokenizer.pre_tokenizer = pre_tokenizer
    trainer = hf.trainers.BpeTrainer(vocab_size=3000, show_progress=False, special_tokens=["<unk>", "<s>"])
    tokenizer.train_from_iterator(stdlib_sources("[a-c]*.py"), trainer)
    text = tokenizer.to_str()
    return lexmill.Tokenizer.from_str(text), hf.Tokenizer.from_str(text)


@cache
def trained_pair(name: str) -> tuple[Any, Any]:
    """The kinds of tokenizer that a machine without the data is checked on."""
    pre = hf.pre_tokenizers
    if name == "byte-level":
        return trained("BPE", pre.ByteLevel(add_prefix_space=False))
    if name == "byte-level with prefix space":
        return trained("BPE", pre.ByteLevel(add_prefix_space=True))
    if name == "whitespace":
        return trained("BPE", pre.Whitespace(), unk_token="<unk>")
    return trained("BPE", pre.WhitespaceSplit(), unk_token="<unk>", fuse_unk=True)


def check(ours: Any, theirs: Any, texts: list[str], parts: tuple[str, ...] = PARTS) -> None:
    """Compares the full result, then our other calls with it."""
    for start in range(0, len(texts), STEP):
        batch = texts[start : start + STEP]
        expected = theirs.encode_batch(batch)
        for text, own, other in zip(batch, ours.encode_batch(batch), expected, strict=True):
            assert_same_encoding(own, other, text, parts)
        rows = [encoding.ids for encoding in expected]
        assert ours.encode_batch_ids(batch) == rows
        assert list(ours.count_tokens(batch)) == [len(row) for row in rows]
        arrays = ours.encode_batch_arrays(batch)
        splits = list(arrays.row_splits)
        assert splits == [0, *(sum(map(len, rows[: end + 1])) for end in range(len(rows)))]
        assert arrays.ids.tolist() == list(chain.from_iterable(rows))


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_tokenizer_encodes_corpus_as_hugging_face(name: str, corpus: str) -> None:
    check(*pair(name), documents(corpus_file(corpus)))


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_tokenizer_encodes_hard_texts_as_hugging_face(name: str) -> None:
    check(*pair(name), HARD, ALL_PARTS)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_tokenizer_leaves_out_special_tokens_as_hugging_face(name: str) -> None:
    ours, theirs = pair(name)
    for text in HARD:
        own, other = ours.encode(text, add_special_tokens=False), theirs.encode(text, add_special_tokens=False)
        assert_same_encoding(own, other, text, ALL_PARTS)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_tokenizer_decodes_as_hugging_face(name: str) -> None:
    ours, theirs = pair(name)
    rows = [encoding.ids for encoding in theirs.encode_batch([*HARD, *documents(corpus_file("messy"))])]
    # A cut inside a character must come out the same as well.
    rows += [row[1:7] for row in rows]
    for skip in (True, False):
        own, other = (tokenizer.decode_batch(rows, skip_special_tokens=skip) for tokenizer in (ours, theirs))
        if own != other:
            row = next(row for row, (a, b) in enumerate(zip(own, other, strict=True)) if a != b)
            pytest.fail(difference("characters", list(own[row]), list(other[row]), str(rows[row][:20])))


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_published_tokenizer_encodes_corpus_as_tiktoken(name: str, corpus: str) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    path = tokenizer_file(name)
    ranks_file = path.with_name(f"{name}.tiktoken")
    lines = (line.split() for line in ranks_file.read_bytes().splitlines() if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    ours, _ = pair(name)
    pattern = hf_pattern(ours)
    encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    texts = [*documents(corpus_file(corpus)), *(text for text in HARD if "<" not in text)]
    for text, own, other in zip(
        texts, ours.encode_batch_ids(texts), encoding.encode_ordinary_batch(texts), strict=True
    ):
        if own != other:
            pytest.fail(difference("ids", own, other, text))


def hf_pattern(tokenizer: Any) -> str:
    """The regex of the file's first pre-tokenizer."""
    pattern: str = json.loads(tokenizer.to_str())["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"]
    return pattern


@pytest.mark.parametrize("name", ["byte-level", "byte-level with prefix space", "whitespace", "whitespace split"])
def test_tokenizer_trained_here_encodes_as_hugging_face(name: str) -> None:
    sources = stdlib_sources("[d-h]*.py")
    texts = [source[start : start + 4096] for source in sources for start in range(0, len(source), 65_536)]
    check(*trained_pair(name), texts)
    check(*trained_pair(name), HARD, ALL_PARTS)
