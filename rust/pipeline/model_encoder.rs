//! The model with tables for long pre-tokens, made once there was enough text.

use std::ops::Deref;
use std::sync::Arc;

use super::keyed_model::KeyedModel;
use super::two_steps::TwoSteps;
use crate::cache::KeyForm;
use crate::cache::key::SHORT;
use crate::models::Model;
use crate::models::bpe::CutPoints;
use crate::structures::amortized_lazy::AmortizedLazy;

/// Bytes of long pre-tokens that take as long as a token takes in preparing two steps.
const PRICE_OF_TWO_STEPS: usize = 4;

/// A model for chunks of one key form, which may cut long pre-tokens.
#[derive(Debug)]
pub(super) struct ModelEncoder {
    keyed: KeyedModel,
    cut_points: AmortizedLazy<CutPoints>,
    two_steps: AmortizedLazy<Box<TwoSteps>>,
}

impl Deref for ModelEncoder {
    type Target = KeyedModel;

    fn deref(&self) -> &KeyedModel {
        &self.keyed
    }
}

impl ModelEncoder {
    /// Prepares `model` for chunks in `key_form`.
    pub(super) fn new(model: Arc<Model>, key_form: KeyForm) -> Self {
        let keyed = KeyedModel::new(model, key_form);
        Self { keyed, cut_points: AmortizedLazy::default(), two_steps: AmortizedLazy::default() }
    }

    /// Where a pre-token of `len` bytes may be cut into fragments; none as long as making the table would cost more than it
    /// saves.
    #[inline]
    pub(super) fn cut_points(&self, len: usize) -> Option<&CutPoints> {
        self.cut_points.get(len, self.token_lens().len(), || self.keyed.make_cut_points())
    }

    /// As [`Self::cut_points`], for a pre-token that no key holds; none for others.
    pub(super) fn cut_points_of_long(&self, len: usize) -> Option<&CutPoints> {
        if len > SHORT { self.cut_points(len) } else { None }
    }

    /// The encoder of long pre-tokens in two steps, if the model has late merges; none as long as making it would cost more than it saves.
    /// A pre-token of `len` bytes is to come.
    #[inline]
    pub(super) fn two_steps(&self, len: usize) -> Option<&TwoSteps> {
        let make = || {
            let merges = self.keyed.late_merges()?;
            let early = KeyedModel::new(Arc::new(Model::Bpe(merges.early().clone())), self.key_form());
            Some(Box::new(TwoSteps::new(merges, early)))
        };
        self.two_steps.get(len, self.token_lens().len() * PRICE_OF_TWO_STEPS, make).map(Box::as_ref)
    }

    /// Lets there be no [`Self::two_steps`].
    #[cfg(test)]
    pub(super) fn forbid_two_steps(&self) {
        self.two_steps.get(1, 1, || None);
    }
}
