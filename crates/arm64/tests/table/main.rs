//! The table of encodings against Arm's machine-readable specification, and against itself.

mod arm;
mod classes;
mod left_out;
mod operands;
mod order;
mod rows;
