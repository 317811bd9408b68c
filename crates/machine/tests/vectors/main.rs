//! Tests of vectors: the corpora, and the format.

mod bulk;
mod corpora;
mod failures;
mod files;
mod format;
mod malformed;
mod mutations;
mod round_trip;
mod support;
