//! Cuts before spaces: ` *[^ ]+| +`.
//!
//! The units of SentencePiece-style tokenizers, which make spaces visible and cut nothing. Where no token of the
//! vocabulary holds a visible space behind another character, text may be cut before every run of spaces.

use super::Scan;

/// A run of spaces with all up to the next one.
#[derive(Clone, Copy, Debug)]
pub struct Spaces;

impl Scan for Spaces {
    #[inline]
    fn advance(text: &str, pos: usize) -> usize {
        let rest = &text.as_bytes()[pos..];
        let spaces = rest.iter().take_while(|&&byte| byte == b' ').count();
        memchr::memchr(b' ', &rest[spaces..]).map_or(text.len(), |word| pos + spaces + word)
    }
}
