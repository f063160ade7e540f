//! BreakClasses of characters: what each is to the pieces and to what is beside it, asked once and told from a table.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::facts::GROWTH;
use super::{Stages, WITHIN};
use crate::engine::rewrite_memo::ContextFreeRewriter;
use crate::models::Model;
use crate::models::unigram::PieceMembership;
use crate::normalizers::clusters::{is_joint, is_simple_grapheme};

/// Characters from here on are rare, and are told to be [`ODD`].
const TOLD: usize = 0x2_0000;

/// What a character is, as a number; 0 where that has not been asked.
pub(super) type BreakClass = u32;

/// What it becomes depends on what is beside it, and what is beside that on it.
pub(super) const ODD: BreakClass = 1;

/// White space, or else a character that has to be taken with what is beside it.
pub(super) const APART: BreakClass = 2;

/// White space beyond ASCII that becomes a space, as do runs of it and of blanks if [`JOINED_SPACE`] says so: a word begins there.
pub(super) const SPACE: BreakClass = 3;

/// See [`SPACE`].
pub(super) const JOINED_SPACE: BreakClass = 4;

/// It is one group with what is before it.
pub(super) const MARK: BreakClass = 5;

/// The same, and what is after it may be in that group.
pub(super) const JOINT: BreakClass = 6;

/// It may be unknown, or in a piece, with what is beside it.
pub(super) const JOINED: BreakClass = 7;

/// It may be in a piece with what is beside it, but is never unknown: a run may end before it, and begin after it.
pub(super) const BOUNDARY: BreakClass = 8;

/// It becomes the unknown token, with such beside it.
pub(super) const UNKNOWN: BreakClass = 9;

/// It becomes the token whose id is what is more.
pub(super) const FIRST_PIECE: BreakClass = 10;

/// BreakClasses that have been asked for, which all threads find out together.
#[derive(Debug, Default)]
pub(super) struct BreakClasses(OnceLock<Box<[AtomicU32]>>);

/// The same with whom to ask.
#[derive(Clone, Copy, Debug)]
pub(super) struct BreakClassesOf<'a> {
    told: &'a [AtomicU32],
    stages: &'a Stages<'a>,
    model: &'a Model,
}

impl BreakClasses {
    /// The kinds that characters have for `stages` and `model`, always the same ones.
    pub(super) fn of<'a>(&'a self, stages: &'a Stages<'a>, model: &'a Model) -> BreakClassesOf<'a> {
        let told = self.0.get_or_init(|| (0..TOLD).map(|_| AtomicU32::new(0)).collect());
        BreakClassesOf { told, stages, model }
    }
}

impl BreakClassesOf<'_> {
    /// The kind of a character by itself.
    #[inline]
    pub(super) fn char(self, c: char) -> BreakClass {
        match self.told.get(c as usize).map(|class| class.load(Ordering::Relaxed)) {
            None => ODD,
            Some(0) => self.ask(c),
            Some(class) => class,
        }
    }

    #[cold]
    #[inline(never)]
    fn ask(self, c: char) -> BreakClass {
        let known = self.stages.known;
        let is_plain_apart = c.is_ascii() && known.is_plain_apart(c as u8);
        let is_white = c.is_whitespace() && !(WITHIN.contains(&c) && known.is_plain(c as u8));
        let class = if is_white && self.stages.is_wide_space(c) {
            if self.stages.joins_wide_space(c) { JOINED_SPACE } else { SPACE }
        } else if is_plain_apart || is_white {
            APART
        } else if is_simple_grapheme(c) {
            self.cluster(c.encode_utf8(&mut [0; 4]))
        } else if is_joint(c) {
            JOINT
        } else {
            MARK
        };
        // Whoever asks gets the same answer, so it does not matter who is last.
        self.told[c as usize].store(class, Ordering::Relaxed);
        class
    }

    /// The kind of a character with all that is one group with it; nothing remembers it.
    pub(super) fn cluster(self, cluster: &str) -> BreakClass {
        let made = self
            .stages
            .rewrite_in_isolation(cluster)
            .filter(|(made, _)| made.len() <= GROWTH * cluster.len());
        made.map_or(ODD, |(made, _)| match self.model.piece_membership(&made) {
            PieceMembership::Unknown => UNKNOWN,
            PieceMembership::Piece(id) => FIRST_PIECE + id,
            PieceMembership::Pieces => BOUNDARY,
            PieceMembership::Other => JOINED,
        })
    }

    /// The first character of `text`, of kind `first`, with all that is one group with it: what [`ContextFreeRewriter::cluster_len`] says, mostly
    /// by kinds alone.
    #[inline]
    pub(super) fn first_group(self, text: &str, mut first: BreakClass) -> &str {
        for (at, c) in text.char_indices().skip(1) {
            if first == JOINT {
                break;
            }
            first = self.char(c);
            if !matches!(first, MARK | JOINT) {
                return &text[..at];
            }
        }
        &text[..self.stages.cluster_len(text)]
    }

    /// Whether all of a word, which is not empty, is of characters of three bytes that are known to be unknown.
    #[inline]
    pub(super) fn are_unknown(self, word: &str) -> bool {
        let (chars, rest) = word.as_bytes().as_chunks::<3>();
        let is_unknown = |&[first, second, third]: &[u8; 3]| {
            let [first, second, third] = [first & 0xF, second & 0x3F, third & 0x3F].map(usize::from);
            self.told[first << 12 | second << 6 | third].load(Ordering::Relaxed) == UNKNOWN
        };
        rest.is_empty() && chars.iter().all(|bytes| bytes[0] & 0xF0 == 0xE0 && is_unknown(bytes))
    }
}
