//! What a missed chunk goes through: the remaining stages, then the model.

use std::ops::Range;

use super::bert_rewriter::BertRewriter;
use super::model_encoder::{MissScratch, ModelEncoder};
use super::unigram::{ChunkStages, IsolatedChars};
use crate::Result;
use crate::cache::{CachedTokens, ChunkTokens};

/// The model, and what rewrites a chunk before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkEncoder<'a> {
    /// The model.
    pub(super) model: &'a ModelEncoder,
    /// What a chunk goes through before the model.
    pub(super) rewriter: Rewriter<'a>,
    /// Set if chunks may be cut beside isolated characters, where ids alone are wanted.
    pub(super) isolated: Option<&'a IsolatedChars>,
}

/// [`Rewrite`](super::plan::Rewrite) with what it works with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rewriter<'a> {
    /// Nothing.
    None,
    /// BERT's normalizer.
    Bert(BertRewriter),
    /// All stages of a Unigram tokenizer.
    Stages(ChunkStages<'a>),
}

impl ChunkEncoder<'_> {
    /// Whether the caller has to encode a chunk with its neighbours: the chunk is context-dependent, or `tracked` output needs
    /// the spelling of an unknown token, which only the stages know.
    #[inline]
    pub(super) fn needs_stages(&self, tokens: CachedTokens<'_>, tracked: bool) -> bool {
        let Rewriter::Stages(_) = self.rewriter else { return false };
        let unknown = if tracked { self.model.model().id_of_unknown_text() } else { None };
        tokens.is_context_dependent() || unknown.is_some_and(|unknown| tokens.ids.contains(&unknown))
    }

    /// Encodes the chunk at `range` of `text` into `out`.
    ///
    /// # Errors
    /// Those of the stages and of the model.
    pub(super) fn encode(
        &self,
        text: &str,
        range: Range<usize>,
        in_context: bool,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        match self.rewriter {
            Rewriter::None => self.model.encode(text, range, in_context, scratch, out),
            Rewriter::Bert(bert) => bert.encode(&text[range], in_context, self.model, scratch, out),
            Rewriter::Stages(stages) => stages.encode(&text[range], in_context, self.model, scratch, out),
        }
    }
}
