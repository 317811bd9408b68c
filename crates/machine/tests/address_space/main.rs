//! Tests of the address space: a comparison with a simple model, its memory cost, and snapshots.

mod cost;
mod images;
mod model;
mod operations;
mod snapshots;
