"""Published families of tokenizers encode as Hugging Face `tokenizers` does, on corpora and on generated text."""

# ruff: noqa: RUF001
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lexmill
from families import FAMILIES, REFUSED, tokenizer_json
from lexmill.errors import FormatError
from peers import CORPORA, assert_same_encoding, corpus_file, documents, tokenizer_file

pytestmark = pytest.mark.external

hf: Any = pytest.importorskip("tokenizers", reason="install the dependency group `peers`")

NAMES = [name for name in FAMILIES if name not in REFUSED]
PARTS = ("ids", "offsets", "word_ids")
# Documents a corpus, and generated texts a family.
SAMPLE = 6
TEXTS = 2_000 if settings.get_current_profile_name() == "thorough" else 30
# Texts at once: the other library's encodings of a whole corpus would not fit memory.
STEP = 256

ALPHABETS = [
    "abstvzéßжя",
    "ABSTZÉЖΣİ",
    "ǅǲᾈ",
    "ʰʹˈªー",
    "\u0301\u0323\u093f\u05b8\u0e31\u20dd",
    "0189",
    "٣४๑²½Ⅷ１",
    "日本中文",
    "のカｱ",
    "한국ㄱᄀ",
    "กาไทย",
    "שلم",
    "🙂👩🏽\u200d\ufe0f🇩",
    "$+=<>^|~©→√",
    '!?.,;:-()[]{}"#%&*@\\、。！“’—',
    "_/'`▁Ġ",
    " \t\u00a0\u3000\u2028\u0085\u200b",
    "\r\n",
]
WORDS = [
    *("'s", "'S", "'t", "'re", "'RE", "'ve", "'m", "'ll", "'lL", "'d", "'D", "''", "``", "don't", "WE'LL"),
    *("the", "The", "HTTPServer", "snake_case", "a/b", "//", "12,345.67", "##a", "e\u0301"),
    *("  ", "\r\n", "\n\n", " \n"),
]
CHARACTERS = st.sampled_from(ALPHABETS).flatmap(st.sampled_from)
RUNS = st.builds(str.__mul__, CHARACTERS, st.sampled_from([1, 1, 1, 2, 3, 4, 7, 16, 50]))
MIXTURES = st.sampled_from(ALPHABETS).flatmap(lambda alphabet: st.text(alphabet, min_size=1, max_size=8))
GENERATED = st.lists(st.one_of(RUNS, MIXTURES, st.sampled_from(WORDS), st.just(" ")), max_size=24).map("".join)


@dataclass(frozen=True)
class Pair:
    """Both libraries' tokenizers of a family, whose vocabularies no report of a failure should spell out."""

    name: str
    ours: Any = field(repr=False)
    theirs: Any = field(repr=False)


# Of module scope: a family's tests follow each other, and it is loaded once.
@pytest.fixture(scope="module", params=NAMES)
def pair(request: pytest.FixtureRequest) -> Pair:
    family = FAMILIES[request.param]
    text = tokenizer_json(family, tokenizer_file(family.vocabulary))
    return Pair(family.name, lexmill.Tokenizer.from_str(text), hf.Tokenizer.from_str(text))


def check(pair: Pair, texts: list[str]) -> None:
    """Compares the full result, and the ids alone, which are found in another way."""
    for start in range(0, len(texts), STEP):
        batch = texts[start : start + STEP]
        expected = pair.theirs.encode_batch(batch)
        for text, own, other in zip(batch, pair.ours.encode_batch(batch), expected, strict=True):
            assert_same_encoding(own, other, text, PARTS)
        assert pair.ours.encode_batch_ids(batch) == [encoding.ids for encoding in expected]


def test_sample_of_corpora_is_encoded_as_hugging_face(pair: Pair) -> None:
    for corpus in CORPORA:
        check(pair, documents(corpus_file(corpus), sample=SAMPLE))


@settings(max_examples=TEXTS)
@given(text=GENERATED)
@example(text="")
@example(text=" " * 50 + "x" + "\n" * 50)
def test_generated_text_is_encoded_as_hugging_face(pair: Pair, text: str) -> None:
    check(pair, [text])


@pytest.mark.slow
@pytest.mark.parametrize("corpus", CORPORA)
def test_whole_corpora_are_encoded_as_hugging_face(pair: Pair, corpus: str) -> None:
    check(pair, documents(corpus_file(corpus), sample=None))


@pytest.mark.parametrize("name", REFUSED)
def test_family_is_refused_with_the_reason(name: str) -> None:
    family = FAMILIES[name]
    with pytest.raises(FormatError) as raised:
        lexmill.Tokenizer.from_str(tokenizer_json(family, tokenizer_file(family.vocabulary)))
    assert REFUSED[name] in str(raised.value)
