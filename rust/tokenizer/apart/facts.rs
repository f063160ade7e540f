//! What is known of stages once and for all, so that most parts pass them without being seen by any.

use super::{Metaspace, PrependScheme, WITHIN};
use crate::models::Model;
use crate::normalized::Normalized;
use crate::normalizers::Normalizer;
use crate::pre_tokenizers::PreTokenizer;
use crate::scan::spaces::{PUNCTUATION_KEPT_APART, is_punctuation_boundary};

/// Bytes that each byte of a part becomes at most, where that part is not open.
pub(super) const GROWTH: usize = 1 << 10;

/// What is known of stages that see parts of the text.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that each hold or not, whatever the others")]
pub(in crate::tokenizer) struct NormalizerFacts {
    /// Characters of ASCII that the normalizer leaves alone, spaces and control characters apart; with those of
    /// [`WITHIN`] that it leaves alone between others.
    plain: u128,
    /// Others that it leaves alone beside such, but perhaps not beside each other.
    plain_apart: u128,
    /// Line feeds stay between others, and go at the end of a text.
    pub(super) strips_lines: bool,
    /// Every pre-token begins with a visible space.
    pub(in crate::tokenizer) begins_visibly: bool,
    /// A run of spaces becomes a space in the place of the last one.
    pub(super) joins_spaces: bool,
    /// The same of spaces, tabs and line feeds.
    pub(super) joins_blanks: bool,
    /// Parts may be cut into units between letters and stops.
    pub(super) cuts_at_punctuation: bool,
}

impl NormalizerFacts {
    pub(in crate::tokenizer) fn new(
        normalizer: Option<&Normalizer>,
        pre_tokenizer: Option<&PreTokenizer>,
        model: &Model,
    ) -> Self {
        let leaves_unchanged = |c: char| normalizer.is_none_or(|normalizer| normalizer.leaves_unchanged(c));
        let leaves_unchanged_within =
            |c| normalizer.is_none_or(|normalizer| normalizer.leaves_unchanged_within(c));
        let within = WITHIN.map(|c| leaves_unchanged_within(c).then_some(c as u8));
        let plain = set(|byte| {
            byte.is_ascii_graphic() && leaves_unchanged(byte.into()) || within.contains(&Some(byte))
        });
        let is_stripped = |text: &str| {
            normalizer.is_some_and(|normalizer| normalizer.normalize_str(text).is_ok_and(|made| made == "a"))
        };
        let leaves_unchanged_apart =
            |c: char| normalizer.is_some_and(|normalizer| normalizer.leaves_unchanged_apart(c));
        let plain_apart = set(|byte| {
            byte.is_ascii_graphic() && plain >> byte & 1 == 0 && leaves_unchanged_apart(byte.into())
        });
        let begins_visibly = begins_visibly(pre_tokenizer);
        let mut at_boundaries = PUNCTUATION_KEPT_APART.iter().copied().chain(b'A'..=b'Z').chain(b'a'..=b'z');
        // What is beside a border must not become anything that could join what is at it.
        let stays_visible = |byte: u8| {
            let text = char::from(byte).to_string();
            normalizer.is_none_or(|normalizer| {
                let made = normalizer.normalize_str(&text);
                made.is_ok_and(|made| {
                    !made.is_empty() && made.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
                })
            })
        };
        // What goes on with a word must differ from all that begins one.
        let cuts_at_punctuation = begins_visibly
            && at_boundaries.all(|byte| plain >> byte & 1 == 1)
            && (b'!'..=b'~').all(stays_visible)
            && model.is_cut_beside(PUNCTUATION_KEPT_APART, is_punctuation_boundary);
        Self {
            plain,
            plain_apart,
            strips_lines: within.contains(&Some(b'\n')) && is_stripped("a\n") && is_stripped("a\n\n\n"),
            begins_visibly,
            joins_spaces: normalizer.is_some_and(|normalizer| joins(normalizer, &[" "])),
            joins_blanks: normalizer.is_some_and(|normalizer| joins(normalizer, &[" ", "\t", "\n"])),
            cuts_at_punctuation,
        }
    }

    /// Whether a character of ASCII stays.
    pub(super) fn is_plain(self, byte: u8) -> bool {
        byte.is_ascii() && self.plain >> byte & 1 == 1
    }

    /// Whether a character of ASCII stays unless another such one is beside it.
    pub(super) fn is_plain_apart(self, byte: u8) -> bool {
        byte.is_ascii() && self.plain_apart >> byte & 1 == 1
    }

    /// Whether `word` is of characters of ASCII that stay.
    pub(super) fn is_plain_word(self, word: &str) -> bool {
        !word.is_empty()
            && word.bytes().all(|byte| self.is_plain(byte) || self.is_plain_apart(byte))
            && self.are_plain_apart(word)
    }

    /// Whether of those characters of `word` that stay by themselves no two are neighbours.
    pub(super) fn are_plain_apart(self, word: &str) -> bool {
        let is_pair = |pair: &[u8]| self.is_plain_apart(pair[0]) && self.is_plain_apart(pair[1]);
        self.plain_apart == 0 || !word.as_bytes().windows(2).any(is_pair)
    }
}

/// The bytes of ASCII of which `is_in` says so, a bit each.
fn set(is_in: impl Fn(u8) -> bool) -> u128 {
    (0..128).filter(|&byte| is_in(byte)).fold(0, |set, byte| set | 1 << byte)
}

/// Whether every pre-token begins with a visible space.
fn begins_visibly(pre_tokenizer: Option<&PreTokenizer>) -> bool {
    let last = match pre_tokenizer {
        Some(PreTokenizer::Sequence(stages)) => stages.last(),
        only => only,
    };
    matches!(last, Some(PreTokenizer::Metaspace(Metaspace { prepend_scheme: PrependScheme::Always, .. })))
}

/// Whether `blanks` before a letter become a space, perhaps a visible one, in the place of the last one, however many there are.
fn joins(normalizer: &Normalizer, blanks: &[&str]) -> bool {
    let mut runs = blanks
        .iter()
        .flat_map(|first| blanks.iter().map(|second| [*first, *second].concat()))
        .chain([blanks.concat().repeat(3)]);
    runs.all(|run| {
        let text = [run.as_str(), "a"].concat();
        let Ok(made) = normalizer.normalize(Normalized::new(&text, 0, true)) else { return false };
        let (space, end) = (made.text().len().saturating_sub(1), run.len() as u32);
        matches!(made.text(), " a" | "▁a")
            && made.original(0..space) == (end - 1, end)
            && made.original(space..space + 1) == (end, end + 1)
    })
}
