//! The compiled path: span stream, keyed cache, ids.
//!
//! Every model runs through the same loop; only what happens when the cache misses differs.

pub mod ahead;
pub mod changes;
mod few_ids;
mod group_kinds;
pub mod key;
mod long_words;
mod places;
pub mod pool;
pub mod sink;
pub mod word_cache;
pub mod word_counter;
pub mod word_encoder;
mod word_tokens;

pub use changes::Changes;
pub use group_kinds::GroupKinds;
pub use pool::{Pool, Worker};
pub use sink::{ColumnSink, CountSink, IdSink, Sink};
pub use word_cache::{CacheLimits, WordCache};
pub use word_counter::WordCounter;
pub use word_encoder::{Unit, WordEncoder};
pub use word_tokens::{Found, NEW_PRE_TOKEN, WordTokens};
