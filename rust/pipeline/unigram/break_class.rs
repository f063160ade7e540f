//! Break classes: the relation of a character, with its marks, to the vocabulary and to its neighbours. Each is found once and
//! kept in a table that all threads share.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::chunk_stages::ChunkStages;
use super::facts::{GROWTH, WITHIN};
use crate::models::Model;
use crate::models::unigram::PieceMembership;
use crate::normalizers::clusters::{cluster_len, is_joint, is_simple_grapheme};
use crate::pipeline::rewrite_memo::ContextFreeRewriter;

/// Size of the table. Characters from here on are rare and count as [`DEPENDENT`].
const CLASSIFIED: usize = 0x2_0000;

/// A break class; 0 in the table for a character that nobody has met.
pub(super) type BreakClass = u32;

/// Context-dependent: the rewrite of the cluster depends on its neighbours, or their rewrites depend on the cluster.
pub(super) const DEPENDENT: BreakClass = 1;

/// White space, or a character that is unchanged only beside certain neighbours: nothing is cut next to it.
pub(super) const NO_BREAK: BreakClass = 2;

/// White space beyond ASCII that becomes a space: a word begins there.
pub(super) const WIDE_SPACE: BreakClass = 3;

/// As [`WIDE_SPACE`], and a run of such white space and blanks has the same rewrite as a run of spaces.
pub(super) const JOINING_SPACE: BreakClass = 4;

/// A mark: one grapheme cluster with the character before it.
pub(super) const MARK: BreakClass = 5;

/// A mark that may draw the character after it into the cluster.
pub(super) const JOINING_MARK: BreakClass = 6;

/// In an added token, or in pieces beside other characters; perhaps part of unknown text.
pub(super) const SHARED: BreakClass = 7;

/// A piece, perhaps in longer pieces too, and so never part of unknown text: a run of isolated characters may end before it and
/// begin after it.
pub(super) const BOUNDARY: BreakClass = 8;

/// Isolated, and in no piece: the unknown token, together with all unknown neighbours.
pub(super) const UNKNOWN: BreakClass = 9;

/// Isolated, and a piece: `FIRST_PIECE + id`.
pub(super) const FIRST_PIECE: BreakClass = 10;

/// The table of single characters.
#[derive(Debug, Default)]
pub(super) struct BreakClasses(OnceLock<Box<[AtomicU32]>>);

/// The table, with the stages and the model that classify further characters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Classifier<'a> {
    table: &'a [AtomicU32],
    stages: &'a ChunkStages<'a>,
    model: &'a Model,
}

impl BreakClasses {
    /// The classes for `stages` and `model`, which must be the same at every call.
    pub(super) fn of<'a>(&'a self, stages: &'a ChunkStages<'a>, model: &'a Model) -> Classifier<'a> {
        let table = self.0.get_or_init(|| (0..CLASSIFIED).map(|_| AtomicU32::new(0)).collect());
        Classifier { table, stages, model }
    }
}

impl Classifier<'_> {
    /// The class of a character by itself.
    #[inline]
    pub(super) fn char(self, c: char) -> BreakClass {
        match self.table.get(c as usize).map(|class| class.load(Ordering::Relaxed)) {
            None => DEPENDENT,
            Some(0) => self.classify(c),
            Some(class) => class,
        }
    }

    #[cold]
    #[inline(never)]
    fn classify(self, c: char) -> BreakClass {
        let facts = self.stages.facts;
        let is_plain_apart = c.is_ascii() && facts.is_plain_apart(c as u8);
        let is_white = c.is_whitespace() && !(WITHIN.contains(&c) && facts.is_plain(c as u8));
        let class = if is_white && self.stages.is_wide_space(c) {
            if self.stages.joins_wide_spaces() { JOINING_SPACE } else { WIDE_SPACE }
        } else if is_plain_apart || is_white {
            NO_BREAK
        } else if is_simple_grapheme(c) {
            self.cluster(c.encode_utf8(&mut [0; 4]))
        } else if is_joint(c) {
            JOINING_MARK
        } else {
            MARK
        };
        // Every thread finds the same class, so the order of stores does not matter.
        self.table[c as usize].store(class, Ordering::Relaxed);
        class
    }

    /// The class of a grapheme cluster; the table does not keep it.
    pub(super) fn cluster(self, cluster: &str) -> BreakClass {
        let rewritten = self.stages.rewrite_in_isolation(cluster);
        let rewritten = rewritten.filter(|(text, _)| text.len() <= GROWTH * cluster.len());
        // A cut beside a character of an added token might cut the token.
        let is_in_token = |text: &str| text.chars().any(|c| self.stages.is_in_token(c));
        // Unknown tokens stand for whole clusters.
        let is_whole = |sources: &[Range<usize>]| {
            let ends = (sources.first().map(|first| first.start), sources.last().map(|last| last.end));
            ends == (Some(0), Some(cluster.len()))
        };
        rewritten.map_or(DEPENDENT, |(text, sources)| match self.model.piece_membership(&text) {
            PieceMembership::Unknown | PieceMembership::Piece(_) if is_in_token(&text) => SHARED,
            PieceMembership::Unknown if !is_whole(&sources) => SHARED,
            PieceMembership::Unknown => UNKNOWN,
            PieceMembership::Piece(id) => FIRST_PIECE + id,
            PieceMembership::Pieces => BOUNDARY,
            PieceMembership::Other => SHARED,
        })
    }

    /// The first grapheme cluster of `text`, whose first character has class `first`; mostly told by break classes alone.
    #[inline]
    pub(super) fn first_cluster(self, text: &str, mut first: BreakClass) -> &str {
        for (at, c) in text.char_indices().skip(1) {
            if first == JOINING_MARK {
                break;
            }
            first = self.char(c);
            if !matches!(first, MARK | JOINING_MARK) {
                return &text[..at];
            }
        }
        &text[..cluster_len(text)]
    }

    /// True if a word consists of characters of three bytes that are all [`UNKNOWN`] in the table.
    #[inline]
    pub(super) fn are_unknown(self, word: &str) -> bool {
        let (chars, rest) = word.as_bytes().as_chunks::<3>();
        let is_unknown = |&[first, second, third]: &[u8; 3]| {
            let [first, second, third] = [first & 0xF, second & 0x3F, third & 0x3F].map(usize::from);
            self.table[first << 12 | second << 6 | third].load(Ordering::Relaxed) == UNKNOWN
        };
        rest.is_empty() && chars.iter().all(|bytes| bytes[0] & 0xF0 == 0xE0 && is_unknown(bytes))
    }
}
