//! A value that takes long to make and is made only where that pays.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Made once the work done without it has cost as much as making it: short jobs never pay, long ones at most twice.
#[derive(Debug)]
pub struct AmortizedLazy<T> {
    value: OnceLock<Option<T>>,
    spent: AtomicUsize,
}

impl<T> Default for AmortizedLazy<T> {
    fn default() -> Self {
        Self { value: OnceLock::new(), spent: AtomicUsize::new(0) }
    }
}

impl<T> AmortizedLazy<T> {
    /// The value if it is there, or if the work ahead, which costs `cost` without it, brings the sum to `price`.
    ///
    /// `make` may answer that there is no such value; it is not asked twice. While one thread makes it, others go on
    /// without.
    #[inline]
    pub fn get(&self, cost: usize, price: usize, make: impl FnOnce() -> Option<T>) -> Option<&T> {
        match self.value.get() {
            Some(ready) => ready.as_ref(),
            None => self.spend(cost, price, make),
        }
    }

    #[cold]
    fn spend(&self, cost: usize, price: usize, make: impl FnOnce() -> Option<T>) -> Option<&T> {
        let before = self.spent.fetch_add(cost, Ordering::Relaxed);
        if before < price && before.saturating_add(cost) >= price {
            return self.value.get_or_init(make).as_ref();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_made_once_when_its_price_is_spent() {
        let (value, mut made) = (AmortizedLazy::default(), 0);
        let mut get = |cost| {
            let make = || {
                made += 1;
                Some(7)
            };
            value.get(cost, 10, make).copied()
        };
        assert_eq!([get(4), get(5), get(1), get(0), get(100)], [None, None, Some(7), Some(7), Some(7)]);
        assert_eq!(made, 1);
    }
}
