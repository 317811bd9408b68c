//! The interface of engines: what they are made from, what is asked of them, and what becomes of their failures.

mod console;
mod failures;
mod images;
mod prefetch;
mod runs;
mod support;
