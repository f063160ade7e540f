//! Work on several threads. No other module of the crate starts a thread.
//!
//! | file | offers |
//! |---|---|
//! | `scoped` | one leader on the calling thread and helpers on scoped threads |
//! | `ordered` | a function over blocks; results in order |
//! | `source` | where blocks come from; blocks that are read meanwhile |
//! | `runs` | runs of items in memory as blocks |
//! | `ordered_writer` | one array of ids, filled by several threads |
//! | `background` | jobs in order on a thread of their own |
//! | `join` | a few jobs, each on its own thread |
//! | `stage` | one stage of training, with progress reports, by which the caller may stop it |
//! | `stage_clock` | the time that a stage will still take |
//!
//! Every call starts its own scoped threads and joins them before it returns. So no thread outlives a call, and a
//! process may fork between calls. Where the system refuses to start a thread, the other threads, or the calling
//! one, do its work. Only `scoped`, `background`, `join` and `stage` ask the system for threads.

mod background;
mod join;
mod ordered;
mod ordered_writer;
mod runs;
mod scoped;
mod source;
mod stage;
mod stage_clock;

pub use background::{Background, with_background};
pub use join::{both, share, sort_in_runs};
pub use ordered::{bounded_for_each, ordered_for_each, ordered_map};
pub use ordered_writer::{OrderedWriter, write_in_order};
pub use runs::Runs;
pub use scoped::{Parallelism, scoped};
pub use source::{InOrder, Source};
pub use stage::{METER_EVERY, Meter, OnProgress, Pacer, Progress, run_parts};
pub use stage_clock::StageClock;
