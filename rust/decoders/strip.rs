//! Strips a few characters from the ends of tokens.

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
        let mut kept = token;
        for _ in 0..self.start {
            let Some(rest) = kept.strip_prefix(self.content) else { break };
            kept = rest;
        }
        for _ in 0..self.stop {
            let Some(rest) = kept.strip_suffix(self.content) else { break };
            kept = rest;
        }
        kept
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
