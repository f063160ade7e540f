//! `Metaspace`, the pre-tokenizer and the decoder: two classes with the same options.

/// The class for the variant `Metaspace` of a kind of stage.
macro_rules! metaspace_class {
    ($(#[$doc:meta])* $base:ident of $kind:ident in $module:literal) => {
        $(#[$doc])*
        #[pyclass(name = "Metaspace", module = $module, extends = $base, frozen)]
        pub(in crate::bindings) struct PyMetaspace;

        fn options(this: &PyRef<'_, PyMetaspace>) -> Metaspace {
            match this.as_super().stage.get() {
                $kind::Metaspace(options) => options,
                _ => Metaspace::default(),
            }
        }

        fn set(this: &PyRef<'_, PyMetaspace>, options: Metaspace) {
            this.as_super().stage.set($kind::Metaspace(options));
        }

        #[pymethods]
        impl PyMetaspace {
            #[new]
            #[pyo3(signature = (replacement="\u{2581}", prepend_scheme="always", split=true),
                text_signature = "(replacement='\\u2581', prepend_scheme='always', split=True)")]
            fn new(
                py: Python<'_>,
                replacement: &str,
                prepend_scheme: &str,
                split: bool,
            ) -> PyResult<PyClassInitializer<Self>> {
                let options = Metaspace {
                    replacement: character(py, "replacement", replacement)?,
                    prepend_scheme: self::prepend_scheme(py, prepend_scheme)?,
                    split,
                };
                Ok(PyClassInitializer::<$base>::from($base::of($kind::Metaspace(options))).add_subclass(Self))
            }

            #[getter]
            fn replacement(this: PyRef<'_, Self>) -> char {
                options(&this).replacement
            }

            #[setter]
            fn set_replacement(this: PyRef<'_, Self>, value: &str) -> PyResult<()> {
                let replacement = character(this.py(), "replacement", value)?;
                set(&this, Metaspace { replacement, ..options(&this) });
                Ok(())
            }

            #[getter]
            fn prepend_scheme(this: PyRef<'_, Self>) -> &'static str {
                options(&this).prepend_scheme.name()
            }

            #[setter]
            fn set_prepend_scheme(this: PyRef<'_, Self>, value: &str) -> PyResult<()> {
                let prepend_scheme = prepend_scheme(this.py(), value)?;
                set(&this, Metaspace { prepend_scheme, ..options(&this) });
                Ok(())
            }

            #[getter]
            fn split(this: PyRef<'_, Self>) -> bool {
                options(&this).split
            }

            #[setter]
            fn set_split(this: PyRef<'_, Self>, value: bool) {
                set(&this, Metaspace { split: value, ..options(&this) });
            }
        }
    };
}

pub(super) use metaspace_class;
