//! The floating point of the host, where it gives the same results as the integers.
//!
//! Every host rounds to the nearest number, as IEEE 754 prescribes, but Rust has no access to its exceptions. So these
//! functions decide by operands and results whether any exception but Inexact is possible; if so, they return `None`.
//! They also decide whether a result is exact, unless FPSR.IXC is set already, as it soon is in most programs.

pub mod arithmetic;
pub mod convert;
pub mod number;
