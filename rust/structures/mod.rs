//! Data structures without any knowledge of tokenizers.

pub mod bucket_queue;
pub mod flat_map;
pub mod progress;
pub mod workers;
