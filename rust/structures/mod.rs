//! Data structures and small system services that know nothing about tokenizers.

pub mod amortized_lazy;
#[cfg(feature = "sources")]
pub mod append_log;
pub mod atomic_file;
#[cfg(feature = "sources")]
pub mod best_fit;
pub mod binary_formats;
pub mod bucket_queue;
pub mod byte_trie;
pub(crate) mod char_table;
pub(crate) mod darts;
pub mod finder;
pub mod flat_map;
#[cfg(feature = "sources")]
pub mod folder_lock;
pub mod fraction;
pub mod freed_memory;
pub mod huge_pages;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod on_processor;
pub mod parallel;
pub mod prefetch;
pub mod regex;
#[cfg(feature = "sources")]
pub mod resident_memory;
pub mod reused;
pub mod tournament;
pub mod versioned;
