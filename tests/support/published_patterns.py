"""Splitting patterns of published tokenizers, by the models that use them."""

# ruff: noqa: RUF001
from __future__ import annotations

_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_TAIL = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
_UPPER, _LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + _TAIL
QWEN2 = CL100K.replace(r"\p{N}{1,3}", r"\p{N}")
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]*[{_LOWER}]+{_SUFFIX}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]+[{_LOWER}]*{_SUFFIX}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + _TAIL
)

PATTERNS: dict[str, str] = {
    "gpt2, roberta, opt, gpt-neo": GPT2,
    "tiktoken gpt2, r50k, p50k": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    "cl100k as converted, llama 3, dbrx, granite": CL100K,
    "tiktoken cl100k": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "qwen 2, 2.5, 3": QWEN2,
    "qwen 3.5": QWEN2.replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]"),
    "o200k, llama 4, gpt-oss": O200K,
    "mistral nemo, nemotron": O200K.replace(_SUFFIX, "").replace(r"\p{N}{1,3}", r"\p{N}"),
    "kimi k2": (
        rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}&&[^\p{{Han}}]]*[{_LOWER}&&[^\p{{Han}}]]+{_SUFFIX}"
        rf"|[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}&&[^\p{{Han}}]]+[{_LOWER}&&[^\p{{Han}}]]*{_SUFFIX}"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + _TAIL
    ),
    "deepseek 3, first split": r"\p{N}{1,3}",
    "deepseek 3, second split": r"[一-龥぀-ゟ゠-ヿ]+",
    "deepseek 3, third split": (
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
        r"| ?[\p{P}\p{S}]+[\r\n]*" + _TAIL
    ),
    "deepseek coder, lines": r"[\r\n]",
    "deepseek coder, letters": r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-Ֆ]+",
    "deepseek coder, symbols": r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
    "deepseek coder, white space": r"\s+$",
    "bloom": r" ?[^(\s|[.,!?…。，、।۔،])]+",
    "clip": r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
    "exaone, command r: digits": r"\p{N}",
    "falcon: three digits": r"[0-9][0-9][0-9]",
    "gemma: spaces": r" ",
    "glm 4": CL100K.replace(r"\p{L}\p{N}]?", r"\p{L}\p{N}]?+"),
    "starcoder 2, smollm": r"\d",
    "minimax, jamba": QWEN2.replace(r"\p{N}|", r"\p{N}{1}|"),
}
