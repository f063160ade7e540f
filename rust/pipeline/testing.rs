//! Helpers for the tests of pipelines.

use std::sync::Arc;

use super::Pipeline;
use crate::cache::Id;
use crate::encoding::{ColumnsBuilder, Encoding};
use crate::sinks::{ColumnSink, IdSink};

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

/// The tokens of a text, twice, so that every chunk is a miss and then a hit.
pub(super) fn tokens(pipeline: &Pipeline, text: &str) -> Vec<Token> {
    let (mut columns, mut worker) = (ColumnsBuilder::default(), pipeline.pool().take());
    for _ in 0..2 {
        let start = columns.ids.len();
        let mut sink = ColumnSink {
            columns: &mut columns,
            token_lens: pipeline.token_lens(),
            text,
            model: pipeline.model(),
            skipped_word_ids: pipeline.skipped_word_ids(),
        };
        pipeline.encode(text, &mut worker, &mut sink).expect("everything has a token");
        columns.bytes_to_chars(text, start);
    }
    let count = columns.ids.len();
    let encoding = Encoding::from_columns(Arc::new(columns.finish(pipeline.names())), 0..count);
    let tokens = encoding.ids().zip(encoding.tokens()).zip(encoding.offsets()).zip(encoding.word_ids());
    tokens.map(|(((id, token), offsets), word_id)| (id, token.to_string(), offsets, word_id)).collect()
}
