//! Stages that Python objects and tokenizers share.
//!
//! The object that `tokenizer.pre_tokenizer` returns acts on the tokenizer: `tokenizer.pre_tokenizer[0] = x` and
//! `tokenizer.model.dropout = 0.1` take effect there. So a stage lives in a shared cell. A cell has a version, by which
//! the tokenizers that use the cell, and no others, notice a change. No Python code runs while a cell is locked.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::structures::versioned::{Seen, Version};

/// A kind of stage that may be a sequence of stages of its kind.
pub(super) trait Staged: Clone {
    /// The name of the kind in errors.
    const NAME: &'static str;
    /// The base class of its objects.
    const CLASS: &'static str;
    /// True if a sequence that Python makes may hold sequences; else it takes their elements in their place.
    const NESTS: bool;

    /// A sequence of `stages`; the first stage where there are no sequences.
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

impl<T: Staged> Kind<T> {
    fn of(value: T) -> Self {
        match value.as_sequence() {
            Some(stages) => Self::Sequence(stages.iter().cloned().map(Stage::new).collect()),
            None => Self::Leaf(value),
        }
    }

    /// The value, and the versions of the elements it was read from.
    fn read(&self, seen: &mut Seen) -> T {
        match self {
            Self::Leaf(value) => value.clone(),
            Self::Sequence(stages) => T::sequence(stages.iter().map(|stage| stage.read(seen)).collect()),
        }
    }
}

/// Why an element was not replaced.
#[derive(Debug)]
pub(super) enum NotReplaced {
    /// The sequence has no element at that index.
    NoSuchIndex,
    /// The new element is a sequence.
    Nested,
}

/// A shared, changeable stage.
#[derive(Debug)]
pub(super) struct Stage<T> {
    version: Version,
    kind: RwLock<Kind<T>>,
}

impl<T: Staged> Stage<T> {
    /// A new cell around `value`.
    pub(super) fn new(value: T) -> Arc<Self> {
        Self::of_kind(Kind::of(value))
    }

    /// A sequence of cells that stay shared with their other owners.
    pub(super) fn of_sequence(stages: Vec<Arc<Self>>) -> Arc<Self> {
        let stages = if T::NESTS { stages } else { stages.into_iter().flat_map(Self::leaves).collect() };
        Self::of_kind(Kind::Sequence(stages))
    }

    /// The elements of a sequence, or the stage itself.
    fn leaves(stage: Arc<Self>) -> Vec<Arc<Self>> {
        let elements = match &*stage.locked() {
            Kind::Leaf(_) => None,
            Kind::Sequence(stages) => Some(stages.clone()),
        };
        elements.unwrap_or_else(|| vec![stage])
    }

    fn of_kind(kind: Kind<T>) -> Arc<Self> {
        Arc::new(Self { version: Version::default(), kind: RwLock::new(kind) })
    }

    fn locked(&self) -> RwLockReadGuard<'_, Kind<T>> {
        self.kind.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn locked_to_write(&self) -> RwLockWriteGuard<'_, Kind<T>> {
        self.kind.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value as it is now.
    pub(super) fn get(&self) -> T {
        self.read(&mut Seen::default())
    }

    /// The value as it is now, with the versions of this cell and of all elements noted in `seen`.
    pub(super) fn read(&self, seen: &mut Seen) -> T {
        let kind = self.locked();
        seen.note(&self.version);
        kind.read(seen)
    }

    /// Replaces the value for all who share it.
    pub(super) fn set(&self, value: T) {
        let mut kind = self.locked_to_write();
        *kind = Kind::of(value);
        self.version.advance();
    }

    /// Replaces the value by the result of `changed`; after an error nothing has changed.
    ///
    /// The cell is locked meanwhile, so that no change of another thread is lost: `changed` must not run Python code.
    pub(super) fn update<E>(&self, changed: impl FnOnce(T) -> Result<T, E>) -> Result<(), E> {
        let mut kind = self.locked_to_write();
        *kind = Kind::of(changed(kind.read(&mut Seen::default()))?);
        self.version.advance();
        Ok(())
    }

    /// Makes all who share the value take it again.
    pub(super) fn touch(&self) {
        self.version.advance();
    }

    /// Number of elements of a sequence.
    pub(super) fn len(&self) -> usize {
        match &*self.locked() {
            Kind::Leaf(_) => 0,
            Kind::Sequence(stages) => stages.len(),
        }
    }

    /// The shared element at `index` of a sequence.
    pub(super) fn element(&self, index: usize) -> Option<Arc<Self>> {
        match &*self.locked() {
            Kind::Leaf(_) => None,
            Kind::Sequence(stages) => stages.get(index).cloned(),
        }
    }

    /// Replaces the element at `index` of a sequence.
    pub(super) fn set_element(&self, index: usize, stage: Arc<Self>) -> Result<(), NotReplaced> {
        // So no sequence ever holds itself.
        if matches!(&*stage.locked(), Kind::Sequence(_)) {
            return Err(NotReplaced::Nested);
        }
        let mut kind = self.locked_to_write();
        let Kind::Sequence(stages) = &mut *kind else { return Err(NotReplaced::NoSuchIndex) };
        *stages.get_mut(index).ok_or(NotReplaced::NoSuchIndex)? = stage;
        self.version.advance();
        Ok(())
    }
}
