//! Data structures and small services without any knowledge of tokenizers.

pub mod atomic_file;
pub mod bucket_queue;
pub mod byte_trie;
pub mod finder;
pub mod flat_map;
pub mod fraction;
pub mod freed_memory;
pub mod huge_pages;
pub mod prefetch;
pub mod progress;
pub mod regex;
pub mod threads;
pub mod tournament;
pub mod versioned;
pub mod workers;
pub mod worthwhile;
