//! BERT's normalizer on one chunk, which becomes one pre-token or nothing.
//!
//! Exact because each step of the normalizer sees one character with the marks after it, and the chunker
//! ([`Splitter::BertText`](crate::scan::Splitter)) cuts the original text where BERT's pre-tokenizer cuts the normalized text:
//! around ideographs and the four characters that are punctuation once their accent is off, and not at control characters that
//! the normalizer removes.

use std::borrow::Cow;
use std::ops::Range;

use super::added_in_chunks::AddedInChunks;
use super::model_encoder::ModelEncoder;
use super::rewrite_memo::ContextFreeRewriter;
use super::scratch::MissScratch;
use crate::Result;
use crate::cache::ChunkTokens;
use crate::normalized::Normalized;
use crate::normalizers::Bert;

/// BERT's normalizer, cluster by cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BertRewriter(pub(super) Bert);

impl ContextFreeRewriter for BertRewriter {
    fn rewrite_in_isolation(&self, cluster: &str) -> Option<(String, Vec<Range<usize>>)> {
        self.0.rewrite_in_isolation(cluster).map(|rewritten| (rewritten.text, rewritten.sources))
    }
}

impl BertRewriter {
    /// Encodes a chunk into `out`; false, and nothing encoded, if it holds an added token once it is normalized. There is no token if the
    /// normalizer leaves nothing of the chunk.
    ///
    /// # Errors
    /// The errors of the model.
    pub(super) fn encode(
        self,
        chunk: &str,
        in_context: bool,
        (model, added): (&ModelEncoder, Option<AddedInChunks<'_>>),
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<bool> {
        let holds_added = |word: &str| added.is_some_and(|added| added.are_in_text(word));
        let Self(bert) = self;
        if chunk.bytes().all(|byte| byte.is_ascii_graphic()) {
            let lowered;
            let mut word = chunk;
            if bert.lowercase && chunk.bytes().any(|byte| byte.is_ascii_uppercase()) {
                lowered = chunk.to_ascii_lowercase();
                word = &lowered;
            }
            if holds_added(word) {
                return Ok(false);
            }
            return model.encode(word, 0..word.len(), in_context, scratch, out).map(|()| true);
        }
        // Without lower case and accents most text stays as it is, and the check for that is quicker than the memo.
        let changes_letters = bert.lowercase || bert.strips_accents();
        if changes_letters && scratch.rewrite_memo.rewrite(("", 0), chunk, &self) {
            if holds_added(scratch.rewrite_memo.text()) {
                return Ok(false);
            }
            return model.encode_rewritten(in_context, scratch, out).map(|()| true);
        }
        let normalized = bert.normalize(Normalized::new(chunk, 0, true));
        // The blanks around an ideograph are not part of the pre-token.
        let word = normalized.text().trim_matches(' ');
        if word.is_empty() {
            return Ok(true);
        }
        if holds_added(word) {
            return Ok(false);
        }
        let trimmed = normalized.text().len() - normalized.text().trim_start_matches(' ').len();
        model.encode(word, 0..word.len(), in_context, scratch, out)?;
        for span in out.spans.as_chunks_mut::<2>().0 {
            let [start, end] = span.map(|at| trimmed + at as usize);
            *span = normalized.original(start..end).into();
        }
        model.set_regularity(out);
        Ok(true)
    }

    /// The normalized chunk without the spaces around it, which may be empty.
    pub(crate) fn normalize(self, chunk: &str) -> Cow<'_, str> {
        let Self(bert) = self;
        if chunk.bytes().all(|byte| byte.is_ascii_graphic()) {
            return if bert.lowercase {
                Cow::Owned(chunk.to_ascii_lowercase())
            } else {
                Cow::Borrowed(chunk)
            };
        }
        let normalized = bert.normalize(Normalized::new(chunk, 0, false));
        Cow::Owned(normalized.text().trim_matches(' ').to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::testing::{ids, tokens};
    use super::super::{Pipeline, Plan};
    use super::*;
    use crate::added_tokens::{AddedToken, AddedTokens};
    use crate::models::Model;
    use crate::models::wordpiece::{WordPiece, WordPieceOptions};
    use crate::normalizers::Normalizer;
    use crate::pre_tokenizers::PreTokenizer;
    use crate::testing::bert_text;
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

    fn pipeline(bert: Bert) -> Pipeline {
        let vocab = Arc::new(Vocab::from_tokens(VOCAB));
        let mut added = AddedTokens::default();
        added.add(&[AddedToken::new("[X]", true)], &vocab);
        let model = Arc::new(Model::WordPiece(WordPiece::new(vocab, WordPieceOptions::default())));
        let (normalizer, pre_tokenizer) = (Some(Normalizer::Bert(bert)), Some(PreTokenizer::Bert));
        Pipeline::new(normalizer, pre_tokenizer, model, Arc::new(added), false, 1 << 20).expect("valid")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn bert_matches_naive(
            text in bert_text(),
            lowercase in any::<bool>(),
            strip_accents in prop::option::of(any::<bool>()),
        ) {
            let bert = Bert { strip_accents, lowercase, ..Bert::default() };
            let (fast, naive) = (pipeline(bert), pipeline(bert).with_plan(Plan::Staged));
            prop_assert!(fast.plan() != Plan::Staged);
            prop_assert_eq!(ids(&fast, &text), ids(&naive, &text));
            prop_assert_eq!(tokens(&fast, &text), tokens(&naive, &text));
        }
    }

    #[test]
    fn every_character_is_cut_as_naive() {
        for lowercase in [false, true] {
            let bert = Bert { lowercase, ..Bert::default() };
            let (fast, naive) = (pipeline(bert), pipeline(bert).with_plan(Plan::Staged));
            let characters: Vec<char> = ('\0'..=char::MAX).collect();
            for some in characters.chunks(1 << 12) {
                let text: String =
                    some.iter().flat_map(|&c| ['a', c, 'b', c, ' ', c, '\u{301}', ' ']).collect();
                assert_eq!(tokens(&fast, &text), tokens(&naive, &text), "from U+{:04X}", some[0] as u32);
            }
        }
    }
}
