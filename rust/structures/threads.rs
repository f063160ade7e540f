//! A few pieces of work that need a thread each.

use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// Calls `work` on every part, each on a thread of its own but for the last one, which stays on the calling thread; results
/// in order of the parts.
///
/// What the system refuses a thread for is done by the calling one.
pub fn share<P: Send, R: Send>(parts: Vec<P>, work: impl Fn(P) -> R + Sync) -> Vec<R> {
    let places: Vec<Mutex<Option<P>>> = parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
    let work_at = &|place: &Mutex<Option<P>>| {
        let part = place.lock().unwrap_or_else(PoisonError::into_inner).take();
        part.map(&work)
    };
    let Some((last, others)) = places.split_last() else { return Vec::new() };
    std::thread::scope(|scope| {
        let start = |place| Builder::new().spawn_scoped(scope, move || work_at(place)).ok();
        let threads: Vec<_> = others.iter().map(start).collect();
        let of_last = work_at(last);
        let results = others.iter().zip(threads).map(|(place, thread)| match thread {
            Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => work_at(place),
        });
        results.chain(std::iter::once(of_last)).flatten().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_matches_naive() {
        for count in [0, 1, 2, 9] {
            let naive: Vec<usize> = (0..count).map(|part| part * part).collect();
            assert_eq!(share((0..count).collect(), |part| part * part), naive);
        }
    }
}
