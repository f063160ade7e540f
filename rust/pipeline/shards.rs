//! Shards: parts of a long text that threads encode separately, with the ids of the whole.
//!
//! So one file occupies all threads, and one odd character sends no more than its own shard through the normalizer. `boundaries` finds the
//! places to cut. Word ids do not survive a cut span, so shards are for ids alone.

use std::ops::Range;

use super::compiled::Pipeline;

/// A text of up to this many bytes is one shard.
pub const WHOLE: usize = 1 << 18;

/// Bytes before the end of a growing text in which a boundary is searched first.
const NEAR: usize = 64;

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
        let finder = self.boundary_finder(text.len())?;
        let margin = margin.max(finder.reach());
        let search =
            |searched: usize| finder.find_lasting(text, text.len().checked_sub(searched + margin)?, margin);
        // As a rule there is one close by, and less text has to be scanned again.
        search(text.len() / 64).or_else(|| search(text.len() / 4))
    }

    /// A boundary near the end of `text`, the beginning of a longer text: a boundary of every such longer text. Less of the text is searched
    /// than by [`Self::last_boundary`].
    pub fn settled_boundary(&self, text: &str) -> Option<usize> {
        let finder = self.boundary_finder(text.len())?;
        let (margin, mut searched) = (finder.reach(), NEAR);
        loop {
            let wanted = text.len().saturating_sub(searched + margin).max(1);
            let found = finder.find_lasting(text, wanted, margin);
            if found.is_some() || wanted == 1 {
                return found;
            }
            searched *= 4;
        }
    }

    /// A beginning of `text` of at most `most` bytes that ends at a boundary of `text`, or all of `text`.
    pub fn settled_head<'t>(&self, text: &'t str, most: usize) -> &'t str {
        let within = &text[..text.floor_char_boundary(most)];
        if within.len() < text.len()
            && let Some(boundary) = self.settled_boundary(within)
        {
            return &text[..boundary];
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::boundaries::BoundaryFinder;
    use super::super::testing::{ids, shard_ids};
    use super::*;
    use crate::added_tokens::{AddedToken, AddedTokens};
    use crate::byte_level::BYTE_TO_CHAR;
    use crate::metaspace::{Metaspace, PrependScheme};
    use crate::models::Model;
    use crate::models::bpe::{Bpe, BpeOptions};
    use crate::normalizers::{Form, Normalizer};
    use crate::pre_tokenizers::{Behavior, ByteLevel, PreTokenizer, Split};
    use crate::scan::Splitter;
    use crate::structures::finder::{Replacement, TextPattern};
    use crate::testing::cases;
    use crate::vocab::Vocab;

    /// Tokens of two bytes that random choices join, over texts of every class and two scripts without case. With `ignore_merges`, no merge
    /// makes every other one.
    fn pipeline(
        splitter: usize,
        (with_normalizer, ignore_merges): (bool, bool),
        choices: &[(u8, u8)],
    ) -> Pipeline {
        let mut tokens: Vec<String> = BYTE_TO_CHAR.iter().map(char::to_string).collect();
        let mut pairs = Vec::new();
        for &(left, right) in choices {
            let joined: String = [left, right].iter().map(|&byte| BYTE_TO_CHAR[usize::from(byte)]).collect();
            if !tokens.contains(&joined) {
                if !ignore_merges || tokens.len().is_multiple_of(2) {
                    pairs.push(((u32::from(left), u32::from(right)), tokens.len() as u32));
                }
                tokens.push(joined);
            }
        }
        let vocab = Arc::new(Vocab::from_tokens(&tokens));
        let options = BpeOptions { ignore_merges, ..BpeOptions::default() };
        let bpe = Bpe::from_pairs(Arc::clone(&vocab), &pairs, options).expect("no dropout");
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
            options in any::<(bool, bool)>(),
            choices in prop::collection::vec((byte(), byte()), 0..60),
            text in "[a-cB 日本語กาé\u{301}'’.,<s>_1\r\n\u{3000}。]{0,300}|((e\u{301}|é)a[ .][bc]){0,60}|[日本語กาa]{0,200}|[日本Bcดé]{0,60}|[ab]{0,200}",
            target in 1..40usize,
        ) {
            let pipeline = pipeline(splitter, options, &choices);
            pipeline.encoder().cut_points(1 << 20);
            let shards = pipeline.shard_ranges(&text, target);
            let of_shards: Vec<u32> = shards.iter().flat_map(|shard| ids(&pipeline, &text[shard.clone()])).collect();
            prop_assert_eq!(of_shards, ids(&pipeline, &text), "{:?}", shards);
        }

        #[test]
        fn last_boundary_matches_naive(
            splitter in 0..Splitter::PATTERNS.len() + 3,
            options in any::<(bool, bool)>(),
            choices in prop::collection::vec((byte(), byte()), 0..60),
            text in "[a-cB 日本語กาé\u{301}'’.,<s>_1\r\n\u{3000}。]{0,200}|((e\u{301}|é)a[ .][bc]){0,60}|[日本語กาa]{0,200}|[ab]{0,200}",
            read in 0..200usize,
            wanted in 0..200usize,
        ) {
            let pipeline = pipeline(splitter, options, &choices);
            pipeline.encoder().cut_points(1 << 20);
            let beginning = &text[..text.floor_char_boundary(read.min(text.len()))];
            let wanted = wanted.min(beginning.len());
            let lasting = |finder: BoundaryFinder<'_>| finder.find_lasting(beginning, wanted, finder.reach());
            if let Some(boundary) = pipeline.boundary_finder(beginning.len()).and_then(lasting) {
                let apart = [ids(&pipeline, &text[..boundary]), ids(&pipeline, &text[boundary..])].concat();
                prop_assert_eq!(apart, ids(&pipeline, &text), "{:?}", boundary);
            }
        }
    }

    /// Characters, bytes, and tokens of two of them that random choices join.
    fn model(choices: &[(prop::sample::Index, prop::sample::Index)]) -> Arc<Model> {
        let mut tokens: Vec<String> = "?\u{2581}aBc 1日本กдé'.".chars().map(String::from).collect();
        tokens.extend(BYTE_TO_CHAR.iter().map(char::to_string).filter(|byte| !"?aBc1é'.".contains(&**byte)));
        let (singles, mut pairs) = (13, Vec::new());
        for (left, right) in choices {
            let (left, right) = (left.index(singles), right.index(singles));
            let joined = [&*tokens[left], &*tokens[right]].concat();
            if !tokens.contains(&joined) {
                pairs.push(((left as u32, right as u32), tokens.len() as u32));
                tokens.push(joined);
            }
        }
        let vocab = Arc::new(Vocab::from_tokens(&tokens));
        let options = BpeOptions { unk_token: Some("?".to_owned()), ..BpeOptions::default() };
        Arc::new(Model::Bpe(Bpe::from_pairs(vocab, &pairs, options).expect("no dropout")))
    }

    /// Pre-tokenizers that put something before a text, or that have seams.
    fn any_fronted_or_seamed() -> impl Strategy<Value = PreTokenizer> {
        let metaspace = |prepend_scheme, split| {
            PreTokenizer::Metaspace(Metaspace { prepend_scheme, split, ..Metaspace::default() })
        };
        let bytes = |add_prefix_space, use_regex| {
            PreTokenizer::ByteLevel(ByteLevel { add_prefix_space, trim_offsets: true, use_regex })
        };
        let digits = PreTokenizer::Digits { individual_digits: true };
        let words = PreTokenizer::Split(Arc::new(split(r"\s?\p{L}+|\s+$")));
        let letters = PreTokenizer::Split(Arc::new(split(r"\s?\p{L}+")));
        let seamed = |stages: &[&PreTokenizer]| {
            PreTokenizer::Sequence(stages.iter().map(|&stage| stage.clone()).collect())
        };
        prop::sample::select(vec![
            metaspace(PrependScheme::Always, true),
            metaspace(PrependScheme::Always, false),
            metaspace(PrependScheme::First, true),
            metaspace(PrependScheme::Never, false),
            bytes(true, true),
            seamed(&[&PreTokenizer::WhitespaceSplit, &digits]),
            seamed(&[&words, &digits]),
            seamed(&[&letters, &digits]),
            seamed(&[&digits, &bytes(false, true)]),
            seamed(&[&words, &bytes(false, false)]),
            PreTokenizer::CharDelimiterSplit { delimiter: ' ' },
            seamed(&[&PreTokenizer::Whitespace, &metaspace(PrependScheme::Always, true)]),
        ])
    }

    fn replace(pattern: TextPattern, content: &str) -> Normalizer {
        Normalizer::Replace(Arc::new(Replacement::new(pattern, content.to_owned()).expect("a pattern")))
    }

    /// A pipeline with all tables that cuts lower-case letters from other text.
    fn cutting_letters(normalizer: Vec<Normalizer>) -> Pipeline {
        let (normalizer, cuts) =
            (Normalizer::Sequence(normalizer), PreTokenizer::Split(Arc::new(split("[a-z]+"))));
        Pipeline::new(Some(normalizer), Some(cuts), model(&[]), Arc::default(), false, 1 << 20)
            .expect("valid")
            .with_all_tables()
    }

    #[test]
    fn text_whose_parts_have_other_bounds_is_whole() {
        let joins_spaces = || replace(TextPattern::Regex(r"\s+".to_owned()), " ");
        let text = "a b ".repeat(99);
        let cuts = |stages| cutting_letters(stages).shard_ranges(&text, 40).len();
        assert!(cuts(vec![joins_spaces()]) > 1);
        assert_eq!(cuts(vec![joins_spaces(), Normalizer::Strip { left: true, right: false }]), 1);
        let lengthens = replace(TextPattern::Literal("q".to_owned()), &"z".repeat(99));
        assert_eq!(cuts(vec![lengthens, joins_spaces()]), 1);
    }

    proptest! {
        #![proptest_config(cases(2000))]

        #[test]
        fn fronted_and_seamed_shards_match_naive(
            pre_tokenizer in any_fronted_or_seamed(),
            normalizer in 0..6usize,
            has_added in any::<bool>(),
            choices in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 0..40),
            text in "[a-cB 日本語กาé\u{301}'’.,<s>_1\r\n\u{3000}。\u{2581}]{0,200}|([a-cB日é]{1,4}[ 1.]{1,3}){0,60}|([aé]<s>?[ .]{0,3}b?){0,40}|([a'1日]{1,3} (ca|<s>)?){0,30}",
            target in 1..40usize,
            read in 0..200usize,
        ) {
            let shows_spaces = Replacement::new(TextPattern::Literal(" ".to_owned()), "\u{2581}".to_owned());
            let joins_spaces = replace(TextPattern::Regex(r"\s+".to_owned()), " ");
            let normalizer = match normalizer {
                0 => None,
                1 => Some(Normalizer::Unicode(Form::Nfc)),
                2 => Some(Normalizer::Lowercase),
                3 => Some(Normalizer::Replace(Arc::new(shows_spaces.expect("a literal")))),
                4 => Some(Normalizer::Sequence(vec![Normalizer::Unicode(Form::Nfc), joins_spaces, Normalizer::Lowercase])),
                _ => Some(joins_spaces),
            };
            let (model, mut added) = (model(&choices), AddedTokens::default());
            if has_added {
                added.add(
                    &[AddedToken::new("<s>", true), AddedToken::new("éa b", false), AddedToken { lstrip: true, ..AddedToken::new("1.", true) }, AddedToken::new("ca", true)],
                    model.vocab(),
                );
            }
            let pipeline = Pipeline::new(normalizer, Some(pre_tokenizer), model, Arc::new(added), false, 1 << 20);
            let pipeline = pipeline.expect("valid").with_all_tables();
            let whole = ids(&pipeline, &text);
            let shards = pipeline.shard_ranges(&text, target);
            let of_shards: Vec<u32> =
                shards.iter().flat_map(|shard| shard_ids(&pipeline, &text[shard.clone()], shard.start == 0)).collect();
            prop_assert_eq!(of_shards, &whole[..], "{:?}", shards);
            let beginning = &text[..text.floor_char_boundary(read.min(text.len()))];
            if let Some(boundary) = pipeline.settled_boundary(beginning) {
                let apart = [ids(&pipeline, &text[..boundary]), shard_ids(&pipeline, &text[boundary..], false)].concat();
                prop_assert_eq!(apart, whole, "{:?}", boundary);
            }
        }
    }
}
