//! Tests of labels, recorded accesses, training and trained networks.

mod held_out_loops;
mod loop_labels;
mod page_log;
mod training;
