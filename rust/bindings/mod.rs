//! The Python module.
use pyo3::prelude::*;

/// The compiled core.
#[pymodule(gil_used = false)]
mod _core {
    use super::*;
    /// Smoke.
    #[pyfunction]
    fn ping() -> u32 {
        1
    }
}
