"""Laws of tokenizers that make spaces visible, by a normalizer or by Metaspace."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lexmill import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

FRAGMENTS = [
    "a",
    "ab",
    "b",
    " ",
    "   ",
    "é",
    "e\u0301",
    "\u0301",
    "日",
    "👨\u200d👩\u200d👧",
    "\r\n",
    "\t",
    "\0",
    "<s>",
]
TEXTS = st.one_of(st.lists(st.sampled_from(FRAGMENTS), max_size=20).map("".join), st.text(max_size=20)).filter(
    # A visible space in the text comes back as a space, and what looks like a byte token as that byte.
    lambda text: "▁" not in text and "<0x" not in text
)


def model() -> models.BPE:
    tokens = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "b", "é", "ab", "▁a", "▁▁", "▁ab"]
    merges = [("a", "b"), ("▁", "a"), ("▁", "▁"), ("▁", "ab")]
    vocab = {token: at for at, token in enumerate(tokens)}
    return models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)


def normalizing() -> Tokenizer:
    tokenizer = Tokenizer(model())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(steps)
    return tokenizer


def metaspace(*, split: bool) -> Tokenizer:
    tokenizer = Tokenizer(model())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=split)
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="never")])
    return tokenizer


TOKENIZERS = st.sampled_from([normalizing(), metaspace(split=True), metaspace(split=False)])


@given(tokenizer=TOKENIZERS, text=TEXTS)
def test_decode_inverts_encode(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


@given(tokenizer=TOKENIZERS, text=TEXTS)
def test_offsets_slice_back_to_the_token(tokenizer: Tokenizer, text: str) -> None:
    encoding = tokenizer.encode(text)
    reached = 0
    for index, (token, (start, end)) in enumerate(zip(encoding.tokens, encoding.offsets, strict=True)):
        assert start <= reached <= end
        reached = end
        if not token.startswith("<0x"):
            seen = text[start:end].replace(" ", "▁")
            # The prefix lies on the first character.
            assert seen == token or (index < 2 and (f"▁{seen}" == token or token == "▁"))
    assert reached == len(text)


@given(tokenizer=TOKENIZERS, texts=st.lists(TEXTS, max_size=4))
def test_all_calls_give_the_same_ids(tokenizer: Tokenizer, texts: list[str]) -> None:
    ids = [tokenizer.encode(text).ids for text in texts]
    assert [encoding.ids for encoding in tokenizer.encode_batch(texts)] == ids
    assert tokenizer.encode_batch_ids(texts) == ids
    assert list(tokenizer.count_tokens(texts)) == [len(row) for row in ids]


@given(text=TEXTS, scheme=st.sampled_from(["always", "first", "never"]))
def test_metaspace_pieces_are_the_unsplit_text(text: str, scheme: str) -> None:
    split, whole = (pre_tokenizers.Metaspace("▁", scheme, split) for split in (True, False))
    pieces = split.pre_tokenize_str(text)
    assert "".join(piece for piece, _ in pieces) == "".join(piece for piece, _ in whole.pre_tokenize_str(text))
    assert all("▁" not in piece[1:] for piece, _ in pieces)


@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_pieces_between_added_tokens_are_encoded_on_their_own(texts: list[str]) -> None:
    tokenizer = normalizing()
    texts = [text.replace("<s>", "") for text in texts]
    expected = [tokenizer.encode(text).tokens for text in texts]
    tokenizer.add_tokens([AddedToken("<s>", normalized=False)])
    joined = [token for row in expected for token in ["<s>", *row]][1:]
    assert tokenizer.encode("<s>".join(texts)).tokens == joined
