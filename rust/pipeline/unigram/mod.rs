//! The family of Unigram tokenizers with SentencePiece's rules, such as T5.
//!
//! The normalizer holds SentencePiece's rules and stages that see a grapheme cluster or a run of spaces at a time; Metaspace
//! then begins a pre-token at every space. Original text is cut before runs of blanks (spaces, and where the normalizer makes
//! spaces of them, tabs and line ends). Such a chunk takes all stages by itself, and only when the cache misses it.
//!
//! **Theorem.** Let a text be cut into chunks before runs of blanks, and let every chunk be *context-free*: the stages make the
//! same pre-tokens of the chunk alone as of the chunk with any blank and letter after it (and, if chunks have gaps between
//! them, with a blank before it). Then the pre-tokens of the chunks, one after the other, are the pre-tokens of the text, and so
//! are the tokens.
//!
//! *Why*: each stage of the normalizer ([`Normalizer::leaves_spaces`](crate::normalizers::Normalizer)) sees a grapheme cluster or a
//! run of spaces at a time, and neither crosses the cut. A pre-token begins at each visible space, and the model sees one
//! pre-token at a time.
//!
//! **Preconditions**, which `detect` checks once for a tokenizer: Metaspace with U+2581 that cuts at every space and whose prefix
//! does not depend on the place in the text; a deterministic Unigram model; added tokens in normalized text that hold neither white
//! space nor U+2581 and do not look around (`added_in_chunks`); a space stays a space; every other blank becomes one. At most one
//! stage joins runs of spaces.
//!
//! When the cache misses a chunk, `context` checks if the chunk is context-free. A context-dependent chunk is joined with the
//! chunks after it until the whole is context-free, and the whole takes the stages (`encode`).
//!
//! Where ids alone are wanted, chunks are refined further. [`Pipeline::without_refinement`](super::Pipeline) turns off only
//! this refinement; `with_plan(Plan::Staged)` turns off chunks altogether:
//!
//! * `fragments`: a chunk is cut between a letter and punctuation if no piece holds both, since a word and its comma repeat with
//!   other neighbours. If rounding might change the best path of a fragment, the whole chunk is encoded.
//! * `isolated`: a character that occurs in no piece beside others (46 to 65 % of multilingual text) gets its id from a table
//!   of break classes (`break_class`), without cache and model.
//!
//! | file | holds |
//! |---|---|
//! | `detect` | the preconditions; the plan of chunks |
//! | `facts` | facts about the normalizer, derived once for a tokenizer |
//! | `encode` | the loop over chunks, fragments and joined chunks |
//! | `chunk_stages` | all stages for one missed chunk |
//! | `context` | the check that a chunk is context-free |
//! | `refinement` | facts and tables, prepared once for a tokenizer |
//! | `blanks` | the rewrites of runs of blanks |
//! | `fragments`, `isolated`, `break_class` | the refinement |

mod blanks;
mod break_class;
mod chunk_stages;
mod context;
mod detect;
mod encode;
mod facts;
mod fragments;
mod isolated;
mod refinement;
#[cfg(test)]
pub(super) mod tests;

pub(super) use chunk_stages::ChunkStages;
pub(super) use detect::detect;
pub(super) use isolated::{IsolatedChars, IsolatedRun, SubChunk, SubChunks};
pub(super) use refinement::Refinement;
