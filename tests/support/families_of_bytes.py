"""Families with byte-level BPE."""

# ruff: noqa: RUF001
from __future__ import annotations

from family import (
    BYTE_LEVEL,
    BYTES_ONLY,
    CONVERTER,
    DIGITS,
    HUB,
    LLAMA_CPP,
    LOWERCASE,
    NFC,
    TIKTOKEN,
    TRANSFORMERS,
    Family,
    normalizers,
    pre_tokenizers,
    replace_pattern,
    split,
)
from published_patterns import CL100K, O200K, QWEN2

CL100K_AS_WRITTEN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
GPT2_AS_WRITTEN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
QWEN_3_5 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
KIMI_K2 = (
    r"[\p{Han}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK_LETTERS = (
    "\\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373"
    "\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f"
    "\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77"
    "\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d"
    "\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4"
    "\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139"
    "\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d"
    "\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a"
    "\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2"
    "\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943]+"
)
DEEPSEEK_PUNCTUATION = "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+"
DEEPSEEK_CJK = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
HAN_AND_KANA = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
DEEPSEEK_V3 = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TRINITY_SCRIPTS = (
    "[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e40-\u0e7f"
    "\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+"
)
TRINITY = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
BAILING = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
NANOCHAT = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)
SEED = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
EXAONE_MOE = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
)
JAIS_2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)"
    r"|\s{1,2}(?!\S)|\s{1}"
)
MINICPM_5 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
YOUTU = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

FAMILIES_OF_BYTES = [
    Family(
        "gpt-2",
        ("GPT-2", "OPT", "RoBERTa", "BART", "DeBERTa 1", "Whisper", "Phi 1, 1.5, 2", "GPT-Neo", "EXAONE 4"),
        None,
        BYTE_LEVEL,
        "gpt2",
        HUB + "openai-community/gpt2/blob/main/tokenizer.json",
    ),
    Family(
        "gpt-neox",
        ("GPT-NeoX", "Pythia", "OLMo 1", "MPT", "ModernBERT", "RWKV 4", "Mamba"),
        NFC,
        BYTE_LEVEL,
        "gpt-neox-20b",
        TRANSFORMERS + "models/gpt_neox/tokenization_gpt_neox.py",
    ),
    Family(
        "gpt-2 as tiktoken writes it",
        ("gpt2", "r50k_base", "p50k_base"),
        None,
        pre_tokenizers(split(GPT2_AS_WRITTEN), BYTES_ONLY),
        "gpt2",
        TIKTOKEN,
    ),
    Family(
        "llama 3",
        ("Llama 3", "DBRX", "OLMo 2, 3", "Phi 4", "GLM 4", "SmolLM 3", "Granite 4", "Falcon 3"),
        None,
        pre_tokenizers(split(CL100K), BYTES_ONLY),
        "cl100k_base",
        LLAMA_CPP,
    ),
    Family(
        "cl100k as tiktoken writes it",
        ("GPT-3.5", "GPT-4"),
        None,
        pre_tokenizers(split(CL100K_AS_WRITTEN), BYTES_ONLY),
        "cl100k_base",
        TIKTOKEN,
    ),
    Family(
        "midm 2",
        ("Mi:dm 2.0",),
        None,
        pre_tokenizers(split(CL100K, "Removed", invert=True), BYTES_ONLY),
        "cl100k_base",
        "https://github.com/ggml-org/llama.cpp/pull/14626",
    ),
    Family(
        "llama 4",
        ("Llama 4", "GPT-4o", "gpt-oss", "Phi 4 mini", "MiniMax M2"),
        None,
        pre_tokenizers(split(O200K), BYTES_ONLY),
        "o200k_base",
        TIKTOKEN,
    ),
    Family(
        "tekken",
        ("Mistral Nemo", "Mistral Small 3", "Pixtral", "Nemotron H"),
        None,
        pre_tokenizers(split(TEKKEN), BYTES_ONLY),
        "cl100k_base",
        LLAMA_CPP,
    ),
    Family(
        "qwen 2",
        ("Qwen 1", "Qwen 1.5", "Qwen 2", "Qwen 2.5", "Qwen 3"),
        NFC,
        pre_tokenizers(split(QWEN2), {**BYTES_ONLY, "trim_offsets": False}),
        "qwen2",
        CONVERTER,
    ),
    Family(
        "qwen 3.5",
        ("Qwen 3.5",),
        NFC,
        pre_tokenizers(split(QWEN_3_5), BYTES_ONLY),
        "qwen2",
        TRANSFORMERS + "models/qwen3_5/tokenization_qwen3_5.py",
    ),
    Family(
        "grok 2",
        ("Grok 2", "StableLM 2", "Hunyuan", "Solar Open"),
        None,
        pre_tokenizers(split(QWEN2), BYTES_ONLY),
        "qwen2",
        LLAMA_CPP,
    ),
    Family(
        "deepseek llm",
        ("DeepSeek LLM", "DeepSeek V2", "DeepSeek Coder V2"),
        normalizers(),
        pre_tokenizers(
            split("[\r\n]"),
            split(DEEPSEEK_LETTERS),
            split(DEEPSEEK_PUNCTUATION),
            split(r"\s+$"),
            split(DEEPSEEK_CJK),
            DIGITS,
            BYTES_ONLY,
        ),
        "gpt2",
        HUB + "deepseek-ai/deepseek-llm-7b-base/blob/main/tokenizer.json",
    ),
    Family(
        "deepseek coder",
        ("DeepSeek Coder",),
        normalizers(),
        pre_tokenizers(
            split("[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"), split(DEEPSEEK_CJK), DIGITS, BYTES_ONLY
        ),
        "gpt2",
        HUB + "deepseek-ai/deepseek-coder-6.7b-instruct/blob/main/tokenizer.json",
    ),
    Family(
        "deepseek v3",
        ("DeepSeek V3", "DeepSeek R1", "Hunyuan dense"),
        normalizers(),
        pre_tokenizers(split(r"\p{N}{1,3}"), split(HAN_AND_KANA), split(DEEPSEEK_V3), BYTES_ONLY),
        "cl100k_base",
        LLAMA_CPP,
    ),
    Family(
        "falcon",
        ("Falcon 1, 2",),
        None,
        pre_tokenizers(
            {"type": "Punctuation", "behavior": "Contiguous"},
            BYTE_LEVEL,
            {"type": "Digits", "individual_digits": False},
            split("[0-9][0-9][0-9]"),
        ),
        "falcon",
        HUB + "tiiuae/falcon-7b/blob/main/tokenizer.json",
    ),
    Family(
        "smollm",
        ("SmolLM 1, 2", "StarCoder 1, 2", "Granite 3", "Refact", "CodeShell", "EXAONE 3"),
        None,
        pre_tokenizers(DIGITS, BYTE_LEVEL),
        "gpt2",
        LLAMA_CPP,
    ),
    Family(
        "command r",
        ("Command R", "Aya 23", "Aya Expanse"),
        NFC,
        pre_tokenizers(DIGITS, BYTE_LEVEL),
        "gpt2",
        TRANSFORMERS + "models/cohere/tokenization_cohere.py",
    ),
    Family(
        "tiny aya",
        ("Tiny Aya", "Cohere 2 MoE"),
        None,
        pre_tokenizers(split(r"\d{1,3}(?=(?:\d{3})*\b)"), split(O200K), BYTES_ONLY),
        "cl100k_base",
        LLAMA_CPP,
    ),
    Family(
        "kimi k2",
        ("Kimi K2", "Kimi Linear"),
        None,
        pre_tokenizers(split(KIMI_K2), BYTES_ONLY),
        "cl100k_base",
        HUB + "moonshotai/Kimi-K2-Instruct/blob/main/tokenization_kimi.py",
    ),
    Family(
        "bloom",
        ("BLOOM",),
        None,
        pre_tokenizers(split(r" ?[^(\s|[.,!?…。，、।۔،])]+"), BYTES_ONLY),
        "gpt2",
        "https://github.com/huggingface/transformers.js/issues/94",
    ),
    Family(
        "viking",
        ("Viking",),
        None,
        pre_tokenizers(split(r" ?[^(\s|.,!?…。，、।۔،)]+"), split(r"\p{N}"), BYTES_ONLY),
        "gpt2",
        LLAMA_CPP,
    ),
    Family("exaone moe", ("K-EXAONE",), None, pre_tokenizers(split(EXAONE_MOE), BYTES_ONLY), "cl100k_base", LLAMA_CPP),
    Family("seed", ("Seed Coder",), None, pre_tokenizers(split(SEED), BYTES_ONLY), "cl100k_base", LLAMA_CPP),
    Family("bailing", ("Ling", "LLaDA MoE"), None, pre_tokenizers(split(BAILING), BYTES_ONLY), "gpt2", LLAMA_CPP),
    Family(
        "nanochat",
        ("nanochat",),
        None,
        pre_tokenizers(split(NANOCHAT), BYTES_ONLY),
        "gpt2",
        "https://github.com/karpathy/nanochat/blob/master/nanochat/tokenizer.py",
    ),
    Family("jais 2", ("Jais 2",), None, pre_tokenizers(split(JAIS_2), BYTES_ONLY), "cl100k_base", LLAMA_CPP),
    Family(
        "minicpm 5",
        ("MiniCPM 5",),
        None,
        pre_tokenizers(split(r"\p{N}{1,3}"), split(MINICPM_5), BYTES_ONLY),
        "cl100k_base",
        LLAMA_CPP,
    ),
    Family(
        "superbpe",
        ("SuperBPE",),
        None,
        pre_tokenizers(split(r"\p{N}+"), split(r"(?=(\d{3})+(?!\d))"), BYTES_ONLY),
        "gpt2",
        LLAMA_CPP,
    ),
    Family(
        "youtu",
        ("Youtu LLM",),
        None,
        pre_tokenizers(
            split("[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-\u303f\ufe30-\ufe4f]+|[ㄅ-ㄯ]+|" + HAN_AND_KANA),
            split(YOUTU),
            BYTES_ONLY,
        ),
        "cl100k_base",
        LLAMA_CPP,
    ),
    Family(
        "trinity",
        ("Trinity", "AFMoE"),
        None,
        pre_tokenizers(
            split(r"\p{Nd}{1,510}(?=(?>\p{Nd}{510})*(?:\P{Nd}|$))|\G\p{Nd}{510}"),
            split(r"\A\p{Nd}{1,2}(?=\p{Nd}{3}+\z)"),
            split(r"\A\p{Nd}{3}|\G\p{Nd}{3}"),
            split(TRINITY_SCRIPTS),
            split(TRINITY),
            BYTES_ONLY,
        ),
        "cl100k_base",
        HUB + "arcee-ai/Trinity-Mini/blob/main/tokenizer.json",
    ),
    Family(
        "clip",
        ("CLIP", "Stable Diffusion"),
        normalizers(NFC, replace_pattern(r"\s+", " "), LOWERCASE),
        pre_tokenizers(
            split(
                r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
                "Removed",
                invert=True,
            ),
            {**BYTE_LEVEL, "use_regex": True},
        ),
        "clip-vit",
        TRANSFORMERS + "models/clip/tokenization_clip.py",
    ),
]
