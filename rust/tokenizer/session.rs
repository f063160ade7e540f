//! The ids of a text that grows at its end.
//!
//! The text is cut at a boundary of shards (`pipeline/shards.rs`) that no further text can undo. Ids before the boundary are settled. An
//! appended text is encoded together with the text after the boundary, the *tail*, and then the boundary moves on. Without a boundary
//! the tail is all of the text.

use super::Tokenizer;
use crate::pipeline::Pipeline;
use crate::sinks::IdSink;
use crate::{Error, Result};

/// The ids of a text that grows at its end, without the special tokens of the post-processor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// The ids of all text.
    pub ids: Vec<u32>,
    /// So many first ids are settled.
    pub settled: usize,
    /// The text after the settled ids.
    pub tail: String,
    /// True if text was settled, so that the tail does not begin the text.
    pub has_settled: bool,
}

/// The ids of a tail.
struct Encoded {
    ids: Vec<u32>,
    /// The boundary in the tail, 0 for none, and the ids before it.
    boundary: usize,
    settled: usize,
}

impl Session {
    /// Appends a text; returns the index of the first id that has changed. All ids from there on are new.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a model that chooses at random; the errors of the pipeline. The session is as before then.
    pub fn append(&mut self, tokenizer: &Tokenizer, text: &str) -> Result<usize> {
        if !tokenizer.pipeline.model().is_deterministic() {
            let message = "the model chooses tokens at random, so the ids of a growing text never settle; turn dropout or alpha off";
            return Err(Error::Unsupported(message.to_owned()));
        }
        let before = self.tail.len();
        self.tail.push_str(text);
        let Encoded { ids, boundary, settled } = match self.encode_tail(&tokenizer.pipeline) {
            Ok(encoded) => encoded,
            Err(error) => {
                self.tail.truncate(before);
                return Err(error);
            }
        };
        let same = self.ids[self.settled..].iter().zip(&ids).take_while(|(old, new)| old == new).count();
        let start = self.settled + same;
        self.ids.truncate(start);
        self.ids.extend_from_slice(&ids[same..]);
        self.settled += settled;
        if boundary > 0 {
            // The memory of a long text goes with it.
            self.tail = self.tail.split_off(boundary);
            self.has_settled = true;
        }
        Ok(start)
    }

    fn encode_tail(&self, pipeline: &Pipeline) -> Result<Encoded> {
        let boundary = pipeline.settled_boundary(&self.tail).unwrap_or(0);
        let (head, rest) = self.tail.split_at(boundary);
        let mut ids = Vec::with_capacity(self.tail.len() / 3);
        pipeline.prepare(self.tail.len(), 1);
        let mut worker = pipeline.pool().take();
        let mut encode = |text: &str, is_first, ids: &mut Vec<u32>| {
            pipeline.encode_shard(text, is_first, &mut worker, &mut IdSink(ids)).map(|()| ids.len())
        };
        let settled = if head.is_empty() { Ok(0) } else { encode(head, !self.has_settled, &mut ids) };
        let is_first = !self.has_settled && head.is_empty();
        let encoded = settled.and_then(|settled| encode(rest, is_first, &mut ids).map(|_| settled));
        pipeline.pool().put(worker);
        Ok(Encoded { settled: encoded?, ids, boundary })
    }
}
