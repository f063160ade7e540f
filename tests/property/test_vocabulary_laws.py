"""Laws of changed vocabularies: needed tokens as the reference finds them, merged vocabularies, maps of tokens."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given, note
from hypothesis import strategies as st
from test_bpe_laws import corpora

import lexmill
from lexmill import Tokenizer
from lexmill.errors import OptionError
from lexmill.reference.bpe import Bpe
from lexmill.reference.vocabularies import closed, is_made, steps
from lexmill.reports.vocabulary import vocabulary_of
from lexmill.vocabularies.closure import Closure
from lexmill.vocabularies.surfaces import PlacedModel, placed_token
from lexmill.vocabularies.tables import table_of
from whole_engines import Json, read
from whole_models import BYTE_BPES, CHAR_BPES, choice, dictionaries, unigrams
from whole_tokenizers import tokenizers


@st.composite
def letter_models(draw: st.DrawFn) -> Json:
    """A model of a few letters, whose merges are in any order and make some tokens in several ways."""
    tokens, merges = [*"abc"], []
    for _ in range(draw(st.integers(0, 12))):
        merges.append([draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))])
        tokens.append("".join(merges[-1]))
    vocab = {token: id_ for id_, token in enumerate(draw(st.permutations(list(dict.fromkeys(tokens)))))}
    return {"type": "BPE", "vocab": vocab, "merges": draw(st.permutations(merges))}


def of_model(model: Json) -> Tokenizer:
    return Tokenizer.from_str(json.dumps({"version": "1.0", "model": model}))


def plain(model: Json) -> Bpe:
    return Bpe(model["vocab"], [tuple(merge) for merge in model["merges"]])


@given(model=letter_models(), data=st.data())
def test_needed_tokens_match_naive(model: Json, data: st.DataObject) -> None:
    keep = data.draw(st.lists(st.sampled_from(sorted(model["vocab"])), max_size=4))
    closure = Closure(table_of(of_model(model)))
    found = closure.close([model["vocab"][token] for token in keep], set())
    # A token that merging does not make needs its characters, as every token does.
    expected = closed(plain(model), keep) | {char for token in keep for char in token}
    assert found == {model["vocab"][token] for token in expected}


@given(model=letter_models(), n=st.integers(3, 16))
def test_shrunk_models_have_the_size_and_make_their_tokens(model: Json, n: int) -> None:
    bpe, shrunk = plain(model), lexmill.shrink(of_model(model), n).tokenizer
    kept = set(shrunk.get_vocab())
    assert len(kept) == min(n, len(model["vocab"]))
    after = plain(json.loads(shrunk.to_str())["model"])
    assert all(is_made(after, token) for token in kept if is_made(bpe, token))


@given(words=corpora(), sizes=st.tuples(st.integers(5, 40), st.integers(5, 40)))
def test_shrunk_to_a_size_is_trained_to_the_size(words: list[tuple[str, int]], sizes: tuple[int, int]) -> None:
    small, large = sorted(sizes)
    texts = [word for word, count in words for _ in range(count)]
    assume(texts)

    def trained(size: int) -> Tokenizer:
        tokenizer = Tokenizer(lexmill.models.BPE())
        trainer = lexmill.trainers.BpeTrainer(vocab_size=size, special_tokens=["<s>"], show_progress=False)
        tokenizer.train_from_iterator(texts, trainer)
        return tokenizer

    assert lexmill.shrink(trained(large), small).tokenizer.to_str() == trained(small).to_str()


MODELS = {"Unigram": unigrams(), "BPE": choice(BYTE_BPES, CHAR_BPES)}


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Json, Json]:
    """Two tokenizers with models of one type, mostly with the same stages."""
    one = draw(tokenizers(own=True))
    if draw(st.integers(0, 3)) == 0:
        other = draw(tokenizers(own=True))
    else:
        strategy = MODELS.get(one["model"]["type"], dictionaries())
        other = {**one, "model": draw(strategy), "added_tokens": draw(tokenizers(own=True))["added_tokens"]}
    return one, other


def merging(tokenizer: Tokenizer) -> dict[str, list[str]]:
    """The tokens that merging makes of the text of each token of a BPE model."""
    table = table_of(tokenizer)
    names = {id_: token for token, id_ in table.entries}
    own = [token for token, _ in table.entries]
    rows = PlacedModel(table.model, table.bound, ignore_merges=False).encode(
        [placed_token(table.model, token) for token in own]
    )
    return {token: [names[int(id_)] for id_ in row] for token, row in zip(own, rows, strict=True)}


@given(case=pairs())
def test_merged_vocabularies(case: tuple[Json, Json]) -> None:
    note(json.dumps(case, ensure_ascii=False))
    a, b = (read(lexmill, spec) for spec in case)
    try:
        merged = lexmill.merge_vocabularies(a, b)
    except OptionError:
        event("of two spellings")
        return
    event("merged")
    new = merged.tokenizer
    assert new.get_vocab().items() >= a.get_vocab().items()
    for id_, token in a.get_added_tokens_decoder().items():
        assert new.get_added_tokens_decoder()[id_] == token
    vocab = b.get_vocab()
    for token, id_ in vocab.items():
        # Of tokens that share an id, any one has the new id.
        assert new.token_to_id(token) is not None
        if b.id_to_token(id_) == token:
            assert new.id_to_token(int(merged.id_map[id_])) is not None
    assert set(new.get_vocab()) == set(a.get_vocab()) | set(vocab)
    reached = {one.id for one in merged.unreachable}.union(merged.undecided)
    assert reached <= set(new.get_vocab().values())
    if case[0]["model"]["type"] != "BPE":
        return
    ours, theirs, all_ = merging(a), merging(b), merging(new)
    affixes = {"", *(case[0]["model"].get(name) or "" for name in ("continuing_subword_prefix", "end_of_word_suffix"))}
    model, known = case[0]["model"], set(all_) - set(ours)
    if model["byte_fallback"] and any(token.startswith("<0x") for token in known):
        # Characters that were unknown are spelled by bytes now.
        return
    for token in ours:
        # A character that was unknown may have a token now.
        has_new = any(before + char + after in known for char in token for before in affixes for after in affixes)
        if ours[token] == [token] and not has_new:
            assert all_[token] == [token]
    for token in theirs:
        if theirs[token] == [token] and token in all_ and all_[token] != [token] and token != "<unk>":
            event("out of reach")
            id_, left = new.token_to_id(token), all_[token]
            prefix = model.get("continuing_subword_prefix") or ""
            joined = [one + other.removeprefix(prefix) for one, other in pairwise(left)]
            assert joined != [token]
            # Taken whole, a word needs no merge.
            assert model["ignore_merges"] or id_ in reached or id_ in new.get_added_tokens_decoder()


@given(one=letter_models(), other=letter_models())
def test_repaired_merges_match_naive(one: Json, other: Json) -> None:
    merged = lexmill.merge_vocabularies(of_model(one), of_model(other)).tokenizer
    bpe = plain(json.loads(merged.to_str())["model"])
    tokens = set(one["vocab"]) | set(other["vocab"])
    assert set(bpe.vocab) == tokens
    for token in one["vocab"]:
        assert not is_made(plain(one), token) or is_made(bpe, token)
    for token in other["vocab"]:
        if is_made(plain(other), token) and not is_made(bpe, token):
            event("out of reach")
            left = steps(bpe, token)[0]
            # No merge of two of these tokens would make a token that merging makes in the second tokenizer.
            joined = {first + second for first, second in pairwise(left)} & set(other["vocab"])
            assert not any(is_made(plain(other), each) for each in joined)


@given(spec=tokenizers(own=True))
def test_a_tokenizer_merged_with_itself_is_the_same(spec: Json) -> None:
    tokenizer = read(lexmill, spec)
    if "sentencepiece_scores" in spec["model"]:
        return
    merged = lexmill.merge_vocabularies(tokenizer, tokenizer)
    assert merged.tokenizer.to_str() == tokenizer.to_str()
    assert merged.added.tolist() == []
    ids = [id_ for id_ in range(len(merged.id_map)) if merged.id_map[id_] >= 0]
    assert {*ids} >= set(tokenizer.get_vocab().values())


SPELLED = {
    "bytes": ({"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}, BYTE_BPES),
    "spaces": ({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}, unigrams()),
    "pieces": (
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        CHAR_BPES.filter(lambda model: not model["continuing_subword_prefix"] and not model["end_of_word_suffix"]),
    ),
}


@st.composite
def spelled(draw: st.DrawFn) -> Tokenizer:
    """A tokenizer that spells blanks."""
    stage, models = SPELLED[draw(st.sampled_from(sorted(SPELLED)))]
    spec: dict[str, Any] = {"version": "1.0", "pre_tokenizer": stage, "model": draw(models)}
    note(json.dumps(spec, ensure_ascii=False))
    return Tokenizer.from_str(json.dumps(spec))


@given(new=spelled(), old=spelled())
def test_rows_spell_the_tokens(new: Tokenizer, old: Tokenizer) -> None:
    found, own, other = lexmill.token_map(new, old), vocabulary_of(new), vocabulary_of(old)
    assert len(found) == len(own.tokens)
    assert int(found.row_splits[-1]) == len(found.ids)
    for id_ in own.ids:
        row = found[id_].tolist()
        # The mark may be spelled by its bytes.
        text = b"".join(other.texts[each] for each in row).replace("▁".encode(), b" ")
        if other.unknown in row or b"<unk>" in text or id_ == own.unknown or len(text) < len(own.texts[id_]):
            # Unknown characters have no spelling; a model without an unknown token drops them.
            continue
        event("spelled")
        assert text == own.texts[id_]


@given(model=letter_models())
def test_tokens_of_the_same_tokenizer_are_themselves_if_merging_makes_them(model: Json) -> None:
    tokenizer = of_model(model)
    found, bpe = lexmill.token_map(tokenizer, tokenizer), plain(model)
    for token, id_ in model["vocab"].items():
        assert found[id_].tolist() == [model["vocab"][left] for left in steps(bpe, token)[0]]


@given(model=dictionaries(), with_stages=st.booleans())
def test_wordpiece_tokens_of_the_same_tokenizer_are_themselves(model: Json, with_stages: bool) -> None:
    assume(model["type"] == "WordPiece")
    stages = {"pre_tokenizer": {"type": "WhitespaceSplit"}} if with_stages else {}
    tokenizer = Tokenizer.from_str(json.dumps({"version": "1.0", "model": model, **stages}))
    prefix, found = model["continuing_subword_prefix"], lexmill.token_map(tokenizer, tokenizer)
    for token, id_ in model["vocab"].items():
        bare = token.removeprefix(prefix)
        if 0 < len(bare) <= model["max_input_chars_per_word"] and not set(bare) & set(" \u3000"):
            event("token")
            assert found[id_].tolist() == [id_], token


@pytest.mark.external
@given(case=pairs(), data=st.data())
def test_the_peer_reads_the_same_ids(case: tuple[Json, Json], data: st.DataObject) -> None:
    peer = pytest.importorskip("tokenizers")
    a, b = (read(lexmill, spec) for spec in case)
    made = []
    try:
        merged = lexmill.merge_vocabularies(a, b)
        # With holes among the ids of the first, the peer gives a token of its model and an added token one id.
        made += [merged.tokenizer] if len(merged.added) else []
    except OptionError:
        event("refused")
    ids = sorted(set(a.get_vocab().values()))
    made.append(lexmill.prune(a, data.draw(st.lists(st.sampled_from(ids), max_size=5))).tokenizer)
    for tokenizer in made:
        try:
            read_by_peer = peer.Tokenizer.from_str(tokenizer.to_str())
        except BaseException:
            # Stages that only lexmill has.
            continue
        event("read")
        assert read_by_peer.get_vocab() == tokenizer.get_vocab()
        assert np.array(sorted(read_by_peer.get_vocab().values())).tolist() == sorted(tokenizer.get_vocab().values())
