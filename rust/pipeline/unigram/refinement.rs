//! What is prepared once for a Unigram tokenizer with chunks.

use super::chunk_stages::{ChunkStages, ChunkTraits};
use super::facts::NormalizerFacts;
use super::isolated::IsolatedChars;
use crate::models::Model;
use crate::pipeline::plan::{ChunkPlan, Rewrite};
use crate::pipeline::stages::Stages;
use crate::scan::Splitter;

/// What chunks have in common, and the table of isolated characters.
#[derive(Debug)]
pub(in crate::pipeline) struct Refinement {
    traits: ChunkTraits,
    isolated: Option<IsolatedChars>,
}

impl Refinement {
    /// None for a plan of another family.
    pub(in crate::pipeline) fn new(plan: ChunkPlan, stages: &Stages, model: &Model) -> Option<Self> {
        if plan.rewrite != Rewrite::Stages {
            return None;
        }
        let splitter = plan.splitter()?;
        let facts = NormalizerFacts::new(stages, model);
        let (has_gaps, has_lines) = (!splitter.is_gapless(), splitter != Splitter::Spaces);
        let isolated = if facts.begins_visibly { IsolatedChars::new(model) } else { None };
        Some(Self { traits: ChunkTraits { has_gaps, has_lines, facts }, isolated })
    }

    /// The same without fragments and isolated characters.
    pub(in crate::pipeline) fn off(self) -> Self {
        let facts = self.traits.facts.without_fragments();
        Self { traits: ChunkTraits { facts, ..self.traits }, isolated: None }
    }

    /// The stages, prepared for chunks.
    pub(in crate::pipeline) fn chunk_stages<'a>(&'a self, stages: &'a Stages) -> ChunkStages<'a> {
        ChunkStages::new(stages, &self.traits)
    }

    /// The table of isolated characters, if chunks may be cut beside these.
    pub(in crate::pipeline) fn isolated(&self) -> Option<&IsolatedChars> {
        self.isolated.as_ref()
    }
}
