//! Compares what the analysis says about random loops with the reference, which steps through them.

mod certain;
mod code;
mod nests;
mod passes;
mod plans;
