"""The differences that docs/guides/tokenizers-1.0.md lists, each with both results: a difference that is gone fails."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from both import PACKAGES, load, three_lists

from lexmill.errors import LexmillError, TruncationWarning
from peers import tokenizer_file


def both_from(file: dict[str, Any], folder: Path) -> list[Any]:
    """A tokenizer of a file of format 1.0 in both packages."""
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(file), encoding="utf-8")
    return [package.Tokenizer.from_file(path) for package in PACKAGES]


def test_words_with_the_hash_of_an_entry_keep_their_ids() -> None:
    theirs, own = load("gpt2")
    # The other known collisions change with the process.
    assert theirs.encode(" mtsGkF").ids == [28215] == theirs.encode(" condemnation").ids
    assert own.tokenize(" mtsGkF") == ["Ġm", "ts", "G", "k", "F"]


def test_a_text_stays_whole_if_special_tokens_alone_exceed_the_limit() -> None:
    theirs, own = load("bert-base-uncased")
    for item, whole in (("a b", [101, 1037, 1038, 102]), (("a", "b"), [101, 1037, 102, 1038, 102])):
        assert set(theirs.encode(item, truncation=PACKAGES[0].Truncation(1)).ids) == {101, 102}
        with pytest.warns(TruncationWarning):
            assert own.encode(item, truncation=PACKAGES[1].Truncation(1)).ids == whole


def test_special_tokens_that_the_normalizer_changes_are_shown(tmp_path: Path) -> None:
    token = {"id": 2, "content": "[X]", "single_word": False, "lstrip": False, "rstrip": False}
    theirs, own = both_from(
        {
            "version": "1.0",
            "added_tokens": [{**token, "normalized": True, "special": True}],
            "normalizer": {"type": "Lowercase"},
            "pre_tokenizer": {"type": "WhitespaceSplit"},
            "model": {"type": "WordLevel", "vocab": {"a": 0, "?": 1}, "unk_token": "?"},
        },
        tmp_path,
    )
    assert three_lists(theirs.encode("a [X]")) == three_lists(own.encode("a [X]"))
    assert (theirs.decode([0, 2]), own.decode([0, 2])) == ("a", "a [x]")
    assert theirs.decode_tokens([0, 2], True) == own.decode_tokens([0, 2], True) == ["a"]


def test_an_empty_token_stays_in_a_pickle() -> None:
    both = load("whisper-tiny")
    text = "a cat<|endoftext|>"
    (theirs, theirs_copied), (own, own_copied) = (
        [made.encode(text).ids for made in (tokenizer, pickle.loads(pickle.dumps(tokenizer)))] for tokenizer in both
    )
    assert theirs == own == own_copied
    assert theirs_copied != theirs


def test_padding_beyond_memory_is_an_error() -> None:
    code = f"""
import tokenizers
tokenizer = tokenizers.Tokenizer.from_file({str(tokenizer_file("bert-base-uncased"))!r})
tokenizer.encode("a", padding=tokenizers.Padding(length=10**12))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode < 0
    with pytest.raises(LexmillError, match="must have 268435456 at most"):
        load("bert-base-uncased")[1].encode("a", padding=PACKAGES[1].Padding(length=10**12))


@pytest.mark.parametrize("name", ["falcon", "clip-vit"])
def test_files_that_the_peer_cannot_use_are_read(name: str) -> None:
    path = tokenizer_file(name)
    with pytest.raises(ValueError, match=r"."):
        PACKAGES[0].Tokenizer.from_file(path).encode("a cat")
    own = PACKAGES[1].Tokenizer.from_file(path)
    # CLIP's decoder leaves the ends of words.
    assert own.decode(own.encode("a cat")).replace("</w>", " ").strip() == "a cat"


def test_bytes_that_are_not_utf_8_are_a_value_error(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(b'{"\xff')
    with pytest.raises(OSError, match="UTF-8"):
        PACKAGES[0].Tokenizer.from_file(tmp_path / "tokenizer.json")
    with pytest.raises(ValueError, match="UTF-8"):
        PACKAGES[1].Tokenizer.from_file(tmp_path / "tokenizer.json")


def test_a_pickle_of_the_peer_names_classes_that_read_it() -> None:
    encoding = load("bert-base-uncased")[0].encode(("a", "b"), padding=PACKAGES[0].Padding(length=8))
    pickles = [encoding, PACKAGES[0].Padding("left", 5), PACKAGES[0].Truncation(7, "only_first")]
    tokenizers = [load(name)[0] for name in ("bert-base-uncased", "gpt2", "t5-small")]
    code = """
import lexmill, pickle, sys
lexmill.install("1")
pickles, tokenizers = pickle.load(sys.stdin.buffer)
for value in pickles:
    print(type(value).__module__, repr(value))
for tokenizer in tokenizers:
    print(type(tokenizer).__module__, tokenizer.encode(("a cat", "the mat")).ids)
"""
    given = pickle.dumps((pickles, tokenizers))
    done = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, check=True)
    expected = [repr(value) for value in pickles]
    expected += [str(tokenizer.encode(("a cat", "the mat")).ids) for tokenizer in tokenizers]
    assert done.stdout.decode() == "".join(f"lexmill.v1 {line}\n" for line in expected)
