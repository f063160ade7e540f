//! Options of trainers as Python reads and sets them: each type once, and one macro for all trainers.

use pyo3::prelude::*;

use super::bpe::{TIE_BREAKS, first_chars};
use super::unigram::ALGORITHMS;
use super::wordpiece::SCORES;
use super::{name_of, named, unsigned};
use crate::trainers::bpe::TieBreak;
use crate::trainers::unigram::Algorithm;
use crate::trainers::wordpiece::Score;

/// What an option is to the core, and to Python.
pub(super) trait TrainerOption: Sized {
    /// What Python sets it to.
    type Given;
    /// What Python reads.
    type Shown;

    /// The option's value; `name` is for the error.
    fn given(py: Python<'_>, name: &'static str, value: Self::Given) -> PyResult<Self>;

    /// As Python reads it.
    fn shown(self) -> Self::Shown;
}

macro_rules! as_they_are {
    ($($type:ty),+) => {$(
        impl TrainerOption for $type {
            type Given = Self;
            type Shown = Self;

            fn given(_: Python<'_>, _: &'static str, value: Self) -> PyResult<Self> {
                Ok(value)
            }

            fn shown(self) -> Self {
                self
            }
        }
    )+};
}

macro_rules! numbers {
    ($($type:ty),+) => {$(
        impl TrainerOption for $type {
            type Given = i64;
            type Shown = Self;

            fn given(py: Python<'_>, name: &'static str, value: i64) -> PyResult<Self> {
                unsigned(py, name, value)
            }

            fn shown(self) -> Self {
                self
            }
        }
    )+};
}

macro_rules! choices {
    ($($type:ty: $names:expr),+) => {$(
        impl TrainerOption for $type {
            type Given = String;
            type Shown = &'static str;

            fn given(py: Python<'_>, name: &'static str, value: String) -> PyResult<Self> {
                named(py, name, &$names, &value)
            }

            fn shown(self) -> &'static str {
                name_of(&$names, self)
            }
        }
    )+};
}

as_they_are!(String);
numbers!(usize, u64);
choices!(TieBreak: TIE_BREAKS, Score: SCORES, Algorithm: ALGORITHMS);

impl<T: TrainerOption> TrainerOption for Option<T> {
    type Given = Option<T::Given>;
    type Shown = Option<T::Shown>;

    fn given(py: Python<'_>, name: &'static str, value: Self::Given) -> PyResult<Self> {
        value.map(|value| T::given(py, name, value)).transpose()
    }

    fn shown(self) -> Self::Shown {
        self.map(T::shown)
    }
}

impl TrainerOption for Vec<char> {
    type Given = Vec<String>;
    type Shown = Self;

    fn given(_: Python<'_>, _: &'static str, value: Vec<String>) -> PyResult<Self> {
        Ok(first_chars(&value))
    }

    fn shown(self) -> Self {
        self
    }
}

/// Properties of a trainer's class, by the names of its fields, with names for the two functions of each; and how the
/// class reads and changes its options.
macro_rules! trainer_options {
    ($class:ident of $kind:ident($trainer:ident): $($name:ident $get:ident $set:ident: $type:ty;)+) => {
        /// The options as they are now.
        fn options(this: &PyRef<'_, $class>) -> $trainer {
            match this.as_super().get().trainer {
                Trainer::$kind(trainer) => trainer,
                // The kind of trainer never changes after an object of this class.
                _ => $trainer::default(),
            }
        }

        $(
            #[pymethods]
            impl $class {
                #[getter($name)]
                fn $get(this: PyRef<'_, Self>) -> <$type as TrainerOption>::Shown {
                    TrainerOption::shown(options(&this).$name)
                }

                #[setter($name)]
                fn $set(this: PyRef<'_, Self>, value: <$type as TrainerOption>::Given) -> PyResult<()> {
                    let value = <$type>::given(this.py(), stringify!($name), value)?;
                    this.as_super().update(|training| {
                        if let Trainer::$kind(trainer) = &mut training.trainer {
                            trainer.$name = value;
                        }
                    });
                    Ok(())
                }
            }
        )+
    };
}

pub(super) use trainer_options;
