//! The texts of tokens between two decoders: one buffer, and the end of each text.

/// A list of texts in one buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    text: String,
    ends: Vec<usize>,
}

impl Pieces {
    /// A list of one.
    pub(super) fn one(text: String) -> Self {
        Self { ends: vec![text.len()], text }
    }

    /// Number of texts.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all texts.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// The texts.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }

    /// Appends the text that `write` writes.
    pub(super) fn push_with<T>(&mut self, write: impl FnOnce(&mut String) -> T) -> T {
        let result = write(&mut self.text);
        self.ends.push(self.text.len());
        result
    }

    /// A new list: `write` writes each text, given the index and the old text.
    pub(super) fn map(&self, mut write: impl FnMut(usize, &str, &mut String)) -> Self {
        let mut mapped = self.empty();
        for (index, piece) in self.iter().enumerate() {
            mapped.push_with(|out| write(index, piece, out));
        }
        mapped
    }

    /// As [`Self::map`], for a `write` that can fail.
    pub(super) fn try_map<E>(
        &self,
        mut write: impl FnMut(usize, &str, &mut String) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut mapped = self.empty();
        for (index, piece) in self.iter().enumerate() {
            mapped.push_with(|out| write(index, piece, out))?;
        }
        Ok(mapped)
    }

    /// An empty list with room for one of this size.
    pub(super) fn empty(&self) -> Self {
        Self { text: String::with_capacity(self.text.len()), ends: Vec::with_capacity(self.ends.len()) }
    }

    /// All texts, concatenated.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

impl<'a> FromIterator<&'a str> for Pieces {
    fn from_iter<T: IntoIterator<Item = &'a str>>(texts: T) -> Self {
        let mut pieces = Self::default();
        for text in texts {
            pieces.push_with(|out| out.push_str(text));
        }
        pieces
    }
}
