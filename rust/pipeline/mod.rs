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
//! | `chunk_encoder`, `chunk_pre_tokenizer` | the remaining stages and the model for a missed chunk |
//! | `keyed_model`, `model_encoder` | the model for chunks of one key form; its tables for long pre-tokens |
//! | `two_steps` | long pre-tokens by early merges, then late merges |
//! | `late_stream`, `cut_memo` | the same for ids alone, without a search for pre-tokens |
//! | `scratch`, `cluster_memo` | the memory that one thread reuses |
//! | `rewrite_memo`, `offset_map` | rewriting cluster by cluster; offsets of rewritten text |
//! | `added_in_chunks` | added tokens in normalized chunks |
//! | `original_chunks` | chunks of text that its normalizer has not changed yet |
//! | `derived_seams` | seams that are derived once there was enough text |
//! | `bert_rewriter`, `fronted`, `metaspace_bpe`, `seamed`, `unigram` | families of tokenizers |
//! | `shards`, `boundaries` | long texts in parts that are encoded separately; where to cut them |
//! | `training_words` | words and chunks for trainers |
//! | `text_length` | the limit on the length of a text |
//! | `preload` | caches that begin with the vocabulary |

mod added_in_chunks;
mod aligned_sink;
mod bert_rewriter;
mod boundaries;
mod chunk_encoder;
mod chunk_pre_tokenizer;
mod chunk_stream;
mod cluster_memo;
mod compiled;
mod cut_memo;
mod derived_seams;
mod encode;
mod fronted;
mod keyed_model;
mod late_stream;
mod metaspace_bpe;
mod model_encoder;
mod offset_map;
mod original_chunks;
mod plan;
mod plan_report;
mod plan_table;
mod preload;
mod rewrite_memo;
mod scratch;
mod seamed;
mod shards;
mod stages;
#[cfg(test)]
mod testing;
mod text_length;
mod training_words;
mod two_steps;
mod unigram;

pub use compiled::{DEFAULT_CACHE_LIMIT, Pipeline};
pub use plan::{ChunkPlan, Chunker, Plan, Rewrite, Scope};
pub use plan_report::PlanReport;
pub use scratch::Worker;
pub use shards::{Shard, WHOLE};
pub(crate) use stages::{Visitor, Walk};
pub use text_length::LONGEST_TEXT;
pub(crate) use text_length::check_length;
pub use training_words::{Counted, TrainingWords};
