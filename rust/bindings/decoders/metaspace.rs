//! `lexmill.decoders.Metaspace`.

use pyo3::prelude::*;

use super::PyDecoder;
use crate::bindings::metaspace::metaspace_class;
use crate::bindings::options::{character, prepend_scheme};
use crate::decoders::Decoder;
use crate::metaspace::Metaspace;

metaspace_class! {
    /// Spaces in place of visible ones.
    PyDecoder of Decoder in "lexmill.decoders"
}
