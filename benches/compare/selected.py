"""The cases of README.md's table."""

from __future__ import annotations

# Job, tokenizer, corpus: families and tasks, not the cases that look best.
SELECTED = [
    ("encode-arrays", "gpt2", "english"),
    ("encode-arrays", "o200k_base", "multilingual"),
    ("encode-arrays", "bert-base-uncased", "multilingual"),
    ("encode-arrays", "t5-small", "multilingual"),
    ("encode-lists", "gpt2", "english"),
    ("encode-offsets", "gpt2", "english"),
    ("encode-one", "gpt2", "english"),
    ("train-bpe", "", "english"),
    ("train-unigram", "", "english"),
]
