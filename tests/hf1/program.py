"""A program for `tokenizers` 1.0, which test_program.py runs with both packages: `program.py TOKENIZER_JSON`."""

from __future__ import annotations

import json
import pickle
import sys

import tokenizers
from tokenizers import Padding, Tokenizer, Truncation


def main(path: str) -> None:
    """Prints all results as JSON."""
    tokenizer = Tokenizer.from_file(path)
    tokenizer.padding = Padding(direction="left", pad_to_multiple_of=8)
    tokenizer.truncation = Truncation(max_length=12)
    texts = ["Hello, world!", ("What is it?", "A tokenizer, as ever."), "", "日本語 " * 20]
    batch = tokenizer.encode_batch(texts)
    copied = pickle.loads(pickle.dumps(tokenizer))
    results = {
        "version": tokenizers.__version__,
        "names": [name for name in tokenizers.__all__ if name != "CompiledTokenizer"],
        "limits": [repr(tokenizer.padding), repr(tokenizer.truncation)],
        "batch": [repr(encoding) for encoding in batch],
        "arrays": [encoding.ids_array.tolist() for encoding in batch],
        "decoded": [tokenizer.decode(encoding) for encoding in batch],
        "tokens": tokenizer.tokenize(texts[1], padding=None, add_special_tokens=False),
        "copy": copied.encode_batch(texts) == batch,
        "pickled": pickle.loads(pickle.dumps(batch)) == batch,
        "modules": sorted(name for name in sys.modules if name.partition(".")[0] == "tokenizers"),
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
