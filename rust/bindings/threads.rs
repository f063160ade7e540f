//! How many threads work, and whether other Python threads run meanwhile.

use std::sync::OnceLock;

use pyo3::prelude::*;

/// Inputs of fewer bytes are encoded without letting other Python threads run: detaching costs more.
pub(super) const ATTACHED_BYTES: usize = 4 << 10;

/// Calls `work`, letting other Python threads run unless it is over in no time.
pub(super) fn detached<T: Send>(py: Python<'_>, bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    if bytes < ATTACHED_BYTES { work() } else { py.detach(work) }
}

/// Number of threads: as asked for, else by the environment, else one per core.
///
/// `TOKENIZERS_PARALLELISM` set to a false value means one, and `RAYON_NUM_THREADS` gives a number,
/// as users of Hugging Face expect; `LEXMILL_NUM_THREADS` goes before both.
pub(super) fn threads(asked: Option<usize>) -> usize {
    let variable = |name: &str| std::env::var(name).ok().map(|value| value.trim().to_lowercase());
    let number = |name: &str| {
        variable(name).and_then(|value| value.parse::<usize>().ok()).filter(|&number| number > 0)
    };
    if let Some(asked) = asked.filter(|&asked| asked > 0) {
        return asked.min(MOST_THREADS);
    }
    if let Some(threads) = number("LEXMILL_NUM_THREADS") {
        return threads.min(MOST_THREADS);
    }
    let off = ["", "off", "false", "f", "no", "n", "0"];
    if variable("TOKENIZERS_PARALLELISM").is_some_and(|value| off.contains(&value.as_str())) {
        return 1;
    }
    number("RAYON_NUM_THREADS").map_or_else(cores, |threads| threads.min(MOST_THREADS))
}

/// The most threads: a number that is asked for is an upper bound, and no machine has more cores than this.
const MOST_THREADS: usize = 1 << 12;

/// Cores that this process may use, asked once: the answer takes tens of microseconds, more than a short text.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
}
