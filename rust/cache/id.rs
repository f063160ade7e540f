//! Ids in the width of the output.

/// An id in the width of the output.
pub trait Id: Copy + Default + Send + Sync {
    /// Narrows an id, which the caller knows to fit.
    fn narrow(id: u32) -> Self;
}

impl Id for u32 {
    #[inline]
    fn narrow(id: u32) -> Self {
        id
    }
}

/// Nothing: ids that are only counted, which take no memory.
impl Id for () {
    #[inline]
    fn narrow(_: u32) {}
}

impl Id for u16 {
    #[inline]
    fn narrow(id: u32) -> Self {
        id as u16
    }
}
