//! A value that is expensive to make and is made only once that pays.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A lazy value that is made once the work done without it has cost as much as making it would.
///
/// This is the ski-rental rule: short jobs never pay for the value, and long jobs cost at most twice the optimum.
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
    /// The value, if it has been made, or if the coming work brings the sum of costs to `price`; then `make` makes it.
    ///
    /// `cost` is the cost of the coming work without the value. `make` may return `None`; then there is no value and
    /// `make` is not called again. While one thread makes the value, the others work without it.
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
