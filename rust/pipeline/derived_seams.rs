//! Seams that a pipeline derives from its stages and its model once there was enough text: seams for ids alone, and seams of text
//! that the normalizer has not changed yet.

use super::compiled::Pipeline;
use super::fronted::repeats_normalizer;
use super::plan::Scope;
use crate::scan::seams::Seams;

/// Bytes of text that take as long as deriving seams from the stages: 8 to 23 milliseconds.
const DERIVING: usize = 1 << 20;

/// Bytes of text that take as long as a check that merges make a token: half a microsecond.
const ASKING_MERGES: usize = 64;

const IDEOGRAPH: char = '中';

impl Pipeline {
    /// The seams for ids alone. None until enough text has been encoded to pay for deriving them, the next `len` bytes included; none if
    /// the pre-tokenizer alone has the same seams.
    pub(super) fn seams_for_ids(&self, len: usize) -> Option<&Seams> {
        let derive = || {
            let (pre_tokenizer, known) = (self.stages().pre_tokenizer.as_ref()?, self.stages().seams());
            // Most pre-tokenizers cut at all these places anyway, and asking the model takes longest.
            if pre_tokenizer.seams_for_ids(Some(&[true; 256])).as_ref() == known {
                return None;
            }
            let seams = pre_tokenizer.seams_for_ids(Some(&self.model().apart_from_space()?))?;
            (known != Some(&seams)).then_some(seams)
        };
        self.known_seams_for_ids().get(len, self.price_of_seams(), derive)
    }

    /// Bytes of text that take as long as deriving seams.
    pub(super) fn price_of_seams(&self) -> usize {
        // Each token is checked for merges that make it, but only if whole pre-tokens are looked up.
        let tokens = if self.model().depends_on_context() { self.model().vocab().len() } else { 0 };
        DERIVING + tokens * ASKING_MERGES
    }

    /// The seams of original text, if chunks may be made of it before the normalizer changes it, and if that is faster for `text`.
    pub(super) fn original_seams(&self, text: &str) -> Option<&Seams> {
        // Every chunk would be a miss.
        if self.cache_limit() == 0 {
            return None;
        }
        let seams = self.original_seams_if_ready(text.len())?;
        // Long chunks seldom come again, so normalized text is faster where the model cuts them into fragments, which do.
        let has_fragments =
            || !seams.are_between(IDEOGRAPH) && self.encoder().cut_points(text.len()).is_some();
        (!(has_fragments() && is_mostly_long(text))).then_some(seams)
    }

    /// True if chunks may be made of text before the normalizer changes it.
    pub(super) fn has_original_seams(&self) -> bool {
        self.cache_limit() > 0 && self.original_seams_if_ready(self.price_of_seams()).is_some()
    }

    /// The seams of original text, once enough text has been encoded to pay for deriving them, the next `len` bytes included.
    pub(super) fn original_seams_if_ready(&self, len: usize) -> Option<&Seams> {
        let normalizer = self.compiled_normalizer()?;
        let derive = || {
            let (stages, plan) = (self.stages(), self.plan().chunked()?);
            let added = &stages.matchers;
            let is_cut = matches!(plan.scope, Scope::Unchanged | Scope::Fronted { pre_tokens: Some(_) });
            let is_possible = is_cut && !repeats_normalizer(plan, stages);
            if !is_possible || added.normalized_contents().look_around || !self.model().is_deterministic() {
                return None;
            }
            let are_apart = self.model().apart_from_space();
            stages.pre_tokenizer.as_ref()?.seams_before(
                normalizer.images()?,
                added.normalized_texts(),
                are_apart.as_ref(),
            )
        };
        self.known_original_seams().get(len, self.price_of_seams(), derive)
    }
}

/// True if more than a quarter of the bytes of a text are in characters of three bytes or more, as estimated from every 31st byte.
/// Chinese and Thai, whose chunks are long, are such text. Korean and Hindi are taken for it too, which costs speed alone.
fn is_mostly_long(text: &str) -> bool {
    let (mut leads, mut all) = (0, 0);
    for &byte in text.as_bytes().iter().step_by(31) {
        leads += usize::from(byte >= 0xe0);
        all += 1;
    }
    12 * leads > all
}
