//! Stages that Python objects and tokenizers share.
//!
//! What `tokenizer.pre_tokenizer` returns acts on the tokenizer: `tokenizer.pre_tokenizer[0] = x` and
//! `tokenizer.model.dropout = 0.1` take effect there. So a stage lives in a shared cell, and a change
//! anywhere moves a global clock that tells tokenizers to look whether they are concerned.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Moves with every change of any stage.
static CLOCK: AtomicU64 = AtomicU64::new(0);

/// The time of the latest change of any stage.
pub(super) fn now() -> u64 {
    CLOCK.load(Ordering::Acquire)
}

/// A kind of stage that may be a sequence of stages of its kind.
pub(super) trait Staged: Clone {
    /// A sequence of `stages`, or what stands for one where there are no sequences.
    fn sequence(stages: Vec<Self>) -> Self;
    /// The stages of a sequence.
    fn as_sequence(&self) -> Option<&[Self]>;
}

/// One stage, or a sequence whose elements are shared in turn.
#[derive(Debug)]
enum Kind<T> {
    Leaf(T),
    Sequence(Vec<Arc<Stage<T>>>),
}

/// A shared, changeable stage.
#[derive(Debug)]
pub(super) struct Stage<T>(RwLock<Kind<T>>);

impl<T: Staged> Stage<T> {
    /// A new cell around `value`.
    pub(super) fn new(value: T) -> Arc<Self> {
        Arc::new(Self(RwLock::new(Self::kind(value))))
    }

    /// A sequence of cells that stay shared with whoever else has them.
    pub(super) fn of_sequence(stages: Vec<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self(RwLock::new(Kind::Sequence(stages))))
    }

    fn kind(value: T) -> Kind<T> {
        match value.as_sequence() {
            Some(stages) => Kind::Sequence(stages.iter().cloned().map(Self::new).collect()),
            None => Kind::Leaf(value),
        }
    }

    /// The value as it is now.
    pub(super) fn get(&self) -> T {
        match &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            Kind::Leaf(value) => value.clone(),
            Kind::Sequence(stages) => T::sequence(stages.iter().map(|stage| stage.get()).collect()),
        }
    }

    /// Replaces the value for all who share it.
    pub(super) fn set(&self, value: T) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Self::kind(value);
        CLOCK.fetch_add(1, Ordering::AcqRel);
    }

    /// Number of elements of a sequence.
    pub(super) fn len(&self) -> usize {
        match &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            Kind::Leaf(_) => 0,
            Kind::Sequence(stages) => stages.len(),
        }
    }

    /// The shared element at `index` of a sequence.
    pub(super) fn element(&self, index: usize) -> Option<Arc<Self>> {
        match &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            Kind::Leaf(_) => None,
            Kind::Sequence(stages) => stages.get(index).cloned(),
        }
    }

    /// Replaces the element at `index` of a sequence; answers whether there is one.
    pub(super) fn set_element(&self, index: usize, stage: Arc<Self>) -> bool {
        let mut kind = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Kind::Sequence(stages) = &mut *kind else { return false };
        let Some(place) = stages.get_mut(index) else { return false };
        *place = stage;
        CLOCK.fetch_add(1, Ordering::AcqRel);
        true
    }
}
