//! The code that all classes of stages share: each macro writes the Python classes that are alike.
//!
//! A module of stages calls [`stage_base`] once, and then for each class that has them [`plain_stages`] and
//! [`stage_fields`]. Constructors that check or convert something are written out beside them.

/// The base class of a kind of stage with pickling and `repr`, the class of its sequences, and which class a stage has.
macro_rules! stage_base {
    (
        $(#[$doc:meta])* $name:literal $base:ident of $kind:ident($noun:literal) in $module:literal;
        $(custom $custom:path;)?
        $(#[$sequence_doc:meta])* Sequence($argument:ident) nests: $nests:literal;
        $($pattern:pat => $class:ident,)+
    ) => {
        impl $crate::bindings::stage::Staged for $kind {
            const NAME: &'static str = $noun;
            const CLASS: &'static str = $name;
            const NESTS: bool = $nests;

            fn sequence(stages: Vec<Self>) -> Self {
                Self::Sequence(stages)
            }

            fn as_sequence(&self) -> Option<&[Self]> {
                if let Self::Sequence(stages) = self { Some(stages) } else { None }
            }
        }

        $(#[$doc])*
        #[pyclass(name = $name, module = $module, subclass, frozen, dict, weakref)]
        pub(in crate::bindings) struct $base {
            pub(in crate::bindings) stage: std::sync::Arc<$crate::bindings::stage::Stage<$kind>>,
        }

        impl $base {
            fn of(value: $kind) -> PyClassInitializer<Self> {
                PyClassInitializer::from(Self { stage: $crate::bindings::stage::Stage::new(value) })
            }
        }

        /// The Python object of the right class for a shared stage.
        pub(in crate::bindings) fn wrap(
            py: Python<'_>,
            stage: std::sync::Arc<$crate::bindings::stage::Stage<$kind>>,
        ) -> PyResult<Py<PyAny>> {
            let kind = stage.get();
            let base = PyClassInitializer::from($base { stage });
            Ok(match kind {
                $($pattern => Py::new(py, base.add_subclass($class))?.into_any(),)+
                $kind::Sequence(_) => Py::new(py, base.add_subclass(PySequence))?.into_any(),
                $($custom(_) => Py::new(py, base)?.into_any(),)?
            })
        }

        #[pymethods]
        impl $base {
            fn __getstate__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyBytes>> {
                $crate::bindings::components::get_state(py, &self.stage)
            }

            fn __setstate__(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
                $crate::bindings::components::set_state(py, &self.stage, state)
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                $crate::bindings::components::repr(py, &self.stage, $crate::bindings::shown::Extent::Long)
            }

            fn __str__(&self, py: Python<'_>) -> PyResult<String> {
                $crate::bindings::components::repr(py, &self.stage, $crate::bindings::shown::Extent::Short)
            }
        }

        $(#[$sequence_doc])*
        #[pyclass(name = "Sequence", module = $module, extends = $base, frozen)]
        pub(in crate::bindings) struct PySequence;

        #[pymethods]
        impl PySequence {
            #[new]
            fn new($argument: &Bound<'_, pyo3::types::PyList>) -> PyResult<PyClassInitializer<Self>> {
                let stages: Vec<Bound<'_, $base>> = $argument.extract()?;
                let stages = stages.iter().map(|stage| stage.get().stage.clone()).collect();
                let stage = $crate::bindings::stage::Stage::of_sequence(stages);
                Ok(PyClassInitializer::from($base { stage }).add_subclass(Self))
            }

            fn __getnewargs__(&self) -> (Vec<String>,) {
                (Vec::new(),)
            }
        }
    };
}

/// Classes of stages without options: the Python name, the Rust name and the stage of each.
macro_rules! plain_stages {
    ($base:ident of $module:literal: $($(#[$doc:meta])* $name:literal $class:ident => $stage:expr;)+) => {$(
        $(#[$doc])*
        #[pyclass(name = $name, module = $module, extends = $base, frozen)]
        pub(in crate::bindings) struct $class;

        #[pymethods]
        impl $class {
            #[new]
            fn new() -> PyClassInitializer<Self> {
                $base::of($stage).add_subclass(Self)
            }
        }
    )+};
}

/// Properties of a class of stages: the pattern of its stage, then for each its name, its setter, its type and its place.
macro_rules! stage_fields {
    ($class:ident: $pattern:pat => { $($name:ident $set:ident: $type:ty = $place:expr;)+ }) => {
        #[allow(unused_variables, reason = "a pattern with several fields serves the property of each")]
        #[pymethods]
        impl $class {$(
            #[getter]
            fn $name(this: PyRef<'_, Self>) -> PyResult<$crate::bindings::properties::Shown<$type>> {
                let value = $crate::bindings::components::get_field(&this.as_super().stage, |stage| match stage {
                    $pattern => Some(Clone::clone(&$place)),
                    _ => None,
                });
                value.map(<$type as $crate::bindings::properties::Property>::shown)
            }

            #[setter]
            fn $set(
                this: PyRef<'_, Self>,
                value: $crate::bindings::properties::Given<$type>,
            ) -> PyResult<()> {
                use $crate::bindings::properties::Property;
                let value = <$type as Property>::given(this.py(), stringify!($name), value)?;
                $crate::bindings::components::set_field(&this.as_super().stage, |stage| match stage {
                    $pattern => {
                        $place = value;
                        Some(())
                    }
                    _ => None,
                })
            }
        )+}
    };
}

/// The class for the variant `Metaspace` of a kind of stage.
macro_rules! metaspace_class {
    ($(#[$doc:meta])* $base:ident of $kind:ident in $module:literal) => {
        $(#[$doc])*
        #[pyclass(name = "Metaspace", module = $module, extends = $base, frozen)]
        pub(in crate::bindings) struct PyMetaspace;

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
                use $crate::bindings::properties;
                let options = Metaspace {
                    replacement: properties::character(py, "replacement", replacement)?,
                    prepend_scheme: properties::prepend_scheme(py, "prepend_scheme", prepend_scheme)?,
                    split,
                };
                Ok($base::of($kind::Metaspace(options)).add_subclass(Self))
            }
        }

        stage_fields! { PyMetaspace: $kind::Metaspace(options) => {
            replacement set_replacement: char = options.replacement;
            prepend_scheme set_prepend_scheme: PrependScheme = options.prepend_scheme;
            split set_split: bool = options.split;
        }}
    };
}

pub(super) use {metaspace_class, plain_stages, stage_base, stage_fields};
