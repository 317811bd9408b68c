//! The address space of a lane against an obvious one, and what it promises about cost and snapshots.

mod cost;
mod images;
mod model;
mod operations;
mod snapshots;
