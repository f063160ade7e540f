//! Strips a few characters from the ends of tokens.

use std::ops::Range;

/// The character to strip, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    /// The character.
    pub content: char,
    /// At most this many are stripped from the beginning.
    pub start: usize,
    /// At most this many are stripped from the end.
    pub stop: usize,
}

impl Strip {
    /// The rest of `token`.
    pub(super) fn decode(self, token: &str) -> &str {
        &token[self.range(token.as_bytes())]
    }

    /// Where the rest of a text lies in its bytes, which need not be UTF-8.
    pub(super) fn range(self, text: &[u8]) -> Range<usize> {
        let mut buffer = [0; 4];
        let content = self.content.encode_utf8(&mut buffer).as_bytes();
        let mut kept = text;
        for _ in 0..self.start {
            let Some(rest) = kept.strip_prefix(content) else { break };
            kept = rest;
        }
        let start = text.len() - kept.len();
        for _ in 0..self.stop {
            let Some(rest) = kept.strip_suffix(content) else { break };
            kept = rest;
        }
        start..start + kept.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_taken_than_allowed() {
        let strip = Strip { content: 'x', start: 1, stop: 2 };
        assert_eq!(strip.decode("xxaxxx"), "xax");
        assert_eq!(strip.decode("axa"), "axa");
    }

    #[test]
    fn a_token_may_be_used_up() {
        let strip = Strip { content: 'é', start: 2, stop: 2 };
        assert_eq!(strip.decode("é"), "");
        assert_eq!(strip.decode(""), "");
    }
}
