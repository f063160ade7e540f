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

/// The second byte of each rule; the first is a space.
const SECOND: &[u8] = b".?!,'nd";

/// False if no rule changes `text`, which takes less time to find than the rules take.
pub(super) fn may_change(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| pair[0] == b' ' && SECOND.contains(&pair[1]))
}

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn may_change_matches_naive(text in "( |n't|do not|'s|[ .?!,'ndab])*") {
            prop_assert!(may_change(&text) || cleanup(&text) == text);
        }
    }

    #[test]
    fn every_rule_may_change() {
        assert!(RULES.iter().all(|(from, _)| may_change(from)));
    }
}
