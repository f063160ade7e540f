//! Trainers: each learns a model from counted words.

pub mod word_counts;
