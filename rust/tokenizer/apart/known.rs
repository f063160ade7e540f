//! What is known of stages once and for all, so that most parts pass them without being seen by any.

use super::{LINE_FEED, PrependScheme};
use crate::models::Model;
use crate::models::unigram::MOST_PIECES;
use crate::normalized::Normalized;
use crate::normalizers::Normalizer;
use crate::pre_tokenizers::PreTokenizer;
use crate::scan::spaces::{STOPS, is_stop_border};

/// Characters that a byte becomes at most, by far.
const GROWTH: usize = 1 << 10;

/// What is known of stages that see parts of the text.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tokenizer) struct Known {
    /// Characters of ASCII that the normalizer leaves alone, spaces and control characters apart; with a line feed, if it
    /// leaves that alone between others.
    plain: u128,
    /// Others that it leaves alone beside such, but perhaps not beside each other.
    lonely: u128,
    /// Every pre-token begins with a visible space.
    pub(super) begins_visibly: bool,
    /// A run of blanks becomes a space in the place of the last one.
    pub(super) joins_blanks: bool,
    /// Bytes of the longest part that may be cut into units; 0 if none may.
    pub(super) unit_limit: usize,
}

impl Known {
    pub(in crate::tokenizer) fn new(
        normalizer: Option<&Normalizer>,
        pre_tokenizer: Option<&PreTokenizer>,
        model: &Model,
    ) -> Self {
        let stays = |c: char| normalizer.is_none_or(|normalizer| normalizer.stays(c));
        let keeps_lines = normalizer.is_none_or(|normalizer| normalizer.stays_within(LINE_FEED.into()));
        let plain =
            set(|byte| byte.is_ascii_graphic() && stays(byte.into()) || byte == LINE_FEED && keeps_lines);
        let stays_apart = |c: char| normalizer.is_some_and(|normalizer| normalizer.stays_apart(c));
        let lonely =
            set(|byte| byte.is_ascii_graphic() && plain >> byte & 1 == 0 && stays_apart(byte.into()));
        let begins_visibly = begins_visibly(pre_tokenizer);
        let mut at_borders = STOPS.iter().copied().chain(b'A'..=b'Z').chain(b'a'..=b'z');
        // What goes on with a word must differ from all that begins one.
        let has_units = begins_visibly
            && at_borders.all(|byte| plain >> byte & 1 == 1)
            && model.is_cut_beside(STOPS, is_stop_border);
        Self {
            plain,
            lonely,
            begins_visibly,
            joins_blanks: normalizer.is_some_and(joins_blanks),
            unit_limit: if has_units { MOST_PIECES as usize / GROWTH } else { 0 },
        }
    }

    /// Whether a character of ASCII stays.
    pub(super) fn is_plain(self, byte: u8) -> bool {
        byte.is_ascii() && self.plain >> byte & 1 == 1
    }

    /// Whether a character of ASCII stays unless another such one is beside it.
    pub(super) fn is_lonely(self, byte: u8) -> bool {
        byte.is_ascii() && self.lonely >> byte & 1 == 1
    }

    /// Whether `word` is of characters of ASCII that stay.
    pub(super) fn is_plain_word(self, word: &str) -> bool {
        word.bytes().next_back().is_some_and(|last| last != LINE_FEED)
            && word.bytes().all(|byte| self.is_plain(byte) || self.is_lonely(byte))
            && self.are_lonely_apart(word)
    }

    /// Whether of those characters of `word` that stay by themselves no two are neighbours.
    pub(super) fn are_lonely_apart(self, word: &str) -> bool {
        let is_pair = |pair: &[u8]| self.is_lonely(pair[0]) && self.is_lonely(pair[1]);
        self.lonely == 0 || !word.as_bytes().windows(2).any(is_pair)
    }
}

/// The bytes of ASCII of which `is_in` says so, a bit each.
fn set(is_in: impl Fn(u8) -> bool) -> u128 {
    (0..128).filter(|&byte| is_in(byte)).fold(0, |set, byte| set | 1 << byte)
}

/// Whether every pre-token begins with a visible space.
fn begins_visibly(pre_tokenizer: Option<&PreTokenizer>) -> bool {
    match pre_tokenizer {
        Some(PreTokenizer::Metaspace(metaspace)) => metaspace.prepend_scheme == PrependScheme::Always,
        Some(PreTokenizer::Sequence(stages)) => begins_visibly(stages.last()),
        _ => false,
    }
}

/// Whether blanks before a letter become a space in the place of the last one, however many there are.
fn joins_blanks(normalizer: &Normalizer) -> bool {
    let blanks = [" ", "\n", "\r"];
    let mut runs = blanks
        .iter()
        .flat_map(|first| blanks.map(|second| [first, second].concat()))
        .chain([" \n ".repeat(2)]);
    runs.all(|run| {
        let text = [run.as_str(), "a"].concat();
        let Ok(made) = normalizer.normalize(Normalized::new(&text, 0, true)) else { return false };
        let end = run.len() as u32;
        made.text() == " a" && made.original(0..1) == (end - 1, end) && made.original(1..2) == (end, end + 1)
    })
}
