//! The compiled path: span stream, keyed cache, ids.
//!
//! Every model runs through the same loop; only what happens when the cache misses differs.

pub mod chunk_cache;
mod chunk_tokens;
mod cluster_memo;
mod inline_ids;
pub mod key;
mod long_keys;
pub mod lookup;
pub mod model_encoder;
mod offset_map;
pub mod pool;
pub mod rewrite_memo;
pub mod sink;
pub mod word_counter;

pub use chunk_cache::{CacheLimits, ChunkCache};
pub use chunk_tokens::{CachedTokens, ChunkTokens, NEW_PRE_TOKEN};
pub use cluster_memo::ClusterMemo;
pub use model_encoder::{KeyForm, ModelEncoder};
pub use pool::{Pool, Worker};
pub use rewrite_memo::RewriteMemo;
pub use sink::{ColumnSink, CountSink, IdSink, Sink};
pub use word_counter::WordCounter;
