//! numpy's C interface, loaded before work starts.
//!
//! The `numpy` crate loads the interface with its first array, and panics if Python raises meanwhile: the handler of a signal that
//! came in during the work runs then, or numpy is not there.

use numpy::PyArray1;
use pyo3::exceptions::PyModuleNotFoundError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

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
        py.check_signals()?;
        drop(PyArray1::<u8>::zeros(py, 0, false));
        Ok(())
    };
    LOADED.get_or_try_init(py, load).map(|&()| ())
}
