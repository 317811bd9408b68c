//! Tests of the interface between machines and engines: images, requests, runs and failures.

mod console;
mod failures;
mod images;
mod prefetch;
mod runs;
mod split;
mod support;
