//! Plans: how pipelines encode text.
//!
//! Every fast way is one idea: *a chunker over the original text, then a cache keyed by the bytes of a chunk and one bit of
//! context, and on a miss the remaining stages and the model*. A [`ChunkPlan`] names the chunker, the key form, the stages of a
//! missed chunk before the model, and the text that is chunked. Other text, and tokenizers without a plan of chunks, take the
//! stages one by one.

use crate::cache::KeyForm;
use crate::normalizers::Bert;
use crate::scan::Splitter;

/// How a pipeline encodes text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Chunk by chunk of the original text.
    Chunked(ChunkPlan),
    /// Stage by stage, each on the output of the stage before.
    Staged,
}

/// A plan of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkPlan {
    /// Cuts the original text into chunks.
    pub chunker: Chunker,
    /// The form of the bytes of a chunk after `rewrite`.
    pub key_form: KeyForm,
    /// The stages of a missed chunk before the model.
    pub rewrite: Rewrite,
    /// The text that is chunked.
    pub scope: Scope,
}

/// A way to cut the original text into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunker {
    /// A scanner.
    Splitter(Splitter),
    /// The pre-tokenizer of the pipeline itself, which only cuts.
    PreTokenizer,
    /// The seams of the pre-tokenizer.
    Seams,
}

/// The stages of a missed chunk before the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewrite {
    /// Nothing: the chunk is a pre-token.
    None,
    /// BERT's normalizer: the chunk is a pre-token once normalized.
    Bert(Bert),
    /// All stages: the chunk becomes any number of pre-tokens, or is context-dependent.
    Stages,
    /// The pre-tokenizer: the chunk becomes any number of pre-tokens.
    PreTokenizer {
        /// The pre-tokenizer changes no text, but for a mapping of bytes at its end.
        cuts_alone: bool,
        /// Word ids are not counted by chunks: a pre-token may have no token. So chunks are for ids alone.
        ids_alone: bool,
    },
}

/// The segments of original text, between added tokens, that are chunked. Other segments take the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All.
    All,
    /// Segments that the normalizer leaves unchanged. Others are normalized first, and then chunked.
    Unchanged,
    /// All segments once they are normalized, except segments with a U+2581 if the model sees U+2581 in place of spaces. The
    /// pre-tokenizer may put something before a segment, so the first chunk takes the pre-tokenizer.
    Fronted {
        /// The scanner of pre-tokens. Chunks may be parts of pre-tokens; where word ids are wanted, this scanner finds the chunks.
        /// None if all of a segment is one pre-token.
        pre_tokens: Option<Splitter>,
    },
    /// Segments without a U+2581. All chunks of such a segment are one pre-token.
    WithoutMetaspace {
        /// The normalizer puts a U+2581 before text, so the first chunk of a segment takes the normalizer.
        has_prefix: bool,
    },
}

impl Plan {
    /// The form of the bytes of keys.
    pub fn key_form(self) -> KeyForm {
        match self {
            Self::Chunked(plan) => plan.key_form,
            Self::Staged => KeyForm::Text,
        }
    }

    /// The plan of chunks, if it is one.
    pub fn chunked(self) -> Option<ChunkPlan> {
        match self {
            Self::Chunked(plan) => Some(plan),
            Self::Staged => None,
        }
    }
}

impl ChunkPlan {
    /// Chunks that are the pre-tokens of text that no normalizer changes.
    pub(super) fn of_pre_tokens(chunker: Chunker, key_form: KeyForm) -> Self {
        Self { chunker, key_form, rewrite: Rewrite::None, scope: Scope::Unchanged }
    }

    /// True if the normalizer comes before the chunker.
    pub(super) fn is_after_normalizer(self) -> bool {
        matches!(self.scope, Scope::Unchanged | Scope::Fronted { .. })
    }

    /// True if chunks have no word ids.
    pub(super) fn is_for_ids_alone(self) -> bool {
        matches!(self.rewrite, Rewrite::PreTokenizer { ids_alone: true, .. })
    }

    /// The plan where word ids are wanted: chunks that are pre-tokens, unless all of a segment is one.
    pub(super) fn of_whole_pre_tokens(self) -> Self {
        match self.scope {
            Scope::Fronted { pre_tokens: Some(splitter) } => {
                Self { chunker: Chunker::Splitter(splitter), ..self }
            }
            _ => self,
        }
    }

    /// The scanner, if one cuts.
    pub(super) fn splitter(self) -> Option<Splitter> {
        match self.chunker {
            Chunker::Splitter(splitter) => Some(splitter),
            Chunker::PreTokenizer | Chunker::Seams => None,
        }
    }
}
