//! Tests of the conversion formats: valid files are read, invalid and malicious ones are refused.

mod networks;
mod numpy;
mod support;
mod torch;
