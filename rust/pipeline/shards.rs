//! Shards: parts of a long text that threads encode separately, with the ids of the whole.
//!
//! So one file occupies all threads, and one odd character sends no more than its own shard through the normalizer. A
//! boundary between shards has to be one for every stage:
//!
//! * added tokens: none lies across the boundary or touches it;
//! * normalizer: it works on characters and the marks after them, and leaves the two characters at the boundary unchanged, as
//!   well as all text in which an added token could be found once normalized;
//! * pre-tokenizer: between a letter and white space or punctuation every known splitter begins a new span. Where text
//!   has neither, a boundary lies between two letters of one span at a cut point of the model ([`CutPoints`]): the span is
//!   cut, but its ids are unchanged. (In o200k the case of later letters decides where a span ends, so there text without spaces
//!   stays whole.) Where all of a text is one pre-token, a boundary lies before a run of spaces. For Unigram, a boundary lies before
//!   a chunk, if the last character of the chunk before says that this chunk is context-free.
//!
//! Word ids do not survive a cut span, so shards are for ids alone.

use std::ops::Range;

use super::compiled::Pipeline;
use super::plan::{ChunkPlan, Plan, Rewrite, Scope};
use super::unigram::ChunkStages;
use crate::added_tokens::Matchers;
use crate::metaspace::VISIBLE_SPACE;
use crate::models::bpe::CutPoints;
use crate::normalizers::Normalizer;
use crate::scan::Splitter;
use crate::scan::classes::{Class, LETTER, NUMBER, PUNCTUATION, SPACE, WORD};

/// A text of up to this many bytes is one shard.
pub const WHOLE: usize = 1 << 18;

/// Bytes after the wanted place in which a boundary is searched.
const SEARCHED: usize = 1 << 16;

/// Bytes beside the reach of added tokens that may change with text further away: one character and its marks.
const BLURRED: usize = 16;

/// A part of a text that one thread encodes; a short text is one shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the text among all texts, or of the row among all rows of all blocks.
    pub row: usize,
    /// Bytes of the shard in its text, or in the block that holds it. A text that is yet to be written is one shard of the most bytes
    /// that it may take.
    pub bytes: Range<usize>,
    /// True if the text begins here.
    pub is_first: bool,
    /// True if the text ends here.
    pub is_last: bool,
}

impl Shard {
    /// A text of `bytes` bytes in one shard.
    pub fn whole(row: usize, bytes: usize) -> Self {
        Self { row, bytes: 0..bytes, is_first: true, is_last: true }
    }
}

impl Pipeline {
    /// Cuts a text of more than [`WHOLE`] bytes, the one of number `row`, into shards for a call that encodes `total` bytes on
    /// `threads` threads.
    pub fn shards(&self, row: usize, text: &str, total: usize, threads: usize) -> Vec<Shard> {
        let target = (total / (threads.max(1) * 8)).clamp(WHOLE / 4, WHOLE * 2);
        let shard = |bytes: Range<usize>| {
            let (is_first, is_last) = (bytes.start == 0, bytes.end == text.len());
            Shard { row, bytes, is_first, is_last }
        };
        self.shard_ranges(text, target).into_iter().map(shard).collect()
    }

    /// Cuts `text` into ranges of about `target` bytes, or larger ones where there is no boundary.
    pub(super) fn shard_ranges(&self, text: &str, target: usize) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        let (mut start, mut wanted) = (0, target);
        if let Some(finder) = self.boundary_finder(text.len()) {
            while wanted + target / 2 < text.len() {
                if let Some(boundary) = finder.find(text, wanted) {
                    ranges.push(start..boundary);
                    start = boundary;
                }
                wanted = start.max(wanted) + target;
            }
        }
        ranges.push(start..text.len());
        ranges
    }

    /// A boundary near the end of `text`, the beginning of a longer text. It is a boundary of every such longer text, and at least
    /// `margin` bytes of `text` lie after it.
    pub fn last_boundary(&self, text: &str, margin: usize) -> Option<usize> {
        let margin = margin.max(self.reach());
        let search =
            |searched: usize| self.lasting_boundary(text, text.len().checked_sub(searched + margin)?, margin);
        // As a rule there is one close by, and less text has to be scanned again.
        search(text.len() / 64).or_else(|| search(text.len() / 4))
    }

    fn lasting_boundary(&self, text: &str, wanted: usize, margin: usize) -> Option<usize> {
        let boundary = self.boundary_finder(text.len())?.find(text, wanted)?;
        // The bytes that decide on the boundary must end before the text does: then they are the same in the longer text.
        let judged = surroundings(text, boundary, self.reach());
        (boundary + margin <= text.len() && judged.end < text.len()).then_some(boundary)
    }

    /// Bytes on both sides of a boundary that decide on it.
    fn reach(&self) -> usize {
        let Matchers { original, normalized, .. } = &self.stages().matchers;
        original.longest().max(normalized.longest()).unwrap_or(0) + BLURRED
    }

    fn boundary_finder(&self, len: usize) -> Option<BoundaryFinder<'_>> {
        let matchers = &self.stages().matchers;
        let Plan::Chunked(plan @ ChunkPlan { rewrite, scope, .. }) = self.plan() else { return None };
        // A part of a text would get the prefix that its beginning gets.
        if let Scope::Fronted { .. } = scope {
            return None;
        }
        let splitter = plan.splitter()?;
        if rewrite == Rewrite::Stages {
            return Some(BoundaryFinder {
                matchers,
                splitter,
                normalizer: None,
                stages: self.chunk_stages(),
                cuts: None,
            });
        }
        let (splitter, normalizer) = match scope {
            // Spaces that become visible change nothing at a boundary.
            Scope::WithoutMetaspace { .. } => (Splitter::Spaces, None),
            Scope::All | Scope::Unchanged | Scope::Fronted { .. } => {
                (splitter, self.stages().normalizer.as_ref())
            }
        };
        let is_possible = normalizer.is_none_or(Normalizer::is_local) && self.model().is_deterministic();
        let cuts = is_possible.then(|| self.encoder().cut_points(len))?;
        // A token in visible spaces and letters shows only once these are visible.
        let shows_tokens = !matches!(scope, Scope::WithoutMetaspace { .. }) || matchers.normalized.is_empty();
        let cuts = cuts.filter(|_| shows_tokens);
        Some(BoundaryFinder { matchers, splitter, normalizer, stages: None, cuts })
    }
}

/// A finder of boundaries in one text.
struct BoundaryFinder<'a> {
    matchers: &'a Matchers,
    splitter: Splitter,
    /// The normalizer, if it may change the characters at a boundary.
    normalizer: Option<&'a Normalizer>,
    /// Set for Unigram, where a boundary lies before a chunk.
    stages: Option<ChunkStages<'a>>,
    cuts: Option<&'a CutPoints>,
}

impl BoundaryFinder<'_> {
    /// The first good boundary at or soon after `wanted`; one between words rather than one between letters.
    fn find(&self, text: &str, wanted: usize) -> Option<usize> {
        let from = text.ceil_char_boundary(wanted);
        let searched = &text[from..text.floor_char_boundary((wanted + SEARCHED).max(from))];
        let mut left = text[..from].chars().next_back()?;
        let mut between_letters = None;
        for (at, right) in searched.char_indices() {
            let boundary = from + at;
            let is_end = match self.stages {
                Some(stages) => stages.ends_chunk(&text[..boundary], right),
                None => self.is_between_words(left, right),
            };
            if is_end && self.is_free(text, boundary) {
                return Some(boundary);
            }
            if between_letters.is_none()
                && self.stages.is_none()
                && self.is_between_letters(text, boundary, left, right)
            {
                between_letters = self.is_free(text, boundary).then_some(boundary);
            }
            left = right;
        }
        between_letters
    }

    fn is_between_words(&self, left: char, right: char) -> bool {
        if self.splitter == Splitter::Spaces {
            return right == ' ' && left != ' ' && left != VISIBLE_SPACE;
        }
        let class = Class::of(right);
        let is_end = class.is(SPACE)
            || (class.is(PUNCTUATION)
                && !class.is(WORD)
                && right != '\''
                && self.splitter != Splitter::WhitespaceSplit);
        is_end && Class::of(left).is(LETTER)
    }

    fn is_between_letters(&self, text: &str, boundary: usize, left: char, right: char) -> bool {
        let are_letters = Class::of(left).is(LETTER) && Class::of(right).is(LETTER);
        let is_one_span =
            !matches!(self.splitter, Splitter::O200k | Splitter::Whitespace | Splitter::WhitespaceSplit);
        let start = boundary - left.len_utf8();
        let is_cut = |cuts: &CutPoints| {
            cuts.fragment_end(text.as_bytes(), start, boundary + right.len_utf8()) == boundary
        };
        are_letters && self.cuts.is_some_and(is_cut) && is_one_span
    }

    /// True if the normalizer leaves the text around the boundary unchanged and no added token touches the boundary.
    fn is_free(&self, text: &str, boundary: usize) -> bool {
        let leaves_unchanged = |normalizer: &Normalizer| {
            let reach = self.matchers.normalized.longest().map_or(1, |longest| longest + BLURRED);
            normalizer.is_identity(&text[surroundings(text, boundary, reach)])
        };
        self.normalizer.is_none_or(leaves_unchanged) && !self.matchers.touch(text, boundary)
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::testing::ids;
    use super::*;
    use crate::added_tokens::{AddedToken, AddedTokens};
    use crate::byte_level::BYTE_TO_CHAR;
    use crate::models::Model;
    use crate::models::bpe::{Bpe, BpeOptions};
    use crate::normalizers::Form;
    use crate::pre_tokenizers::{Behavior, ByteLevel, PreTokenizer, Split};
    use crate::structures::finder::TextPattern;
    use crate::testing::cases;
    use crate::vocab::Vocab;

    /// Tokens of two bytes that random choices join, over texts of every class and two scripts without case.
    fn pipeline(splitter: usize, with_normalizer: bool, choices: &[(u8, u8)]) -> Pipeline {
        let mut tokens: Vec<String> = BYTE_TO_CHAR.iter().map(char::to_string).collect();
        let mut pairs = Vec::new();
        for &(left, right) in choices {
            let joined: String = [left, right].iter().map(|&byte| BYTE_TO_CHAR[usize::from(byte)]).collect();
            if !tokens.contains(&joined) {
                pairs.push(((u32::from(left), u32::from(right)), tokens.len() as u32));
                tokens.push(joined);
            }
        }
        let vocab = Arc::new(Vocab::from_tokens(&tokens));
        let bpe = Bpe::from_pairs(Arc::clone(&vocab), &pairs, BpeOptions::default()).expect("no dropout");
        let mut added = AddedTokens::default();
        let token = |content: &str, single_word| AddedToken { single_word, ..AddedToken::new(content, true) };
        added.add(
            &[
                token("b<s>", false),
                token("a .", false),
                token("ab", true),
                token("日 本", false),
                AddedToken::new("éa b", false),
                AddedToken::new("éa.c", false),
            ],
            &vocab,
        );
        let byte_map = ByteLevel { add_prefix_space: false, trim_offsets: true, use_regex: false };
        let pre_tokenizer = match Splitter::PATTERNS.get(splitter) {
            Some((pattern, _)) => PreTokenizer::Sequence(vec![
                PreTokenizer::Split(Arc::new(split(pattern))),
                PreTokenizer::ByteLevel(byte_map),
            ]),
            None if splitter == Splitter::PATTERNS.len() => PreTokenizer::Whitespace,
            None if splitter == Splitter::PATTERNS.len() + 1 => PreTokenizer::WhitespaceSplit,
            None => PreTokenizer::Bert,
        };
        let normalizer = with_normalizer.then_some(Normalizer::Unicode(Form::Nfc));
        let model = Arc::new(Model::Bpe(bpe));
        Pipeline::new(normalizer, Some(pre_tokenizer), model, Arc::new(added), false, 1 << 20).expect("valid")
    }

    fn split(pattern: &str) -> Split {
        Split::new(TextPattern::Regex(pattern.to_owned()), Behavior::Isolated, false)
            .expect("a known pattern")
    }

    /// A byte of the characters that the texts below are made of.
    fn byte() -> impl Strategy<Value = u8> {
        prop::sample::select("aBc 日本กдé'.".as_bytes().to_vec())
    }

    proptest! {
        #![proptest_config(cases(2000))]

        #[test]
        fn shards_matches_naive(
            splitter in 0..Splitter::PATTERNS.len() + 3,
            with_normalizer in any::<bool>(),
            choices in prop::collection::vec((byte(), byte()), 0..60),
            text in "[a-cB 日本語กาé\u{301}'’.,<s>_1\r\n\u{3000}。]{0,300}|((e\u{301}|é)a[ .][bc]){0,60}|[日本語กาa]{0,200}|[日本Bcดé]{0,60}|[ab]{0,200}",
            target in 1..40usize,
        ) {
            let pipeline = pipeline(splitter, with_normalizer, &choices);
            pipeline.encoder().cut_points(1 << 20);
            let shards = pipeline.shard_ranges(&text, target);
            let of_shards: Vec<u32> = shards.iter().flat_map(|shard| ids(&pipeline, &text[shard.clone()])).collect();
            prop_assert_eq!(of_shards, ids(&pipeline, &text), "{:?}", shards);
        }

        #[test]
        fn last_boundary_matches_naive(
            splitter in 0..Splitter::PATTERNS.len() + 3,
            with_normalizer in any::<bool>(),
            choices in prop::collection::vec((byte(), byte()), 0..60),
            text in "[a-cB 日本語กาé\u{301}'’.,<s>_1\r\n\u{3000}。]{0,200}|((e\u{301}|é)a[ .][bc]){0,60}|[日本語กาa]{0,200}|[ab]{0,200}",
            read in 0..200usize,
            wanted in 0..200usize,
        ) {
            let pipeline = pipeline(splitter, with_normalizer, &choices);
            pipeline.encoder().cut_points(1 << 20);
            let beginning = &text[..text.floor_char_boundary(read.min(text.len()))];
            let wanted = wanted.min(beginning.len());
            if let Some(boundary) = pipeline.lasting_boundary(beginning, wanted, pipeline.reach()) {
                let apart = [ids(&pipeline, &text[..boundary]), ids(&pipeline, &text[boundary..])].concat();
                prop_assert_eq!(apart, ids(&pipeline, &text), "{:?}", boundary);
            }
        }
    }
}
