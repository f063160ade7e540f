//! From chunks of text to their tokens: the cache in front of every model.
//!
//! A chunk is a range of text that is encoded on its own. Its key is its bytes and its kind. The cache of one thread
//! is a table of chunks of up to 15 bytes, keyed by the bytes themselves, and one of longer chunks, found by hash and compared
//! by bytes. An arena holds tokens that no slot has room for.
//!
//! | file | holds |
//! |---|---|
//! | `key` | chunks of up to 15 bytes as 128-bit integers, hashes |
//! | `key_form` | how the bytes of a key spell the text of the model |
//! | `lookup` | a chunk whose slot is being fetched from memory |
//! | `table` | the cache itself: prefetch, then resolve or encode; its bound in bytes |
//! | `long_keys` | the table of longer chunks |
//! | `inline_ids` | a few ids within a slot |
//! | `chunk_tokens` | tokens of a chunk, as a model answers them and as the cache hands them out |
//! | `pool` | caches that wait for the next call |

mod chunk_tokens;
mod first_sights;
mod id;
mod inline_ids;
pub mod key;
mod key_form;
mod long_keys;
mod lookup;
mod pool;
mod slots;
mod table;

pub use chunk_tokens::{CachedTokens, ChunkTokens, NEW_PRE_TOKEN};
pub use id::Id;
pub use inline_ids::{InlineIds, MEDIUM_ITEMS, Packing, SHORT_ITEMS};
pub use key_form::KeyForm;
pub use lookup::{ChunkKind, Lookup, ResolvedRun};
pub use pool::{Pool, Worker};
pub use table::{CacheLimits, ChunkCache, LONGEST};
