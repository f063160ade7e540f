//! Facts and tables, prepared once for a Unigram tokenizer with chunks.

use super::chunk_stages::ChunkStages;
use super::facts::ChunkFacts;
use super::isolated::IsolatedChars;
use crate::models::Model;
use crate::pipeline::plan::{ChunkPlan, Rewrite};
use crate::pipeline::stages::Stages;

/// The facts about the stages, and the table of isolated characters.
#[derive(Debug)]
pub(in crate::pipeline) struct Refinement {
    facts: ChunkFacts,
    /// Set if chunks may be cut beside isolated characters, where ids alone are wanted.
    pub(in crate::pipeline) isolated: Option<IsolatedChars>,
}

impl Refinement {
    /// None for a plan of another family.
    pub(in crate::pipeline) fn new(plan: ChunkPlan, stages: &Stages, model: &Model) -> Option<Self> {
        let splitter = plan.splitter().filter(|_| plan.rewrite == Rewrite::Stages)?;
        let facts = ChunkFacts::new(splitter, stages, model);
        let isolated = if facts.begins_visibly { IsolatedChars::new(model) } else { None };
        Some(Self { facts, isolated })
    }

    /// The same facts for other added tokens with the same [`Contents`](crate::added_tokens::Contents).
    pub(in crate::pipeline) fn with_other_tokens(&self, model: &Model) -> Self {
        Self { facts: self.facts, isolated: self.isolated.as_ref().and_then(|_| IsolatedChars::new(model)) }
    }

    /// The same without fragments and isolated characters.
    pub(in crate::pipeline) fn off(mut self) -> Self {
        self.facts.cuts_at_punctuation = false;
        Self { isolated: None, ..self }
    }

    /// The stages, prepared for chunks.
    pub(in crate::pipeline) fn chunk_stages<'a>(&'a self, stages: &'a Stages) -> ChunkStages<'a> {
        let are_refined = self.facts.cuts_at_punctuation || self.isolated.is_some();
        ChunkStages { stages, facts: &self.facts, are_refined }
    }
}
