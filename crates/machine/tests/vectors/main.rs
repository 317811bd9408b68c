//! Test vectors: the corpora, and the format itself.

mod bulk;
mod corpora;
mod failures;
mod files;
mod format;
mod malformed;
mod mutations;
mod round_trip;
mod support;
