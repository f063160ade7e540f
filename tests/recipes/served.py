"""A tokenizer as vLLM and SGLang use it: `served.py FOLDER` prints the results as JSON.

Both servers load a tokenizer of transformers, subclass and copy it, and decode answers token by token: vLLM by a
`DecodeStream` on the backend of the tokenizer, SGLang by the difference of two calls of `batch_decode`.
"""

from __future__ import annotations

import copy
import json
import sys
from typing import Any

import tokenizers
import tokenizers.decoders
from transformers import AutoTokenizer, PreTrainedTokenizerFast

PROMPT = "the cat sat"
ANSWER = " on the mat 🐈 é<|end|><|end|> the"


def cached(tokenizer: Any) -> Any:
    """A copy of a subclass whose vocabulary is not computed again."""
    vocab = tokenizer.get_vocab()
    kind = type("Cached", (type(tokenizer),), {"get_vocab": lambda self: vocab, "__len__": lambda self: len(vocab)})
    made = copy.copy(tokenizer)
    made.__class__ = kind
    return made


def streamed(tokenizer: Any, prompt: list[int], answer: list[int], *, skip: bool) -> list[str | None]:
    """The texts of the steps of a `DecodeStream` that has begun with the prompt."""
    backend = tokenizer._tokenizer
    # vLLM keeps this table on the backend, if special tokens are not skipped.
    backend.added_token_ids = {id: token.content for id, token in backend.get_added_tokens_decoder().items()}
    stream = tokenizers.decoders.DecodeStream(ids=prompt, skip_special_tokens=skip)
    return [stream.step(backend, id) for id in answer]


def differences(tokenizer: Any, ids: list[int]) -> list[str]:
    """The new text of each id: the text of a window of ids without the text of its beginning."""
    begin, read, texts = 0, 0, []
    for end in range(1, len(ids) + 1):
        before, after = tokenizer.batch_decode([ids[begin:read], ids[begin:end]], skip_special_tokens=True)
        if after.endswith("\ufffd"):
            continue
        texts.append(after[len(before) :])
        begin, read = read, end
    return texts


def main(folder: str) -> None:
    loaded = AutoTokenizer.from_pretrained(folder)
    tokenizer = cached(loaded)
    # Copies for threads, and stages that SGLang takes from the file again.
    pool = [copy.deepcopy(loaded) for _ in range(2)]
    raw = tokenizers.Tokenizer.from_file(f"{folder}/tokenizer.json")
    loaded._tokenizer.pre_tokenizer, loaded._tokenizer.decoder = raw.pre_tokenizer, raw.decoder
    prompt, answer = tokenizer(PROMPT)["input_ids"], tokenizer(ANSWER)["input_ids"]
    found = {
        "is fast": isinstance(tokenizer, PreTrainedTokenizerFast),
        "ids": [one(PROMPT)["input_ids"] for one in (loaded, tokenizer, *pool)],
        "truncated": tokenizer(PROMPT, truncation=True, max_length=2)["input_ids"],
        "streamed": [streamed(tokenizer, prompt, answer, skip=skip) for skip in (True, False)],
        "differences": differences(tokenizer, answer),
    }
    print(json.dumps({"backend": type(tokenizer._tokenizer).__module__.partition(".")[0], "found": found}))


if __name__ == "__main__":
    main(sys.argv[1])
