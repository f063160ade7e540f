"""Takes out the spaces that a tokenizer put before punctuation and into English contractions."""

from __future__ import annotations

# Texts and their replacements, one after the other.
RULES = [
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
]


def cleanup(text: str) -> str:
    """Applies all rules."""
    for old, new in RULES:
        text = text.replace(old, new)
    return text
