//! Isolated characters: they occur in the vocabulary only as one-character pieces, or not at all, and in no added token of normalized text.
//!
//! No piece spans an isolated character and a neighbour, so every Viterbi path breaks on both sides, and the id comes from the
//! table of break classes. A run of isolated characters is cut off a word where the run begins the word, or where the character
//! beside it is a piece itself: unknown neighbours form one token together, but beside a piece there is no unknown neighbour,
//! so the cut is safe. The rewrites of the characters at such a boundary must not depend on each other; otherwise the word stays
//! whole.

use std::ops::Range;

use super::break_class::{
    BOUNDARY, BreakClass, BreakClasses, Classifier, DEPENDENT, FIRST_PIECE, JOINING_MARK, JOINING_SPACE,
    MARK, NO_BREAK, UNKNOWN, WIDE_SPACE,
};
use super::chunk_stages::ChunkStages;
use crate::metaspace::VISIBLE_SPACE;
use crate::models::Model;
use crate::models::unigram::PieceMembership;
use crate::pipeline::cluster_memo::ClusterMemo;

/// A range of a word, or its ids.
#[derive(Debug)]
pub(in crate::pipeline) enum SubChunk {
    /// A range of bytes for the cache and the model; true if they continue a word.
    Fragment(Range<usize>, bool),
    /// A run of isolated characters.
    Ids(IsolatedRun),
}

/// The place of a run of isolated characters, and the characters that its unknown tokens stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pipeline) struct IsolatedRun {
    /// The ids of the run: a range of [`SubChunks::ids`].
    pub(in crate::pipeline) ids: Range<usize>,
    /// The bytes of the run in the chunk.
    pub(in crate::pipeline) bytes: Range<usize>,
    /// Characters that unknown tokens stand for.
    pub(in crate::pipeline) unknown: u32,
}

/// Words that were cut.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct SubChunks {
    /// Ids of all runs of isolated characters.
    pub(in crate::pipeline) ids: Vec<u32>,
    /// The sub-chunks of the last word, from left to right.
    pub(in crate::pipeline) sub_chunks: Vec<SubChunk>,
}

impl SubChunks {
    /// Reserves memory for `ids` ids and for some sub-chunks.
    pub(in crate::pipeline) fn with_room(ids: usize) -> Self {
        Self { ids: Vec::with_capacity(ids), sub_chunks: Vec::with_capacity(16) }
    }
}

/// A cutter of words beside isolated characters.
#[derive(Debug)]
pub(in crate::pipeline) struct IsolatedChars {
    classes: BreakClasses,
    /// The id of a visible space.
    space: u32,
    unknown: u32,
}

impl IsolatedChars {
    /// None if a visible space is no piece, or may be joined with unknown characters.
    pub(super) fn new(model: &Model) -> Option<Self> {
        let mut text = [0; 4];
        let text = &*VISIBLE_SPACE.encode_utf8(&mut text);
        let is_piece =
            matches!(model.piece_membership(text), PieceMembership::Pieces | PieceMembership::Piece(_));
        let (space, unknown) = (model.vocab().id(text)?, model.id_of_unknown_text()?);
        is_piece.then(|| Self { classes: BreakClasses::default(), space, unknown })
    }

    /// Cuts the first word of `chunk` into fragments and runs of isolated characters; returns the start of the next word, which
    /// begins with white space beyond ASCII, or the end of the chunk.
    ///
    /// The word continues another one if `is_continuation`. Otherwise the word stands after `blanks` bytes that become a visible
    /// space, or at the beginning of a text, where it gets one. If a cluster is context-dependent, the whole chunk stays uncut.
    pub(in crate::pipeline) fn cut(
        &self,
        chunk: &str,
        blanks: usize,
        is_continuation: bool,
        (stages, model): (&ChunkStages<'_>, &Model),
        memo: &mut ClusterMemo,
        SubChunks { ids, sub_chunks }: &mut SubChunks,
    ) -> usize {
        let classifier = self.classes.of(stages, model);
        let first_id = ids.len();
        if classifier.are_unknown(&chunk[blanks..]) {
            ids.extend([self.space, self.unknown].into_iter().skip(usize::from(is_continuation)));
            let unknown = chunk[blanks..].chars().count() as u32;
            let run = IsolatedRun { ids: first_id..ids.len(), bytes: 0..chunk.len(), unknown };
            sub_chunks.push(SubChunk::Ids(run));
            return chunk.len();
        }
        let mut runs = Runs { run: None, done: 0, unknown: 0, is_continuation, sub_chunks };
        let word_end = self.cut_word(chunk, blanks, classifier, memo, &mut runs, ids);
        if let Some(end) = word_end {
            runs.finish(end, ids.len());
            return end;
        }
        ids.truncate(first_id);
        runs.sub_chunks.clear();
        runs.sub_chunks.push(SubChunk::Fragment(0..chunk.len(), is_continuation));
        chunk.len()
    }

    /// Collects the runs of the first word of `chunk`; returns the end of the word, or None at a context-dependent cluster.
    fn cut_word(
        &self,
        chunk: &str,
        mut blanks: usize,
        classifier: Classifier<'_>,
        memo: &mut ClusterMemo,
        runs: &mut Runs<'_>,
        ids: &mut Vec<u32>,
    ) -> Option<usize> {
        let with_class = |c| (c, classifier.char(c));
        let (mut at, mut before, mut last) = (blanks, BOUNDARY, BOUNDARY);
        let mut chars = chunk[at..].chars();
        let mut next = chars.next().map(with_class);
        while let Some((c, mut class)) = next {
            let (mut end, mut size) = (at + c.len_utf8(), 1);
            next = chars.next().map(with_class);
            if let Some((_, MARK | JOINING_MARK)) = next {
                let cluster = classifier.first_cluster(&chunk[at..], class);
                class = memo.get(cluster, || classifier.cluster(cluster)).unwrap_or(DEPENDENT);
                size = cluster.chars().count() as u32;
                end = at + cluster.len();
                chars = chunk[end..].chars();
                next = chars.next().map(with_class);
            }
            if matches!(class, WIDE_SPACE | JOINING_SPACE) {
                if at > blanks {
                    return Some(at);
                }
                // Such a space begins no continuation, and belongs to a run only if the run becomes one space.
                if runs.is_continuation || blanks > 0 && class == WIDE_SPACE {
                    return None;
                }
                (at, blanks) = (end, end);
                continue;
            }
            if matches!(class, DEPENDENT | MARK | JOINING_MARK) {
                return None;
            }
            runs.pass_ended(class, ids);
            if class < UNKNOWN {
                runs.end(at, class, ids);
            } else {
                if last == BOUNDARY && before != NO_BREAK {
                    runs.begin(at, at == blanks, self.space, ids);
                }
                if runs.run.is_some() {
                    self.push_id(class, last, ids);
                    runs.unknown += if class == UNKNOWN { size } else { 0 };
                    // Most isolated characters stand in runs.
                    while let Some((c, after @ UNKNOWN..)) = next {
                        let third = chars.next().map(with_class);
                        if matches!(third, Some((_, MARK | JOINING_MARK))) {
                            chars = chunk[end + c.len_utf8()..].chars();
                            break;
                        }
                        self.push_id(after, class, ids);
                        runs.unknown += u32::from(after == UNKNOWN);
                        (end, class, next) = (end + c.len_utf8(), after, third);
                    }
                }
            }
            (at, before, last) = (end, last, class);
        }
        Some(chunk.len())
    }

    /// Appends the id of an isolated cluster of `class` after one of class `last`.
    #[inline]
    fn push_id(&self, class: BreakClass, last: BreakClass, ids: &mut Vec<u32>) {
        if class != UNKNOWN {
            ids.push(class - FIRST_PIECE);
        } else if last != UNKNOWN {
            ids.push(self.unknown);
        }
    }
}

/// A run of isolated characters.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: usize,
    first_id: usize,
    /// Unknown characters of the word before the run.
    unknown: u32,
    /// Set once the run has ended.
    end: Option<usize>,
}

/// Runs of isolated characters in a word, from left to right.
struct Runs<'a> {
    /// The run that is not passed on yet.
    run: Option<Run>,
    /// Bytes of the word that are passed on.
    done: usize,
    /// Isolated characters of the word so far that are unknown, as [`IsolatedRun`] counts them.
    unknown: u32,
    is_continuation: bool,
    sub_chunks: &'a mut Vec<SubChunk>,
}

impl Runs<'_> {
    /// Begins a run at `at` unless one is there; a run that begins a word has the `space` of the word.
    #[inline]
    fn begin(&mut self, at: usize, begins_word: bool, space: u32, ids: &mut Vec<u32>) {
        if self.run.is_some() {
            return;
        }
        let (start, unknown) = (if begins_word { 0 } else { at }, self.unknown);
        self.run = Some(Run { start, first_id: ids.len(), unknown, end: None });
        if begins_word && !self.is_continuation {
            ids.push(space);
        }
    }

    /// Passes on a run that has ended, once the second cluster after the run, of `class`, is known. Gives the run up if nothing is cut
    /// next to that cluster: the cluster between them may then depend on it.
    #[inline]
    fn pass_ended(&mut self, class: BreakClass, ids: &mut Vec<u32>) {
        let Some(run @ Run { first_id, end: Some(end), .. }) = self.run else { return };
        self.run = None;
        if class == NO_BREAK {
            ids.truncate(first_id);
        } else {
            self.pass(run, end, ids.len());
        }
    }

    /// Ends the run, if there is one, before a cluster of `class` at `at` that is not isolated, or gives the run up.
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

    /// Passes on the rest of a word that ends at `word_end`.
    #[inline]
    fn finish(&mut self, word_end: usize, ids: usize) {
        if let Some(run) = self.run {
            self.pass(run, run.end.unwrap_or(word_end), ids);
        }
        if self.done < word_end {
            self.pass_fragment(word_end);
        }
    }

    /// Passes on a run, whose ids are the last ones of `ids`, and the fragment before it if there is one.
    #[inline]
    fn pass(&mut self, run: Run, end: usize, ids: usize) {
        if self.done < run.start {
            self.pass_fragment(run.start);
        }
        let (ids, bytes, unknown) = (run.first_id..ids, run.start..end, self.unknown - run.unknown);
        self.sub_chunks.push(SubChunk::Ids(IsolatedRun { ids, bytes, unknown }));
        self.done = end;
    }

    #[inline]
    fn pass_fragment(&mut self, end: usize) {
        let is_continuation = self.is_continuation || self.done > 0;
        self.sub_chunks.push(SubChunk::Fragment(self.done..end, is_continuation));
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
    use crate::pipeline::Pipeline;
    use crate::pre_tokenizers::PreTokenizer;

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

    /// The fragments of a chunk, a `+` before each that continues a word, and the ids of runs.
    fn cut(pipeline: &Pipeline, chunk: &str, is_continuation: bool) -> Vec<(String, Vec<u32>)> {
        let (stages, mut clusters, mut cuts) =
            (pipeline.chunk_stages().expect("chunks"), ClusterMemo::default(), SubChunks::default());
        let isolated = pipeline.isolated_chars().expect("a visible space");
        let blanks = if is_continuation { 0 } else { stages.blanks(chunk) };
        isolated.cut(chunk, blanks, is_continuation, (&stages, pipeline.model()), &mut clusters, &mut cuts);
        let fragment = |sub_chunk: &SubChunk| match sub_chunk {
            SubChunk::Fragment(range, is_continuation) => {
                (format!("{}{}", if *is_continuation { "+" } else { "" }, &chunk[range.clone()]), Vec::new())
            }
            SubChunk::Ids(run) => (String::new(), cuts.ids[run.ids.clone()].to_vec()),
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
            // A character that occurs in pieces, but is no piece itself, may be unknown, and so joined.
            ("語c", false, vec![fragment("語c")]),
            ("語cd語a語", false, vec![fragment("語cd語a"), ids(&[0])]),
            // Nothing is cut next to white space beyond ASCII that stays as it is.
            ("語\u{a0}a語", false, vec![fragment("語\u{a0}a語")]),
            ("語a\u{a0}", false, vec![fragment("語a\u{a0}")]),
            ("語aa\u{a0}", false, vec![ids(&[1, 0]), fragment("+aa\u{a0}")]),
            // A mark forms one cluster with the character before it.
            ("語\u{301}日", true, vec![ids(&[0, 2])]),
            ("本a\u{301}", true, vec![fragment("+本a\u{301}")]),
        ];
        for (chunk, is_continuation, expected) in cases {
            assert_eq!(cut(&pipeline, chunk, is_continuation), expected, "{chunk:?}");
        }
    }
}
