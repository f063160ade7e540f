//! A stage of a pre-tokenizer.

use super::search::Search;
use crate::pre_tokenizers::Behavior;

/// A stage that cuts by the matches of a search.
pub(super) struct Stage {
    pub(super) search: Search,
    pub(super) behavior: Behavior,
    pub(super) invert: bool,
    /// The stage sees mapped bytes.
    pub(super) is_mapped: bool,
}
