//! Options of trainers as Python reads and sets them: one macro for all trainers.

/// Properties of a trainer's class, by the names of its fields, with a name for the setter of each; and how the class
/// reads its options.
macro_rules! trainer_options {
    ($class:ident of $kind:ident($trainer:ident): $($name:ident $set:ident: $type:ty;)+) => {
        /// The options as they are now.
        fn options(this: &PyRef<'_, $class>) -> $trainer {
            match this.as_super().get().trainer {
                Trainer::$kind(trainer) => trainer,
                // The kind of trainer never changes after an object of this class.
                _ => $trainer::default(),
            }
        }

        /// The options of a trainer that is made with these keywords.
        fn options_of(py: Python<'_>, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<$trainer> {
            let trainer = py.get_type::<$class>().call((), keywords)?;
            Ok(options(&trainer.cast::<$class>()?.borrow()))
        }

        #[pymethods]
        impl $class {$(
            #[getter]
            fn $name(this: PyRef<'_, Self>) -> Shown<$type> {
                <$type as Property>::shown(options(&this).$name)
            }

            #[setter]
            fn $set(this: PyRef<'_, Self>, value: Given<$type>) -> PyResult<()> {
                let value = <$type as Property>::given(this.py(), stringify!($name), value)?;
                this.as_super().update(|training| {
                    if let Trainer::$kind(trainer) = &mut training.trainer {
                        trainer.$name = value;
                    }
                });
                Ok(())
            }
        )+}
    };
}

pub(super) use trainer_options;
