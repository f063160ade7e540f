//! The stages that do not see the ends of a text.

use std::borrow::Cow;

use crate::normalizers::Normalizer;

/// Part of a text may grow so many times in one stage.
pub(super) const GROWTH: usize = 16;

/// The stages that do not see the ends of a text.
#[derive(Debug)]
pub(super) struct Rules(pub(super) Vec<Normalizer>);

/// The rewrite of `text` by all `stages`; none if any stage makes more than `GROWTH` times the text and `more` bytes.
pub(super) fn run(stages: &[Normalizer], text: &str, more: usize) -> Option<String> {
    let mut made = Cow::Borrowed(text);
    for stage in stages {
        made = Cow::Owned(stage.normalize_str(&made).ok()?.into_owned());
        if made.len() > GROWTH * text.len() + more {
            return None;
        }
    }
    Some(made.into_owned())
}
