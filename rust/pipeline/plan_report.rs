//! A plan in words, for users who want to know how a tokenizer encodes.

use super::compiled::Pipeline;
use super::plan::{ChunkPlan, Chunker, Plan, Rewrite};
use crate::normalizers::CompiledNormalizer;

/// How a tokenizer encodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanReport {
    /// Chunk by chunk through the cache, not stage by stage.
    pub is_chunked: bool,
    /// The finder of chunks; none without chunks.
    pub chunks: Option<&'static str>,
    /// The stages of a chunk that the cache does not know; without chunks, the stages of all text.
    pub on_a_miss: &'static str,
    /// How offsets and word ids are found; none if in the same way as ids.
    pub offsets: Option<&'static str>,
    /// Why the tokenizer has no faster plan; none for the fastest ones.
    pub because: Option<&'static str>,
}

impl Pipeline {
    /// The plan of this pipeline, in words. Derives the seams of original text, which later calls then use.
    pub fn plan_report(&self) -> PlanReport {
        let Plan::Chunked(plan) = self.plan() else {
            return PlanReport {
                is_chunked: false,
                chunks: None,
                on_a_miss: "all stages",
                offsets: None,
                because: Some(self.reason_for_stages()),
            };
        };
        let because = self.reason_against_speed(plan);
        if self.has_original_seams() {
            return PlanReport {
                is_chunked: true,
                chunks: Some("the seams of the normalizer and the pre-tokenizer"),
                on_a_miss: "the normalizer, the pre-tokenizer, then the model",
                offsets: Some("in chunks of normalized text"),
                because,
            };
        }
        let chunks = match plan.chunker {
            Chunker::Splitter(_) => "a scanner",
            Chunker::Seams => "the seams of the pre-tokenizer",
            Chunker::PreTokenizer => "the pre-tokenizer",
        };
        let on_a_miss = match plan.rewrite {
            Rewrite::None => "the model",
            Rewrite::Bert(_) => "the normalizer, then the model",
            Rewrite::PreTokenizer { .. } => "the pre-tokenizer, then the model",
            Rewrite::Stages => "all stages",
        };
        PlanReport {
            is_chunked: true,
            chunks: Some(chunks),
            on_a_miss,
            offsets: plan.is_for_ids_alone().then_some("stage by stage"),
            because,
        }
    }

    fn reason_against_speed(&self, plan: ChunkPlan) -> Option<&'static str> {
        let normalizer = self.stages().normalizer.as_ref().filter(|_| plan.is_after_normalizer());
        if !self.model().is_deterministic() {
            Some("the model chooses at random, so no chunk is remembered")
        } else if plan.chunker == Chunker::PreTokenizer {
            Some("no place is known at which a text may be cut before the pre-tokenizer runs")
        } else if normalizer.is_some_and(CompiledNormalizer::runs_by_stages) {
            Some("the normalizer runs stage by stage")
        } else {
            None
        }
    }

    fn reason_for_stages(&self) -> &'static str {
        if self.stages().has_custom() {
            "a stage is written in Python"
        } else if !self.model().is_deterministic() {
            "the model chooses at random"
        } else if self.stages().pre_tokenizer.is_none() {
            "nothing cuts the text, and tokens may cross any place in it"
        } else {
            "a stage before the model looks at more of the text than a chunk"
        }
    }
}
