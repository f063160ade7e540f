from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lexmill
from lexmill import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from lexmill.errors import ByteTokenWarning, OptionError, TruncationWarning, VocabError
from small import byte_level, letters

CLS_SEP = [("[C]", 100), ("[S]", 101)]


def framed(tokenizer: Tokenizer) -> Tokenizer:
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[C] $A [S]", pair="[C] $A [S] $B:1 [S]:1", special_tokens=CLS_SEP
    )
    return tokenizer


def shown(encoding: lexmill.Encoding) -> str:
    return "".join(encoding.tokens)


class TestEncode:
    def test_ids_tokens_and_character_offsets(self) -> None:
        encoding = byte_level(("a", "b"), ("Ġ", "ab")).encode("ab é ab")
        assert encoding.tokens == ["ab", "Ġ", "Ã", "©", "Ġab"]
        assert encoding.offsets == [(0, 2), (2, 3), (3, 4), (3, 4), (4, 7)]
        assert encoding.word_ids == [0, 1, 1, 1, 2]
        assert [encoding.ids[0], encoding.ids[-1]] == [256, 257]

    def test_empty_text_has_no_tokens(self) -> None:
        encoding = byte_level().encode("")
        assert (encoding.ids, encoding.offsets, len(encoding)) == ([], [], 0)

    def test_second_of_a_pair_has_type_1(self) -> None:
        encoding = letters().encode("ab", "c")
        assert (encoding.tokens, encoding.type_ids) == (["a", "b", "c"], [0, 0, 1])
        assert (encoding.sequence_ids, encoding.n_sequences) == ([0, 0, 1], 2)

    def test_offsets_of_words_count_from_each_word(self) -> None:
        encoding = letters().encode(["ab", "", "c"], is_pretokenized=True)
        assert encoding.offsets == [(0, 1), (1, 2), (0, 1)]
        assert encoding.word_ids == [0, 0, 2]

    @pytest.mark.parametrize("kind", [list, tuple, np.array, lambda words: np.array(words, dtype=object)])
    def test_words_may_come_in_a_list_a_tuple_or_an_array(self, kind: Any) -> None:
        words = ["ab", "é", "abc"]
        encoding = letters("abcé").encode(kind(words), is_pretokenized=True)
        assert encoding.tokens == ["a", "b", "é", "a", "b", "c"]

    def test_nfc_aligns_to_the_first_of_the_composed_characters(self) -> None:
        tokenizer = letters("éx")
        tokenizer.normalizer = normalizers.NFC()
        encoding = tokenizer.encode("e\u0301x")
        assert (encoding.tokens, encoding.offsets) == (["é", "x"], [(0, 1), (2, 3)])

    def test_prefix_space_shares_the_offsets_of_the_first_character(self) -> None:
        encoding = byte_level(add_prefix_space=True).encode("\nab")
        assert encoding.tokens == ["Ġ", "Ċ", "a", "b"]
        assert encoding.offsets == [(0, 1), (0, 1), (1, 2), (2, 3)]

    def test_dropped_unknown_characters_shift_later_offsets(self) -> None:
        encoding = letters("ab").encode("axb")
        assert (encoding.tokens, encoding.offsets) == (["a", "b"], [(0, 1), (1, 2)])

    def test_unknown_token_must_exist_only_once_it_is_needed(self) -> None:
        tokenizer = letters("ab", unk_token="<u>")
        assert tokenizer.encode("ab").ids == [0, 1]
        with pytest.raises(VocabError, match="token `<u>` of unk_token is not in the vocabulary of 2 tokens"):
            tokenizer.encode("x")

    def test_dropout_of_1_merges_nothing(self) -> None:
        assert letters("ab", ("a", "b"), dropout=1.0).encode("abab").tokens == ["a", "b", "a", "b"]

    def test_seeded_dropout_repeats_itself(self) -> None:
        tokenizers = [byte_level(("a", "a"), ("aa", "aa")) for _ in range(2)]
        for tokenizer in tokenizers:
            tokenizer.model.dropout, tokenizer.model.seed = 0.5, 7
        first, second = ([tokenizer.encode("a" * 99).ids for _ in range(3)] for tokenizer in tokenizers)
        assert first == second
        assert first[0] != first[1]


class TestBatches:
    def test_batch_is_each_text_alone(self) -> None:
        tokenizer, texts = letters(), ["ab", "", "c d"]
        assert [e.ids for e in tokenizer.encode_batch(texts)] == [tokenizer.encode(text).ids for text in texts]
        assert [e.ids for e in tokenizer.encode_batch_fast(texts)] == tokenizer.encode_batch_ids(texts)

    def test_items_may_be_pairs_in_tuples_or_lists(self) -> None:
        encodings = letters().encode_batch(["ab", ("a", "b"), ["c", "d"]])
        assert [e.n_sequences for e in encodings] == [1, 2, 2]

    def test_a_pretokenized_item_is_words_first_and_else_a_pair(self) -> None:
        batch = [["ab", "c"], ("ab", "c"), (["ab"], ["c"]), [["ab"], ["c"]], []]
        encodings = letters().encode_batch(batch, is_pretokenized=True)
        assert [(e.tokens, e.n_sequences) for e in encodings] == [
            (["a", "b", "c"], 1),
            (["a", "b", "c"], 1),
            (["a", "b", "c"], 2),
            (["a", "b", "c"], 2),
            ([], 1),
        ]

    def test_empty_batch_gives_nothing(self) -> None:
        assert letters().encode_batch([]) == []
        assert letters().decode_batch([]) == []


class TestTruncation:
    @pytest.mark.parametrize(
        ("options", "windows"),
        # Three tokens fit beside the two special ones; neighbours share `stride` tokens.
        [
            ({}, ["[C]abc[S]", "[C]def[S]", "[C]ghi[S]", "[C]j[S]"]),
            ({"stride": 1}, ["[C]abc[S]", "[C]cde[S]", "[C]efg[S]", "[C]ghi[S]", "[C]ij[S]"]),
            ({"direction": "left"}, ["[C]hij[S]", "[C]efg[S]", "[C]bcd[S]", "[C]a[S]"]),
            ({"direction": "left", "stride": 1}, ["[C]hij[S]", "[C]fgh[S]", "[C]def[S]", "[C]bcd[S]", "[C]ab[S]"]),
        ],
    )
    def test_windows(self, options: dict[str, Any], windows: list[str]) -> None:
        tokenizer = framed(letters())
        tokenizer.enable_truncation(5, **options)
        encoding = tokenizer.encode("abcdefghij")
        assert [shown(encoding), *map(shown, encoding.overflowing)] == windows

    @pytest.mark.parametrize(
        ("lengths", "max_length", "kept"),
        [((6, 6), 9, (4, 5)), ((6, 5), 9, (5, 4)), ((5, 6), 9, (4, 5)), ((10, 2), 3, (2, 1)), ((2, 10), 3, (1, 2)),
         ((10, 2), 1, (1, 0)), ((6, 6), 1, (0, 1)), ((2, 3), 5, (2, 3))],
    )  # fmt: skip
    def test_longest_first_evens_the_lengths_and_the_second_gets_the_rest(
        self, lengths: tuple[int, int], max_length: int, kept: tuple[int, int]
    ) -> None:
        tokenizer = letters()
        tokenizer.enable_truncation(max_length)
        types = tokenizer.encode("a" * lengths[0], "b" * lengths[1]).type_ids
        assert (types.count(0), types.count(1)) == kept

    def test_only_one_side_is_cut(self) -> None:
        tokenizer = letters()
        tokenizer.enable_truncation(5, strategy="only_first")
        assert shown(tokenizer.encode("abcdef", "ghi")) == "abghi"
        tokenizer.enable_truncation(5, strategy="only_second")
        assert shown(tokenizer.encode("abc", "defghi")) == "abcde"

    def test_a_side_too_short_to_cut_is_an_error(self) -> None:
        tokenizer = letters()
        tokenizer.enable_truncation(2, strategy="only_first")
        with pytest.raises(OptionError):
            tokenizer.encode("ab", "cdef")
        tokenizer.enable_truncation(2, strategy="only_second")
        with pytest.raises(OptionError, match="only_second"):
            tokenizer.encode("abcd")

    def test_where_special_tokens_alone_do_not_fit_nothing_is_cut(self) -> None:
        tokenizer = framed(letters())
        with pytest.warns(TruncationWarning, match="max_length is 1 but the post-processor adds 2 special tokens"):
            tokenizer.enable_truncation(1)
        assert shown(tokenizer.encode("abc")) == "[C]abc[S]"
        assert shown(tokenizer.encode("abc", add_special_tokens=False)) == "a"

    def test_exactly_the_special_tokens_leave_no_text(self) -> None:
        tokenizer = framed(letters())
        tokenizer.enable_truncation(2)
        encoding = tokenizer.encode("abc")
        assert [shown(encoding), *map(shown, encoding.overflowing)] == ["[C][S]", "[C]abc[S]"]

    def test_stride_must_leave_room_to_move(self) -> None:
        tokenizer = framed(letters())
        with pytest.raises(OptionError, match=r"stride set to 4, .* effective max length of 3"):
            tokenizer.enable_truncation(5, stride=4)

    def test_options_read_back_until_they_are_switched_off(self) -> None:
        tokenizer = letters()
        assert tokenizer.truncation is None
        tokenizer.enable_truncation(5, stride=1, strategy="only_first", direction="left")
        assert tokenizer.truncation == {"max_length": 5, "stride": 1, "strategy": "only_first", "direction": "left"}
        tokenizer.no_truncation()
        assert tokenizer.truncation is None
        assert len(tokenizer.encode("abcdefg")) == 7


class TestPadding:
    def test_batch_is_padded_to_its_longest(self) -> None:
        tokenizer = letters()
        tokenizer.enable_padding(pad_id=9, pad_token="P", pad_type_id=3)
        first, second = tokenizer.encode_batch(["ab", "cde"])
        assert (first.tokens, first.ids, first.type_ids) == (["a", "b", "P"], [0, 1, 9], [0, 0, 3])
        assert (first.attention_mask, first.special_tokens_mask) == ([1, 1, 0], [0, 0, 1])
        assert (first.offsets[2], first.word_ids[2]) == ((0, 0), None)
        assert second.tokens == ["c", "d", "e"]

    @pytest.mark.parametrize(
        ("options", "length"),
        [({"length": 5}, 5), ({"length": 1}, 3), ({"pad_to_multiple_of": 4}, 4), ({"pad_to_multiple_of": 0}, 3),
         ({"length": 5, "pad_to_multiple_of": 4}, 8)],
    )  # fmt: skip
    def test_length_is_fixed_and_rounded_up_but_nothing_is_cut(self, options: dict[str, int], length: int) -> None:
        tokenizer = letters()
        tokenizer.enable_padding(**options)
        assert len(tokenizer.encode("abc")) == length

    def test_left_padding_goes_before(self) -> None:
        tokenizer = letters()
        tokenizer.enable_padding(length=4, direction="left", pad_token="P")
        encoding = tokenizer.encode("ab")
        assert (encoding.tokens, encoding.char_to_token(1)) == (["P", "P", "a", "b"], 3)

    def test_overflowing_parts_are_padded_too(self) -> None:
        tokenizer = letters()
        tokenizer.enable_truncation(2)
        tokenizer.enable_padding(pad_token="P")
        assert shown(tokenizer.encode("abc").overflowing[0]) == "cP"

    def test_options_read_back_until_they_are_switched_off(self) -> None:
        tokenizer = letters()
        assert tokenizer.padding is None
        tokenizer.enable_padding(length=4, pad_to_multiple_of=2)
        assert tokenizer.padding == {
            "length": 4, "pad_to_multiple_of": 2, "pad_id": 0, "pad_token": "[PAD]", "pad_type_id": 0,
            "direction": "right",
        }  # fmt: skip
        tokenizer.no_padding()
        assert tokenizer.padding is None


class TestDecode:
    def test_bytes_of_neighbours_are_joined_before_they_are_read(self) -> None:
        tokenizer = byte_level()
        ids = tokenizer.encode("é").ids
        assert tokenizer.decode(ids) == "é"
        assert tokenizer.decode(ids[:1]) == "\ufffd"

    def test_special_tokens_are_skipped_unless_asked_for(self) -> None:
        tokenizer = byte_level()
        tokenizer.add_special_tokens(["<s>"])
        ids = [256, *tokenizer.encode("a").ids]
        assert tokenizer.decode(ids) == "a"
        assert tokenizer.decode(ids, skip_special_tokens=False) == "<s>a"
        assert tokenizer.decode_batch([ids, []], skip_special_tokens=False) == ["<s>a", ""]

    def test_without_a_decoder_tokens_are_joined_by_spaces(self) -> None:
        assert letters().decode([0, 1, 2]) == "a b c"

    def test_unknown_ids_are_passed_over_unless_strict(self) -> None:
        tokenizer = letters("ab")
        assert tokenizer.decode([0, 99, 1]) == "a b"
        with pytest.raises(VocabError, match="id 99 is not in the vocabulary of 2 tokens"):
            tokenizer.decode([0, 99, 1], strict=True)

    @pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.int64])
    def test_ids_may_come_in_an_array(self, dtype: Any) -> None:
        assert letters().decode(np.array([0, 1], dtype=dtype)) == "a b"


class TestParts:
    def test_a_part_changed_in_place_takes_effect(self) -> None:
        tokenizer = byte_level()
        tokenizer.pre_tokenizer.add_prefix_space = True
        assert tokenizer.encode("a").tokens == ["Ġ", "a"]

    def test_parts_may_be_replaced_and_taken_away(self) -> None:
        tokenizer = letters("ab ")
        tokenizer.pre_tokenizer = None
        assert tokenizer.encode("a b").tokens == ["a", " ", "b"]
        tokenizer.model = models.BPE(vocab={"a": 7}, merges=[])
        assert tokenizer.encode("a b").ids == [7]

    def test_sizes_and_lookups_include_added_tokens(self) -> None:
        tokenizer = letters("ab")
        tokenizer.add_tokens(["<x>", "a"])
        assert tokenizer.get_vocab() == {"a": 0, "b": 1, "<x>": 2}
        assert tokenizer.get_vocab(with_added_tokens=False) == {"a": 0, "b": 1}
        assert (tokenizer.get_vocab_size(), tokenizer.get_vocab_size(with_added_tokens=False)) == (3, 2)
        assert [tokenizer.id_to_token(token_id) for token_id in range(4)] == ["a", "b", "<x>", None]
        assert [tokenizer.token_to_id(token) for token in ("b", "<x>", "c")] == [1, 2, None]

    def test_number_of_special_tokens(self) -> None:
        assert [letters().num_special_tokens_to_add(pair) for pair in (False, True)] == [0, 0]
        assert [framed(letters()).num_special_tokens_to_add(pair) for pair in (False, True)] == [2, 3]


class TestFiles:
    def test_every_part_survives_a_file(self, tmp_path: Path) -> None:
        tokenizer = framed(byte_level(("a", "b")))
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.add_tokens([AddedToken("<x>", lstrip=True)])
        tokenizer.enable_truncation(9, stride=1)
        tokenizer.enable_padding(length=4)
        path = tmp_path / "tokenizer.json"
        tokenizer.save(path)
        text = path.read_text(encoding="utf-8")
        assert text == tokenizer.to_str(pretty=True)
        loaded = [Tokenizer.from_file(path), Tokenizer.from_str(text), Tokenizer.from_buffer(text.encode())]
        for copy in loaded:
            assert copy.to_str() == tokenizer.to_str()
            assert copy.encode("ab <x>").ids == tokenizer.encode("ab <x>").ids

    def test_keys_come_in_the_order_of_the_format(self) -> None:
        assert list(json.loads(letters().to_str())) == [
            "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
            "decoder", "model",
        ]  # fmt: skip

    def test_merges_may_be_lines_as_in_older_files(self) -> None:
        parts = json.loads(letters("ab", ("a", "b")).to_str())
        parts["model"]["merges"] = ["a b"]
        assert Tokenizer.from_str(json.dumps(parts)).encode("ab").tokens == ["ab"]

    def test_model_files_can_be_read_back(self, tmp_path: Path) -> None:
        paths = letters("ab", ("a", "b")).model.save(str(tmp_path), "tiny")
        assert [Path(path).name for path in paths] == ["tiny-vocab.json", "tiny-merges.txt"]
        assert Path(paths[0]).read_text(encoding="utf-8") == '{"a":0,"b":1,"ab":2}'
        assert Path(paths[1]).read_text(encoding="utf-8") == "#version: 0.2\na b\n"
        assert [token.value for token in models.BPE.from_file(*paths).tokenize("ab")] == ["ab"]


class TestTraining:
    def test_special_tokens_come_first_then_the_alphabet_then_the_merges(self) -> None:
        tokenizer = letters()
        tokenizer.train_from_iterator(["ab ab"], trainers.BpeTrainer(special_tokens=["<s>"], show_progress=False))
        assert tokenizer.get_vocab() == {"<s>": 0, "a": 1, "b": 2, "ab": 3}
        assert tokenizer.get_added_tokens_decoder()[0].special

    def test_items_may_be_lists_of_texts(self) -> None:
        tokenizers = [letters(), letters()]
        tokenizers[0].train_from_iterator(["ab", "cd"], trainers.BpeTrainer(show_progress=False))
        tokenizers[1].train_from_iterator(iter([["ab", "cd"]]), trainers.BpeTrainer(show_progress=False), length=2)
        assert tokenizers[0].to_str() == tokenizers[1].to_str()

    def test_a_file_is_its_lines(self, tmp_path: Path) -> None:
        text = "ab ab\ncd\r\nab"
        (tmp_path / "corpus.txt").write_bytes(text.encode())
        tokenizers = [byte_level(), byte_level()]
        tokenizers[0].train([tmp_path / "corpus.txt"], trainers.BpeTrainer(show_progress=False))
        tokenizers[1].train_from_iterator(text.splitlines(keepends=True), trainers.BpeTrainer(show_progress=False))
        assert tokenizers[0].to_str() == tokenizers[1].to_str()

    def test_an_added_token_in_the_corpus_is_a_word_of_its_own(self) -> None:
        tokenizer = letters()
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([])
        tokenizer.add_tokens(["a"])
        tokenizer.train_from_iterator(["ab", "ab"], trainers.BpeTrainer(show_progress=False))
        assert tokenizer.get_vocab() == {"a": 0, "b": 1}

    def test_an_added_token_is_learnt_as_it_stands_in_the_text(self) -> None:
        tokenizer = byte_level()
        with pytest.warns(ByteTokenWarning, match="the added token 'é' has id 165, that of the model's token for"):
            tokenizer.add_tokens([AddedToken("é", rstrip=True)])
        tokenizer.train_from_iterator(["é b"], trainers.BpeTrainer(show_progress=False))
        assert sorted(tokenizer.get_vocab()) == [" ", "b", "é", "é "]

    def test_options_of_the_model_stay_and_affixes_are_the_trainers(self) -> None:
        tokenizer = letters("ab", unk_token="a", fuse_unk=True)
        trainer = trainers.BpeTrainer(end_of_word_suffix="$", show_progress=False)
        tokenizer.train_from_iterator(["ab"], trainer)
        assert (tokenizer.model.unk_token, tokenizer.model.fuse_unk) == ("a", True)
        assert (tokenizer.model.end_of_word_suffix, tokenizer.encode("ab").tokens) == ("$", ["ab$"])
