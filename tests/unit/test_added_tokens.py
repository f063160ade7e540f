from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

import lexmill
from growth import assert_in_proportion
from lexmill import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from small import byte_level, letters


def plain(**vocab: int) -> Tokenizer:
    return Tokenizer(models.BPE(vocab=vocab, merges=[]))


def words(vocab: dict[str, int]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(vocab, unk_token="the"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def raw(content: str, **options: Any) -> AddedToken:
    """A token that is looked for in the text as it was given."""
    return AddedToken(content, **{"normalized": False, **options})


def pieces(tokens: list[AddedToken], text: str) -> list[str]:
    """The text cut at added tokens (in brackets), every other character alone."""
    tokenizer = byte_level(use_regex=False)
    tokenizer.add_tokens(tokens)
    encoding = tokenizer.encode(text)
    return [
        f"[{text[slice(*offsets)]}]" if token_id > 255 else text[slice(*offsets)]
        for token_id, offsets in zip(encoding.ids, encoding.offsets, strict=True)
    ]


class TestMatching:
    @pytest.mark.parametrize(
        ("contents", "text", "expected"),
        [
            (["ab", "abcd", "bc", "bcde"], "xabcdex", ["x", "[abcd]", "e", "x"]),  # leftmost, then longest
            (["ab", "abcdef", "cde"], "abcdex", ["[ab]", "[cde]", "x"]),
            (["aa"], "aaaaa", ["[aa]", "[aa]", "a"]),
        ],
    )
    def test_leftmost_longest(self, contents: list[str], text: str, expected: list[str]) -> None:
        assert pieces([raw(content) for content in contents], text) == expected

    @pytest.mark.parametrize("contents", [["ab", "AB"], ["AB", "ab"], ["aB", "Ab", "ab"]])
    def test_of_tokens_that_normalize_to_the_same_text_the_lowest_id_is_found(self, contents: list[str]) -> None:
        """The other library finds one of them at random."""
        tokenizer = letters("xab")
        tokenizer.normalizer = normalizers.Lowercase()
        tokenizer.add_tokens([AddedToken(content, normalized=True) for content in contents])
        assert tokenizer.token_to_id(contents[0]) == 3
        assert tokenizer.encode("xABxab").ids == [0, 3, 0, 3]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [("ab", ["[ab]"]), ("xab", ["x", "a", "b"]), ("ab_", ["a", "b", "_"]), ("-ab-", ["-", "[ab]", "-"]),
         ("ab1", ["a", "b", "1"]), ("ab\u0301", ["a", "b", "\u0301", "\u0301"])],
    )  # fmt: skip
    def test_single_word_touches_no_word_character(self, text: str, expected: list[str]) -> None:
        assert pieces([raw("ab", single_word=True)], text) == expected

    def test_a_rejected_match_is_not_tried_shorter(self) -> None:
        tokens = [raw("ab"), raw("abc", single_word=True)]
        assert pieces(tokens, "abcd") == ["a", "b", "c", "d"]
        assert pieces([raw("ab", single_word=True), raw("bc")], "abc") == ["a", "b", "c"]

    def test_stripping_takes_all_white_space_beside(self) -> None:
        assert pieces([raw("MM", lstrip=True, rstrip=True)], "a \n MM\u3000 b") == ["a", "[ \n MM\u3000 ]", "b"]
        assert pieces([raw("MM", lstrip=True)], "a MM b") == ["a", "[ MM]", " ", "b"]

    def test_white_space_between_two_goes_to_the_first(self) -> None:
        assert pieces([raw("NN", rstrip=True), raw("MM", lstrip=True)], "NN  MM") == ["[NN  ]", "[MM]"]

    def test_a_token_that_begins_in_space_already_taken_is_found_all_the_same(self) -> None:
        assert pieces([raw("NN", rstrip=True), raw(" b")], "NN b") == ["[NN ]", "[ b]"]

    def test_zero_width_and_control_characters_are_no_white_space(self) -> None:
        assert pieces([raw("MM", lstrip=True)], "\u200bMM") == ["\u200b"] * 3 + ["[MM]"]
        assert pieces([raw("MM", lstrip=True)], "\x1cMM") == ["\x1c", "[MM]"]

    def test_tokens_of_the_raw_text_go_before_normalized_ones(self) -> None:
        assert pieces([AddedToken("abcd"), raw("bc")], "abcd") == ["a", "[bc]", "d"]

    def test_normalized_token_is_found_in_both_spellings(self) -> None:
        tokenizer = letters("x")
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.add_tokens(["e\u0301"])
        assert [tokenizer.encode(text).ids for text in ("x\u00e9x", "xe\u0301x")] == [[0, 1, 0]] * 2
        assert tokenizer.id_to_token(1) == "\u00e9"

    def test_text_of_the_token_is_what_was_found(self) -> None:
        tokenizer = letters("x")
        tokenizer.add_tokens([raw("MM", lstrip=True)])
        assert tokenizer.encode("x  MM").tokens == ["x", "  MM"]

    def test_special_tokens_can_be_left_to_the_model(self) -> None:
        tokenizer = letters("<s>")
        tokenizer.add_special_tokens(["<s>"])
        tokenizer.add_tokens(["s>"])
        assert tokenizer.encode("<s>").ids == [3]
        tokenizer.encode_special_tokens = True
        assert tokenizer.encode("<s>").ids == [0, 4]

    def test_special_tokens_in_text_are_not_masked_as_added_by_the_processor(self) -> None:
        tokenizer = letters("x")
        tokenizer.add_special_tokens(["<s>"])
        assert tokenizer.encode("<s>").special_tokens_mask == [0]


def test_caches_forget_tokens_that_normalized_text_is_no_longer_searched_for() -> None:
    # With all punctuation in the vocabulary, chunks are cut at punctuation.
    scored = [("<unk>", 0.0), ("▁", -2.0), *((c, -3.0) for c in 'ab!"(),-.:;?')]
    tokenizer = Tokenizer(models.Unigram(scored, unk_id=0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.add_special_tokens([AddedToken("ab", normalized=True)])
    tokenizer.encode_ids(",ab ab")
    tokenizer.add_special_tokens([AddedToken("ab", normalized=False)])
    tokenizer.encode_special_tokens = True
    assert tokenizer.encode_ids(",ab ab") == tokenizer._staged().encode_ids(",ab ab")


class TestIds:
    def test_new_tokens_follow_the_vocabulary(self) -> None:
        tokenizer = plain(a=0, b=1)
        assert tokenizer.add_tokens(["x", "y"]) == 2
        assert tokenizer.add_special_tokens(["z"]) == 1
        assert [tokenizer.token_to_id(token) for token in "xyz"] == [2, 3, 4]

    def test_tokens_of_the_model_keep_their_ids_and_count(self) -> None:
        tokenizer = plain(a=0, b=1)
        assert tokenizer.add_tokens(["b", "x"]) == 2
        assert tokenizer.get_vocab() == {"a": 0, "b": 1, "x": 2}

    def test_repetitions_and_empty_contents_do_not_count(self) -> None:
        tokenizer = plain(a=0)
        assert tokenizer.add_tokens(["x", "", "x", "y"]) == 2
        assert tokenizer.add_tokens(["x"]) == 0

    def test_other_flags_replace_the_old_ones_under_the_same_id(self) -> None:
        tokenizer = plain(a=0)
        tokenizer.add_tokens(["x"])
        assert tokenizer.add_tokens([AddedToken("x", lstrip=True)]) == 1
        assert tokenizer.get_added_tokens_decoder() == {1: AddedToken("x", lstrip=True)}

    def test_once_special_always_skipped(self) -> None:
        tokenizer = plain(a=0)
        tokenizer.add_special_tokens(["x"])
        tokenizer.add_tokens(["x"])
        assert not tokenizer.get_added_tokens_decoder()[1].special
        assert tokenizer.decode([0, 1]) == "a"

    def test_one_call_or_several_number_alike(self) -> None:
        """The other library counts on from 10 in several calls, and reads 2 and 3 from the file that it saves then."""
        together, apart = plain(a=0, b=10), plain(a=0, b=10)
        together.add_tokens(["b", "x", "y"])
        for token in ("b", "x", "y"):
            apart.add_tokens([token])
        assert [together.token_to_id(token) for token in "bxy"] == [10, 2, 3]
        assert apart.get_vocab() == together.get_vocab()

    def test_an_id_of_the_model_is_passed_over(self) -> None:
        """The other library gives it to both."""
        tokenizer = plain(a=1, b=2)
        tokenizer.add_tokens(["x", "y"])
        assert tokenizer.get_vocab() == {"a": 1, "b": 2, "x": 3, "y": 4}
        assert (tokenizer.decode([2]), tokenizer.decode([3])) == ("b", "x")

    def test_training_numbers_them_for_the_new_vocabulary(self) -> None:
        """The other library leaves 0, 1 and 2 to both, and a file of it is read with these ids."""
        tokenizer = words({})
        tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
        tokenizer.train_from_iterator(["the cat the"], trainers.WordLevelTrainer(show_progress=False))
        assert tokenizer.get_vocab() == {"the": 0, "cat": 1, "<unk>": 2, "<s>": 3, "</s>": 4}
        assert tokenizer.encode("<s>the cat</s>").ids == [3, 0, 1, 4]
        assert tokenizer.decode([3, 0, 1, 4], skip_special_tokens=False) == "<s> the cat </s>"

    def test_training_on_special_tokens_gives_them_the_models_ids(self) -> None:
        tokenizer = words({"a": 0, "b": 1})
        tokenizer.add_special_tokens(["<s>", "<unk>", "x"])
        trainer = trainers.WordLevelTrainer(show_progress=False, special_tokens=["<unk>", "<s>"])
        tokenizer.train_from_iterator(["the cat the"], trainer)
        assert tokenizer.get_vocab() == {"<unk>": 0, "<s>": 1, "the": 2, "cat": 3, "x": 4}

    def test_a_smaller_model_brings_them_closer(self) -> None:
        """So does reading a file; the other library keeps 300 until then."""
        tokenizer = words({f"token{number}": number for number in range(300)})
        tokenizer.add_special_tokens(["<s>"])
        tokenizer.model = models.WordLevel({"the": 0, "cat": 1}, unk_token="cat")
        assert tokenizer.token_to_id("<s>") == 2
        assert Tokenizer.from_str(tokenizer.to_str()).token_to_id("<s>") == 2

    def test_a_model_that_is_trained_elsewhere_numbers_them_too(self) -> None:
        one, other = words({}), words({})
        other.model = one.model
        other.add_special_tokens(["<s>"])
        one.train_from_iterator(["the cat the"], trainers.WordLevelTrainer(show_progress=False))
        assert other.get_added_tokens_decoder() == {2: AddedToken("<s>", special=True)}
        assert other.encode("<s>cat").ids == [2, 1]

    def test_the_template_and_padding_follow_their_token(self) -> None:
        tokenizer = words({})
        tokenizer.add_special_tokens(["<s>", "</s>"])
        # The tokenizer has no token x with that id: it stays.
        special = [("<s>", 0), ("</s>", 1), ("x", 0)]
        template = processors.TemplateProcessing(single="<s> $A x </s>", special_tokens=special)
        tokenizer.post_processor = processors.Sequence([template])
        tokenizer.enable_padding(pad_id=1, pad_token="</s>", length=6)
        shared = Tokenizer(models.BPE())
        shared.post_processor = tokenizer.post_processor
        tokenizer.train_from_iterator(["the cat the"], trainers.WordLevelTrainer(show_progress=False))
        assert tokenizer.encode("the").ids == [2, 0, 0, 3, 3, 3]
        # It has tokens of its own.
        assert shared.encode("").ids == [0, 0, 1]

    def test_two_tokens_of_the_model_that_share_an_id_keep_it(self) -> None:
        tokenizer = words({"a": 0, "b": 0, "c": 1})
        tokenizer.add_tokens(["a", "b", "x"])
        assert {id_: token.content for id_, token in tokenizer.get_added_tokens_decoder().items()} == {0: "b", 3: "x"}
        assert Tokenizer.from_str(tokenizer.to_str()).get_vocab() == tokenizer.get_vocab()

    def test_ids_in_files_are_not_believed(self) -> None:
        tokenizer = plain(a=0, b=1)
        tokenizer.add_tokens(["x1", "x2"])
        parts = json.loads(tokenizer.to_str())
        parts["added_tokens"][0]["id"], parts["added_tokens"][1]["id"] = 300, 7
        assert Tokenizer.from_str(json.dumps(parts)).to_str() == tokenizer.to_str()


class TestCost:
    """Processor time beside that of compiling all tokens, which is what the same call took before."""

    def seconds(self, do: Callable[[], object], times: int = 5) -> float:
        taken = []
        for _ in range(times):
            start = time.process_time()
            do()
            taken.append(time.process_time() - start)
        # Other processes only add to a time.
        return sorted(taken)[len(taken) // 4]

    def test_one_more_token_or_another_choice_compiles_little(self) -> None:
        tokenizer = words({"a": 0})
        tokenizer.add_special_tokens([f"<{number}>" for number in range(50_000)])
        all_of_them = self.seconds(lambda: tokenizer.encode("a <1>"), times=1)
        new = iter(range(50_000, 60_000))

        def add() -> None:
            tokenizer.add_tokens([f"<{next(new)}>"])
            assert tokenizer.encode("<50000> a").ids == [50_001, 0]

        def switch() -> None:
            tokenizer.encode_special_tokens = not tokenizer.encode_special_tokens
            tokenizer.encode("a")

        assert self.seconds(add) < all_of_them / 10
        assert self.seconds(switch) < all_of_them / 10
        assert self.seconds(lambda: tokenizer.add_tokens(["<50000>"])) < all_of_them / 10
        assert self.seconds(lambda: tokenizer.get_vocab_size()) < all_of_them / 10

    def test_tokens_that_come_one_by_one_take_time_in_proportion(self) -> None:
        def add(number: int) -> None:
            tokenizer = words({"a": 0})
            for at in range(number):
                tokenizer.add_tokens([f"<{at}>"])
            assert tokenizer.get_vocab_size() == number + 1

        assert_in_proportion(add, 20_000)

    def test_tokens_that_come_between_texts_are_all_found(self) -> None:
        tokenizer = words({"a": 0})
        for at in range(1500):
            tokenizer.add_tokens([AddedToken(f"<{at}>", normalized=bool(at % 2))])
            if at % 100 < 3:
                assert tokenizer.encode(f"<{at}>a<0>").ids == [at + 1, 0, 1]
        assert tokenizer.encode("".join(f"<{at}>" for at in range(1500))).ids == list(range(1, 1501))


class TestAddedToken:
    def test_normalized_unless_special(self) -> None:
        assert AddedToken("x").normalized
        assert not AddedToken("x", special=True).normalized
        assert AddedToken("x", special=True, normalized=True).normalized

    def test_unsaid_normalized_follows_special_when_added(self) -> None:
        tokenizer = plain(a=0)
        tokenizer.add_special_tokens([AddedToken("x"), AddedToken("y", normalized=True)])
        assert [token.normalized for token in tokenizer.get_added_tokens_decoder().values()] == [False, True]

    def test_equal_if_all_is_equal(self) -> None:
        assert AddedToken("x") == AddedToken("x", normalized=True)
        assert AddedToken("x") != AddedToken("x", rstrip=True)
        assert len({AddedToken("x"), AddedToken("x")}) == 1

    def test_shown_with_all_flags(self) -> None:
        expected = 'AddedToken("x", rstrip=False, lstrip=True, single_word=False, normalized=True, special=False)'
        assert repr(AddedToken("x", lstrip=True)) == expected
        assert str(AddedToken("x")) == "x"

    def test_content_and_special_can_be_changed(self) -> None:
        token = AddedToken("x")
        token.content, token.special = "y", True
        assert token == AddedToken("y", special=True)

    @pytest.mark.parametrize("tokens", ["abc", ("x",), None, [1], [None]])
    def test_only_lists_of_str_and_tokens(self, tokens: Any) -> None:
        with pytest.raises(TypeError):
            lexmill.Tokenizer(models.BPE()).add_tokens(tokens)
