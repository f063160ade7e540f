//! Facts about a normalizer, derived once for a tokenizer, so that most chunks need not go through any stage.

use crate::metaspace::{Metaspace, PrependScheme};
use crate::models::Model;
use crate::normalizers::Normalizer;
use crate::pipeline::stages::Stages;
use crate::pre_tokenizers::PreTokenizer;
use crate::scan::Splitter;
use crate::scan::spaces::{PUNCTUATION_KEPT_APART, is_punctuation_boundary};

/// Bytes that each byte of a context-free chunk becomes at most.
pub(super) const GROWTH: usize = 1 << 10;

/// White space that is no blank if the normalizer leaves it unchanged within text. It may stand within a chunk whose other
/// clusters are context-free, but not at its end: there it may be stripped.
pub(super) const WITHIN: [char; 2] = ['\t', '\n'];

/// White space of ASCII that is a blank too where the normalizer makes spaces of all three.
pub(super) const LINE_BLANKS: [char; 3] = ['\t', '\n', '\r'];

/// Facts about the stages that see chunks.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts that each hold or not, whatever the others")]
pub(super) struct ChunkFacts {
    /// Chunks have no blanks at their beginning.
    pub(super) has_gaps: bool,
    /// Tabs and line ends become spaces.
    pub(super) has_lines: bool,
    /// Visible characters of ASCII that the normalizer leaves unchanged, and characters of [`WITHIN`] that it leaves unchanged
    /// between others; a bit each.
    plain: u128,
    /// Further visible characters that the normalizer leaves unchanged beside plain ones, but perhaps not beside each other.
    plain_apart: u128,
    /// Line feeds are unchanged between others and stripped at the end of a text.
    pub(super) strips_lines: bool,
    /// Every pre-token begins with a visible space.
    pub(super) begins_visibly: bool,
    /// A run of spaces becomes one space, in the place of the last.
    pub(super) joins_spaces: bool,
    /// A blank that is not joined with spaces, although runs of spaces are.
    pub(super) unjoined_blank: Option<char>,
    /// Chunks may be cut between letters and punctuation.
    pub(super) cuts_at_punctuation: bool,
}

impl ChunkFacts {
    /// The facts of a tokenizer whose chunks `splitter` cuts.
    pub(super) fn new(splitter: Splitter, stages: &Stages, model: &Model) -> Self {
        let normalizer = stages.normalizer.as_ref();
        let all =
            |fact: fn(&Normalizer, char) -> bool, c| normalizer.is_none_or(|normalizer| fact(normalizer, c));
        let within = WITHIN.map(|c| all(Normalizer::leaves_unchanged_within, c).then_some(c as u8));
        let plain = set(|byte| {
            byte.is_ascii_graphic() && all(Normalizer::leaves_unchanged, byte.into())
                || within.contains(&Some(byte))
        });
        let plain_apart = set(|byte| {
            let is_apart = |normalizer: &Normalizer| normalizer.leaves_unchanged_apart(byte.into());
            byte.is_ascii_graphic() && plain >> byte & 1 == 0 && normalizer.is_some_and(is_apart)
        });
        let rewrites = normalizer.map_or_else(Vec::new, Normalizer::stages);
        let strips_end = |stage: &&Normalizer| matches!(stage, Normalizer::Strip { right: true, .. });
        let begins_visibly = begins_visibly(stages.pre_tokenizer.as_ref());
        let has_lines = splitter != Splitter::Spaces;
        let joins_spaces = normalizer.and_then(Normalizer::joined_space).is_some();
        let unjoined = LINE_BLANKS.into_iter().find(|&c| !all(Normalizer::maps_to_joined_space, c));
        Self {
            has_gaps: !splitter.is_gapless(),
            has_lines,
            plain,
            plain_apart,
            strips_lines: within.contains(&Some(b'\n')) && rewrites.iter().any(strips_end),
            begins_visibly,
            joins_spaces,
            unjoined_blank: unjoined.filter(|_| joins_spaces && has_lines),
            // A fragment that continues a word must differ from all that begin one.
            cuts_at_punctuation: begins_visibly
                && !stages.matchers.normalized_contents().word_cuts
                && cuts_at_punctuation(plain, normalizer, model),
        }
    }

    /// True if a run of any blanks becomes one space, in the place of the last blank.
    pub(super) fn joins_blanks(&self) -> bool {
        self.joins_spaces && self.unjoined_blank.is_none()
    }

    /// True if a character of ASCII is unchanged beside any context-free cluster.
    pub(super) fn is_plain(&self, byte: u8) -> bool {
        byte.is_ascii() && self.plain >> byte & 1 == 1
    }

    /// True if a character of ASCII is unchanged unless another such one is beside it.
    pub(super) fn is_plain_apart(&self, byte: u8) -> bool {
        byte.is_ascii() && self.plain_apart >> byte & 1 == 1
    }

    /// True if `word` consists of characters of ASCII that are unchanged.
    pub(super) fn is_plain_word(&self, word: &str) -> bool {
        !word.is_empty()
            && word.bytes().all(|byte| self.is_plain(byte) || self.is_plain_apart(byte))
            && self.are_plain_apart(word)
    }

    /// True if no two neighbours in `word` are both plain apart only.
    pub(super) fn are_plain_apart(&self, word: &str) -> bool {
        let is_pair = |pair: &[u8]| self.is_plain_apart(pair[0]) && self.is_plain_apart(pair[1]);
        self.plain_apart == 0 || !word.as_bytes().windows(2).any(is_pair)
    }
}

/// The bytes of ASCII of which `is_in` is true, a bit each.
fn set(is_in: impl Fn(u8) -> bool) -> u128 {
    (0..128).filter(|&byte| is_in(byte)).fold(0, |set, byte| set | 1 << byte)
}

/// True if chunks may be cut between letters and punctuation: each letter becomes a letter, punctuation is unchanged, no piece holds
/// both, and no neighbour joins them.
///
/// In the original text their neighbours are visible ASCII or blanks. Only rules make a neighbour begin with a mark, or end with a
/// character that joins the next, so no stage after rules may see clusters.
fn cuts_at_punctuation(plain: u128, normalizer: Option<&Normalizer>, model: &Model) -> bool {
    let stages = normalizer.map_or_else(Vec::new, Normalizer::stages);
    let is_plain = |byte: u8| plain >> byte & 1 == 1;
    let stays_letter = |byte: u8| {
        let rewritten =
            normalizer.and_then(|all| all.rewrite_in_isolation(char::from(byte).encode_utf8(&mut [0; 4])));
        rewritten.is_some_and(
            |rewritten| matches!(rewritten.text.as_bytes(), [only] if only.is_ascii_alphabetic()),
        )
    };
    let mut letters = (b'A'..=b'Z').chain(b'a'..=b'z');
    let has_rules = |stage: &Normalizer| matches!(stage, Normalizer::Precompiled(_));
    let sees_clusters = |stage: &Normalizer| has_rules(stage) || matches!(stage, Normalizer::Unicode(_));
    let mut after_rules = stages.iter().skip_while(|stage| !has_rules(stage)).skip(1);
    PUNCTUATION_KEPT_APART.iter().all(|&byte| is_plain(byte))
        && letters.all(|byte| is_plain(byte) || stays_letter(byte))
        && !after_rules.any(|stage| sees_clusters(stage))
        && model.is_cut_beside(PUNCTUATION_KEPT_APART, is_punctuation_boundary)
}

/// True if every pre-token begins with a visible space.
fn begins_visibly(pre_tokenizer: Option<&PreTokenizer>) -> bool {
    let last = match pre_tokenizer {
        Some(PreTokenizer::Sequence(stages)) => stages.last(),
        only => only,
    };
    matches!(last, Some(PreTokenizer::Metaspace(Metaspace { prepend_scheme: PrependScheme::Always, .. })))
}
