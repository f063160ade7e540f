//! Kinds of characters: what each is to the pieces and to what is beside it, asked once and told from a table.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::known::GROWTH;
use super::{Stages, WITHIN};
use crate::engine::changes::Alone;
use crate::models::Model;
use crate::models::unigram::Role;
use crate::normalizers::clusters::{is_joint, stands_alone};

/// Characters from here on are rare, and are told to be [`ODD`].
const TOLD: usize = 0x2_0000;

/// What a character is, as a number; 0 where that has not been asked.
pub(super) type Kind = u32;

/// What it becomes depends on what is beside it, and what is beside that on it.
pub(super) const ODD: Kind = 1;

/// White space, or else a character that has to be taken with what is beside it.
pub(super) const APART: Kind = 2;

/// White space beyond ASCII that becomes a space, as do runs of it and of blanks if [`JOINED_SPACE`] says so: a word begins there.
pub(super) const SPACE: Kind = 3;

/// See [`SPACE`].
pub(super) const JOINED_SPACE: Kind = 4;

/// It is one group with what is before it.
pub(super) const MARK: Kind = 5;

/// The same, and what is behind it may be in that group.
pub(super) const JOINT: Kind = 6;

/// It may be unknown, or in a piece, with what is beside it.
pub(super) const JOINED: Kind = 7;

/// It may be in a piece with what is beside it, but is never unknown: a run may end before it, and begin behind it.
pub(super) const BORDER: Kind = 8;

/// It becomes the unknown token, with such beside it.
pub(super) const UNKNOWN: Kind = 9;

/// It becomes the token whose id is what is more.
pub(super) const FIRST_PIECE: Kind = 10;

/// Kinds that have been asked for, which all threads find out together.
#[derive(Debug, Default)]
pub(super) struct Kinds(OnceLock<Box<[AtomicU32]>>);

/// The same with whom to ask.
#[derive(Clone, Copy, Debug)]
pub(super) struct KindsOf<'a> {
    told: &'a [AtomicU32],
    stages: &'a Stages<'a>,
    model: &'a Model,
}

impl Kinds {
    /// The kinds that characters have for `stages` and `model`, always the same ones.
    pub(super) fn of<'a>(&'a self, stages: &'a Stages<'a>, model: &'a Model) -> KindsOf<'a> {
        let told = self.0.get_or_init(|| (0..TOLD).map(|_| AtomicU32::new(0)).collect());
        KindsOf { told, stages, model }
    }
}

impl KindsOf<'_> {
    /// The kind of a character by itself.
    #[inline]
    pub(super) fn char(self, c: char) -> Kind {
        match self.told.get(c as usize).map(|kind| kind.load(Ordering::Relaxed)) {
            None => ODD,
            Some(0) => self.ask(c),
            Some(kind) => kind,
        }
    }

    #[cold]
    #[inline(never)]
    fn ask(self, c: char) -> Kind {
        let known = self.stages.known;
        let is_plain_apart = c.is_ascii() && known.is_plain_apart(c as u8);
        let is_white = c.is_whitespace() && !(WITHIN.contains(&c) && known.is_plain(c as u8));
        let kind = if is_white && self.stages.is_wide_space(c) {
            if self.stages.joins_wide_space(c) { JOINED_SPACE } else { SPACE }
        } else if is_plain_apart || is_white {
            APART
        } else if stands_alone(c) {
            self.group(c.encode_utf8(&mut [0; 4]))
        } else if is_joint(c) {
            JOINT
        } else {
            MARK
        };
        // Whoever asks gets the same answer, so it does not matter who is last.
        self.told[c as usize].store(kind, Ordering::Relaxed);
        kind
    }

    /// The kind of a character with all that is one group with it; nothing remembers it.
    pub(super) fn group(self, group: &str) -> Kind {
        let made = self.stages.alone(group).filter(|(made, _)| made.len() <= GROWTH * group.len());
        made.map_or(ODD, |(made, _)| match self.model.role(&made) {
            Role::Unknown => UNKNOWN,
            Role::Piece(id) => FIRST_PIECE + id,
            Role::Pieces => BORDER,
            Role::Other => JOINED,
        })
    }

    /// The first character of `text`, of kind `first`, with all that is one group with it: what [`Alone::group_len`] says, mostly
    /// by kinds alone.
    #[inline]
    pub(super) fn first_group(self, text: &str, mut first: Kind) -> &str {
        for (at, c) in text.char_indices().skip(1) {
            if first == JOINT {
                break;
            }
            first = self.char(c);
            if !matches!(first, MARK | JOINT) {
                return &text[..at];
            }
        }
        &text[..self.stages.group_len(text)]
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
