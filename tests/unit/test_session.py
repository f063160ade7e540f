"""Sessions: the ids of a text that grows, the result and the cost of an append, copies and wrong input."""

from __future__ import annotations

import copy
import pickle
import threading
import time

import pytest

from lexmill import AddedToken, Regex, Session, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from lexmill.errors import InputTypeError, LexmillError, OptionError

TEXT = "The quick brown fox, it's said, jumps over 13 lazy dogs.\nÉtude: 日本語 "


@pytest.fixture
def bpe() -> Tokenizer:
    """Bytes and tokens learned from the text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        [TEXT] * 4, trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, show_progress=False)
    )
    return tokenizer


def test_an_append_returns_the_ids_that_changed(bpe: Tokenizer) -> None:
    session, mirror = bpe.session(), list[int]()
    whole = ""
    for part in ("The qu", "ick", "", " brown ", " ", "fox", "\r", "\n", "É", "e", "\u0301", TEXT, "<s", ">"):
        whole, settled = whole + part, session.settled
        start, new = session.append(part)
        mirror[start:] = new
        assert mirror == session.ids == bpe.encode_ids(whole, add_special_tokens=False)
        assert len(session) == len(mirror)
        assert settled <= start <= len(mirror)
        assert settled <= session.settled <= len(mirror)
    assert session.tokenizer is bpe
    assert repr(session) == f"Session({len(mirror)} ids, {session.settled} of them settled)"


def test_tokens_that_cross_the_border_are_found(bpe: Tokenizer) -> None:
    bpe.add_special_tokens(["<|end of text|>", AddedToken("<mask>", lstrip=True, rstrip=True)])
    bpe.add_tokens([AddedToken("Word", single_word=True)])
    bpe.normalizer = normalizers.NFC()
    bpe.post_processor = processors.TemplateProcessing("$A <s>", None, [("<s>", 0)])
    text = TEXT + "<|end of text|>" + TEXT + "  <mask>\n Word, Words e\u0301 <|end of" * 3
    for step in (1, 2, 3, 7, 50):
        session = bpe.session()
        for start in range(0, len(text), step):
            session.append(text[start : start + step])
            assert session.ids == bpe.encode_ids(text[: start + step], add_special_tokens=False)
    assert session.settled > len(session) // 4


def test_a_pipeline_without_boundaries_is_encoded_whole() -> None:
    class Own:
        def pre_tokenize(self, text: object) -> None:
            pass

    tokenizer = Tokenizer(models.BPE({"a": 0, "b": 1, " ": 2, "ab": 3}, [("a", "b")]))
    tokenizer.pre_tokenizer = pre_tokenizers.PreTokenizer.custom(Own())
    session = tokenizer.session()
    for _ in range(40):
        session.append("a")
        assert session.append("b a")[0] >= 0
    assert (session.ids, session.settled) == (tokenizer.encode("ab a" * 40).ids, 0)


def test_a_short_append_to_a_long_text_costs_little(bpe: Tokenizer) -> None:
    def seconds(characters: int) -> float:
        session = bpe.session()
        session.append((TEXT * (characters // len(TEXT) + 1))[:characters])
        taken = []
        for _ in range(50):
            start = time.perf_counter()
            session.append((TEXT * 4)[:256])
            taken.append(time.perf_counter() - start)
        # Other processes only add to a time.
        return sorted(taken)[len(taken) // 4]

    seconds(1000)
    assert seconds(2_000_000) < 0.001
    assert seconds(2_000_000) < 5 * seconds(2000) + 0.0001


def test_copies_and_pickles_go_their_own_way(bpe: Tokenizer) -> None:
    session = bpe.session()
    session.append(TEXT * 3)
    for other in (copy.copy(session), copy.deepcopy(session), pickle.loads(pickle.dumps(session))):
        assert (other.ids, other.settled) == (session.ids, session.settled)
        assert other.append("fox")[1]
        assert other.ids == bpe.encode_ids(TEXT * 3 + "fox", add_special_tokens=False)
    assert session.ids == bpe.encode_ids(TEXT * 3, add_special_tokens=False)
    with pytest.raises(OptionError, match="1 ids, fewer than the 2 settled ones"):
        session.__setstate__(([1], 2, "", True))
    with pytest.raises(TypeError):
        session.__setstate__((["a"], 0, "", True))  # type: ignore[arg-type]


def test_a_changed_tokenizer_ends_the_session(bpe: Tokenizer) -> None:
    session = Session(bpe)
    session.append("The")
    bpe.enable_truncation(2)
    bpe.post_processor = None
    session.append(" quick brown")
    assert len(session) > 2
    bpe.add_tokens(["fox"])
    with pytest.raises(OptionError, match="the tokenizer has changed since the session began"):
        session.append("fox")
    assert bpe.session().append("fox") == (0, [bpe.token_to_id("fox")])


def test_wrong_input_leaves_a_session_as_it_was(bpe: Tokenizer) -> None:
    session = bpe.session()
    session.append("The")
    ids = session.ids
    for wrong in (None, 1, b"a", ["a"], "\ud800"):
        with pytest.raises(InputTypeError):
            session.append(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Session(None)  # type: ignore[arg-type]
    assert session.ids == ids
    unknown = Tokenizer(models.WordLevel({"a": 0}, "?"))
    unknown.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    failing = unknown.session()
    failing.append("a ")
    with pytest.raises(LexmillError):
        failing.append("b")
    assert failing.append("a") == (1, [0])
    with pytest.raises(OptionError, match="turn dropout or alpha off"):
        Tokenizer(models.BPE({"a": 0}, [], dropout=0.5)).session().append("a")


def test_threads_do_not_share_an_append(bpe: Tokenizer) -> None:
    session, refused = bpe.session(), []

    def append() -> None:
        for _ in range(200):
            try:
                session.append(TEXT * 100)
            except LexmillError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=append) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = 800 - len(refused)
    assert session.ids == bpe.encode_ids(TEXT * 100 * done, add_special_tokens=False)
    assert all("another thread appends to this session" in message for message in refused)


def test_ignore_merges_holds_of_whole_words_only() -> None:
    # No merge makes `aa`, so it is found where it is a word, and not where a session cuts one.
    vocab = {character: id_ for id_, character in enumerate(pre_tokenizers.ByteLevel.alphabet())}
    tokenizer = Tokenizer(models.BPE({**vocab, "aa": 256}, [], ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = tokenizer._with_all_tables()
    session = tokenizer.session()
    session.append("aa" + "ba" * 40)
    assert session.ids == tokenizer.encode_ids("aa" + "ba" * 40)
    session.append(" aa")
    assert session.ids == tokenizer.encode_ids("aa" + "ba" * 40 + " aa")


def test_an_added_token_takes_the_character_after_a_space() -> None:
    tokens = {token: number for number, token in enumerate(["x", "y", ",", "Ġ", ",Ġ"])}
    tokenizer = Tokenizer(models.BPE(tokens, [(",", "Ġ")]))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace(Regex(r"\s+"), " ")])
    # As BLOOM cuts text.
    words = pre_tokenizers.Split(Regex(r" ?[^(\s|[.,!?])]+"), "isolated")
    in_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, in_bytes])
    tokenizer.add_special_tokens(["<pad>"])
    part = [0, 1, 4, 5]
    assert tokenizer.encode("xy, <pad>").ids == part
    # Enough text for seams and shards.
    assert tokenizer.encode_batch_arrays(["xy, <pad>" * 200_001], num_threads=1).ids.tolist() == part * 200_001
    for count in range(1, 60):
        session = tokenizer.session()
        session.append("xy, <pad>" * count)
        session.append("xy, <pad>")
        assert session.ids == part * (count + 1), count


def test_text_settles_once_no_stage_can_change_it() -> None:
    # The last of six characters decides on the first one.
    a = [chr(0x20000 + number) for number in range(6)]
    tokenizer = Tokenizer(models.BPE({t: i for i, t in enumerate(["x", "q", "xq", "X", " ", *a])}, [("x", "q")]))
    replaced = [(a[4] + a[5], "X"), (a[3] + "X", "Y"), (a[2] + "Y", "Z"), (a[1] + "Z", "W"), (a[0] + "W", "q")]
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(one, other) for one, other in replaced])
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("[a-z]+"), "isolated")
    # Enough text for seams.
    tokenizer.encode_batch_arrays(["x " * 1_000_000])
    for before in range(120):
        text = "x " * before + "x" + "".join(a[:5])
        session = tokenizer.session()
        session.append(text)
        session.append(a[5])
        assert session.ids == tokenizer.encode(text + a[5], add_special_tokens=False).ids, before
