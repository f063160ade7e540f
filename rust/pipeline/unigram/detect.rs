//! The preconditions of chunks of Unigram tokenizers.

use super::facts::LINE_BLANKS;
use crate::cache::KeyForm;
use crate::metaspace::{Metaspace, PrependScheme, VISIBLE_SPACE};
use crate::models::Model;
use crate::normalizers::Normalizer;
use crate::pipeline::plan::{ChunkPlan, Chunker, Rewrite, Scope};
use crate::pipeline::stages::Stages;
use crate::pre_tokenizers::PreTokenizer;
use crate::scan::Splitter;

/// The plan of chunks, if the stages and the model meet all preconditions.
pub(in crate::pipeline) fn detect(stages: &Stages, model: &Model) -> Option<ChunkPlan> {
    let (has_gaps, metaspace) = metaspace(stages.pre_tokenizer.as_ref()?)?;
    let Metaspace { replacement, prepend_scheme, split } = metaspace;
    let has_fixed_prefix = match prepend_scheme {
        PrependScheme::Always => true,
        PrependScheme::Never => !has_gaps,
        // Depends on the place in the text.
        PrependScheme::First => false,
    };
    let cuts_at_spaces = replacement == VISIBLE_SPACE && (split || has_gaps) && has_fixed_prefix;
    // A chunk without tokens has no word id, so each pre-token must have a token.
    let has_tokens = matches!(model, Model::Unigram(_)) && model.is_deterministic();
    let contents = stages.matchers.normalized_contents();
    let holds_added = !contents.look_around && !contents.white_space && !contents.visible_space;
    if !cuts_at_spaces || !has_tokens || !holds_added {
        return None;
    }
    let (splitter, key_form) = splitter(stages.normalizer.as_ref(), has_gaps)?;
    Some(ChunkPlan {
        chunker: Chunker::Splitter(splitter),
        key_form,
        rewrite: Rewrite::Stages,
        scope: Scope::All,
    })
}

/// The Metaspace of a pre-tokenizer, and true if white space is split off before Metaspace, so that chunks have gaps between them.
fn metaspace(pre_tokenizer: &PreTokenizer) -> Option<(bool, Metaspace)> {
    let stages = match pre_tokenizer {
        PreTokenizer::Sequence(stages) => stages.as_slice(),
        only => std::slice::from_ref(only),
    };
    match stages {
        [PreTokenizer::Metaspace(metaspace)] => Some((false, *metaspace)),
        [PreTokenizer::WhitespaceSplit, PreTokenizer::Metaspace(metaspace)] => Some((true, *metaspace)),
        _ => None,
    }
}

/// The scanner that cuts original text before runs of blanks, with its key form, if no stage of the normalizer sees anything across
/// such a cut.
fn splitter(normalizer: Option<&Normalizer>, has_gaps: bool) -> Option<(Splitter, KeyForm)> {
    if !normalizer.is_none_or(Normalizer::leaves_spaces) {
        return None;
    }
    let has_lines =
        normalizer.is_some_and(|normalizer| LINE_BLANKS.iter().all(|&c| normalizer.maps_to_space(c)));
    // A carriage return that rules put before a line feed would form one cluster with that.
    if has_lines && normalizer.is_some_and(|normalizer| normalizer.puts_in('\r')) {
        return None;
    }
    // A run of spaces that became visible would be no white space.
    let has_white_runs = normalizer.and_then(Normalizer::joined_space) != Some(VISIBLE_SPACE);
    match (has_gaps, has_lines) {
        (true, true) if has_white_runs => Some((Splitter::BlankSplit, KeyForm::Prefixed)),
        // All white space is dropped, so lines need not become spaces first.
        (true, false) if normalizer.is_none() => Some((Splitter::BlankSplit, KeyForm::Prefixed)),
        (true, _) => None,
        (false, true) => Some((Splitter::Blanks, KeyForm::Spaced)),
        (false, false) => Some((Splitter::Spaces, KeyForm::Spaced)),
    }
}
