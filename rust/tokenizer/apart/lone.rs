//! Lone characters: those that no piece has beside others. Every path goes through such a one by itself, so its token is
//! looked up in a table, without the cache and the model, and what it stands between is cut from it.
//!
//! What a character becomes wherever it stands is asked once. A run of lone ones is cut off where it begins a word or has
//! characters beside it that are pieces, whatever else they are in; so unknown ones, which are one token with others beside them,
//! meet none.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::known::GROWTH;
use super::{Stages, WITHIN};
use crate::engine::GroupKinds;
use crate::engine::changes::Alone;
use crate::metaspace::VISIBLE_SPACE;
use crate::models::Model;
use crate::models::unigram::Role;
use crate::normalizers::clusters::{is_joint, stands_alone};

/// Characters from here on are rare, and are told to be [`ODD`].
const TOLD: usize = 0x2_0000;

/// What a character is, as a number; 0 where that has not been asked.
type Kind = u32;

/// What it becomes depends on what is beside it, and what is beside that on it.
const ODD: Kind = 1;

/// White space, or else a character that has to be taken with what is beside it.
const APART: Kind = 2;

/// White space beyond ASCII that becomes a space, as do runs of it and of blanks if [`JOINED_SPACE`] says so: a word begins there.
const SPACE: Kind = 3;

/// See [`SPACE`].
const JOINED_SPACE: Kind = 4;

/// It is one group with what is before it.
const MARK: Kind = 5;

/// The same, and what is behind it may be in that group.
const JOINT: Kind = 6;

/// It may be unknown, or in a piece, with what is beside it.
const JOINED: Kind = 7;

/// It may be in a piece with what is beside it, but is never unknown: a run may end before it, and begin behind it.
const BORDER: Kind = 8;

/// It becomes the unknown token, with such beside it.
const UNKNOWN: Kind = 9;

/// It becomes the token whose id is what is more.
const FIRST_PIECE: Kind = 10;

/// A stretch of a word.
#[derive(Debug)]
pub(in crate::tokenizer) enum Stretch {
    /// For the cache and the model: the bytes of it, and whether it goes on with a word.
    Unit(Range<usize>, bool),
    /// Ids that are known, by their places among all of them.
    Ids(Range<usize>),
}

/// Words that were cut.
#[derive(Debug, Default)]
pub(in crate::tokenizer) struct Cuts {
    /// Ids of runs of lone characters.
    pub(in crate::tokenizer) ids: Vec<u32>,
    /// The stretches of the last word, from left to right.
    pub(in crate::tokenizer) stretches: Vec<Stretch>,
}

impl Cuts {
    /// Room for so many ids, which most texts have no more of.
    pub(in crate::tokenizer) fn with_room(ids: usize) -> Self {
        Self { ids: Vec::with_capacity(ids), stretches: Vec::with_capacity(16) }
    }
}

/// Kinds of characters, which all threads find out together.
#[derive(Debug)]
pub(in crate::tokenizer) struct LoneChars {
    kinds: OnceLock<Box<[AtomicU32]>>,
    space: u32,
    unknown: u32,
}

impl LoneChars {
    /// None where a visible space is no piece, or may be joined with what is unknown.
    pub(in crate::tokenizer) fn new(model: &Model) -> Option<Self> {
        let mut text = [0; 4];
        let text = &*VISIBLE_SPACE.encode_utf8(&mut text);
        let is_known = matches!(model.role(text), Role::Pieces | Role::Piece(_));
        let (space, unknown) = (model.vocab().id(text)?, model.id_of_unknown_text()?);
        is_known.then(|| Self { kinds: OnceLock::new(), space, unknown })
    }

    /// Cuts `part` into units and runs of lone characters: a word that `goes_on` with what is before it, or stands behind
    /// `blanks` bytes that become a visible space, or none at the beginning of a text, where it gets one. Answers where the
    /// next word begins, with white space beyond ASCII, or the part ends.
    ///
    /// A word with something odd stays whole, with all behind it.
    pub(in crate::tokenizer) fn cut(
        &self,
        part: &str,
        mut blanks: usize,
        goes_on: bool,
        (stages, model): (&Stages<'_>, &Model),
        groups: &mut GroupKinds,
        Cuts { ids, stretches }: &mut Cuts,
    ) -> usize {
        let kinds = self.kinds.get_or_init(|| (0..TOLD).map(|_| AtomicU32::new(0)).collect());
        let first_of_all = ids.len();
        if are_unknown(kinds, &part[blanks..]) {
            ids.extend([self.space, self.unknown].into_iter().skip(usize::from(goes_on)));
            stretches.push(Stretch::Ids(first_of_all..ids.len()));
            return part.len();
        }
        let with_kind = |c| (c, kind_of(kinds, c, stages, model));
        // The one that is not passed on yet.
        let mut run: Option<Run> = None;
        let (mut at, mut done, mut before, mut last) = (blanks, 0, BORDER, BORDER);
        let mut chars = part[at..].chars();
        let mut next = chars.next().map(with_kind);
        let mut part_end = part.len();
        while let Some((c, mut kind)) = next {
            let mut end = at + c.len_utf8();
            next = chars.next().map(with_kind);
            if let Some((_, MARK | JOINT)) = next {
                let mut has_joint = kind == JOINT;
                while let Some((c, mark @ (MARK | JOINT))) = next {
                    has_joint |= mark == JOINT;
                    end += c.len_utf8();
                    next = chars.next().map(with_kind);
                }
                if has_joint {
                    end = at + stages.group_len(&part[at..]);
                    chars = part[end..].chars();
                    next = chars.next().map(with_kind);
                }
                let group = &part[at..end];
                kind = groups.get(group, || kind_of_group(group, stages, model)).unwrap_or(ODD);
            }
            if matches!(kind, SPACE | JOINED_SPACE) {
                if at > blanks {
                    part_end = at;
                    break;
                }
                // Not in the place of what goes on, and one of a run only if that is what a space is.
                if goes_on || blanks > 0 && kind == SPACE {
                    kind = ODD;
                } else {
                    (at, blanks) = (end, end);
                    continue;
                }
            }
            if matches!(kind, ODD | MARK | JOINT) {
                ids.truncate(first_of_all);
                stretches.clear();
                stretches.push(Stretch::Unit(0..part.len(), goes_on));
                return part.len();
            }
            // What a character beside a run becomes is known if the one behind it is not apart.
            if let Some(Run { start, first_id, end: Some(end) }) = run {
                run = None;
                if kind == APART {
                    ids.truncate(first_id);
                } else {
                    push_run(done..start, goes_on || done > 0, first_id..ids.len(), stretches);
                    done = end;
                }
            }
            if kind >= UNKNOWN {
                let is_first = at == blanks;
                if run.is_none() && last == BORDER && before != APART {
                    run = Some(Run { start: if is_first { 0 } else { at }, first_id: ids.len(), end: None });
                    if is_first && !goes_on {
                        ids.push(self.space);
                    }
                }
                if run.is_some() {
                    self.push_id(kind, last, ids);
                    // Most have more of their kind behind them.
                    while let Some((c, behind @ UNKNOWN..)) = next {
                        let third = chars.next().map(with_kind);
                        if matches!(third, Some((_, MARK | JOINT))) {
                            chars = part[end + c.len_utf8()..].chars();
                            break;
                        }
                        self.push_id(behind, kind, ids);
                        (end, kind, next) = (end + c.len_utf8(), behind, third);
                    }
                }
            } else if let Some(Run { first_id, end, .. }) = &mut run {
                if kind == BORDER {
                    *end = Some(at);
                } else {
                    ids.truncate(*first_id);
                    run = None;
                }
            }
            (at, before, last) = (end, last, kind);
        }
        if let Some(Run { start, first_id, end }) = run {
            push_run(done..start, goes_on || done > 0, first_id..ids.len(), stretches);
            done = end.unwrap_or(part_end);
        }
        if done < part_end {
            stretches.push(Stretch::Unit(done..part_end, goes_on || done > 0));
        }
        part_end
    }

    /// Appends the id of a lone character behind one of kind `last`.
    #[inline]
    fn push_id(&self, kind: Kind, last: Kind, ids: &mut Vec<u32>) {
        if kind != UNKNOWN {
            ids.push(kind - FIRST_PIECE);
        } else if last != UNKNOWN {
            ids.push(self.unknown);
        }
    }
}

/// A run of lone characters.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: usize,
    first_id: usize,
    /// Where it ends, if that is known.
    end: Option<usize>,
}

/// Whether all of a word, which is not empty, is of characters of three bytes that are known to be unknown.
#[inline]
fn are_unknown(kinds: &[AtomicU32], word: &str) -> bool {
    let (chars, rest) = word.as_bytes().as_chunks::<3>();
    let is_unknown = |&[first, second, third]: &[u8; 3]| {
        let [first, second, third] = [first & 0xF, second & 0x3F, third & 0x3F].map(usize::from);
        kinds[first << 12 | second << 6 | third].load(Ordering::Relaxed) == UNKNOWN
    };
    rest.is_empty() && chars.iter().all(|bytes| bytes[0] & 0xF0 == 0xE0 && is_unknown(bytes))
}

/// Appends a run of lone characters, and the unit before it if there is one.
fn push_run(unit: Range<usize>, goes_on: bool, ids: Range<usize>, stretches: &mut Vec<Stretch>) {
    if !unit.is_empty() {
        stretches.push(Stretch::Unit(unit, goes_on));
    }
    stretches.push(Stretch::Ids(ids));
}

#[inline]
fn kind_of(kinds: &[AtomicU32], c: char, stages: &Stages<'_>, model: &Model) -> Kind {
    match kinds.get(c as usize).map(|kind| kind.load(Ordering::Relaxed)) {
        None => ODD,
        Some(0) => ask(kinds, c, stages, model),
        Some(kind) => kind,
    }
}

#[cold]
#[inline(never)]
fn ask(kinds: &[AtomicU32], c: char, stages: &Stages<'_>, model: &Model) -> Kind {
    let is_plain_apart = c.is_ascii() && stages.known.is_plain_apart(c as u8);
    let is_white = c.is_whitespace() && !(WITHIN.contains(&c) && stages.known.is_plain(c as u8));
    let kind = if is_white && stages.is_wide_space(c) {
        if stages.joins_wide_space(c) { JOINED_SPACE } else { SPACE }
    } else if is_plain_apart || is_white {
        APART
    } else if stands_alone(c) {
        kind_of_group(c.encode_utf8(&mut [0; 4]), stages, model)
    } else if is_joint(c) {
        JOINT
    } else {
        MARK
    };
    // Whoever asks gets the same answer, so it does not matter who is last.
    kinds[c as usize].store(kind, Ordering::Relaxed);
    kind
}

fn kind_of_group(group: &str, stages: &Stages<'_>, model: &Model) -> Kind {
    let made = stages.alone(group).filter(|(made, _)| made.len() <= GROWTH * group.len());
    made.map_or(ODD, |(made, _)| match model.role(&made) {
        Role::Unknown => UNKNOWN,
        Role::Piece(id) => FIRST_PIECE + id,
        Role::Pieces => BORDER,
        Role::Other => JOINED,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::added_tokens::AddedTokens;
    use crate::metaspace::{Metaspace, PrependScheme};
    use crate::models::unigram::{Unigram, UnigramOptions};
    use crate::normalizers::Normalizer;
    use crate::pre_tokenizers::PreTokenizer;
    use crate::tokenizer::Pipeline;

    /// A pipeline in which `日` and `本` are pieces, `a`, `b` and `é` in others too, and all but `c` and `d` is unknown.
    fn pipeline() -> Pipeline {
        let pieces = ["<unk>", "▁", "日", "本", "a", "b", "ab", "é", "aé", "cd"].map(|piece| (piece, -1.0));
        let options = UnigramOptions { unk_id: Some(0), ..UnigramOptions::default() };
        let model = Model::Unigram(Unigram::new(&pieces, options).expect("a valid model"));
        let metaspace = Metaspace { prepend_scheme: PrependScheme::Always, ..Metaspace::default() };
        let pre_tokenizer = Some(PreTokenizer::Metaspace(metaspace));
        let added = Arc::new(AddedTokens::default());
        let normalizer = Some(Normalizer::Sequence(vec![Normalizer::Nmt]));
        Pipeline::new(normalizer, pre_tokenizer, Arc::new(model), added, false, 1 << 20).expect("valid")
    }

    /// The units of a part, with a `+` before those that go on, and ids in the places of runs.
    fn cut(pipeline: &Pipeline, part: &str, goes_on: bool) -> Vec<(String, Vec<u32>)> {
        let (stages, mut groups, mut cuts) =
            (pipeline.stages().expect("parts"), GroupKinds::default(), Cuts::default());
        let lone = pipeline.lone_chars().expect("a visible space");
        let blanks = if goes_on { 0 } else { stages.blanks(part) };
        lone.cut(part, blanks, goes_on, (&stages, pipeline.model()), &mut groups, &mut cuts);
        let unit = |stretch: &Stretch| match stretch {
            Stretch::Unit(range, goes_on) => {
                (format!("{}{}", if *goes_on { "+" } else { "" }, &part[range.clone()]), Vec::new())
            }
            Stretch::Ids(ids) => (String::new(), cuts.ids[ids.clone()].to_vec()),
        };
        cuts.stretches.iter().map(unit).collect()
    }

    #[test]
    fn runs_are_cut_off_where_nothing_joins_them() {
        let pipeline = pipeline();
        let unit = |text: &str| (text.to_owned(), Vec::new());
        let ids = |ids: &[u32]| (String::new(), ids.to_vec());
        let cases = [
            (" 日本", false, vec![ids(&[1, 2, 3])]),
            ("語語", false, vec![ids(&[1, 0])]),
            ("語日語", true, vec![ids(&[0, 2, 0])]),
            (" ab語", false, vec![unit(" ab"), ids(&[0])]),
            (" 語ab本é", false, vec![ids(&[1, 0]), unit("+ab"), ids(&[3]), unit("+é")]),
            // A character in pieces that is none may be unknown, and so joined.
            ("語c", false, vec![unit("語c")]),
            ("語cd語a語", false, vec![unit("語cd語a"), ids(&[0])]),
            // What becomes of a character depends on one that is odd.
            ("語\u{a0}a語", false, vec![unit("語\u{a0}a語")]),
            ("語a\u{a0}", false, vec![unit("語a\u{a0}")]),
            ("語aa\u{a0}", false, vec![ids(&[1, 0]), unit("+aa\u{a0}")]),
            // Marks are of one group with what is before them.
            ("語\u{301}日", true, vec![ids(&[0, 2])]),
            ("本a\u{301}", true, vec![unit("+本a\u{301}")]),
        ];
        for (part, goes_on, expected) in cases {
            assert_eq!(cut(&pipeline, part, goes_on), expected, "{part:?}");
        }
    }
}
