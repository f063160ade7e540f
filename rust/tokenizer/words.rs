//! Pre-tokens of the original text on their way to the model.

use std::borrow::Cow;
use std::ops::Range;

use super::apart::Stages;
use crate::Result;
use crate::engine::model_encoder::MissScratch;
use crate::engine::rewrite_memo::ContextFreeRewriter;
use crate::engine::{CachedTokens, ChunkTokens, ModelEncoder};
use crate::normalized::Normalized;
use crate::normalizers::Bert;
use crate::normalizers::clusters::cluster_len;

/// The model, and what changes each pre-token before it gets there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a> {
    /// The model.
    pub(super) encoder: &'a ModelEncoder,
    /// What they go through before it.
    pub(super) clean_up: CleanUp<'a>,
}

/// What pre-tokens of the original text go through before the model.
#[derive(Clone, Copy, Debug)]
pub(super) enum CleanUp<'a> {
    /// Nothing.
    None,
    /// BERT's normalizer.
    Bert(Bert),
    /// All stages; what comes are parts of the text, which may hold several pre-tokens.
    Stages(&'a Stages<'a>),
}

/// BERT's normalizer on what pre-tokens are made of.
#[derive(Clone, Copy, Debug)]
struct BertRewriter(Bert);

impl ContextFreeRewriter for BertRewriter {
    fn cluster_len(&self, text: &str) -> usize {
        cluster_len(text)
    }

    fn rewrite_in_isolation(&self, group: &str) -> Option<(String, Vec<Range<usize>>)> {
        self.0.rewrite_in_isolation(group).map(|made| (made.text, made.sources))
    }
}

impl Words<'_> {
    /// Whether what was found needs the stages: it depends on its surroundings, or its text is asked for and is not that
    /// of the original.
    #[inline]
    pub(super) fn is_context_dependent(&self, found: CachedTokens<'_>, tracked: bool) -> bool {
        let CleanUp::Stages(_) = self.clean_up else { return false };
        let unknown = if tracked { self.encoder.model().id_of_unknown_text() } else { None };
        found.is_context_dependent() || unknown.is_some_and(|unknown| found.ids.contains(&unknown))
    }

    /// Encodes the pre-token at `range` of `text` into `out`; there is no token where the normalizer leaves nothing of it.
    ///
    /// # Errors
    /// Those of the model.
    pub(super) fn encode(
        &self,
        text: &str,
        range: Range<usize>,
        in_context: bool,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        let bert = match self.clean_up {
            CleanUp::None => return self.encoder.encode(text, range, in_context, scratch, out),
            CleanUp::Bert(bert) => bert,
            CleanUp::Stages(stages) => {
                return stages.encode(&text[range], in_context, self.encoder, scratch, out);
            }
        };
        let word = &text[range.clone()];
        if word.bytes().all(|byte| byte.is_ascii_graphic()) {
            if bert.lowercase && word.bytes().any(|byte| byte.is_ascii_uppercase()) {
                return self.encode_whole(&word.to_ascii_lowercase(), in_context, scratch, out);
            }
            return self.encoder.encode(text, range, in_context, scratch, out);
        }
        // Without these, most text stays as it is, which is quickly found.
        let is_changed = bert.lowercase || bert.strips_accents();
        if is_changed && scratch.rewrite_memo.make(("", 0), word, &BertRewriter(bert)) {
            return self.encoder.encode_rewritten(in_context, scratch, out);
        }
        let normalized = bert.normalize(Normalized::new(word, 0, true));
        // The blanks around an ideograph are no part of the pre-token.
        let kept = normalized.text().trim_matches(' ');
        if kept.is_empty() {
            return Ok(());
        }
        let before = normalized.text().len() - normalized.text().trim_start_matches(' ').len();
        self.encode_whole(kept, in_context, scratch, out)?;
        let mut end = 0;
        for (span, &id) in out.spans.as_chunks_mut::<2>().0.iter_mut().zip(&out.ids) {
            let [from, to] = span.map(|at| before + at as usize);
            *span = normalized.original(from..to).into();
            let len = self.encoder.token_lens().get(id as usize);
            out.is_regular &= span[0] == end && len == Some(&(span[1] - span[0]));
            end = span[1];
        }
        Ok(())
    }

    fn encode_whole(
        &self,
        word: &str,
        in_context: bool,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        self.encoder.encode(word, 0..word.len(), in_context, scratch, out)
    }
}

/// What BERT's normalizer makes of a pre-token of the original text; nothing if it leaves nothing of it.
pub(super) fn clean(bert: Bert, word: &str) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii_graphic()) {
        return if bert.lowercase { Cow::Owned(word.to_ascii_lowercase()) } else { Cow::Borrowed(word) };
    }
    let normalized = bert.normalize(Normalized::new(word, 0, false));
    Cow::Owned(normalized.text().trim_matches(' ').to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::WordCounting;
    use super::super::pipeline::{Pipeline, Plan};
    use super::*;
    use crate::added_tokens::{AddedToken, AddedTokens};
    use crate::encoding::ColumnsBuilder;
    use crate::engine::{ColumnSink, IdSink};
    use crate::models::Model;
    use crate::models::wordpiece::{WordPiece, WordPieceOptions};
    use crate::normalizers::Normalizer;
    use crate::pre_tokenizers::PreTokenizer;
    use crate::trainers::word_counts::WordCounts;
    use crate::vocab::Vocab;

    const VOCAB: [&str; 20] = [
        "[UNK]",
        "a",
        "b",
        "##a",
        "##b",
        "e",
        "##e",
        "A",
        "é",
        "##é",
        "中",
        "=",
        "##=",
        ".",
        "i",
        "##\u{307}",
        "ж",
        "##ж",
        "\u{8d4}",
        "ab",
    ];

    /// The same stages by words, or, since a sequence of one is not recognized, one after the other.
    fn pipeline(bert: Bert, by_words: bool, with_added: bool) -> Pipeline {
        let vocab = Arc::new(Vocab::from_tokens(VOCAB));
        let mut added = AddedTokens::default();
        if with_added {
            added.add(&[AddedToken::new("[X]", true)], &vocab);
        }
        let model = Model::WordPiece(WordPiece::new(vocab, WordPieceOptions::default()));
        let normalizer = Normalizer::Bert(bert);
        let normalizer = if by_words { normalizer } else { Normalizer::Sequence(vec![normalizer]) };
        let (model, added) = (Arc::new(model), Arc::new(added));
        Pipeline::new(Some(normalizer), Some(PreTokenizer::Bert), model, added, false, 1 << 20)
            .expect("valid")
    }

    fn ids(pipeline: &Pipeline, text: &str) -> Vec<u32> {
        let mut ids = Vec::new();
        pipeline.encode(text, &mut pipeline.pool().take(), &mut IdSink(&mut ids)).expect("[UNK] is known");
        ids
    }

    fn columns(pipeline: &Pipeline, text: &str) -> Vec<(u32, u32, u32, u32)> {
        let (mut columns, mut worker) = (ColumnsBuilder::default(), pipeline.pool().take());
        let unnumbered = matches!(pipeline.plan(), Plan::Words(_)).then_some(0);
        let token_lens = pipeline.token_lens();
        let mut sink = ColumnSink { columns: &mut columns, token_lens, text, unknown: None, unnumbered };
        // Twice, so that every word is a miss and then a hit.
        for _ in 0..2 {
            pipeline.encode(text, &mut worker, &mut sink).expect("[UNK] is known");
            sink.unnumbered = sink.unnumbered.map(|_| 0);
        }
        let ColumnsBuilder { ids, starts, ends, words, .. } = columns;
        let offsets = starts.into_iter().zip(ends).zip(words);
        ids.into_iter().zip(offsets).map(|(id, ((start, end), word))| (id, start, end, word)).collect()
    }

    const PIECES: &[&str] = &[
        "a",
        "b",
        "A",
        "AB",
        "e",
        "é",
        "É",
        "e\u{301}",
        "\u{301}",
        "\u{323}\u{307}",
        "\u{8d4}",
        "\u{200b}",
        "\0",
        "\u{b}",
        "\u{c}",
        "\u{85}",
        " ",
        "\n",
        "\t",
        "\r\n",
        "\u{a0}",
        "\u{3000}",
        "中",
        "\u{f900}",
        "≠",
        "\u{338}",
        "\u{1fef}",
        "\u{37e}",
        ".",
        "!?",
        "[X]",
        "İ",
        "ж",
        "Ж",
        "\u{fffd}",
        "\u{1100}\u{1161}",
        "가",
        "\u{2b820}",
        "sixteenletterwords",
        "👍🏽",
        "_",
        "ſ",
        "K",
        "\u{e000}",
        "ক\u{9cd}ষ",
        "\u{1b44}",
        "\u{200c}",
    ];

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(PIECES), 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn words_matches_naive(text in text(), lowercase in any::<bool>(), strip_accents in prop::option::of(any::<bool>())) {
            let bert = Bert { strip_accents, lowercase, ..Bert::default() };
            let (by_words, naive) = (pipeline(bert, true, true), pipeline(bert, false, true));
            prop_assert!(matches!(by_words.plan(), Plan::Words(_)));
            prop_assert!(!matches!(naive.plan(), Plan::Words(_)));
            prop_assert_eq!(ids(&by_words, &text), ids(&naive, &text));
            prop_assert_eq!(columns(&by_words, &text), columns(&naive, &text));
        }
    }

    fn counts(pipeline: Pipeline, texts: &[&str]) -> Option<WordCounts> {
        let mut counting = WordCounting::new(Arc::new(pipeline), 1);
        counting.add_texts(texts).expect("no pattern to give up");
        counting.finish(&mut |_| Ok(())).ok()
    }

    proptest! {
        #[test]
        fn normalize_after_counting_matches_naive(
            texts in prop::collection::vec(text(), 1..4),
            lowercase in any::<bool>(),
            with_added in any::<bool>(),
        ) {
            let bert = Bert { lowercase, ..Bert::default() };
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let [by_words, naive] = [true, false].map(|by_words| pipeline(bert, by_words, with_added));
            prop_assert_eq!(by_words.normalize_after_counting().is_some(), !with_added);
            prop_assert_eq!(counts(by_words, &texts), counts(naive, &texts));
        }
    }

    #[test]
    fn every_character_is_cut_as_naive() {
        for accents in [false, true] {
            let bert = Bert { lowercase: accents, ..Bert::default() };
            let (by_words, naive) = (pipeline(bert, true, true), pipeline(bert, false, true));
            let characters: Vec<char> = ('\0'..=char::MAX).collect();
            for some in characters.chunks(1 << 12) {
                let text: String =
                    some.iter().flat_map(|&c| ['a', c, 'b', c, ' ', c, '\u{301}', ' ']).collect();
                assert_eq!(
                    columns(&by_words, &text),
                    columns(&naive, &text),
                    "from U+{:04X}",
                    some[0] as u32
                );
            }
        }
    }
}
