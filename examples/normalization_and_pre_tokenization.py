"""What happens to a text before the model sees it: normalizers rewrite it, pre-tokenizers cut it, offsets lead back."""

from __future__ import annotations

import argparse

from lexmill import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from shared import heading, must_equal, row, train

REWRITTEN = "Crème brûlée  №5: \ufb01ne, naïve CAFÉS!"
CUT = "It's 7  o'clock, isn't it?"

NORMALIZERS: dict[str, normalizers.Normalizer] = {
    "NFD": normalizers.NFD(),
    "NFKC": normalizers.NFKC(),
    "Lowercase": normalizers.Lowercase(),
    "NFD, StripAccents": normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]),
    "Replace": normalizers.Replace(Regex(" +"), " "),
    "BERT, uncased": normalizers.BertNormalizer(lowercase=True),
    "BERT, cased": normalizers.BertNormalizer(lowercase=False),
    "T5, XLNet": normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]),
}
PRE_TOKENIZERS: dict[str, pre_tokenizers.PreTokenizer] = {
    "WhitespaceSplit": pre_tokenizers.WhitespaceSplit(),
    "Whitespace": pre_tokenizers.Whitespace(),
    "BERT": pre_tokenizers.BertPreTokenizer(),
    "GPT-2": pre_tokenizers.ByteLevel(add_prefix_space=False),
    "T5, XLNet": pre_tokenizers.Metaspace(),
    "Punctuation": pre_tokenizers.Punctuation(),
    "Digits, spaces": pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.WhitespaceSplit()]),
    "Split": pre_tokenizers.Split(Regex(r"\s+"), "merged_with_previous"),
}


def show_normalizers(text: str) -> None:
    """Each normalizer on the same text; code points that look alike are told apart by their number."""
    heading("Normalizers")
    row("the text", [text, f"{len(text)} characters"])
    for name, stage in NORMALIZERS.items():
        normalized = stage.normalize_str(text)
        row(name, [normalized, f"{len(normalized)} characters"])


def show_pre_tokenizers(text: str) -> None:
    """Each pre-tokenizer on the same text, and whether the text could be put together again from what it cuts."""
    heading("Pre-tokenizers")
    row("the text", [text])
    for name, stage in PRE_TOKENIZERS.items():
        words = stage.pre_tokenize_str(text)
        covered = {place for _, (start, end) in words for place in range(start, end)}
        lost = len(text) - len(covered)
        row(name, [*(word for word, _ in words), f"({lost} characters lost)" if lost else "(nothing lost)"])
    row("spans of BERT", [span for _, span in PRE_TOKENIZERS["BERT"].pre_tokenize_str(text)], " ")


def show_both(text: str) -> None:
    """A normalizer and a pre-tokenizer in a row: words of rewritten text, at their places in the original text."""
    heading("Both, with offsets into the original text")
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = NORMALIZERS["BERT, uncased"], PRE_TOKENIZERS["BERT"]
    tokenizer.train_from_iterator([text], trainers.WordLevelTrainer(special_tokens=["[UNK]"], show_progress=False))
    encoding = tokenizer.encode(text)
    for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
        row(token, [f"{start} to {end}", repr(text[start:end])])
    # The stages one by one give what the tokenizer gives.
    normalized = NORMALIZERS["BERT, uncased"].normalize_str(text)
    must_equal("words", [word for word, _ in PRE_TOKENIZERS["BERT"].pre_tokenize_str(normalized)], encoding.tokens)


def show_round_trip(text: str) -> None:
    """Byte-level text can be decoded to the very text it came from, whatever the characters."""
    heading("There and back")
    trainer = trainers.BpeTrainer(initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer = train([text], models.BPE(), PRE_TOKENIZERS["GPT-2"], trainer)
    tokenizer.decoder = decoders.ByteLevel()
    decoded = tokenizer.decode(tokenizer.encode(text).ids)
    must_equal("texts", decoded, text)
    row("decoded", [decoded])


def show_file(path: str, texts: list[str]) -> None:
    """The stages of a saved tokenizer, and its tokens."""
    tokenizer = Tokenizer.from_file(path)
    heading(f"The tokenizer of {path}")
    row("normalizer", [type(tokenizer.normalizer).__name__])
    row("pre-tokenizer", [type(tokenizer.pre_tokenizer).__name__])
    for text in texts:
        encoding = tokenizer.encode(text)
        row("text", [text])
        if tokenizer.normalizer is not None:
            row("normalized", [tokenizer.normalizer.normalize_str(text)])
        row("tokens", encoding.tokens)
        row("offsets", encoding.offsets, " ")
        row("words", encoding.word_ids, " ")


def main() -> None:
    """Shows normalizers and pre-tokenizers, and those of saved tokenizers."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("texts", nargs="*", metavar="TEXT", help="texts to rewrite and to cut; else two of its own")
    parser.add_argument("--tokenizer", action="append", default=[], metavar="FILE", help="a tokenizer.json")
    given = parser.parse_args()
    for text in given.texts or [REWRITTEN]:
        show_normalizers(text)
        show_both(text)
        show_round_trip(text)
    for text in given.texts or [CUT]:
        show_pre_tokenizers(text)
    for path in given.tokenizer:
        show_file(path, given.texts or [REWRITTEN, CUT])


if __name__ == "__main__":
    main()
