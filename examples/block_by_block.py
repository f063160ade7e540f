"""Three tokenizers built block by block, as BERT, GPT-2 and XLNet have them, each wrapped for transformers.

A block is a stage: normalizer, pre-tokenizer, model, post-processor, decoder.
"""

from __future__ import annotations

import argparse
import tempfile

from lexmill import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from shared import heading, must_equal, prose, put_lexmill_under_transformers, row

SAMPLE = "Let's  test this naïve tokenizer."
PAIR = "On two sentences?"
SIZE = 4000
# The tokens that are special, by their names in transformers.
BERT = {f"{name}_token": f"[{name.upper()}]" for name in ["pad", "unk", "cls", "sep", "mask"]}
GPT2 = {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"}
XLNET = {f"{name}_token": f"<{name}>" for name in ["unk", "cls", "sep", "pad", "mask"]}
XLNET.update(bos_token="<s>", eos_token="</s>")


def learn(tokenizer: Tokenizer, trainer: trainers.Trainer, special: dict[str, str], saved: str | None) -> None:
    """Trains the model, or takes that of a saved tokenizer, which knows its special tokens by their ids."""
    if saved is None:
        tokenizer.train_from_iterator(prose(), trainer)
    else:
        tokenizer.model = Tokenizer.from_file(saved).model
        tokenizer.add_special_tokens(list(special.values()))


def build_bert(saved: str | None) -> Tokenizer:
    """WordPiece; text is lower-cased and loses its accents, and [CLS] and [SEP] go around it."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    clean = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    stages = [clean, normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]
    tokenizer.normalizer = normalizers.Sequence(stages)
    split = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(split)
    trainer = trainers.WordPieceTrainer(vocab_size=SIZE, special_tokens=list(BERT.values()), show_progress=False)
    learn(tokenizer, trainer, BERT, saved)
    vocab = tokenizer.get_vocab()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(token, vocab[token]) for token in ("[CLS]", "[SEP]")],
    )
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    return tokenizer


def build_gpt2(saved: str | None) -> Tokenizer:
    """BPE over bytes: nothing is rewritten, nothing is unknown, nothing is added."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    learn(tokenizer, trainer, GPT2, saved)
    # A token keeps the blank before its word, and so do its offsets.
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def build_xlnet(saved: str | None) -> Tokenizer:
    """Unigram with visible spaces; <sep> and <cls> go to the end, and padding to the front."""
    tokenizer = Tokenizer(models.Unigram())
    quotes = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    forms = [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Replace(Regex(" {2,}"), " ")]
    tokenizer.normalizer = normalizers.Sequence(quotes + forms)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=SIZE, special_tokens=list(XLNET.values()), unk_token="<unk>", show_progress=False
    )
    learn(tokenizer, trainer, XLNET, saved)
    vocab = tokenizer.get_vocab()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A:0 <sep>:0 <cls>:2",
        pair="$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2",
        special_tokens=[(token, vocab[token]) for token in ("<sep>", "<cls>")],
    )
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def show(kind: str, tokenizer: Tokenizer, text: str, **options: str) -> None:
    """Shows what each block does, and compares the wrapped tokenizer with the bare one."""
    from transformers import PreTrainedTokenizerFast

    heading(kind)
    normalized = text if tokenizer.normalizer is None else tokenizer.normalizer.normalize_str(text)
    row("normalized", [normalized])
    words = [] if tokenizer.pre_tokenizer is None else tokenizer.pre_tokenizer.pre_tokenize_str(normalized)
    row("pre-tokens", [word for word, _ in words])
    encoding = tokenizer.encode(text)
    row("tokens", encoding.tokens)
    row("ids", encoding.ids, " ")
    pair = tokenizer.encode(text, PAIR)
    row("pair", pair.tokens)
    row("segments", pair.type_ids, " ")
    row("decoded", [tokenizer.decode(encoding.ids)])

    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **options)
    must_equal("backends", type(fast.backend_tokenizer).__module__, "lexmill")
    must_equal("ids", fast(text)["input_ids"], encoding.ids)
    must_equal("ids of the pair", fast(text, PAIR)["input_ids"], pair.ids)
    if fast.pad_token is not None:
        row("padded", fast([text, PAIR], padding=True)["attention_mask"][1], " ")
    with tempfile.TemporaryDirectory() as folder:
        fast.save_pretrained(folder)
        loaded = PreTrainedTokenizerFast.from_pretrained(folder)
    must_equal("ids after saving", loaded(text, PAIR)["input_ids"], pair.ids)
    row("wrapped", ["the same ids", "also saved and loaded"])


def main() -> None:
    """Builds and shows the three tokenizers."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    for name in ("bert", "gpt2", "xlnet"):
        parser.add_argument(
            f"--{name}", metavar="FILE", help="a tokenizer.json whose model is used; else one is trained"
        )
    parser.add_argument("--encode", default=SAMPLE, metavar="TEXT", help="the text that is shown")
    given = parser.parse_args()
    put_lexmill_under_transformers()
    show("BERT: WordPiece", build_bert(given.bert), given.encode, **BERT)
    show("GPT-2: BPE", build_gpt2(given.gpt2), given.encode, **GPT2)
    show("XLNet: Unigram", build_xlnet(given.xlnet), given.encode, padding_side="left", **XLNET)


if __name__ == "__main__":
    main()
