//! Helpers for the tests of pipelines.

use std::sync::Arc;

use super::Pipeline;
use crate::cache::Id;
use crate::encoding::{ColumnsBuilder, Encoding, char_offsets};
use crate::sinks::{IdSink, SpanColumns};

/// A token with its text, its offsets in characters and its word id.
pub(super) type Token = (u32, String, (u32, u32), Option<u32>);

/// The ids of a text that continues another one unless `is_first`.
pub(super) fn shard_ids<T: Id>(pipeline: &Pipeline, text: &str, is_first: bool) -> Vec<T> {
    let (mut ids, mut worker) = (Vec::new(), pipeline.pool().take());
    pipeline
        .encode_shard(text, is_first, &mut worker, &mut IdSink(&mut ids))
        .expect("everything has a token");
    ids
}

/// The ids of a text.
pub(super) fn ids(pipeline: &Pipeline, text: &str) -> Vec<u32> {
    shard_ids(pipeline, text, true)
}

/// The tokens of a text, twice, so that every chunk is a miss and then a hit. Tokens without texts of their own are checked to be the same.
pub(super) fn tokens(pipeline: &Pipeline, text: &str) -> Vec<Token> {
    let (mut columns, mut worker) = (ColumnsBuilder::default(), pipeline.pool().take());
    for _ in 0..2 {
        let start = columns.ids.len();
        pipeline.encode_columns(text, &mut worker, &mut columns).expect("everything has a token");
        columns.bytes_to_chars(text, start);
    }
    let mut spans = SpanColumns::<u32>::new(true, false);
    pipeline.encode_columns(text, &mut worker, &mut spans).expect("everything has a token");
    char_offsets(text, spans.offsets.iter_mut().map(|[start, end]| (start, end)));
    let count = columns.ids.len();
    let encoding = Encoding::from_columns(Arc::new(columns.finish(pipeline.names())), 0..count);
    let once = spans.ids.len();
    assert!(encoding.ids().take(once).eq(spans.ids));
    assert!(encoding.offsets().take(once).eq(spans.offsets.iter().map(|&[start, end]| (start, end))));
    assert!(encoding.word_ids().take(once).eq(spans.words.iter().map(|&word| u32::try_from(word).ok())));
    let tokens = encoding.ids().zip(encoding.tokens()).zip(encoding.offsets()).zip(encoding.word_ids());
    tokens.map(|(((id, token), offsets), word_id)| (id, token.to_string(), offsets, word_id)).collect()
}
