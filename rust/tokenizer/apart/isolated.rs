//! Lone characters: those that no piece has beside others. Every path goes through such a one by itself, so its token is
//! looked up in a table, without the cache and the model, and what it stands between is cut from it.
//!
//! What a character becomes wherever it stands is asked once. A run of lone ones is cut off where it begins a word or has
//! characters beside it that are pieces, whatever else they are in; so unknown ones, which are one token with others beside them,
//! meet none.

use std::ops::Range;

use super::Stages;
use super::classes::{
    APART, BOUNDARY, BreakClass, BreakClasses, FIRST_PIECE, JOINED_SPACE, JOINT, MARK, ODD, SPACE, UNKNOWN,
};
use crate::engine::ClusterMemo;
use crate::metaspace::VISIBLE_SPACE;
use crate::models::Model;
use crate::models::unigram::PieceMembership;

/// A stretch of a word.
#[derive(Debug)]
pub(in crate::tokenizer) enum SubChunk {
    /// For the cache and the model: the bytes of it, and whether it goes on with a word.
    KeyForm(Range<usize>, bool),
    /// Ids that are known, by their places among all of them.
    Ids(Range<usize>),
}

/// Words that were cut.
#[derive(Debug, Default)]
pub(in crate::tokenizer) struct SubChunks {
    /// Ids of runs of lone characters.
    pub(in crate::tokenizer) ids: Vec<u32>,
    /// The sub_chunks of the last word, from left to right.
    pub(in crate::tokenizer) sub_chunks: Vec<SubChunk>,
}

impl SubChunks {
    /// Room for so many ids, which most texts have no more of.
    pub(in crate::tokenizer) fn with_room(ids: usize) -> Self {
        Self { ids: Vec::with_capacity(ids), sub_chunks: Vec::with_capacity(16) }
    }
}

/// What cuts words beside lone characters.
#[derive(Debug)]
pub(in crate::tokenizer) struct IsolatedChars {
    classes: BreakClasses,
    space: u32,
    unknown: u32,
}

impl IsolatedChars {
    /// None where a visible space is no piece, or may be joined with what is unknown.
    pub(in crate::tokenizer) fn new(model: &Model) -> Option<Self> {
        let mut text = [0; 4];
        let text = &*VISIBLE_SPACE.encode_utf8(&mut text);
        let is_known =
            matches!(model.piece_membership(text), PieceMembership::Pieces | PieceMembership::Piece(_));
        let (space, unknown) = (model.vocab().id(text)?, model.id_of_unknown_text()?);
        is_known.then(|| Self { classes: BreakClasses::default(), space, unknown })
    }

    /// SubChunks `chunk` into units and runs of lone characters: a word that `is_continuation` with what is before it, or stands after
    /// `blanks` bytes that become a visible space, or none at the beginning of a text, where it gets one. Answers where the
    /// next word begins, with white space beyond ASCII, or the part ends.
    ///
    /// A word with something odd stays whole, with all after it.
    pub(in crate::tokenizer) fn cut(
        &self,
        chunk: &str,
        mut blanks: usize,
        is_continuation: bool,
        (stages, model): (&Stages<'_>, &Model),
        clusters: &mut ClusterMemo,
        SubChunks { ids, sub_chunks }: &mut SubChunks,
    ) -> usize {
        let classes = self.classes.of(stages, model);
        let first_of_all = ids.len();
        if classes.are_unknown(&chunk[blanks..]) {
            ids.extend([self.space, self.unknown].into_iter().skip(usize::from(is_continuation)));
            sub_chunks.push(SubChunk::Ids(first_of_all..ids.len()));
            return chunk.len();
        }
        let with_kind = |c| (c, classes.char(c));
        let mut runs = Runs { run: None, done: 0, is_continuation, sub_chunks };
        let (mut at, mut before, mut last) = (blanks, BOUNDARY, BOUNDARY);
        let mut chars = chunk[at..].chars();
        let mut next = chars.next().map(with_kind);
        let mut word_end = chunk.len();
        while let Some((c, mut class)) = next {
            let mut end = at + c.len_utf8();
            next = chars.next().map(with_kind);
            if let Some((_, MARK | JOINT)) = next {
                let cluster = classes.first_group(&chunk[at..], class);
                class = clusters.get(cluster, || classes.cluster(cluster)).unwrap_or(ODD);
                end = at + cluster.len();
                chars = chunk[end..].chars();
                next = chars.next().map(with_kind);
            }
            if matches!(class, SPACE | JOINED_SPACE) {
                if at > blanks {
                    word_end = at;
                    break;
                }
                // Not in the place of what goes on, and one of a run only if that is what a space is.
                if is_continuation || blanks > 0 && class == SPACE {
                    class = ODD;
                } else {
                    (at, blanks) = (end, end);
                    continue;
                }
            }
            if matches!(class, ODD | MARK | JOINT) {
                ids.truncate(first_of_all);
                runs.sub_chunks.clear();
                runs.sub_chunks.push(SubChunk::KeyForm(0..chunk.len(), is_continuation));
                return chunk.len();
            }
            runs.meet(class, ids);
            if class >= UNKNOWN {
                let is_first = at == blanks;
                if runs.run.is_none() && last == BOUNDARY && before != APART {
                    let start = if is_first { 0 } else { at };
                    runs.run = Some(Run { start, first_id: ids.len(), end: None });
                    if is_first && !is_continuation {
                        ids.push(self.space);
                    }
                }
                if runs.run.is_some() {
                    self.push_id(class, last, ids);
                    // Most have more of their kind after them.
                    while let Some((c, after @ UNKNOWN..)) = next {
                        let third = chars.next().map(with_kind);
                        if matches!(third, Some((_, MARK | JOINT))) {
                            chars = chunk[end + c.len_utf8()..].chars();
                            break;
                        }
                        self.push_id(after, class, ids);
                        (end, class, next) = (end + c.len_utf8(), after, third);
                    }
                }
            } else {
                runs.end(at, class, ids);
            }
            (at, before, last) = (end, last, class);
        }
        runs.finish(word_end, ids.len());
        word_end
    }

    /// Appends the id of a lone character after one of kind `last`.
    #[inline]
    fn push_id(&self, class: BreakClass, last: BreakClass, ids: &mut Vec<u32>) {
        if class != UNKNOWN {
            ids.push(class - FIRST_PIECE);
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

/// Runs of lone characters in a word, from left to right.
struct Runs<'a> {
    /// The one that is not passed on yet.
    run: Option<Run>,
    /// Bytes of what is.
    done: usize,
    is_continuation: bool,
    sub_chunks: &'a mut Vec<SubChunk>,
}

impl Runs<'_> {
    /// Passes on a run that has ended, or gives it up, before a group of `class` that is the next but one after it: what
    /// the one beside it becomes is known if that is not apart.
    #[inline]
    fn meet(&mut self, class: BreakClass, ids: &mut Vec<u32>) {
        let Some(run @ Run { first_id, end: Some(end), .. }) = self.run else { return };
        self.run = None;
        if class == APART {
            ids.truncate(first_id);
        } else {
            self.pass(run, end, ids.len());
        }
    }

    /// Ends the run, if there is one, before a group of `class` at `at` that is not lone, or gives it up.
    #[inline]
    fn end(&mut self, at: usize, class: BreakClass, ids: &mut Vec<u32>) {
        let Some(Run { first_id, end, .. }) = &mut self.run else { return };
        if class == BOUNDARY {
            *end = Some(at);
        } else {
            ids.truncate(*first_id);
            self.run = None;
        }
    }

    /// Passes on what is left of a word that ends at `word_end`.
    #[inline]
    fn finish(&mut self, word_end: usize, ids: usize) {
        if let Some(run) = self.run {
            self.pass(run, run.end.unwrap_or(word_end), ids);
        }
        if self.done < word_end {
            self.sub_chunks
                .push(SubChunk::KeyForm(self.done..word_end, self.is_continuation || self.done > 0));
        }
    }

    /// Passes on a run, whose ids are the last ones of `ids`, and the unit before it if there is one.
    #[inline]
    fn pass(&mut self, run: Run, end: usize, ids: usize) {
        if self.done < run.start {
            self.sub_chunks
                .push(SubChunk::KeyForm(self.done..run.start, self.is_continuation || self.done > 0));
        }
        self.sub_chunks.push(SubChunk::Ids(run.first_id..ids));
        self.done = end;
    }
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
    fn cut(pipeline: &Pipeline, chunk: &str, is_continuation: bool) -> Vec<(String, Vec<u32>)> {
        let (stages, mut clusters, mut cuts) =
            (pipeline.stages().expect("parts"), ClusterMemo::default(), SubChunks::default());
        let isolated = pipeline.isolated_chars().expect("a visible space");
        let blanks = if is_continuation { 0 } else { stages.blanks(chunk) };
        isolated.cut(chunk, blanks, is_continuation, (&stages, pipeline.model()), &mut clusters, &mut cuts);
        let fragment = |stretch: &SubChunk| match stretch {
            SubChunk::KeyForm(range, is_continuation) => {
                (format!("{}{}", if *is_continuation { "+" } else { "" }, &chunk[range.clone()]), Vec::new())
            }
            SubChunk::Ids(ids) => (String::new(), cuts.ids[ids.clone()].to_vec()),
        };
        cuts.sub_chunks.iter().map(fragment).collect()
    }

    #[test]
    fn runs_are_cut_off_where_nothing_joins_them() {
        let pipeline = pipeline();
        let fragment = |text: &str| (text.to_owned(), Vec::new());
        let ids = |ids: &[u32]| (String::new(), ids.to_vec());
        let cases = [
            (" 日本", false, vec![ids(&[1, 2, 3])]),
            ("語語", false, vec![ids(&[1, 0])]),
            ("語日語", true, vec![ids(&[0, 2, 0])]),
            (" ab語", false, vec![fragment(" ab"), ids(&[0])]),
            (" 語ab本é", false, vec![ids(&[1, 0]), fragment("+ab"), ids(&[3]), fragment("+é")]),
            // A character in pieces that is none may be unknown, and so joined.
            ("語c", false, vec![fragment("語c")]),
            ("語cd語a語", false, vec![fragment("語cd語a"), ids(&[0])]),
            // What becomes of a character depends on one that is odd.
            ("語\u{a0}a語", false, vec![fragment("語\u{a0}a語")]),
            ("語a\u{a0}", false, vec![fragment("語a\u{a0}")]),
            ("語aa\u{a0}", false, vec![ids(&[1, 0]), fragment("+aa\u{a0}")]),
            // Marks are of one group with what is before them.
            ("語\u{301}日", true, vec![ids(&[0, 2])]),
            ("本a\u{301}", true, vec![fragment("+本a\u{301}")]),
        ];
        for (chunk, is_continuation, expected) in cases {
            assert_eq!(cut(&pipeline, chunk, is_continuation), expected, "{chunk:?}");
        }
    }
}
