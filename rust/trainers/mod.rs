//! Trainers: each learns a model from counted words.

pub mod bpe;
pub mod word_counts;
