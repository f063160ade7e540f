//! `lexmill.pre_tokenizers.Metaspace`.

use pyo3::prelude::*;

use super::PyPreTokenizer;
use crate::bindings::metaspace::metaspace_class;
use crate::bindings::options::{character, prepend_scheme};
use crate::metaspace::Metaspace;
use crate::pre_tokenizers::PreTokenizer;

metaspace_class! {
    /// Visible spaces, each of which begins a pre-token.
    PyPreTokenizer of PreTokenizer in "lexmill.pre_tokenizers"
}
