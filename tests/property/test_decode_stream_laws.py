"""A stream gives the text of all ids, step by step as the reference does, whatever the decoder and the ids."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from random import Random

import pytest

from lexmill import Tokenizer, decoders, models
from lexmill.decoders import DecodeStream
from lexmill.reference import byte_level
from lexmill.reference.decode_stream import DecodeStream as Reference
from lexmill.reference.tokenizer import Tokenizer as ReferenceTokenizer

WORDS = [
    "a", "</s>", "▁b", "▁", "##c", "##", "<0xC3>", "<0xA9>", "<0xE4>", "<0x0A>", "|", "<pad>", "b</w>", "x</w>y",
    " n't", "\ufffd", "é", "Ã", "©", "ä", "½", "ł", "ðŁ", "ĳį", "", "do not", "</w>", "Ġa", "aa", "▁▁aä",
]  # fmt: skip
LLAMA = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]


def sentencepiece(**options: bool) -> decoders.Decoder:
    return decoders.SentencePiece("a", byte_fallback=True, **options)


BY_TOKEN: list[Callable[[], decoders.Decoder | None]] = [
    lambda: None,
    decoders.ByteLevel,
    decoders.WordPiece,
    lambda: decoders.WordPiece(cleanup=False),
    decoders.Metaspace,
    lambda: decoders.Metaspace("▁", "never"),
    decoders.CTC,
    lambda: decoders.CTC(cleanup=False),
    decoders.BPEDecoder,
    decoders.ByteFallback,
    decoders.Fuse,
    lambda: decoders.Strip("a", 1, 1),
    lambda: decoders.Sequence(LLAMA),
    lambda: decoders.Sequence([decoders.CTC(), decoders.Metaspace()]),
    lambda: decoders.Sequence([decoders.Fuse(), decoders.Strip("a", 2, 3), decoders.Metaspace()]),
    lambda: decoders.Sequence([decoders.ByteLevel(), decoders.WordPiece(cleanup=False)]),
    lambda: decoders.Sequence([decoders.Strip("a", 1, 1), decoders.WordPiece()]),
    lambda: decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteLevel(), decoders.Strip(" ", 1, 2)]),
    sentencepiece,
    lambda: sentencepiece(remove_extra_whitespaces=False),
    lambda: sentencepiece(add_dummy_prefix=False),
]


class Spaced:
    """A decoder of a caller's own."""

    def decode_chain(self, tokens: list[str]) -> list[str]:
        return [token.replace("▁", " ") for token in tokens]


BY_WINDOW: list[Callable[[], decoders.Decoder]] = [
    lambda: decoders.Decoder.custom(Spaced()),
    lambda: decoders.Sequence([decoders.Fuse(), decoders.Replace("c|", "!")]),
    lambda: decoders.Sequence([decoders.Fuse(), decoders.ByteFallback()]),
]


def tokenizer(decoder: decoders.Decoder | None) -> Tokenizer:
    made = Tokenizer(models.WordLevel({word: id_ for id_, word in enumerate(WORDS)}, unk_token="a"))
    if decoder is not None:
        made.decoder = decoder
    made.add_special_tokens(["</s>"])
    return made


def groups(ids: list[int], random: Random) -> list[list[int]]:
    """The ids as they come, mostly one by one."""
    found = []
    while ids:
        several = random.choice([1, 1, 1, 2])
        found.append(ids[:several])
        ids = ids[several:]
    return found


def steps(stream: DecodeStream, made: Tokenizer, ids: list[list[int]], random: Random) -> list[str | None]:
    """The texts of all steps and of the end; on the way the stream is sometimes copied."""
    found: list[str | None] = []
    for group in ids:
        found.append(stream.step(made, group[0] if len(group) == 1 else group))
        if random.random() < 0.2:
            stream = random.choice([lambda it: pickle.loads(pickle.dumps(it)), copy.deepcopy, copy.copy])(stream)
    return [*found, stream.finish(made)]


def common(left: str, right: str) -> int:
    """Characters that two texts begin with alike."""
    return next(
        (at for at, (one, other) in enumerate(zip(left, right, strict=False)) if one != other),
        min(len(left), len(right)),
    )


def joined(found: list[str | None]) -> str:
    return "".join(text for text in found if text is not None)


@pytest.mark.parametrize("make", BY_TOKEN)
def test_stream_matches_naive(make: Callable[[], decoders.Decoder | None]) -> None:
    decoder = make()
    made = tokenizer(decoder)
    reference = ReferenceTokenizer.from_dict(json.loads(made.to_str()))
    # Of a run with a wrong byte after a complete character a stream gives that character.
    decode = Reference(reference).tokenizer.decode if "ByteFallback" in repr(decoder) else made.decode
    random = Random(repr(decoder))
    for _ in range(150):
        ids = random.choices(range(len(WORDS)), k=random.randrange(12))
        skip, cut = random.random() < 0.5, random.choice([0, 0, random.randrange(len(ids) + 1)])
        given = groups(ids[cut:], random)
        naive = Reference(reference, ids[:cut], skip)
        expected = [*map(naive.step, given), naive.finish()]
        found = steps(DecodeStream(ids[:cut], skip), made, given, random)
        assert found == expected, ([WORDS[id_] for id_ in ids], cut)
        text, before = decode(ids, skip), decode(ids[:cut], skip)
        assert joined(found) == text[common(before, text) :], ids


@pytest.mark.parametrize("make", BY_WINDOW)
def test_a_window_gives_the_text_of_all_ids(make: Callable[[], decoders.Decoder]) -> None:
    decoder = make()
    made, random = tokenizer(decoder), Random(1)
    for _ in range(150):
        ids = random.choices([WORDS.index(word) for word in ("a", "</s>", "▁b", "é", "\ufffd", "", "aa")], k=9)
        skip = random.random() < 0.5
        found = steps(DecodeStream([], skip), made, groups(ids, random), random)
        assert joined(found) == made.decode(ids, skip), ids


def test_any_bytes_are_given_in_the_end() -> None:
    alphabet = byte_level.alphabet()
    made = Tokenizer(models.BPE({char: id_ for id_, char in enumerate(alphabet)}, []))
    made.decoder = decoders.ByteLevel()
    random = Random(1)
    choices = b"a\x80\x8f\x90\xa0\xbf\xc1\xc3\xe0\xe4\xed\xef\xf0\xf4\xff"
    for _ in range(2000):
        data = bytes(random.choices(choices, k=random.randrange(10)))
        ids = [alphabet.index(byte_level.BYTE_TO_CHAR[byte]) for byte in data]
        found = steps(DecodeStream(), made, groups(ids, random), random)
        assert joined(found) == made.decode(ids) == data.decode(errors="replace"), data
