"""Changed vocabularies that can be worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import lexmill
from distributions import BPE, LETTERS, any_pieces, model_file
from lexmill import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from lexmill.errors import OptionError, OptionRangeError
from lexmill.vocabularies import languages
from lexmill.vocabularies.languages import scripts_of
from model_file import field
from small import byte_level, letters


def tokens_of(tokenizer: Tokenizer) -> list[str]:
    return [tokenizer.id_to_token(id_) or "" for id_ in range(tokenizer.get_vocab_size())]


def merges_of(tokenizer: Tokenizer) -> list[list[str]]:
    merges: list[list[str]] = json.loads(tokenizer.to_str())["model"]["merges"]
    return merges


def ids(tokenizer: Tokenizer, *tokens: str) -> list[int]:
    found = [tokenizer.token_to_id(token) for token in tokens]
    assert None not in found
    return [id_ for id_ in found if id_ is not None]


def rows(token_map: lexmill.vocabularies.TokenMap, old: Tokenizer) -> list[list[str]]:
    return [[old.id_to_token(int(id_)) or "" for id_ in token_map[number]] for number in range(len(token_map))]


def wordpiece(*tokens: str) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece({token: id_ for id_, token in enumerate(["[UNK]", *tokens])}))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def unigram(*pieces: tuple[str, float]) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), *pieces], 0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


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


def test_merged_ids_of_the_first_stay() -> None:
    a = letters("abc", ("a", "b"))
    a.add_special_tokens(["<s>"])
    b = letters("cbd", ("c", "b"), ("cb", "d"))
    b.add_special_tokens(["<s>", "<pad>"])
    merged = lexmill.merge_vocabularies(a, b)
    assert tokens_of(merged.tokenizer) == ["a", "b", "c", "ab", "<s>", "d", "cb", "cbd", "<pad>"]
    assert merges_of(merged.tokenizer) == [["a", "b"], ["c", "b"], ["cb", "d"]]
    assert merged.id_map.tolist() == [2, 1, 5, 6, 7, 4, 8]
    assert merged.added.tolist() == [5, 6, 7, 8]
    assert merged.tokenizer.encode("<s>abcbd<pad>").ids == [4, 3, 7, 8]
    assert merged.unreachable == ()


def test_a_token_that_the_merges_of_the_first_hide_gets_a_merge_of_its_own() -> None:
    # In a, `b c` comes first: `a b` and `ab c` of b would never make abc.
    a = letters("abc", ("b", "c"))
    b = letters("abc", ("a", "b"), ("ab", "c"))
    merged = lexmill.merge_vocabularies(a, b)
    assert merges_of(merged.tokenizer) == [["b", "c"], ["a", "b"], ["ab", "c"], ["a", "bc"]]
    assert merged.tokenizer.encode("abc").tokens == ["abc"]


def test_a_token_that_no_merge_can_make_is_reported() -> None:
    # a makes `a bc d` of abcd, and neither abc nor bcd is a token.
    a = letters("abcd", ("b", "c"))
    b = letters("abcd", ("a", "b"), ("c", "d"), ("ab", "cd"))
    merged = lexmill.merge_vocabularies(a, b)
    assert [(token.token, token.reason) for token in merged.unreachable] == [
        ("abcd", "merging makes other tokens of its text")
    ]
    assert merged.tokenizer.encode("abcd").tokens == ["a", "bc", "d"]


def test_added_tokens_become_tokens_of_a_model_with_holes() -> None:
    # Other readers would give <x> the size of the model, which is the id of a.
    a, b = Tokenizer(models.BPE(vocab={"a": 1}, merges=[])), letters("a")
    b.add_special_tokens(["<x>"])
    merged = lexmill.merge_vocabularies(a, b)
    assert json.loads(merged.tokenizer.to_str())["model"]["vocab"] == {"a": 1, "<x>": 2}
    assert merged.id_map.tolist() == [1, 2]


def test_pieces_that_are_less_likely_than_others_are_reported() -> None:
    a = unigram(("▁", -1.0), ("a", -1.0), ("b", -1.0))
    b = unigram(("▁", -1.0), ("a", -9.0), ("b", -9.0), ("ab", -12.0), ("ba", -1.5))
    merged = lexmill.merge_vocabularies(a, b)
    assert tokens_of(merged.tokenizer) == ["<unk>", "▁", "a", "b", "ab", "ba"]
    assert [token.token for token in merged.unreachable] == ["ab"]


def test_a_tokenizer_merged_with_itself_is_the_same() -> None:
    a = letters("abc", ("a", "b"), ("b", "c"), ("a", "bc"))
    a.add_tokens([AddedToken("<x>")])
    merged = lexmill.merge_vocabularies(a, a)
    assert merged.tokenizer.to_str() == a.to_str()
    assert merged.added.tolist() == []
    # abc was out of reach before.
    assert [token.token for token in merged.unreachable] == ["abc"]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (wordpiece("a"), "the type of the model is 'BPE' in a but 'WordPiece' in b"),
        (byte_level(), "the alphabet of bytes is False in a but True in b"),
        (
            Tokenizer(models.BPE(vocab={"a": 0}, merges=[], end_of_word_suffix="</w>")),
            "the suffix of words is '' in a but '</w>' in b",
        ),
    ],
)
def test_tokens_of_two_spellings_are_not_merged(other: Tokenizer, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        lexmill.merge_vocabularies(letters("a"), other)


def metaspace(*tokens: str, byte_tokens: Sequence[int] = ()) -> Tokenizer:
    names = ["<unk>", *tokens, *(f"<0x{byte:02X}>" for byte in byte_tokens)]
    scores = [(name, -1.0 if len(name) > 1 else -2.0) for name in names]
    tokenizer = Tokenizer(models.Unigram(scores, 0, byte_fallback=bool(byte_tokens)))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


def test_places_in_words_are_spelled_by_the_marks_of_the_old_tokenizer() -> None:
    byte = byte_level(("a", "b"), ("Ġ", "ab"), ("Ġ", "a"))
    piece = metaspace("▁", "a", "b", "▁ab", "ab")
    word = wordpiece("a", "b", "ab", "##a", "##b", "##ab")
    assert rows(lexmill.token_map(word, byte), byte)[1:] == [["Ġa"], ["Ġ", "b"], ["Ġab"], ["a"], ["b"], ["ab"]]
    assert rows(lexmill.token_map(byte, word), word)[256:] == [["##ab"], ["ab"], ["a"]]
    assert rows(lexmill.token_map(word, piece), piece)[:4] == [["<unk>"], ["▁", "a"], ["▁", "b"], ["▁ab"]]
    assert rows(lexmill.token_map(word, piece), piece)[4:] == [["a"], ["b"], ["ab"]]
    assert rows(lexmill.token_map(piece, byte), byte)[1:] == [["Ġ"], ["a"], ["b"], ["Ġab"], ["ab"]]
    assert rows(lexmill.token_map(byte, piece), piece)[256:] == [["ab"], ["▁ab"], ["▁", "a"]]


def test_bytes_are_spelled_by_bytes() -> None:
    byte = byte_level()
    piece = metaspace("▁", "a", byte_tokens=[0xC3, 0xA9])
    found = rows(lexmill.token_map(byte, piece), piece)
    # The first byte of é, and a byte that has no token.
    assert found[byte.token_to_id("Ã") or 0] == ["<0xC3>"]
    assert found[byte.token_to_id("â") or 0] == ["<unk>"]
    back = rows(lexmill.token_map(piece, byte), byte)
    assert back[-2:] == [["Ã"], ["©"]]
    words = Tokenizer(models.WordLevel({"é": 0}, unk_token="é"))
    assert rows(lexmill.token_map(words, piece), piece) == [["<unk>"]]


def test_the_old_tokenizer_changes_case_and_divides_words() -> None:
    byte = byte_level(("A", "b"), ("Ab", "-"), ("Ab-", "A"))
    word = wordpiece("a", "b", "##b", "ab", "##ab", "-")
    assert rows(lexmill.token_map(byte, word), word)[256:] == [["##ab"], ["##ab", "-"], ["##ab", "-", "a"]]


def test_the_limit_of_characters_is_for_the_text_alone() -> None:
    model = models.WordPiece({"[UNK]": 0, "ab": 1, "##ab": 2}, max_input_chars_per_word=2)
    old = Tokenizer(model)
    assert rows(lexmill.token_map(old, old), old) == [["[UNK]"], ["ab"], ["##ab"]]


def test_suffixes_mark_the_ends_of_words() -> None:
    vocab = {"a": 0, "b": 1, "a</w>": 2, "b</w>": 3, "ab</w>": 4, "ab": 5}
    old = Tokenizer(models.BPE(vocab=vocab, merges=[("a", "b</w>"), ("a", "b")], end_of_word_suffix="</w>"))
    assert rows(lexmill.token_map(old, old), old) == [[token] for token in vocab]
    byte = byte_level(("a", "b"))
    assert rows(lexmill.token_map(old, byte), byte) == [["a"], ["b"], ["a"], ["b"], ["ab"], ["ab"]]


def test_added_tokens_of_both_are_the_same_and_others_are_text() -> None:
    new, old = letters("ab"), letters("<s>p", ("<", "s"))
    new.add_special_tokens(["<s>", "<p>"])
    old.add_special_tokens(["<s>"])
    assert rows(lexmill.token_map(new, old), old) == [[], [], ["<s>"], ["<", "p", ">"]]


def test_rows_are_numbered_by_id() -> None:
    found = lexmill.token_map(Tokenizer(models.BPE(vocab={"a": 2}, merges=[])), letters("a"))
    assert found.row_splits.tolist() == [0, 0, 0, 1]
    assert (found.ids.dtype, found.row_splits.dtype) == (np.uint32, np.int64)
    with pytest.raises(IndexError, match="id 3 is out of range for 3 ids"):
        found[3]


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
