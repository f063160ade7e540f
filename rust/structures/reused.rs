//! Memory that a call leaves for the next one, within bounds.

use std::collections::{BinaryHeap, HashMap};
use std::mem::take;

/// How much of it stays.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes of a buffer, which holds nothing between two calls.
    pub buffer: usize,
    /// Bytes of a memo, which spares the next call work.
    pub memo: usize,
}

/// Memory that a call leaves for the next one.
pub trait Reused {
    /// Bytes that it takes; constant time.
    fn bytes(&self) -> usize;

    /// Drops each buffer and each memo that is larger than `bounds` allow.
    fn trim(&mut self, bounds: Bounds);
}

/// Implements [`Reused`] by the fields that have memory.
macro_rules! reused {
    ($name:ty: $($field:ident),+) => {
        impl $crate::structures::reused::Reused for $name {
            fn bytes(&self) -> usize {
                [$($crate::structures::reused::Reused::bytes(&self.$field)),+].into_iter().sum()
            }

            fn trim(&mut self, bounds: $crate::structures::reused::Bounds) {
                $($crate::structures::reused::Reused::trim(&mut self.$field, bounds);)+
            }
        }
    };
}
pub(crate) use reused;

/// Implements [`Reused`] for buffers of elements of a type.
macro_rules! buffers {
    ($([$($parameter:tt)*] $name:ty: $element:ty;)+) => {$(
        impl<$($parameter)*> Reused for $name {
            #[inline]
            fn bytes(&self) -> usize {
                self.capacity() * size_of::<$element>()
            }

            fn trim(&mut self, bounds: Bounds) {
                if self.bytes() > bounds.buffer {
                    drop(take(self));
                }
            }
        }
    )+};
}

buffers! {
    [] String: u8;
    [T] Vec<T>: T;
    [T: Ord] BinaryHeap<T>: T;
    [K, V, S: Default] HashMap<K, V, S>: (K, V);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Scratch {
        ids: Vec<u32>,
        text: String,
        heap: BinaryHeap<u64>,
    }

    reused!(Scratch: ids, text, heap);

    #[test]
    fn only_what_is_too_large_is_dropped() {
        let mut scratch = Scratch {
            ids: Vec::with_capacity(100),
            text: String::with_capacity(401),
            heap: BinaryHeap::with_capacity(50),
        };
        assert_eq!(scratch.bytes(), 400 + 401 + 400);
        scratch.trim(Bounds { buffer: 400, memo: 0 });
        assert_eq!((scratch.bytes(), scratch.text.capacity()), (800, 0));
    }
}
