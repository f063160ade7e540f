//! Work on several threads: the only place of the crate that starts any.
//!
//! | file | for |
//! |---|---|
//! | `scoped` | a leader on the calling thread and helpers beside it |
//! | `ordered_map` | runs of items, results in their order |
//! | `ordered_source` | blocks that are read while others are worked on, results in their order |
//! | `ordered_writer` | ids that several threads make, in one array |
//! | `join` | a few pieces of work, each on a thread of its own |
//! | `stage` | one stage of training, with progress |
//! | `progress` | how long-running work reports and is stopped |
//!
//! Threads are started for each call and end with it, so no thread outlives a call and a fork breaks nothing. Where the
//! system refuses a thread, the calling thread does its work.

mod join;
mod ordered_map;
mod ordered_source;
mod ordered_writer;
mod progress;
mod scoped;
mod stage;

pub use join::{both, share, sort_in_runs};
pub use ordered_map::{ordered_for_each, ordered_map};
pub use ordered_source::ordered_source_map;
pub use ordered_writer::{OrderedWriter, write_in_order};
pub use progress::{OnProgress, Progress};
pub use scoped::{Parallelism, scoped};
pub use stage::{METER_EVERY, Meter, Pacer, run_parts};
