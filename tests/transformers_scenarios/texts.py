"""Added tokens, decoding, streams and chat templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from common import TEXTS, attempt, backend, load, padded, plain, scenario


@scenario
def added_tokens(folder: Path, scratch: Path) -> Iterator[tuple[str, Any]]:
    from transformers import AddedToken

    fast = load(folder)
    texts = [
        *TEXTS,
        "a newword newwordly NEWWORD new word x<ent>y < ent > <ent><ent>  <strip>  z",
        "lexical LEXICAL lexically, \u00e9t\u00e9 e\u0301te\u0301 \u00c9T\u00c9",
    ]
    steps: list[tuple[str, Callable[[], Any]]] = [
        ("words", lambda: fast.add_tokens(["newword", "the", "newword", ""])),
        ("no words", lambda: fast.add_tokens([])),
        ("one", lambda: fast.add_tokens("lexical")),
        ("single word", lambda: fast.add_tokens(AddedToken("lex", single_word=True, lstrip=True))),
        ("normalized", lambda: fast.add_tokens([AddedToken("\u00e9t\u00e9", normalized=True)])),
        ("special by flag", lambda: fast.add_tokens(["<ent>"], special_tokens=True)),
        ("strips", lambda: fast.add_tokens([AddedToken("<strip>", lstrip=True, rstrip=True, special=True)])),
        ("special tokens", lambda: fast.add_special_tokens({"additional_special_tokens": ["<a>", "<b>"]})),
        ("more", lambda: fast.add_special_tokens({"additional_special_tokens": ["<c>"]}, False)),
        ("pad", lambda: fast.add_special_tokens({"pad_token": AddedToken("<new pad>", lstrip=True)})),
        ("cls, bos", lambda: fast.add_special_tokens({"cls_token": "<cls2>", "bos_token": "<bos2>"})),
        ("extra", lambda: fast.add_special_tokens({"extra_special_tokens": ["<img>"]})),
    ]
    for name, step in steps:
        yield f"{name}: returned", attempt(step)
        yield f"{name}: sizes", [len(fast), fast.vocab_size]
        yield f"{name}: decoder", plain(fast.added_tokens_decoder)
        yield f"{name}: calls", [attempt(fast, text, return_offsets_mapping=True) for text in texts]
        yield f"{name}: tokens", [attempt(fast.tokenize, text) for text in texts]
        ids = [fast(text)["input_ids"] for text in texts]
        yield (
            f"{name}: decoded",
            [attempt(fast.decode, row, skip_special_tokens=s) for row in ids for s in (True, False)],
        )
    yield "special", plain([fast.special_tokens_map, fast.all_special_tokens, fast.all_special_ids])
    yield "ids", [attempt(fast.convert_tokens_to_ids, token) for token in ["newword", "<ent>", "<c>", "no such", ""]]
    size = len(fast)
    yield "tokens", [attempt(fast.convert_ids_to_tokens, at) for at in [0, size - 1, size, size + 9, -1, [0, size - 1]]]
    fast.save_pretrained(scratch / "added")
    again = load(scratch / "added")
    yield "saved", [len(again), plain(again.added_tokens_decoder), [attempt(again, text) for text in texts]]


@scenario
def decoding(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    fast = padded(load(folder))
    rows = [fast(text)["input_ids"] for text in TEXTS]
    rows += [[], list(range(0, 400, 7)), [fast.vocab_size - 1, len(fast) - 1], rows[4][::-1]]
    for skip in [True, False]:
        for clean in [True, False, None]:
            shared = {"skip_special_tokens": skip, "clean_up_tokenization_spaces": clean}
            yield f"decode {shared}", [attempt(fast.decode, row, **shared) for row in rows]
            yield f"batch_decode {shared}", attempt(fast.batch_decode, rows, **shared)
    batch = fast(TEXTS, padding=True, return_tensors="np")
    yield "arrays", [attempt(fast.decode, batch["input_ids"][3]), attempt(fast.batch_decode, batch["input_ids"])]
    yield "one id", [attempt(fast.decode, at) for at in [0, 5, 300, len(fast) - 1]]
    yield "no ids", [attempt(fast.decode, wrong) for wrong in [len(fast) + 5, [len(fast) + 5, 4], -1, "a", None, 2**40]]
    yield (
        "tokens",
        [attempt(fast.convert_ids_to_tokens, row, skip_special_tokens=s) for row in rows for s in (True, False)],
    )
    yield "joined", [attempt(fast.convert_tokens_to_string, fast.convert_ids_to_tokens(row)) for row in rows]
    yield "ids again", [attempt(fast.convert_tokens_to_ids, fast.convert_ids_to_tokens(row)) for row in rows]


@scenario
def streaming(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    """Tokens that come one by one, as they do from a model."""
    fast = load(folder)
    # The peer's takes the peer's tokenizers only.
    DecodeStream = import_module("tokenizers" if backend() == "peer" else "lexmill").decoders.DecodeStream
    for at, text in enumerate(TEXTS):
        ids = fast(text)["input_ids"]
        for skip in [True, False]:
            stream = DecodeStream(skip_special_tokens=skip)
            yield f"{at}, {skip}", [attempt(stream.step, fast._tokenizer, token) for token in ids]
        stream = DecodeStream(ids=ids[:2])
        yield f"{at}, begun", [attempt(stream.step, fast._tokenizer, token) for token in ids[2:]]


MESSAGES = [
    {"role": "system", "content": "You are terse."},
    {"role": "user", "content": "Caf\u00e9 \u4f60\u597d?  Two  blanks.\n"},
    {"role": "assistant", "content": "Yes \U0001f44d."},
    {"role": "user", "content": "And <s> now?"},
]
TEMPLATE = (
    "{% for m in messages %}{{ '<' + m['role'] + '> ' }}"
    "{% if m['role'] == 'assistant' %}{% generation %}{{ m['content'] }}{% endgeneration %}"
    "{% else %}{{ m['content'] }}{% endif %}{{ eos_token or '' }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


@scenario
def chat(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    fast = padded(load(folder))
    batch = [MESSAGES, MESSAGES[1:3]]
    for name, template in [("own", fast.chat_template), ("ours", TEMPLATE)]:
        if template is None:
            continue
        fast.chat_template = template
        call = fast.apply_chat_template
        yield f"{name}: text", attempt(call, MESSAGES[1:], tokenize=False)
        yield f"{name}: ids", attempt(call, MESSAGES[1:], add_generation_prompt=True, return_dict=False)
        yield f"{name}: dict", attempt(call, MESSAGES[1:], return_dict=True, return_tensors="np")
        yield f"{name}: batch", attempt(call, batch, padding=True, truncation=True, max_length=30, return_dict=True)
    mask = {"return_assistant_tokens_mask": True, "return_dict": True}
    yield "mask", attempt(fast.apply_chat_template, MESSAGES, **mask)
    yield "mask of a batch", attempt(fast.apply_chat_template, batch, padding=True, **mask)
    yield "mask, cut", attempt(fast.apply_chat_template, batch, truncation=True, max_length=14, **mask)
