//! The fast span scanners: one file per known splitter.
