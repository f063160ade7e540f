//! Normalized text under construction, which copies nothing before the first change.

/// The rewrite of the text before some byte: bytes that were written, then old text that has not been copied yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    written: usize,
    /// Bytes of the old text that were written or rewritten.
    done: usize,
}

/// Normalized text under construction. Old text from `done` on stays as it is until a change is put there.
#[derive(Debug)]
pub(super) struct Output<'t> {
    old: &'t str,
    made: String,
    done: usize,
}

impl<'t> Output<'t> {
    pub(super) fn new(old: &'t str) -> Self {
        Self::in_buffer(old, String::new())
    }

    /// The same, with the memory of `buffer`.
    pub(super) fn in_buffer(old: &'t str, mut buffer: String) -> Self {
        buffer.clear();
        Self { old, made: buffer, done: 0 }
    }

    /// Where this stands.
    pub(super) fn mark(&self) -> Mark {
        Mark { written: self.made.len(), done: self.done }
    }

    /// Forgets everything after `mark`.
    pub(super) fn return_to(&mut self, Mark { written, done }: Mark) {
        self.made.truncate(written);
        self.done = done;
    }

    /// Forgets the rewrite of the old text from `at` on, where each byte became one.
    pub(super) fn take_back_to(&mut self, at: usize) {
        if self.done > at {
            self.made.truncate(self.made.len() - (self.done - at));
            self.done = at;
        }
    }

    /// Puts `made` in place of the old bytes `start..end`.
    #[inline]
    pub(super) fn put(&mut self, start: usize, end: usize, made: &str) {
        if self.made.capacity() == 0 {
            self.made.reserve(self.old.len() + self.old.len() / 8);
        }
        self.made.push_str(&self.old[self.done..start]);
        self.made.push_str(made);
        self.done = end;
    }

    /// Puts `made` in place of the old bytes `start..end`, if it differs from them.
    pub(super) fn put_changed(&mut self, start: usize, end: usize, made: &str) {
        if *made != self.old[start..end] {
            self.put(start, end, made);
        }
    }

    /// Puts characters of ASCII in place of others.
    #[inline]
    pub(super) fn put_ascii(&mut self, at: usize, old: &[u8], made: &[u8]) {
        if old != made
            && let Ok(made) = std::str::from_utf8(made)
        {
            self.put(at, at + made.len(), made);
        }
    }

    /// The new text; none if nothing has changed.
    pub(super) fn finish(self) -> Option<String> {
        let mut made = String::new();
        self.finish_into(&mut made).then_some(made)
    }

    /// Gives its memory to `buffer`, with the new text; false if nothing has changed.
    pub(super) fn finish_into(mut self, buffer: &mut String) -> bool {
        let is_changed = self.done > 0;
        if is_changed {
            self.made.push_str(&self.old[self.done..]);
        }
        *buffer = self.made;
        is_changed
    }
}
