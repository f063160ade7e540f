"""`lexmill.report`: its numbers are those that plain loops over `tokenizer.encode` find."""

from __future__ import annotations

import bisect
import collections
import gzip
import itertools
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexmill
from lexmill import Tokenizer, _core, decoders, models, normalizers, pre_tokenizers, processors, trainers
from lexmill.errors import EmptyCorpusError, FileError, FormatError, LexmillError, OptionError, VocabError
from lexmill.reports import Numbers, Report
from lexmill.reports.curve import curve_of
from lexmill.reports.measure import measure
from lexmill.reports.scripts import script_names, scripts_of
from lexmill.reports.vocabulary import reach_of, vocabulary_of
from lexmill.sources import Csv, Documents, JsonLines, Lines
from small import letters

TEXTS = [
    "The cat sat on the mat, and the cat sat on the hat.\n",
    "\n",
    "  den Größen nach 東京タワーは 333 m hoch\r\n",
    "Жили-были кот да кошка e\u0301te\u0301 🦀🦀\n",
    "\u3000\u3000\n",
    "12, 34 -- 56 <end>the <end> aaaaaaaa\n",
    "संस्कृत ไทย the end, no newline",
]
# The property White_Space; `str.isspace` takes four control characters more.
SPACE = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")


def trained(model: Any, trainer: Any, **stages: Any) -> Tokenizer:
    tokenizer = Tokenizer(model)
    for name, stage in stages.items():
        setattr(tokenizer, name, stage)
    tokenizer.train_from_iterator(TEXTS * 3, trainer)
    return tokenizer


def byte_level() -> Tokenizer:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=340, initial_alphabet=alphabet, special_tokens=["<end>"], show_progress=False
    )
    split = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = trained(models.BPE(), trainer, pre_tokenizer=split, decoder=decoders.ByteLevel())
    # None of this may change what is counted.
    tokenizer.post_processor = processors.TemplateProcessing(single="<end> $A", special_tokens=[("<end>", 0)])
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=5)
    return tokenizer


def whitespace_bpe() -> Tokenizer:
    trainer = trainers.BpeTrainer(vocab_size=70, special_tokens=["[UNK]"], limit_alphabet=30, show_progress=False)
    tokenizer = trained(models.BPE(unk_token="[UNK]"), trainer, pre_tokenizer=pre_tokenizers.Whitespace())
    tokenizer.add_tokens(["the end"])
    return tokenizer


def unigram() -> Tokenizer:
    trainer = trainers.UnigramTrainer(vocab_size=90, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False)
    return trained(models.Unigram(), trainer, normalizer=normalizers.NFKC(), pre_tokenizer=pre_tokenizers.Metaspace())


def wordpiece() -> Tokenizer:
    trainer = trainers.WordPieceTrainer(vocab_size=110, special_tokens=["[UNK]"], show_progress=False)
    stages = {"normalizer": normalizers.BertNormalizer(), "pre_tokenizer": pre_tokenizers.BertPreTokenizer()}
    return trained(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=6), trainer, **stages)


def without_pre_tokenizer() -> Tokenizer:
    """As tokenizers converted from SentencePiece: blanks are visible, unknown characters are bytes."""
    tokens = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁theacsomdn"]
    merges = [("t", "h"), ("th", "e"), ("▁", "the"), ("a", "t"), ("s", "at"), ("▁", "s"), ("▁s", "at"), ("h", "▁")]
    tokens += dict.fromkeys(left + right for left, right in merges)
    vocab = {token: id_ for id_, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    return tokenizer


ALL = [byte_level, whitespace_bpe, unigram, wordpiece, without_pre_tokenizer]


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    first, second = tmp_path / "first.txt", tmp_path / "second.jsonl"
    first.write_text("".join(TEXTS[:3]), encoding="utf-8", newline="")
    records = [{"text": text, "meta": {"lang": "ab"[at % 2]}} for at, text in enumerate(TEXTS[3:])]
    second.write_text("".join(json.dumps(record) + "\n" for record in records))
    return [first, second]


def words_of(text: str) -> list[tuple[int, int]]:
    """Where the words of a text begin and end, with the white space that belongs to each of them."""
    ends = [
        at + 1
        for at in range(len(text))
        if not SPACE.match(text[at]) and (at + 1 == len(text) or SPACE.match(text[at + 1]))
    ]
    if ends:
        ends[-1] = len(text)
    return list(itertools.pairwise([0, *ends]))


RANGES = _core.script_ranges()


def script_of(word: str) -> str:
    for char in word:
        name = RANGES[bisect.bisect([first for first, *_ in RANGES], ord(char)) - 1][2]
        if name in ("Han", "Hiragana", "Katakana"):
            return "Han and kana"
        if name not in ("Common", "Inherited", "Unknown"):
            return name.replace("_", " ")
    return "no letters"


def naive(tokenizer: Tokenizer, texts: list[str]) -> dict[str, Any]:
    """The sums over texts, by loops alone."""
    tokenizer = Tokenizer.from_str(tokenizer.to_str())
    tokenizer.post_processor = None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ids: collections.Counter[int] = collections.Counter()
    scripts: dict[str, list[int]] = {}
    lengths: collections.Counter[int] = collections.Counter()
    unknown = 0
    unk = vocabulary_of(tokenizer).unknown
    for text in texts:
        encoding = tokenizer.encode(text, add_special_tokens=False)
        ids.update(encoding.ids)
        lengths[len(encoding.ids)] += 1
        unknown += sum(
            end - start for id_, (start, end) in zip(encoding.ids, encoding.offsets, strict=True) if id_ == unk
        )
        words = words_of(text)
        names = [script_of(text[start:end]) for start, end in words]
        for (start, end), name in zip(words or [(0, len(text))], names or ["white space only"], strict=True):
            row = scripts.setdefault(name, [0, 0, 0, 0])
            own = text[start:end]
            counted = [max(end - 1, start) for start, end in encoding.offsets]
            row[0] += len(own.encode())
            row[1] += len(own)
            row[2] += bool(words)
            row[3] += sum(start <= at < end for at in counted)
    return {"ids": ids, "scripts": scripts, "lengths": dict(sorted(lengths.items())), "unknown": unknown}


def pairs(lengths: dict[str, Any]) -> dict[int, int]:
    return dict(zip(lengths["lengths"], lengths["counts"], strict=True))


@pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)
def test_numbers_of_the_page_match_naive(make: Any, corpus: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    tokenizer = make()
    lexmill.report({"it": tokenizer}, corpus).save(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    found = re.search('<script type="application/json" id="numbers">(.*?)</script>', page)
    assert found is not None
    numbers = json.loads(found[1])
    assert numbers == json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))

    expected = naive(tokenizer, TEXTS)
    counts = expected["ids"]
    total = sum(counts.values())
    (measured,) = numbers["tokenizers"]
    assert measured["tokens"] == total
    assert pairs(measured["text_lengths"]) == expected["lengths"]
    assert (measured["unknown_characters"], measured["unknown_tokens"]) == (
        expected["unknown"],
        counts[vocabulary_of(tokenizer).unknown or 0] if vocabulary_of(tokenizer).unknown is not None else 0,
    )
    scripts = {group["name"]: group for group in numbers["scripts"]}
    assert scripts.keys() == expected["scripts"].keys()
    for name, row in expected["scripts"].items():
        group = scripts[name]
        assert [group["bytes"], group["characters"], group["words"], *group["tokens"]] == row, name
    for number, texts in enumerate([TEXTS[:3], TEXTS[3:]]):
        group = numbers["files"][number]
        assert group == {
            "name": str(corpus[number]),
            "texts": len(texts),
            "bytes": sum(len(text.encode()) for text in texts),
            "characters": sum(map(len, texts)),
            "words": sum(len([word for word in SPACE.split(text) if word]) for text in texts),
            "tokens": [sum(naive(tokenizer, texts)["ids"].values())],
        }
    assert measured["unused"]["count"] == sum(id_ not in counts for id_ in tokenizer.get_vocab().values())
    ranked = sorted(counts, key=lambda id_: (-counts[id_], id_))
    assert [token["id"] for token in measured["most_frequent"]] == ranked[:200]
    for rank, share in zip(measured["coverage"]["ranks"], measured["coverage"]["shares"], strict=True):
        assert share == pytest.approx(sum(counts[id_] for id_ in ranked[:rank]) / total)
    assert {token["id"] for token in measured["unreachable"]["first"]}.isdisjoint(counts)


def spelled(tokenizer: Tokenizer, id_: int) -> bytes:
    """The bytes of a token, by the rules of all tokenizers here but the byte-level one."""
    token = tokenizer.id_to_token(id_) or ""
    if re.fullmatch("<0x..>", token):
        return bytes([int(token[3:5], 16)])
    return token.removeprefix("##").replace("▁", " ").encode()


@pytest.mark.parametrize(
    "make", [whitespace_bpe, unigram, wordpiece, without_pre_tokenizer], ids=lambda make: make.__name__
)
def test_lengths_of_tokens_match_naive(make: Any, corpus: list[Path]) -> None:
    tokenizer = make()
    (measured,) = json.loads(lexmill.report(tokenizer, corpus).to_json())["tokenizers"]
    counts = naive(tokenizer, TEXTS)["ids"]
    added = tokenizer.get_added_tokens_decoder()
    own = [id_ for id_ in tokenizer.get_vocab().values() if id_ not in added]
    sizes = {id_: len(spelled(tokenizer, id_)) for id_ in tokenizer.get_vocab().values()}
    expected = collections.Counter(sizes[id_] for id_ in own)
    assert pairs(measured["token_bytes"]) == dict(sorted(expected.items()))
    used: collections.Counter[int] = collections.Counter()
    for id_, count in counts.items():
        used[sizes[id_]] += count
    assert pairs(measured["used_bytes"]) == dict(sorted(used.items()))


def test_byte_level_tokens_have_the_bytes_of_their_characters(corpus: list[Path]) -> None:
    numbers = measure(byte_level(), corpus)
    (measured,) = numbers.tokenizers
    # Every byte and every character begins in one token.
    for lengths, total in (
        (measured.used_bytes, numbers.corpus.bytes),
        (measured.used_characters, numbers.corpus.characters),
    ):
        assert sum(length * count for length, count in zip(lengths.lengths, lengths.counts, strict=True)) == total
    tokenizer = byte_level()
    tokenizer.post_processor = None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ids = [id_ for text in TEXTS for id_ in tokenizer.encode(text).ids]
    assert measured.part_tokens == sum("\ufffd" in tokenizer.decode([id_]) for id_ in ids) > 0
    assert measured.byte_tokens == 0


def cut(tokenizer: Tokenizer, merges: int) -> Tokenizer:
    """The tokenizer with the first merges alone, and without the tokens that the others make."""
    stages = json.loads(tokenizer.to_str())
    model = stages["model"]
    spell = [tuple(merge.split(" ") if isinstance(merge, str) else merge) for merge in model["merges"]]
    kept = {left + right for left, right in spell[:merges]}
    gone = {left + right for left, right in spell[merges:]} - kept
    # The vocabulary keeps its ids, so a token that is gone becomes one that no text spells.
    model["vocab"] = {f"\0{token}" if token in gone else token: id_ for token, id_ in model["vocab"].items()}
    # Nothing makes the parts of the others.
    model["merges"] = [list(merge) for merge in spell[:merges] if gone.isdisjoint(merge)]
    stages["post_processor"] = stages["truncation"] = stages["padding"] = None
    return Tokenizer.from_str(json.dumps(stages))


def check_curve(tokenizer: Tokenizer, texts: list[str], every: int = 1) -> None:
    counts = np.zeros(max(tokenizer.get_vocab().values()) + 1, np.int64)
    whole = Tokenizer.from_str(tokenizer.to_str())
    whole.post_processor = None
    whole.no_truncation()
    whole.no_padding()
    for text in texts:
        np.add.at(counts, whole.encode(text).ids, 1)
    curve = curve_of(whole, counts)
    assert curve is not None
    assert curve.inexact == 0
    points = list(zip(curve.merges.tolist(), curve.vocabulary.tolist(), curve.tokens.tolist(), strict=True))
    assert points[-1][1:] == (tokenizer.get_vocab_size(), counts.sum())
    for merges, size, tokens in points[::every]:
        fewer = cut(whole, merges)
        assert size == sum(not token.startswith("\0") for token in fewer.get_vocab())
        assert tokens == sum(len(fewer.encode(text).ids) for text in texts), merges


@pytest.mark.parametrize("make", [byte_level, whitespace_bpe, without_pre_tokenizer], ids=lambda make: make.__name__)
def test_curve_matches_encoding_with_the_first_merges(make: Any) -> None:
    check_curve(make(), TEXTS)


def test_curve_of_models_that_take_words_whole() -> None:
    # `abc` is listed with both splits, as files converted from ranks do; `cba` is no merge of its own text.
    tokens = ("b", "c"), ("a", "b"), ("a", "bc"), ("ab", "c"), ("c", "b"), ("b", "a"), ("c", "ba"), ("a", "a")
    tokenizer = letters("abc", *tokens[:3], *tokens[3:])
    tokenizer.model.ignore_merges = True
    check_curve(tokenizer, ["abc ab bc cba acba cbaa a abcabc bcba aab", "aaabc cb ba cba"])
    # `cba` comes before what it is cut into.
    tokenizer = letters("abc", ("c", "ba"), ("c", "b"), ("b", "a"))
    tokenizer.model.ignore_merges = True
    check_curve(tokenizer, ["cba cb ba cbac acba"])


def test_whole_words_that_are_listed_before_their_parts_are_told() -> None:
    tokenizer = letters("abc", ("a", "bc"), ("b", "c"))
    tokenizer.model.ignore_merges = True
    counts = np.zeros(5, np.int64)
    counts[tokenizer.encode("abc").ids] = 1
    curve = curve_of(tokenizer, counts)
    assert curve is not None
    assert (curve.inexact, curve.tokens.tolist()) == (1, [3, 3, 1])


def test_curve_of_tokens_that_are_listed_before_their_parts() -> None:
    check_curve_of_cut_lists(letters("abc", ("a", "bc"), ("b", "c"), ("abc", "a")), ["abc bc abca", "bca"])


@given(
    st.lists(
        st.tuples(st.text("ab", min_size=1, max_size=3), st.text("ab", min_size=1, max_size=3)), min_size=1, max_size=9
    ),
    st.lists(st.text("ab ", max_size=12), max_size=4),
)
def test_curve_of_any_merges(merges: list[tuple[str, str]], texts: list[str]) -> None:
    merges = list(dict.fromkeys(merges))
    tokens = dict.fromkeys(["a", "b", *itertools.chain(*((left, right, left + right) for left, right in merges))])
    tokenizer = Tokenizer(models.BPE({token: id_ for id_, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made = {left + right for left, right in merges}
    if all(part in made or len(part) == 1 for merge in merges for part in merge):
        check_curve_of_cut_lists(tokenizer, texts)


def check_curve_of_cut_lists(tokenizer: Tokenizer, texts: list[str]) -> None:
    """As `check_curve`, for merges that may name tokens that later merges make."""
    counts = np.zeros(max(tokenizer.get_vocab().values()) + 1, np.int64)
    for text in texts:
        np.add.at(counts, tokenizer.encode(text).ids, 1)
    curve = curve_of(tokenizer, counts)
    assert curve is not None
    model = json.loads(tokenizer.to_str())["model"]
    for merges, tokens in zip(curve.merges.tolist(), curve.tokens.tolist(), strict=True):
        first = [tuple(merge) for merge in model["merges"][:merges]]
        fewer = Tokenizer(models.BPE(model["vocab"], first))
        fewer.pre_tokenizer = tokenizer.pre_tokenizer
        assert tokens == sum(len(fewer.encode(text).ids) for text in texts)


@pytest.mark.parametrize("make", [unigram, wordpiece], ids=lambda make: make.__name__)
def test_models_without_merges_have_no_curve(make: Any, corpus: list[Path]) -> None:
    assert measure(make(), corpus).tokenizers[0].curve is None


def test_unreachable_tokens_are_those_that_no_text_gives() -> None:
    tokens = ("b", "c"), ("a", "b"), ("ab", "c"), ("c", "b"), ("c", "ba"), ("b", "a")
    tokenizer = letters("abc", *tokens)
    reach = reach_of(tokenizer, vocabulary_of(tokenizer))
    texts = ["".join(word) for length in range(1, 8) for word in itertools.product("abc", repeat=length)]
    given = {id_ for text in texts for id_ in tokenizer.encode(text).ids}
    assert {token.id for token in reach.unreachable} == set(tokenizer.get_vocab().values()) - given
    assert {token.token for token in reach.unreachable} == {"abc", "cba"}
    assert reach.undecided == ()


def test_bytes_that_are_in_no_text_are_unreachable() -> None:
    tokenizer = byte_level()
    vocabulary = vocabulary_of(tokenizer)
    reach = reach_of(tokenizer, vocabulary)
    never = {vocabulary.texts[token.id] for token in reach.unreachable}
    assert never >= {bytes([byte]) for byte in (0xC0, 0xC1, *range(0xF5, 0x100))}
    # All texts of one character, whose bytes are single tokens or merged.
    alone = Tokenizer.from_str(tokenizer.to_str())
    alone.post_processor = None
    alone.no_truncation()
    alone.no_padding()
    chars = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    given = set(np.unique(alone.encode_batch_arrays(chars).ids).tolist())
    assert {token.id for token in reach.unreachable}.isdisjoint(given)


def test_unigram_tokens_that_others_outdo_are_unreachable() -> None:
    pieces = [("<unk>", 0.0), ("a", -1.0), ("b", -1.0), ("ab", -3.0), ("ba", -1.5), ("aba", -9.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, 0))
    reach = reach_of(tokenizer, vocabulary_of(tokenizer))
    assert [token.token for token in reach.unreachable] == ["ab", "aba"]
    texts = ["".join(word) for length in range(1, 9) for word in itertools.product("ab", repeat=length)]
    assert {id_ for text in texts for id_ in tokenizer.encode(text).ids} == {1, 2, 4}


def test_words_that_are_too_long_are_unreachable(corpus: list[Path]) -> None:
    vocab = {token: id_ for id_, token in enumerate(["[UNK]", "a", "##a", "aaaaaaa", "##b", "A"])}
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=6))
    tokenizer.normalizer = normalizers.Lowercase()
    reach = reach_of(tokenizer, vocabulary_of(tokenizer))
    assert [(token.token, token.reason) for token in reach.unreachable] == [
        ("aaaaaaa", "longer than max_input_chars_per_word, which is 6")
    ]
    # The normalizer never lets `A` through, which nothing here proves.
    assert [tokenizer.id_to_token(id_) for id_ in reach.undecided] == ["A"]


@given(st.lists(st.text(st.sampled_from("a1.é東タЖ \n\u3000\u0301🦀ก"), max_size=8), max_size=6))
def test_scripts_match_naive(texts: list[str]) -> None:
    found = scripts_of(texts)
    expected: dict[str, list[int]] = {}
    labels = []
    for text in texts:
        words = words_of(text)
        if not words and text:
            row = expected.setdefault("white space only", [0, 0, 0])
            row[0] += len(text.encode())
            row[1] += len(text)
            labels += ["white space only"] * len(text)
        for start, end in words:
            name = script_of(text[start:end])
            row = expected.setdefault(name, [0, 0, 0])
            row[0] += len(text[start:end].encode())
            row[1] += end - start
            row[2] += 1
            labels += [name] * (end - start)
    names = script_names()
    rows = zip(found.script_bytes, found.script_characters, found.script_words, strict=True)
    assert {name: [*map(int, row)] for name, row in zip(names, rows, strict=True) if any(row)} == expected
    assert [names[label] for label in found.labels] == labels
    assert found.words.tolist() == [len(words_of(text)) for text in texts]
    assert found.bytes.tolist() == [len(text.encode()) for text in texts]


def test_languages_are_groups(corpus: list[Path], tmp_path: Path) -> None:
    tokenizer = whitespace_bpe()
    numbers = measure(tokenizer, corpus[1], group_by="meta.lang")
    assert numbers.languages is not None
    for group in numbers.languages:
        texts = [text for at, text in enumerate(TEXTS[3:]) if "ab"[at % 2] == group.name]
        assert (group.texts, group.bytes) == (len(texts), sum(len(text.encode()) for text in texts))
        assert group.tokens == (sum(naive(tokenizer, texts)["ids"].values()),)
    assert sum(group.bytes for group in numbers.languages) == numbers.corpus.bytes
    table = tmp_path / "table.csv"
    table.write_text("lang,text\nx,a b\ny,c\nx,d\n")
    numbers = measure(tokenizer, Csv(table), group_by="lang")
    assert [(group.name, group.texts) for group in numbers.languages or ()] == [("x", 2), ("y", 1)]


def test_several_tokenizers_stand_side_by_side(corpus: list[Path]) -> None:
    both = measure({"one": byte_level(), "two": unigram()}, corpus)
    alone = [measure(byte_level(), corpus), measure(unigram(), corpus)]
    assert [tokenizer.name for tokenizer in both.tokenizers] == ["one", "two"]
    for number, numbers in enumerate(alone):
        assert [group.tokens[number] for group in both.scripts] == [group.tokens[0] for group in numbers.scripts]
        assert both.tokenizers[number].text_lengths == numbers.tokenizers[0].text_lengths


def test_samples_slice_back_to_the_text(corpus: list[Path]) -> None:
    for make in ALL:
        for sample in measure(make(), corpus).samples:
            ends = [0]
            for token in sample.tokens[0]:
                assert ends[-1] <= token.start <= token.end <= len(sample.text)
                ends.append(token.end)


def test_a_second_run_gives_equal_bytes(corpus: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    pages = []
    for name, threads in (("a.html", 1), ("b.html", 4)):
        lexmill.report({"it": unigram(), "other": byte_level()}, corpus, num_threads=threads).save(tmp_path / name)
        pages.append(((tmp_path / name).read_bytes(), (tmp_path / name).with_suffix(".json").read_bytes()))
    assert pages[0] == pages[1]


def test_text_cannot_leave_its_place_in_the_page(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    path = tmp_path / "<b>.txt"
    path.write_text("</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)> " * 3)
    tokenizer = letters("".join(sorted(set(path.read_text()) - {" "})))
    page = lexmill.report({"<i>&": tokenizer}, path).to_html()
    outside = page[page.index("</style>") :]
    for evil in ("<script>alert", "<img", "<b>", "<i>", "<!--"):
        assert evil not in outside.replace("<!doctype", "").split("</head>", 1)[1]
    for name in ("numbers", "figures"):
        found = re.search(f'<script type="application/json" id="{name}">(.*?)</script>', page)
        assert found is not None
        json.loads(found[1])


def test_figures_have_the_numbers(corpus: list[Path]) -> None:
    pytest.importorskip("plotly")
    report = lexmill.report(byte_level(), corpus)
    found = re.search('<script type="application/json" id="figures">(.*?)</script>', report.to_html())
    assert found is not None
    figures = json.loads(found[1])
    (bars,) = figures["scripts"]["data"]
    for name, ratio in zip(bars["y"], bars["x"], strict=True):
        (group,) = [group for group in report.numbers.scripts if group.name == name]
        assert ratio == group.bytes / group.tokens[0]
    (line,) = figures["curve"]["data"]
    assert line["y"][-1] == report.numbers.corpus.bytes / report.numbers.tokenizers[0].tokens
    (texts,) = figures["text-lengths"]["data"]
    assert sum(texts["y"]) == len(TEXTS)


def test_an_empty_corpus_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(EmptyCorpusError, match="nothing to measure: 0 texts without a character in 1 files"):
        lexmill.report(byte_level(), tmp_path / "empty.txt")
    (tmp_path / "blank.jsonl").write_text('{"text": ""}\n')
    with pytest.raises(EmptyCorpusError, match="1 texts without a character"):
        lexmill.report(byte_level(), [tmp_path / "blank.jsonl"])


def test_broken_records_are_errors_or_left_out(tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text('{"text": "the cat", "lang": "en"}\n{"text": 1}\n')
    with pytest.raises(FormatError, match="line 2"):
        lexmill.report(byte_level(), path)
    source = JsonLines(path, on_error="skip")
    with pytest.warns(lexmill.errors.SkippedRecordsWarning, match="a record was left out"):
        assert lexmill.report(byte_level(), source).numbers.corpus.texts == 1
    with pytest.raises(OptionError, match="records that are skipped have no language"):
        lexmill.report(byte_level(), source, group_by="lang")
    path.write_text('{"text": "the cat"}\n')
    with pytest.raises(FormatError, match="no field `lang`"):
        lexmill.report(byte_level(), path, group_by="lang")
    with pytest.raises(FileError):
        lexmill.report(byte_level(), tmp_path / "absent.txt")


def test_what_has_no_fields_has_no_languages(corpus: list[Path]) -> None:
    for source in (Lines(corpus[0]), Documents(corpus[0])):
        with pytest.raises(OptionError, match="which has fields"):
            lexmill.report(byte_level(), source, group_by="lang")


def test_a_tokenizer_that_fails_writes_nothing(corpus: list[Path], tmp_path: Path) -> None:
    vocab = {"the": 0}
    tokenizer = Tokenizer(models.WordLevel(vocab, unk_token="absent"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    with pytest.raises(VocabError, match="absent"):
        lexmill.report(tokenizer, corpus)
    for wrong, message in (
        (Tokenizer(models.BPE({"a": 0}, [], dropout=0.5)), "dropout is 0.5"),
        (Tokenizer(models.Unigram([("a", 0.0)], alpha=0.5)), "alpha is 0.5"),
    ):
        with pytest.raises(OptionError, match=message):
            lexmill.report(wrong, corpus)
    with pytest.raises(OptionError, match="no tokenizer"):
        lexmill.report({}, corpus)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.txt", "second.jsonl"]


def test_numbers_need_no_plotly(corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    report = lexmill.report(byte_level(), corpus)
    with pytest.raises(LexmillError, match=r"lexmill\[report\]"):
        report.save(tmp_path / "out.html")
    assert not list(tmp_path.glob("out*"))
    report.save(tmp_path / "out.json")
    assert (tmp_path / "out.json").read_text(encoding="utf-8") == report.to_json()
    assert [path.name for path in tmp_path.glob("out*")] == ["out.json"]


def test_a_page_appears_whole_or_not_at_all(corpus: list[Path], tmp_path: Path) -> None:
    report = lexmill.report(byte_level(), corpus)
    with pytest.raises(FileError, match="cannot write"):
        report.save(tmp_path / "absent" / "report.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(FileError, match="cannot write"):
        report.save(tmp_path / "folder.json")
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".tmp")]


@pytest.mark.skipif(sys.platform == "win32", reason="files have no locks that tell litter, and links need rights")
def test_a_page_follows_links_and_removes_what_killed_writers_left(corpus: list[Path], tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    litter = tmp_path / "inner" / ".lexmill-1-0123456789abcdef.tmp"
    litter.write_bytes(b"left")
    (tmp_path / "report.json").symlink_to(tmp_path / "inner" / "numbers.json")
    report = lexmill.report(byte_level(), corpus)
    report.save(tmp_path / "report.json")
    assert (tmp_path / "report.json").is_symlink()
    assert (tmp_path / "inner" / "numbers.json").read_text(encoding="utf-8") == report.to_json()
    assert not litter.exists()


def test_progress_counts_bytes_and_may_stop(corpus: list[Path]) -> None:
    seen: list[tuple[Any, ...]] = []
    lexmill.report(byte_level(), corpus[0], on_progress=lambda *step: seen.append(step))
    size = corpus[0].stat().st_size
    assert [step[:4] for step in seen] == [("read", size, size, 0.0)]
    assert seen[0][4] is None or seen[0][4] > 1 << 20
    # A compressed file does not tell how much text there is.
    (corpus[0].parent / "first.txt.gz").write_bytes(gzip.compress(corpus[0].read_bytes()))
    lexmill.report(byte_level(), corpus[0].parent / "first.txt.gz", on_progress=lambda *step: seen.append(step))
    assert seen[1][1:4] == (size, 0, None)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lexmill.report(byte_level(), corpus, on_progress=stop)


def test_blocks_do_not_show(corpus: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = lexmill.report(byte_level(), corpus, group_by=None).to_json()
    monkeypatch.setattr("lexmill.reports.texts._BLOCK", 1)
    monkeypatch.setattr("lexmill.reports.texts._FEW", 1)
    assert lexmill.report(byte_level(), corpus).to_json() == whole


def test_report_is_shown_by_its_sizes(corpus: list[Path]) -> None:
    report = lexmill.report({"it": byte_level()}, os.fspath(corpus[0]))
    assert isinstance(report, Report)
    assert isinstance(report.numbers, Numbers)
    assert repr(report) == f"Report(it: 3 texts, {corpus[0].stat().st_size:,} bytes)"


@pytest.fixture
def small(tmp_path: Path) -> Report:
    (tmp_path / "corpus.txt").write_text("a b\n")
    return lexmill.report(Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a")), tmp_path / "corpus.txt")


def test_numbers_are_written_through_a_link(small: Report, tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to("numbers.json")
    for _ in range(2):
        small.save(link)
        assert link.is_symlink()
        assert json.loads((tmp_path / "numbers.json").read_text())["corpus"]["texts"] == 1
        (tmp_path / "numbers.json").write_text("{}")


def test_ids_too_large_to_count_by_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("a b\n")
    sparse = Tokenizer(models.WordLevel({"a": 0, "b": 2**32 - 1}, unk_token="a"))
    with pytest.raises(OptionError, match="the largest id is 4294967295 but must be at most 16777216"):
        lexmill.report(sparse, tmp_path / "corpus.txt")


def test_a_folder_is_no_page(small: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match=r"cannot write \.: it is a folder"):
        small.save(".")
