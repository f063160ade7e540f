//! Options of stages, models and trainers as Python reads and sets them: how each type crosses the border.

use std::convert::identity;
use std::num::NonZeroUsize;

use pyo3::prelude::*;
use serde_json::Value;

use super::errors::{OrRaise, exception};
use super::regex::PatternList;
use crate::encoding::Symbol;
use crate::metaspace::PrependScheme;
use crate::pre_tokenizers::{Behavior, fixed_length};
use crate::trainers::forbidden::Forbidden;

/// The type of an option, in the core and in Python.
pub(super) trait Property {
    /// The type in the core.
    type Core;
    /// The type of the value that Python sets.
    type Given;
    /// The type of the value that Python reads.
    type Shown;

    /// The option's value; `name` is for the error.
    fn given(py: Python<'_>, name: &'static str, value: Self::Given) -> PyResult<Self::Core>;

    /// As Python reads it.
    fn shown(value: Self::Core) -> Self::Shown;
}

/// The type of the value that Python sets for an option of type `P`.
pub(super) type Given<P> = <P as Property>::Given;

/// The type of the value that Python reads of an option of type `P`.
pub(super) type Shown<P> = <P as Property>::Shown;

/// Properties: the option's type; its type in the core; the type that Python sets, with the function that reads it; and the type
/// that Python reads, with the function that makes it.
macro_rules! properties {
    ($($type:ty as $core:ty: $given:ty => $read:path, $shown:ty => $show:path;)+) => {$(
        impl Property for $type {
            type Core = $core;
            type Given = $given;
            type Shown = $shown;

            fn given(py: Python<'_>, name: &'static str, value: $given) -> PyResult<$core> {
                $read(py, name, value)
            }

            fn shown(value: $core) -> $shown {
                $show(value)
            }
        }
    )+};
}

/// A property that goes by names.
macro_rules! choice {
    ($type:ty: $names:expr) => {
        impl $crate::bindings::properties::Property for $type {
            type Core = Self;
            type Given = String;
            type Shown = &'static str;

            fn given(py: Python<'_>, name: &'static str, value: String) -> PyResult<Self> {
                $crate::bindings::properties::named(py, name, &$names, &value)
            }

            fn shown(value: Self) -> &'static str {
                $crate::bindings::properties::name_of(&$names, value)
            }
        }
    };
}
pub(super) use choice;

/// A random generator's seed: any number of 64 bits.
pub(super) enum Seed {}

properties! {
    bool as bool: bool => as_given, bool => identity;
    f32 as f32: f32 => as_given, f32 => identity;
    f64 as f64: f64 => as_given, f64 => identity;
    u32 as u32: u32 => as_given, u32 => identity;
    String as String: String => as_given, String => identity;
    Seed as u64: u64 => as_given, u64 => identity;
    usize as usize: i64 => unsigned, usize => identity;
    u64 as u64: i64 => unsigned, u64 => identity;
    char as char: String => character, char => identity;
    Vec<String> as Vec<String>: Vec<String> => as_given, Vec<String> => identity;
    Vec<char> as Vec<char>: Vec<String> => given_chars, Vec<char> => identity;
    NonZeroUsize as NonZeroUsize: i64 => length, usize => NonZeroUsize::get;
    Forbidden as Forbidden: PatternList => forbidden, Vec<String> => patterns;
    Symbol as Symbol: (String, u32) => given_symbol, (String, u32) => text_and_id;
    PrependScheme as PrependScheme: String => prepend_scheme, &'static str => PrependScheme::name;
    Behavior as Behavior: String => behavior, String => behavior_name;
}

impl<T: Property> Property for Option<T> {
    type Core = Option<T::Core>;
    type Given = Option<T::Given>;
    type Shown = Option<T::Shown>;

    fn given(py: Python<'_>, name: &'static str, value: Self::Given) -> PyResult<Self::Core> {
        value.map(|value| T::given(py, name, value)).transpose()
    }

    fn shown(value: Self::Core) -> Self::Shown {
        value.map(T::shown)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "other values may be wrong")]
fn as_given<T>(_: Python<'_>, _: &str, value: T) -> PyResult<T> {
    Ok(value)
}

/// A number that must not be negative.
pub(super) fn unsigned<T: TryFrom<i64>>(py: Python<'_>, name: &str, given: i64) -> PyResult<T> {
    let message =
        || format!("{name} is {given} but must be at least 0: can't convert negative int to unsigned");
    T::try_from(given).map_err(|_| exception(py, "OptionRangeError", message()))
}

/// A length, which must be at least 1.
pub(super) fn length(py: Python<'_>, name: &str, given: i64) -> PyResult<NonZeroUsize> {
    fixed_length::checked(unsigned(py, name, given)?).or_raise(py)
}

/// A text of one character.
pub(super) fn character(py: Python<'_>, name: &str, value: impl AsRef<str>) -> PyResult<char> {
    let mut chars = value.as_ref().chars();
    let (first, second) = (chars.next(), chars.next());
    first.filter(|_| second.is_none()).ok_or_else(|| {
        let message = format!("{name} is \"{}\": expected a string of length 1", value.as_ref());
        exception(py, "OptionError", message)
    })
}

fn given_chars(py: Python<'_>, name: &str, texts: Vec<String>) -> PyResult<Vec<char>> {
    texts.iter().map(|text| character(py, name, text)).collect()
}

/// The first character of each text that has one.
pub(super) fn first_chars(texts: &[String]) -> Vec<char> {
    texts.iter().filter_map(|text| text.chars().next()).collect()
}

fn forbidden(py: Python<'_>, _: &str, patterns: PatternList) -> PyResult<Forbidden> {
    patterns.to_core(py)
}

fn patterns(forbidden: Forbidden) -> Vec<String> {
    forbidden.sources().map(str::to_owned).collect()
}

/// The patterns of a pickled state.
pub(super) fn read_forbidden(patterns: &Value) -> Option<Forbidden> {
    let patterns: Option<Vec<&str>> = patterns.as_array()?.iter().map(Value::as_str).collect();
    Forbidden::new(&patterns?).ok()
}

/// A token that a post-processor adds.
pub(super) fn symbol((text, id): (String, u32)) -> Symbol {
    Symbol { id, text: text.into() }
}

fn given_symbol(py: Python<'_>, name: &str, value: (String, u32)) -> PyResult<Symbol> {
    as_given(py, name, symbol(value))
}

fn text_and_id(symbol: Symbol) -> (String, u32) {
    (symbol.text.to_string(), symbol.id)
}

/// A `prepend_scheme` by its name.
pub(super) fn prepend_scheme(py: Python<'_>, name: &str, value: impl AsRef<str>) -> PyResult<PrependScheme> {
    let found = PrependScheme::from_name(value.as_ref());
    found.ok_or_else(|| {
        let known = PrependScheme::NAMES.map(|(_, name)| format!("'{name}'")).join(", ");
        let value = value.as_ref();
        let message = format!("{name}: {value} is an unknown variant, should be one of [{known}]");
        exception(py, "OptionError", message)
    })
}

/// A `behavior` by its name.
pub(super) fn behavior(py: Python<'_>, name: &str, value: impl AsRef<str>) -> PyResult<Behavior> {
    let found = Behavior::NAMES.into_iter().find(|&(_, known, _)| known == value.as_ref());
    found.map(|(behavior, ..)| behavior).ok_or_else(|| {
        let (known, value) = (Behavior::NAMES.map(|(_, name, _)| name).join(", "), value.as_ref());
        let message =
            format!("{name} is {value}: Wrong value for SplitDelimiterBehavior, expected one of: `{known}`");
        exception(py, "OptionError", message)
    })
}

/// As Hugging Face shows a `behavior`: in one word, which it does not take as an argument.
pub(super) fn behavior_name(behavior: Behavior) -> String {
    let found = Behavior::NAMES.into_iter().find(|&(known, ..)| known == behavior);
    found.map_or_else(String::new, |(_, name, _)| name.replace('_', ""))
}

/// The value of an option that goes by name.
pub(super) fn named<T: Copy, const N: usize>(
    py: Python<'_>,
    option: &str,
    names: &[(&str, T); N],
    given: &str,
) -> PyResult<T> {
    names.iter().find(|(name, _)| *name == given).map(|&(_, value)| value).ok_or_else(|| {
        let known = names.each_ref().map(|(name, _)| *name).join(" or ");
        exception(py, "OptionError", format!("{option} is {given} but must be {known}"))
    })
}

pub(super) fn name_of<T: Copy + PartialEq, const N: usize>(
    names: &[(&'static str, T); N],
    value: T,
) -> &'static str {
    names.iter().find(|&&(_, known)| known == value).map_or("", |&(name, _)| name)
}
