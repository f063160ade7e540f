//! Boundaries: places at which a text may be cut into shards.
//!
//! A boundary has to be one for every stage:
//!
//! * added tokens: none lies across the boundary or touches it, and there is no white space on both sides, which a token may take;
//! * normalizer: it works on characters and the marks after them, and leaves the two characters at the boundary unchanged, as
//!   well as all text in which an added token could be found once normalized. Or the boundary is a seam of original text, no stage
//!   sees the ends of a text, and no text grows so much that the bound of the whole text counts;
//! * pre-tokenizer: between a letter and white space or punctuation every known splitter begins a new span. Where text
//!   has neither, a boundary lies between two letters of one span at a cut point of the model ([`CutPoints`]): the span is
//!   cut, but its ids are unchanged. (In o200k the case of later letters decides where a span ends, so there text without spaces
//!   stays whole. So it does with `ignore_merges`, where parts of a span would be looked up as if they were spans.) Where all of
//!   a text is one pre-token, a boundary lies before a run of spaces. Where the pre-tokenizer puts something before a text that
//!   begins with no space, a boundary lies between a letter and a space. Seams are boundaries. For Unigram, a boundary lies
//!   before a chunk, if the last character of the chunk before says that this chunk is context-free.

use std::ops::Range;

use super::compiled::Pipeline;
use super::fronted::repeats_normalizer;
use super::plan::{ChunkPlan, Chunker, Plan, Rewrite, Scope};
use super::unigram::ChunkStages;
use crate::added_tokens::Matchers;
use crate::growth;
use crate::metaspace::VISIBLE_SPACE;
use crate::models::bpe::CutPoints;
use crate::normalizers::Normalizer;
use crate::scan::Splitter;
use crate::scan::classes::{Class, LETTER, NUMBER, PUNCTUATION, SPACE, WORD};
use crate::scan::seams::Seams;

/// Bytes after the wanted place in which a boundary is searched.
const SEARCHED: usize = 1 << 16;

/// Bytes beside the reach of added tokens that may change with text further away: one character and its marks.
const BLURRED: usize = 16;

impl Pipeline {
    /// A finder of boundaries in a text of `len` bytes; none if the pipeline has no boundaries.
    pub(super) fn boundary_finder(&self, len: usize) -> Option<BoundaryFinder<'_>> {
        self.finder_in_unchanged_text(len).or_else(|| self.finder_in_original_text(len))
    }

    /// A finder of boundaries at the seams of text that the normalizer may change.
    fn finder_in_original_text(&self, len: usize) -> Option<BoundaryFinder<'_>> {
        // A part of a text has a bound of its own on growth.
        let is_bounded = self.stages().normalizer.as_ref()?.most_growth()? <= growth::TIMES;
        if !is_bounded || self.compiled_normalizer()?.sees_ends() {
            return None;
        }
        let ends = ChunkEnds::Seams(self.original_seams_if_ready(len)?);
        Some(BoundaryFinder { matchers: &self.stages().matchers, ends, normalizer: None, cuts: None })
    }

    /// A finder of boundaries in text that the normalizer leaves unchanged.
    fn finder_in_unchanged_text(&self, len: usize) -> Option<BoundaryFinder<'_>> {
        let (matchers, normalizer) = (&self.stages().matchers, self.stages().normalizer.as_ref());
        let Plan::Chunked(plan @ ChunkPlan { rewrite, scope, chunker, .. }) = self.plan() else {
            return None;
        };
        let (ends, normalizer) = match (chunker, scope) {
            (Chunker::PreTokenizer, _) => return None,
            (Chunker::Seams, _) => (ChunkEnds::Seams(self.stages().seams()?), normalizer),
            (Chunker::Splitter(_), _) if rewrite == Rewrite::Stages => {
                (ChunkEnds::Unigram(self.chunk_stages()?), None)
            }
            // A part of a text would get the prefix that its beginning gets, unless it begins with a space.
            (Chunker::Splitter(_), Scope::Fronted { .. }) => {
                (ChunkEnds::WordsAfterSpace, normalizer.filter(|_| !repeats_normalizer(plan, self.stages())))
            }
            // Spaces that become visible change nothing at a boundary.
            (Chunker::Splitter(_), Scope::WithoutMetaspace { .. }) => {
                (ChunkEnds::Words(Splitter::Spaces), None)
            }
            (Chunker::Splitter(splitter), Scope::All | Scope::Unchanged) => {
                (ChunkEnds::Words(splitter), normalizer)
            }
        };
        let is_possible = normalizer.is_none_or(Normalizer::is_local) && self.model().is_deterministic();
        let is_cut_anywhere = match (ends, scope) {
            // A token in visible spaces and letters shows only once these are visible.
            (ChunkEnds::Words(_), Scope::WithoutMetaspace { .. }) => matchers.normalized.is_empty(),
            (ChunkEnds::Words(_), _) => true,
            _ => false,
        };
        // The parts of a span would be looked up as if they were spans.
        let has_cuts = is_possible && is_cut_anywhere && !self.model().depends_on_context();
        let cuts = if has_cuts { self.encoder().cut_points(len) } else { None };
        is_possible.then_some(BoundaryFinder { matchers, ends, normalizer, cuts })
    }
}

/// A finder of boundaries in one text.
pub(super) struct BoundaryFinder<'a> {
    matchers: &'a Matchers,
    ends: ChunkEnds<'a>,
    /// The normalizer, if it must leave the text around a boundary unchanged. Seams of original text hold although it changes text.
    normalizer: Option<&'a Normalizer>,
    cuts: Option<&'a CutPoints>,
}

/// Where the chunks of a text end.
#[derive(Clone, Copy)]
enum ChunkEnds<'a> {
    /// After words, as the splitter cuts text.
    Words(Splitter),
    /// After words that a space follows.
    WordsAfterSpace,
    /// At seams.
    Seams(&'a Seams),
    /// Before the chunks of a Unigram tokenizer.
    Unigram(ChunkStages<'a>),
}

impl BoundaryFinder<'_> {
    /// The first good boundary at or soon after `wanted`; one between words rather than one between letters.
    pub(super) fn find(&self, text: &str, wanted: usize) -> Option<usize> {
        let from = text.ceil_char_boundary(wanted);
        let to = text.floor_char_boundary((wanted + SEARCHED).max(from));
        if let ChunkEnds::Seams(seams) = self.ends {
            return seams.find(text, from..to, |seam| self.is_free(text, seam));
        }
        let mut left = text[..from].chars().next_back()?;
        let mut between_letters = None;
        for (at, right) in text[from..to].char_indices() {
            let boundary = from + at;
            if self.is_chunk_end(text, boundary, left, right) && self.is_free(text, boundary) {
                return Some(boundary);
            }
            if between_letters.is_none() && self.is_between_letters(text, boundary, left, right) {
                between_letters = self.is_free(text, boundary).then_some(boundary);
            }
            left = right;
        }
        between_letters
    }

    /// Bytes on both sides of a boundary that decide on it.
    pub(super) fn reach(&self) -> usize {
        let Matchers { original, normalized, .. } = self.matchers;
        let longest = original.longest().max(normalized.longest()).unwrap_or(0);
        let blurred = if let ChunkEnds::Seams(seams) = self.ends { seams.reach() } else { BLURRED };
        longest + blurred
    }

    /// The first good boundary at or soon after `wanted` in the beginning of a longer text, if it is a boundary of every such longer text
    /// and at least `margin` bytes lie after it.
    pub(super) fn find_lasting(&self, text: &str, wanted: usize, margin: usize) -> Option<usize> {
        let boundary = self.find(text, wanted)?;
        // The bytes that decide on the boundary must end before the text does: then they are the same in the longer text.
        let judged = surroundings(text, boundary, self.reach());
        (boundary + margin <= text.len() && judged.end < text.len()).then_some(boundary)
    }

    fn is_chunk_end(&self, text: &str, boundary: usize, left: char, right: char) -> bool {
        let splitter = match self.ends {
            ChunkEnds::Words(splitter) => splitter,
            ChunkEnds::WordsAfterSpace => return right == ' ' && Class::of(left).is(LETTER),
            ChunkEnds::Unigram(stages) => return stages.ends_chunk(&text[..boundary], right),
            ChunkEnds::Seams(_) => return false,
        };
        if splitter == Splitter::Spaces {
            return right == ' ' && left != ' ' && left != VISIBLE_SPACE;
        }
        let class = Class::of(right);
        let is_end = class.is(SPACE)
            || (class.is(PUNCTUATION)
                && !class.is(WORD)
                && right != '\''
                && splitter != Splitter::WhitespaceSplit);
        is_end && Class::of(left).is(LETTER)
    }

    fn is_between_letters(&self, text: &str, boundary: usize, left: char, right: char) -> bool {
        let (Some(cuts), ChunkEnds::Words(splitter)) = (self.cuts, self.ends) else { return false };
        let are_letters = Class::of(left).is(LETTER) && Class::of(right).is(LETTER);
        let is_one_span =
            !matches!(splitter, Splitter::O200k | Splitter::Whitespace | Splitter::WhitespaceSplit);
        let (start, end) = (boundary - left.len_utf8(), boundary + right.len_utf8());
        are_letters && is_one_span && cuts.fragment_end(text.as_bytes(), start, end) == boundary
    }

    /// True if the normalizer leaves the text around the boundary unchanged where it must, and no added token touches the boundary, nor
    /// takes white space on both sides of it.
    fn is_free(&self, text: &str, boundary: usize) -> bool {
        let (left, right) = text.split_at(boundary);
        if self.matchers.has_tokens()
            && left.ends_with(char::is_whitespace)
            && right.starts_with(char::is_whitespace)
        {
            return false;
        }
        let leaves_unchanged = |normalizer: &Normalizer| {
            let reach = self.matchers.normalized.longest().map_or(1, |longest| longest + BLURRED);
            normalizer.is_identity(&text[surroundings(text, boundary, reach)])
        };
        let judged = match self.ends {
            // The character after a space may decide on the seam before the space, unless an added token takes it.
            ChunkEnds::Seams(_) => boundary..boundary + right.chars().next().map_or(0, char::len_utf8),
            _ => boundary..boundary,
        };
        self.normalizer.is_none_or(leaves_unchanged) && !self.matchers.touch(text, judged)
    }
}

/// At least `reach` bytes to both sides of `boundary`, from a letter, number or space up to before the next one: no mark
/// outside can move to a place inside.
fn surroundings(text: &str, boundary: usize, reach: usize) -> Range<usize> {
    let is_base = |c: char| Class::of(c).is(LETTER.or(NUMBER).or(SPACE));
    let from = text.floor_char_boundary(boundary.saturating_sub(reach));
    let is_first = text[from..].starts_with(is_base);
    let start = if is_first { from } else { text[..from].rfind(is_base).unwrap_or(0) };
    let to = text.ceil_char_boundary((boundary + reach).min(text.len()));
    start..text[to..].find(is_base).map_or(text.len(), |more| to + more)
}
