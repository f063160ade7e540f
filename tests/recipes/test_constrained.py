"""Special tokens in the lists of bytes that libraries for constrained decoding take."""

from __future__ import annotations

from typing import Any

import pytest

from lexmill import Tokenizer

END = "<|end|>"
# The text of the special token, which other tokens spell too.
REGEX = r"<\|end\|>(the|mat)"


@pytest.fixture
def with_end(tokenizer: Tokenizer) -> Tokenizer:
    made = Tokenizer.from_str(tokenizer.to_str())
    made.add_special_tokens([END])
    return made


@pytest.mark.parametrize("is_special", [False, True])
def test_llguidance_takes_a_special_token_for_its_text_unless_told(with_end: Tokenizer, is_special: bool) -> None:
    llguidance = pytest.importorskip("llguidance")
    end = with_end.token_to_id(END)

    class Wrapped:
        eos_token_id, bos_token_id = end, None
        tokens = with_end.vocab_bytes()
        special_token_ids = [end] if is_special else []

        def __call__(self, text: bytes) -> Any:
            return with_end.encode_batch_ids([text], errors="replace", add_special_tokens=False)[0]

    made = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Wrapped()))
    grammar = llguidance.LLMatcher.grammar_from_regex(REGEX)
    assert llguidance.LLMatcher(made, grammar, log_level=0).consume_token(end) is not is_special
    matcher = llguidance.LLMatcher(made, grammar, log_level=0)
    spelled = [with_end.token_to_id(character) for character in END]
    assert matcher.consume_tokens([*spelled, with_end.token_to_id("mat")])
    assert matcher.is_accepting()


def test_outlines_core_matches_text_without_special_tokens(with_end: Tokenizer) -> None:
    outlines_core = pytest.importorskip("outlines_core")
    end = with_end.token_to_id(END)
    by_bytes: dict[bytes, list[int]] = {}
    for id, token in enumerate(with_end.vocab_bytes()):
        if token and id != end:
            by_bytes.setdefault(token, []).append(id)
    index = outlines_core.Index(REGEX, outlines_core.Vocabulary(end, by_bytes))
    guide = outlines_core.Guide(index)
    assert end not in guide.get_tokens()
    for character in END:
        guide.advance(with_end.token_to_id(character))
    guide.advance(with_end.token_to_id("mat"))
    assert guide.is_finished()
    with pytest.raises(ValueError, match="EOS token"):
        outlines_core.Vocabulary(end, {**by_bytes, END.encode(): [end]})


def test_xgrammar_matches_text_without_special_tokens(with_end: Tokenizer) -> None:
    xgrammar = pytest.importorskip("xgrammar", reason="xgrammar is not installed: group `loaders`")
    with_end.add_special_tokens(["<|more|>"])
    end, more = (with_end.token_to_id(token) for token in (END, "<|more|>"))
    special = {end, more}
    tokens = [b"" if id in special else token for id, token in enumerate(with_end.vocab_bytes())]
    # A model has more rows than the tokenizer has tokens.
    sizes = {"vocab_size": len(tokens) + 7, "stop_token_ids": [end]}
    info = xgrammar.TokenizerInfo(tokens, xgrammar.VocabType.RAW, **sizes)
    assert info.decoded_vocab[: len(tokens)] == tokens
    assert more in info.special_token_ids
    matcher = xgrammar.GrammarMatcher(xgrammar.GrammarCompiler(info).compile_regex(REGEX))
    mask = xgrammar.allocate_token_bitmask(1, info.vocab_size)

    def allowed() -> list[int]:
        matcher.fill_next_token_bitmask(mask)
        bits = mask[0].tolist()
        return [id for id in range(info.vocab_size) if bits[id // 32] >> id % 32 & 1]

    assert allowed() == [id for id, token in enumerate(tokens) if token and END.encode().startswith(token)]
    assert not matcher.accept_token(end)
    for character in END:
        assert matcher.accept_token(with_end.token_to_id(character))
    assert allowed() == sorted(with_end.token_to_id(token) for token in ("t", "th", "the", "m", "mat"))
    assert matcher.accept_token(with_end.token_to_id("mat"))
    assert allowed() == [end]
    assert matcher.accept_token(end)
    assert matcher.is_terminated()
    # A special token that keeps its text in the list may be chosen where the grammar asks for the text.
    spelled = xgrammar.TokenizerInfo(with_end.vocab_bytes(), xgrammar.VocabType.RAW, **sizes)
    grammar = xgrammar.GrammarCompiler(spelled).compile_regex(r"<\|more\|>")
    assert xgrammar.GrammarMatcher(grammar).accept_token(more)
