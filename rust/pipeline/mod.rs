//! From text to tokens: added tokens, normalizer, pre-tokenizer and model, run by the fastest plan that is exact.
//!
//! ```text
//! text -> added tokens -> chunker -> cache -> hit:  ids from the slot -> sink
//!                                         -> miss: remaining stages, model -> slot, sink
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `compiled` | [`Pipeline`]: stages, plan, caches |
//! | `plan`, `plan_table` | the parts of a plan of chunks; the tokenizers that have one |
//! | `plan_report` | a plan in words |
//! | `stages` | the walk through added tokens, normalizer and pre-tokenizer, with a visitor |
//! | `encode`, `aligned_sink` | the visitor that encodes; offsets of chunks of normalized text |
//! | `chunk_stream` | the inner loop: lookups in flight, hits, misses |
//! | `chunk_encoder` | the remaining stages and the model for a missed chunk |
//! | `model_encoder` | the model for chunks of one key form |
//! | `rewrite_memo`, `offset_map` | rewriting cluster by cluster; offsets of rewritten text |
//! | `added_in_chunks` | added tokens in normalized chunks |
//! | `original_chunks` | chunks of text that its normalizer has not changed yet |
//! | `bert_rewriter`, `fronted`, `metaspace_bpe`, `seamed`, `unigram` | families of tokenizers |
//! | `shards`, `boundaries` | long texts in parts that are encoded separately; where to cut them |
//! | `training_words` | words and chunks for trainers |
//! | `preload` | caches that begin with the vocabulary |

mod added_in_chunks;
mod aligned_sink;
mod bert_rewriter;
mod boundaries;
mod chunk_encoder;
mod chunk_stream;
mod compiled;
mod encode;
mod fronted;
mod metaspace_bpe;
mod model_encoder;
mod offset_map;
mod original_chunks;
mod plan;
mod plan_report;
mod plan_table;
mod preload;
mod rewrite_memo;
mod seamed;
mod shards;
mod stages;
#[cfg(test)]
mod testing;
mod training_words;
mod two_steps;
mod unigram;

pub(crate) use compiled::check_length;
pub use compiled::{DEFAULT_CACHE_LIMIT, LONGEST_TEXT, Pipeline};
pub use model_encoder::Worker;
pub use plan::{ChunkPlan, Chunker, Plan, Rewrite, Scope};
pub use plan_report::PlanReport;
pub use shards::{Shard, WHOLE};
pub(crate) use stages::{Visitor, Walk};
pub use training_words::{Counted, TrainingWords};
