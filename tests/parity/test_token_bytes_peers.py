"""The bytes of tokens equal the bytes in tiktoken, and the guesses of llguidance from a tokenizer's file."""

from __future__ import annotations

import base64
import json

import pytest

from lexmill import Tokenizer
from lexmill.reference.byte_level import CHAR_TO_BYTE
from peers import DATA, tokenizer_file

pytestmark = pytest.mark.external

BYTE_LEVEL = ["gpt2", "roberta-base", "whisper-tiny", "gpt-neox-20b", "falcon", "qwen2", "cl100k_base", "o200k_base"]
# A byte that llguidance keeps for itself, and an empty token that it gives a name.
LEFT_OUT = {b"\xff", b"\xff</w>", b""}


@pytest.mark.parametrize("name", BYTE_LEVEL)
def test_bytes_are_those_of_tiktoken(name: str) -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="install the dependency group `peers`")
    path = tokenizer_file(name)
    vocab = json.loads(path.read_text())["model"]["vocab"]
    ranks = {
        bytes(map(CHAR_TO_BYTE.__getitem__, token)): id_ for token, id_ in vocab.items() if {*token} <= {*CHAR_TO_BYTE}
    }
    peer = tiktoken.Encoding(name, pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={})
    listed = Tokenizer.from_file(str(path)).vocab_bytes()
    special = {token["id"] for token in json.loads(path.read_text())["added_tokens"]}
    for id_ in {*ranks.values()} - special:
        assert listed[id_] == peer.decode_single_token_bytes(id_)
    ids = [*ranks.values()][:: len(ranks) // 2000]
    ids = [id_ for id_ in ids if id_ not in special]
    assert Tokenizer.from_file(str(path)).decode_bytes(ids) == peer.decode_bytes(ids)


def test_bytes_are_those_of_a_tiktoken_file() -> None:
    path = DATA / "tokenizers/o200k_base/o200k_base.tiktoken"
    if not path.is_file():
        pytest.skip(f"{path} is absent")
    listed = Tokenizer.from_file(str(tokenizer_file("o200k_base"))).vocab_bytes()
    for line in path.read_bytes().splitlines():
        token, rank = line.split()
        assert listed[int(rank)] == base64.b64decode(token)


@pytest.mark.parametrize("name", [*BYTE_LEVEL, "clip-vit", "mistral-v1", "mistral-v3", "phi-3-mini"])
def test_bytes_are_the_guesses_of_llguidance(name: str) -> None:
    llguidance = pytest.importorskip("llguidance")
    path = tokenizer_file(name)
    peer = llguidance.LLTokenizer(path.read_text())
    listed = Tokenizer.from_file(str(path)).vocab_bytes()
    for id_, own in enumerate(listed[: peer.vocab_size]):
        if own is not None and own not in LEFT_OUT:
            assert own == peer.decode_bytes([id_])
