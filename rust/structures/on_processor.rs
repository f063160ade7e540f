//! Calls functions that are compiled for instructions which some processors lack.

/// Calls a function with `#[target_feature]` from code without it, where this is sound.
///
/// Only a method of a back end may do so: a value of the back end's type is the proof that `detect` found the features on this
/// processor, or that every processor of the target has them.
macro_rules! on_processor {
    ($function:ident($($argument:ident),*)) => {{
        #[expect(unsafe_code, reason = "the compiler does not know this processor")]
        // SAFETY: `self`, a back end, exists only where the processor has the features that the function asks for.
        let result = unsafe { $function($($argument),*) };
        result
    }};
}

pub(crate) use on_processor;
