//! The instruction table: compared with Arm's machine-readable specification, and checked for consistency.

mod arm;
mod classes;
mod omissions;
mod operands;
mod order;
mod rows;
