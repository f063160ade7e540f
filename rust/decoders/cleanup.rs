//! Removes the spaces that a tokenizer put before punctuation and into English contractions.

/// Replacements, applied one after the other.
const RULES: [(&str, &str); 11] = [
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
];

/// `text` with the rules of Hugging Face's `cleanup` applied.
pub(super) fn cleanup(text: &str) -> String {
    let mut cleaned = text.to_owned();
    for (from, to) in RULES {
        if cleaned.contains(from) {
            cleaned = cleaned.replace(from, to);
        }
    }
    cleaned
}
