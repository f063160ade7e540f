"""Streams of published tokenizers: step by step the texts of Hugging Face, and in the end the text of all ids."""

from __future__ import annotations

from random import Random

import pytest

from lexmill import Tokenizer
from lexmill.decoders import DecodeStream
from peers import DATA, HARD, tokenizer_file

pytestmark = pytest.mark.external
peer = pytest.importorskip("tokenizers", reason="install the dependency group `peers`")

NAMES = sorted(path.parent.name for path in DATA.glob("tokenizers/*/tokenizer.json"))
TEXTS = [
    "Hello, world! Café naïve\n\n  two  spaces 'tis don't <s> x</s> ",
    "\u4f60\u597d\uff0c世界。日本語のテキスト 안녕하세요 ",
    "Привет мир שלום عالم नमस्ते สวัสดี ",
    "👍🏽 👩‍👩‍👧‍👦🇩🇪 🥳🎉text🙂",
    *(text[:400] for text in HARD),
]


@pytest.fixture(scope="module", params=NAMES or ["gpt2"])
def pair(request: pytest.FixtureRequest) -> tuple[Tokenizer, object]:
    path = str(tokenizer_file(request.param))
    return Tokenizer.from_file(path), peer.Tokenizer.from_file(path)


@pytest.mark.parametrize("skip", [True, False])
def test_steps_are_those_of_hugging_face(pair: tuple[Tokenizer, object], skip: bool) -> None:
    ours, theirs = pair
    for text in TEXTS:
        if "\ufffd" in text:
            continue
        ids = ours.encode(text).ids
        # Hugging Face repeats a prompt that ends inside a character.
        whole = next((at for at in (2, 3, 1) if not ours.decode(ids[:at], skip).endswith("\ufffd")), 0)
        for at in (0, whole):
            found, expected = DecodeStream(ids[:at], skip), peer.decoders.DecodeStream(ids[:at], skip)
            steps = [found.step(ours, id_) for id_ in ids[at:]]
            assert steps == [expected.step(theirs, id_) for id_ in ids[at:]], (text, at)
            assert found.finish(ours) == ""
            if not at:
                assert "".join(filter(None, steps)) == ours.decode(ids, skip)


def test_steps_and_the_end_are_the_text_of_any_ids(pair: tuple[Tokenizer, object]) -> None:
    ours, _ = pair
    random = Random(1)
    common = ours.encode(TEXTS[0] + TEXTS[1] + TEXTS[3]).ids
    has_runs = '"ByteFallback"' in ours.to_str()
    for _ in range(100):
        ids = random.choices(range(ours.get_vocab_size()), k=8) + random.choices(common, k=8)
        random.shuffle(ids)
        if has_runs:
            # Of a run with a wrong byte after a complete character a stream gives that character.
            ids = [id_ for id_ in ids if not (ours.id_to_token(id_) or "").startswith("<0x")]
        for skip in (True, False):
            stream = DecodeStream(skip_special_tokens=skip)
            steps = [stream.step(ours, id_) or "" for id_ in ids]
            assert "".join(steps) + stream.finish(ours) == ours.decode(ids, skip)
