//! Options of models as Python reads and sets them: one macro for all models.

/// Properties of a model's class, one for each option: its name, the name of its setter if the option can be set, and its type. The
/// macro also writes the functions by which the class reads and changes its options; it takes the core's expressions for both.
macro_rules! model_options {
    (
        $class:ident of $kind:ident($model:ident), $options:ty: $get:expr => |$changed:ident| $make:expr;
        $($name:ident $($set:ident)?: $type:ty;)+
    ) => {
        /// The options as they are now.
        fn options(this: &PyRef<'_, $class>) -> PyResult<$options> {
            get_field(&this.as_super().stage, |model| match &**model {
                Model::$kind($model) => Some($get),
                _ => None,
            })
        }

        /// Puts the same model with other options in place.
        fn set_options(this: &PyRef<'_, $class>, change: impl FnOnce(&mut $options)) -> PyResult<()> {
            replace(this.py(), &this.as_super().stage, |model| {
                let Model::$kind($model) = &*model else { return None };
                let mut $changed = $get;
                change(&mut $changed);
                let model: crate::Result<_> = $make;
                Some(model.map(|model| Arc::new(Model::$kind(model))))
            })
        }

        #[pymethods]
        impl $class {$(
            #[getter]
            fn $name(this: PyRef<'_, Self>) -> PyResult<Shown<$type>> {
                Ok(<$type as Property>::shown(options(&this)?.$name))
            }

            $(
                #[setter]
                fn $set(this: PyRef<'_, Self>, value: Given<$type>) -> PyResult<()> {
                    let value = <$type as Property>::given(this.py(), stringify!($name), value)?;
                    set_options(&this, |options| options.$name = value)
                }
            )?
        )+}
    };
}

pub(super) use model_options;
