"""Pruned and shrunk vocabularies that can be worked out by hand."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import lexmill
from distributions import BPE, LETTERS, any_pieces, model_file
from lexmill import Tokenizer, models, pre_tokenizers, processors
from lexmill.errors import OptionError, OptionRangeError
from lexmill.vocabularies import languages
from lexmill.vocabularies.languages import scripts_of
from model_file import field
from small import byte_level, letters
from small_vocabularies import merges_of, tokens_of, unigram, wordpiece


def ids(tokenizer: Tokenizer, *tokens: str) -> list[int]:
    found = [tokenizer.token_to_id(token) for token in tokens]
    assert None not in found
    return [id_ for id_ in found if id_ is not None]


def test_a_token_keeps_the_merges_that_make_it_and_no_others() -> None:
    # abcd is made of ab and cd; abc, bc and da are not needed.
    old = letters("abcd", ("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("ab", "c"), ("ab", "cd"))
    pruned = lexmill.prune(old, ids(old, "abcd"))
    assert tokens_of(pruned.tokenizer) == ["a", "b", "c", "d", "ab", "cd", "abcd"]
    assert merges_of(pruned.tokenizer) == [["a", "b"], ["c", "d"], ["ab", "cd"]]
    assert pruned.id_map.tolist() == [0, 1, 2, 3, 4, -1, 5, -1, -1, 6]
    assert pruned.old_ids.tolist() == [0, 1, 2, 3, 4, 6, 9]
    assert pruned.required.tolist() == [0, 1, 2, 3, 4, 6]
    # The tokenizer itself is as before.
    assert old.get_vocab_size() == 10


def test_of_several_merges_of_a_token_the_one_that_merging_makes_counts() -> None:
    # abc is listed as a bc and as ab c; in its text, `a b` merges first.
    vocab = {token: id_ for id_, token in enumerate(["a", "b", "c", "ab", "bc", "abc"])}
    merges = [("a", "b"), ("b", "c"), ("a", "bc"), ("ab", "c")]
    old = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    pruned = lexmill.prune(old, [5])
    assert tokens_of(pruned.tokenizer) == ["a", "b", "c", "ab", "abc"]
    assert merges_of(pruned.tokenizer) == [["a", "b"], ["ab", "c"]]
    assert pruned.tokenizer.encode_ids("abc") == [4]


def test_models_with_affixes_keep_every_merge_of_a_token() -> None:
    vocab = {token: id_ for id_, token in enumerate(["a", "b", "b</w>", "ab", "ab</w>", "ba"])}
    model = models.BPE(vocab=vocab, merges=[("a", "b"), ("a", "b</w>"), ("b", "a")], end_of_word_suffix="</w>")
    pruned = lexmill.prune(Tokenizer(model), [4])
    assert tokens_of(pruned.tokenizer) == ["a", "b", "b</w>", "ab</w>"]
    assert pruned.tokenizer.encode("ab").tokens == ["ab</w>"]


def test_a_suffix_that_is_a_letter_makes_two_tokens_of_one_spelling() -> None:
    # ab is a at the end of a word, and a merge inside of it.
    vocab = {"a": 0, "b": 1, "ab": 2, "cb": 3}
    old = Tokenizer(models.BPE(vocab=vocab, merges=[("a", "b")], end_of_word_suffix="b"))
    assert old.encode("abc").tokens == ["ab", "cb"]
    assert lexmill.prune(old, [2, 3]).tokenizer.encode("abc").tokens == ["ab", "cb"]


def test_an_id_of_padding_without_a_token_stays_without_one() -> None:
    old = Tokenizer(models.BPE(vocab={"a": 0, "b": 2}, merges=[]))
    old.enable_padding(pad_id=1, length=2)
    assert lexmill.prune(old, [0, 2]).tokenizer.encode("b").ids == [1, 2]


def test_bytes_stay_and_other_text_falls_apart() -> None:
    old = byte_level(("t", "h"), ("th", "e"), ("o", "n"))
    pruned = lexmill.prune(old, ids(old, "the"))
    assert pruned.tokenizer.get_vocab_size() == 258
    assert pruned.tokenizer.encode("the one").tokens == ["the", "Ġ", "o", "n", "e"]
    assert pruned.tokenizer.decode(pruned.tokenizer.encode_ids("ünder")) == "ünder"


def test_stages_name_the_new_ids() -> None:
    old = letters("abcdef", ("e", "f"))
    old.add_special_tokens(["<s>", "</s>", "<pad>"])
    template = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", old.token_to_id("<s>")), ("</s>", old.token_to_id("</s>"))]
    )
    old.post_processor = template
    old.enable_padding(pad_id=9, pad_token="<pad>", length=5)
    new = lexmill.prune(old, ids(old, "ef")).tokenizer
    assert tokens_of(new) == ["e", "f", "ef", "<s>", "</s>", "<pad>"]
    assert new.encode("ef").ids == [3, 2, 4, 5, 5]
    assert new.padding is not None
    assert new.padding["pad_id"] == 5
    assert {token.content for token in new.get_added_tokens_decoder().values()} == {"<s>", "</s>", "<pad>"}


@pytest.mark.parametrize("kind", [processors.BertProcessing, processors.RobertaProcessing])
def test_processors_of_bert_and_roberta_name_the_new_ids(kind: Any) -> None:
    old = letters("abcxy")
    old.post_processor = kind(("y", 4), ("x", 3))
    new = lexmill.prune(old, [1]).tokenizer
    assert tokens_of(new) == ["b", "x", "y"]
    assert new.encode("b").ids == [1, 0, 2]


def test_wordpiece_keeps_the_characters_of_kept_tokens() -> None:
    old = wordpiece("a", "b", "c", "##a", "##b", "##c", "ab", "abc", "##bc", "bca")
    pruned = lexmill.prune(old, ids(old, "ab"))
    assert tokens_of(pruned.tokenizer) == ["[UNK]", "a", "b", "##a", "##b", "ab"]
    assert pruned.tokenizer.encode("abba").tokens == ["ab", "##b", "##a"]
    assert pruned.tokenizer.encode("abc").tokens == ["[UNK]"]


def test_unigram_keeps_the_least_likely_piece_for_the_score_of_unknown_characters() -> None:
    old = unigram(("▁", -3.0), ("a", -4.0), ("b", -5.0), ("ab", -6.0), ("c", -30.0), ("d", -8.0))
    pruned = lexmill.prune(old, ids(old, "ab"))
    assert tokens_of(pruned.tokenizer) == ["<unk>", "a", "b", "ab", "c"]
    assert pruned.required.tolist() == [0, 2, 3, 5]


def test_a_piece_that_is_listed_twice_keeps_its_later_score() -> None:
    old = unigram(("▁", -1.0), ("a", -1.0), ("b", -1.0), ("ab", -1.5), ("ab", -9.0), ("z", -20.0))
    assert old.encode_ids("ab") == [1, 2, 3]
    pruned = lexmill.prune(old, [1, 2, 3, 4])
    assert pruned.old_ids.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert pruned.tokenizer.encode_ids("ab") == [1, 2, 3]


def test_the_unknown_piece_has_its_new_id() -> None:
    old = Tokenizer(models.Unigram([("b", -1.0), ("a", -1.0), ("<unk>", -9.0)], 2))
    pruned = lexmill.prune(old, [1])
    assert pruned.old_ids.tolist() == [1, 2]
    assert pruned.tokenizer.encode_ids("ab") == [0, 1]


def test_words_need_no_characters() -> None:
    vocab = {"<unk>": 0, "a": 1, "b": 2, "ab": 3}
    pruned = lexmill.prune(Tokenizer(models.WordLevel(vocab, unk_token="<unk>")), [3])
    assert tokens_of(pruned.tokenizer) == ["<unk>", "ab"]


def test_counts_and_scripts_select_tokens(tmp_path: Path) -> None:
    old = letters("abcdжд", ("a", "b"), ("ж", "д"), ("a", "ж"))
    by_count = lexmill.prune(old, counts={6: 5, 2: 2, 3: 1}, min_count=2)
    assert tokens_of(by_count.tokenizer) == ["a", "b", "c", "ab"]
    assert by_count.required.tolist() == [0, 1]
    by_array = lexmill.prune(old, counts=np.array([0, 0, 2, 1, 0, 0, 5]), min_count=2)
    assert by_array.old_ids.tolist() == by_count.old_ids.tolist()
    (tmp_path / "corpus.txt").write_text("ab ab c c d\n")
    by_corpus = lexmill.prune(old, corpus=tmp_path / "corpus.txt", min_count=2)
    assert by_corpus.old_ids.tolist() == by_count.old_ids.tolist()
    assert tokens_of(lexmill.prune(old, scripts=["Cyrillic"]).tokenizer) == ["ж", "д", "жд"]
    assert tokens_of(lexmill.prune(old, scripts=["latin"], keep=[7]).tokenizer) == [*"abcdжд", "ab", "жд"]
    both = lexmill.prune(old, counts=[0, 0, 1, 0, 0, 0, 0, 1], scripts=["Latin"])
    assert tokens_of(both.tokenizer) == ["c"]


@pytest.mark.parametrize(
    ("tag", "scripts"),
    [
        ("de", ["Latin"]),
        ("DE_at", ["Latin"]),
        ("hi", ["Devanagari"]),
        ("hi-Latn", ["Latin"]),
        ("hi-latn-IN", ["Latin"]),
        ("sr", ["Cyrillic"]),
        ("sr-ME", ["Latin"]),
        ("sr-Cyrl-ME", ["Cyrillic"]),
        ("zh-TW", ["Han"]),
        ("zh-yue-HK", ["Han"]),
        ("ja", ["Han", "Hiragana", "Katakana"]),
        ("ko-KR-x-private", ["Hangul", "Han"]),
        ("de-Latf-1901", ["Latin"]),
        ("und-Thai", ["Thai"]),
    ],
)
def test_tags_of_languages_have_scripts(tag: str, scripts: list[str]) -> None:
    assert scripts_of([tag]) == scripts
    assert scripts_of(tag) == scripts


def test_each_listed_language_has_a_script_of_unicode() -> None:
    names = set(lexmill._core.script_codes().values())
    assert all(names.issuperset(scripts_of([tag])) for tag in languages._SCRIPT_OF)


def test_languages_select_tokens_of_their_scripts() -> None:
    old = letters("abжд", ("a", "b"), ("ж", "д"))
    assert tokens_of(lexmill.prune(old, languages=["ru"]).tokenizer) == ["ж", "д", "жд"]
    assert tokens_of(lexmill.prune(old, languages=["ru-Latn"]).tokenizer) == ["a", "b", "ab"]
    both = lexmill.prune(old, languages=["ru"], scripts=["Latin"]).tokenizer
    assert both.to_str() == old.to_str()
    counted = lexmill.prune(old, languages=["ru"], counts=[1, 0, 0, 1]).tokenizer
    assert tokens_of(counted) == ["д"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "there is nothing to prune by"),
        ({"keep": [99]}, "keep has the id 99"),
        ({"counts": [1], "corpus": "a.txt"}, "only one of them"),
        ({"counts": {99: 1}}, "counts has 1 for the id 99"),
        ({"scripts": ["Klingon"]}, "scripts has 'Klingon'"),
        (
            {"languages": ["qaa"]},
            "languages has 'qaa', whose script is not known; name the script too, as in 'qaa-Latn'",
        ),
        ({"languages": ["de", "hi-Abcd"]}, "languages has 'hi-Abcd', but Abcd is no script of Unicode"),
        ({"languages": [""]}, "languages has '', but must have tags such as 'de', 'zh-TW' or 'hi-Latn'"),
        ({"languages": ["de-"]}, "languages has 'de-', but must have tags"),
        ({"languages": [3]}, "languages has 3, but must have tags"),
        ({"languages": ["Deutsch!"]}, "languages has 'Deutsch!', but must have tags"),
        ({"languages": ["\uff44\uff45"]}, "but must have tags such as"),
    ],
)
def test_wrong_criteria_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        lexmill.prune(letters("ab"), **options)


def test_a_negative_count_is_an_error() -> None:
    with pytest.raises(OptionRangeError, match="min_count is -1"):
        lexmill.prune(letters("ab"), counts=[1], min_count=-1)


def test_shrunk_bpe_has_the_first_merges() -> None:
    old = letters("abc", ("a", "b"), ("b", "c"), ("ab", "c"))
    assert tokens_of(lexmill.shrink(old, 5).tokenizer) == ["a", "b", "c", "ab", "bc"]
    assert merges_of(lexmill.shrink(old, 4).tokenizer) == [["a", "b"]]
    with pytest.raises(OptionError, match="n is 2 but must be at least 3"):
        lexmill.shrink(old, 2)


def test_a_token_waits_for_its_parts_however_merges_are_listed() -> None:
    vocab = {token: id_ for id_, token in enumerate(["a", "b", "c", "abc", "ab"])}
    old = Tokenizer(models.BPE(vocab=vocab, merges=[("ab", "c"), ("a", "b")]))
    assert tokens_of(lexmill.shrink(old, 4).tokenizer) == ["a", "b", "c", "ab"]


def test_shrunk_unigram_has_the_best_pieces_and_all_characters() -> None:
    old = unigram(("▁", -3.0), ("a", -4.0), ("b", -9.0), ("ba", -6.0), ("aa", -5.0), ("▁a", -5.5))
    assert tokens_of(lexmill.shrink(old, 6).tokenizer) == ["<unk>", "▁", "a", "b", "aa", "▁a"]


def test_shrunk_wordpiece_has_the_first_tokens_and_all_characters() -> None:
    old = wordpiece("a", "##a", "aa", "##aa", "b")
    assert tokens_of(lexmill.shrink(old, 5).tokenizer) == ["[UNK]", "a", "##a", "aa", "b"]


def test_trained_to_a_size_and_shrunk_to_it_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("low lower lowest new newer newest wide wider widest\n" * 3)
    files = [str(tmp_path / "corpus.txt")]

    def trained(size: int) -> Tokenizer:
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        trainer = lexmill.trainers.BpeTrainer(vocab_size=size, special_tokens=["<unk>"], show_progress=False)
        tokenizer.train(files, trainer)
        return tokenizer

    assert lexmill.shrink(trained(30), 20).tokenizer.to_str() == trained(20).to_str()


@pytest.mark.parametrize("seed", range(40))
def test_texts_of_kept_pieces_of_sentencepiece_are_encoded_as_before(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    pieces = any_pieces(random, random.choice([[1, 5], [1, 1, 1, 5, 4], [1]]), 25)
    (tmp_path / "m.model").write_bytes(model_file(pieces, BPE if seed % 2 else field(2, field(3, 1))))
    old = Tokenizer.from_spm(tmp_path / "m.model")
    texts = ["".join(random.choices(LETTERS, k=random.randint(1, 12))) for _ in range(60)]
    before = [old.encode_ids(text) for text in texts]
    keep = {id_ for ids in before[:4] for id_ in ids}
    pruned = lexmill.prune(old, keep)
    kept = set(pruned.old_ids.tolist())
    same = [(text, ids) for text, ids in zip(texts, before, strict=True) if kept.issuperset(ids)]
    assert len(same) >= 4
    for text, ids in same:
        assert pruned.tokenizer.encode_ids(text) == pruned.id_map[ids].tolist()
