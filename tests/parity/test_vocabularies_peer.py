"""Published tokenizers with the tokens that a corpus has: the corpus has the same tokens, also in Hugging Face."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lexmill
from peers import DATA, corpus_file, tokenizer_file

peer = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.external

NAMES = sorted(path.parent.name for path in DATA.glob("tokenizers/*/tokenizer.json"))
SIZE = 60_000


def texts() -> list[str]:
    parts = [
        corpus_file(name).read_bytes()[:SIZE].decode(errors="ignore").split("\n\n")
        for name in ("english", "multilingual", "messy")
    ]
    return [text for part in parts for text in part if text]


@pytest.mark.parametrize("name", NAMES)
def test_the_corpus_has_the_mapped_ids(name: str) -> None:
    old = lexmill.Tokenizer.from_file(tokenizer_file(name))
    given = texts()
    before = old.encode_batch_ids(given)
    used = sorted({id_ for ids in before for id_ in ids})
    pruned = lexmill.prune(old, used)
    assert pruned.tokenizer.get_vocab_size() < old.get_vocab_size()
    mapped = [pruned.id_map[ids].tolist() for ids in before]
    after = pruned.tokenizer.encode_batch_ids(given)
    if isinstance(old.model, lexmill.models.WordPiece):
        # A word that was unknown may be known by its other tokens now.
        unknown = old.token_to_id(old.model.unk_token)
        known = [unknown not in ids for ids in before]
        assert any(known)
        after = [ids for ids, is_known in zip(after, known, strict=True) if is_known]
        mapped = [ids for ids, is_known in zip(mapped, known, strict=True) if is_known]
    assert after == mapped
    theirs = peer.Tokenizer.from_str(pruned.tokenizer.to_str())
    assert theirs.get_vocab() == pruned.tokenizer.get_vocab()
    few = given[:: max(1, len(given) // 40)]
    ours = pruned.tokenizer.encode_batch_ids(few)
    assert [encoding.ids for encoding in theirs.encode_batch(few)] == ours
    assert theirs.decode_batch(ours) == pruned.tokenizer.decode_batch(ours)


@pytest.mark.parametrize("name", NAMES)
def test_the_whole_vocabulary_maps_to_itself(name: str) -> None:
    old = lexmill.Tokenizer.from_file(tokenizer_file(name))
    ids = sorted(old.get_vocab().values())
    pruned = lexmill.prune(old, ids)
    assert pruned.old_ids.tolist() == sorted(set(ids))
    if ids == list(range(len(ids))):
        assert pruned.tokenizer.to_str() == old.to_str()


@pytest.mark.parametrize("name", ["gpt2", "mistral-v1", "bert-base-cased", "t5-small", "o200k_base", "clip-vit"])
def test_half_a_vocabulary_is_read_alike(name: str) -> None:
    old = lexmill.Tokenizer.from_file(tokenizer_file(name))
    size = old.get_vocab_size() // 2
    shrunk = lexmill.shrink(old, size)
    assert shrunk.tokenizer.get_vocab_size() == len(shrunk.old_ids) == size
    theirs = peer.Tokenizer.from_str(shrunk.tokenizer.to_str())
    few = texts()[:20]
    assert [encoding.ids for encoding in theirs.encode_batch(few)] == shrunk.tokenizer.encode_batch_ids(few)
    row = np.unique(shrunk.id_map)
    assert row.tolist() == list(range(-1, size))


@pytest.mark.parametrize(
    ("one", "other"), [("gpt2", "gpt-neox-20b"), ("mistral-v1", "phi-3-mini"), ("t5-small", "xlnet-base-cased")]
)
def test_merged_vocabularies_are_read_alike(one: str, other: str) -> None:
    a, b = (lexmill.Tokenizer.from_file(tokenizer_file(name)) for name in (one, other))
    merged = lexmill.merge_vocabularies(a, b)
    vocab = merged.tokenizer.get_vocab()
    assert vocab.items() >= a.get_vocab().items()
    assert set(vocab) == set(a.get_vocab()) | set(b.get_vocab())
    theirs = peer.Tokenizer.from_str(merged.tokenizer.to_str())
    assert theirs.get_vocab() == vocab
    few = texts()[:20]
    assert [encoding.ids for encoding in theirs.encode_batch(few)] == merged.tokenizer.encode_batch_ids(few)


FILES = sorted(path.relative_to(DATA) for end in ("model", "spm") for path in DATA.glob(f"tokenizers/*/*.{end}"))


@pytest.mark.parametrize("file", FILES, ids=str)
def test_pruned_files_of_sentencepiece_are_written_and_read(file: Path, tmp_path: Path) -> None:
    old = lexmill.Tokenizer.from_spm(DATA / file)
    given = texts()
    before = old.encode_batch_ids(given)
    pruned = lexmill.prune(old, {id_ for ids in before for id_ in ids})
    expected = [pruned.id_map[ids].tolist() for ids in before]
    assert pruned.tokenizer.encode_batch_ids(given) == expected
    pruned.tokenizer.save_spm(tmp_path / "small.model")
    assert lexmill.Tokenizer.from_spm(tmp_path / "small.model").encode_batch_ids(given) == expected
