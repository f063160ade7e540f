"""Strings that remember their original, and stages written in Python that work on them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import lexmill
from lexmill import NormalizedString, PreTokenizedString, Regex, Token, Tokenizer
from lexmill.decoders import Decoder, DecodeStream
from lexmill.errors import LexmillError
from lexmill.models import WordLevel
from lexmill.normalizers import Lowercase, Normalizer
from lexmill.normalizers import Sequence as Normalizers
from lexmill.pre_tokenizers import ByteLevel, Digits, PreTokenizer, Whitespace
from lexmill.pre_tokenizers import Sequence as PreTokenizers
from lexmill.trainers import BpeTrainer
from small import byte_level


def test_a_part_knows_its_part_of_the_original() -> None:
    text = NormalizedString("Ça va")
    text.nfd()
    text.lowercase()
    part = text[0:3]
    assert part is not None
    assert (part.normalized, part.original) == ("c\u0327a", "Ça")
    assert repr(text[3:9]) == 'NormalizedString(original=" va", normalized=" va")'
    assert text[9] is None


def test_functions_see_each_character() -> None:
    text, seen = NormalizedString("a1b2"), []
    text.filter(str.isalpha)
    text.map(str.upper)
    text.for_each(seen.append)
    assert (seen, text.normalized, text.original) == (["A", "B"], "AB", "a1b2")


@pytest.mark.parametrize("name", ["map", "filter", "for_each"])
def test_what_a_function_raises_comes_through(name: str) -> None:
    text = NormalizedString("ab")
    with pytest.raises(ZeroDivisionError):
        getattr(text, name)(lambda _: 1 // 0)
    assert text.normalized == "ab"


def test_an_index_that_is_none_is_named() -> None:
    with pytest.raises(ValueError, match="10 is bigger than max len"):
        NormalizedString("abc")[-10]
    with pytest.raises(ValueError, match="behavior is odd: Wrong value for SplitDelimiterBehavior"):
        NormalizedString("abc").split("b", "odd")  # type: ignore[arg-type]


def test_splits_have_offsets_of_either_kind() -> None:
    text = PreTokenizedString("é b")
    text.normalize(lambda part: part.nfd())
    text.split(lambda _, part: part.split(" ", "removed"))
    assert text.get_splits() == [("e\u0301", (0, 1), None), ("b", (2, 3), None)]
    assert text.get_splits("original", "byte") == [("e\u0301", (0, 2), None), ("b", (3, 4), None)]
    with pytest.raises(ValueError, match="Wrong value for OffsetType"):
        text.get_splits("original", "bits")  # type: ignore[arg-type]


def test_tokens_become_an_encoding() -> None:
    text = PreTokenizedString("é b")
    text.split(lambda _, part: part.split(" ", "removed"))
    with pytest.raises(LexmillError, match="has not been tokenized"):
        text.to_encoding()
    text.tokenize(lambda part: [Token(len(part.encode()), part, (0, len(part.encode())))])
    encoding = text.to_encoding(type_id=1)
    assert (encoding.ids, encoding.offsets, encoding.word_ids) == ([2, 1], [(0, 1), (2, 3)], [0, 1])
    assert encoding.type_ids == [1, 1]


class Doubled:
    """Writes every `a` twice."""

    def normalize(self, normalized: NormalizedString) -> None:
        normalized.replace("a", "aa")


class AtCommas:
    """Cuts at commas."""

    def pre_tokenize(self, pretok: PreTokenizedString) -> None:
        pretok.split(lambda _, part: part.split(Regex(",+"), "removed"))


class Loud:
    """Puts all in upper case."""

    def decode_chain(self, tokens: list[str]) -> list[str]:
        return [token.upper() for token in tokens]


class Broken:
    """Fails whatever is asked."""

    def normalize(self, normalized: NormalizedString) -> None:
        raise KeyError("no")

    def pre_tokenize(self, pretok: PreTokenizedString) -> None:
        raise KeyError("no")

    def decode_chain(self, tokens: list[str]) -> list[str]:
        raise KeyError("no")


def tokenizer() -> Tokenizer:
    made = Tokenizer(WordLevel({"aab": 0, "c": 1, "1": 2, "?": 3}, "?"))
    made.normalizer = Normalizers([Normalizer.custom(Doubled()), Lowercase()])
    made.pre_tokenizer = PreTokenizers([PreTokenizer.custom(AtCommas()), Digits()])
    made.decoder = Decoder.custom(Loud())
    return made


def test_stages_in_python_work_within_sequences() -> None:
    encoding = tokenizer().encode("aB,,c1")
    assert (encoding.ids, encoding.offsets) == ([0, 1, 2], [(0, 2), (4, 5), (5, 6)])
    assert tokenizer().decode([0, 1]) == "AABC"
    batch = tokenizer().encode_batch_ids(["aB", "c"] * 500, num_threads=2)
    assert batch == [[0], [1]] * 500


def test_stages_in_python_train() -> None:
    made = tokenizer()
    made.train_from_iterator(["aB,c", "ab"], lexmill.trainers.WordLevelTrainer(show_progress=False))
    assert made.get_vocab() == {"aab": 0, "c": 1}


def test_stages_in_python_cannot_be_saved(tmp_path: Any) -> None:
    made, path = tokenizer(), tmp_path / "tokenizer.json"
    for act in (made.to_str, lambda: made.save(str(path)), lambda: pickle.dumps(made), lambda: copy.deepcopy(made)):
        with pytest.raises(LexmillError, match="Custom Normalizer cannot be serialized"):
            act()
    assert not path.exists()
    assert isinstance(made.normalizer, Normalizers)


@pytest.mark.parametrize("stage", ["normalizer", "pre_tokenizer", "decoder"])
def test_what_a_stage_raises_is_the_cause(stage: str) -> None:
    made = Tokenizer(WordLevel({"a": 0, "?": 1}, "?"))
    classes = {"normalizer": Normalizer, "pre_tokenizer": PreTokenizer, "decoder": Decoder}
    setattr(made, stage, classes[stage].custom(Broken()))  # type: ignore[attr-defined]
    with pytest.raises(LexmillError, match="KeyError: 'no'") as raised:
        made.decode([0]) if stage == "decoder" else made.encode("a")
    assert isinstance(raised.value.__cause__, KeyError)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_in_a_stage_stays_one(error: type[BaseException]) -> None:
    class Interrupted:
        """Is stopped at its work."""

        def normalize(self, normalized: NormalizedString) -> None:
            raise error

    made = tokenizer()
    made.normalizer = Normalizer.custom(Interrupted())
    for call in (lambda: made.encode("a"), lambda: made.encode_batch_ids(["a"] * 9, num_threads=2)):
        with pytest.raises(error):
            call()


@pytest.mark.parametrize("is_split", [False, True])
def test_bytes_are_mapped_once_after_a_stage_of_ones_own(is_split: bool) -> None:
    class Idle:
        """Changes nothing."""

        def normalize(self, normalized: NormalizedString) -> None:
            pass

    made, texts = byte_level(("Ġ", "a"), ("Ã", "©")), [" a é", "日 Ab"]
    if is_split:
        made.pre_tokenizer = PreTokenizers([Whitespace(), ByteLevel(add_prefix_space=False, use_regex=False)])
    expected = [made.encode(text) for text in texts]
    made.normalizer = Normalizer.custom(Idle())
    found = [made.encode(text) for text in texts]
    assert [(one.ids, one.offsets) for one in found] == [(one.ids, one.offsets) for one in expected]
    assert made.encode_batch_ids(texts) == [one.ids for one in expected]
    made.train_from_iterator(["é a é a"], BpeTrainer(show_progress=False, min_frequency=2))
    assert "Ã©" in made.get_vocab()


def test_a_stage_changes_a_string_in_place() -> None:
    text, cut = NormalizedString("aB"), PreTokenizedString("a b1")
    Normalizers([Normalizer.custom(Doubled()), Lowercase()]).normalize(text)
    Whitespace().pre_tokenize(cut)
    assert text.normalized == "aab"
    assert [split[0] for split in cut.get_splits()] == ["a", "b1"]


def test_a_stream_gives_whole_characters() -> None:
    made = Tokenizer(lexmill.models.BPE({"é"[0]: 0, "Ã": 1, "©": 2, "x": 3}, []))
    made.decoder = lexmill.decoders.ByteLevel()
    stream = DecodeStream()
    steps = [stream.step(made, id) for id in (3, 1)]
    again = pickle.loads(pickle.dumps(stream))
    assert steps == ["x", None]
    assert stream.step(made, 2) == again.step(made, [2]) == "é"
    with pytest.raises(TypeError, match="StreamInput must be either an integer or a list of integers"):
        stream.step(made, "x")  # type: ignore[arg-type]
