//! numpy's C interface, loaded before work starts.
//!
//! The `numpy` crate loads the interface with its first array, and panics if Python raises meanwhile: numpy is not there, or the
//! handler of a signal raises.

use numpy::PyArray1;
use pyo3::exceptions::PyModuleNotFoundError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::structures::parallel::both;

/// Loads the interface, once a process.
pub(super) fn load_numpy(py: Python<'_>) -> PyResult<()> {
    static LOADED: PyOnceLock<()> = PyOnceLock::new();
    let load = || {
        py.import("numpy.lib")?;
        // Versions before 2 have another name for the module.
        match py.import("numpy._core.multiarray") {
            Err(error) if error.is_instance_of::<PyModuleNotFoundError>(py) => {
                py.import("numpy.core.multiarray")?;
            }
            imported => drop(imported?),
        }
        // Python runs handlers of signals in its main thread alone.
        let load = || Python::attach(|py| drop(PyArray1::<u8>::zeros(py, 0, false)));
        py.detach(|| both(2, || (), load));
        py.check_signals()
    };
    LOADED.get_or_try_init(py, load).map(|&()| ())
}
