//! The crate's public API from outside: the golden cases that pytest reads too, and laws.

mod columns;
mod fuzz_replay;
mod golden;
mod golden_wordpiece;
mod laws;
