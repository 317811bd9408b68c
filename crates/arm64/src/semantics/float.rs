//! Floating point in integers, the same on every machine.
//!
//! A bit pattern is unpacked to a [`number::Number`], which has room for more than any format; operations make
//! numbers of numbers; and one function, [`round::fp_round`], rounds, packs and says which exceptions there were.
//! The format is a parameter, so there is one adder and one multiplier for all of them. FPCR comes in as a
//! parameter, and what becomes set in FPSR is part of every result.
//!
//! Shaders have the same functions (`shaders/wgsl/arm64/float/`), therefore words of 64 bits are the widest
//! integers here. A shader calls [`arithmetic::fp_operation`]; [`named`] gives what it does the names of the
//! manual. Shaders lack [`host`] alone, which gives nothing but what these functions give, sooner.
//!
//! What it all conforms to is Armv8.0: half precision is for conversion alone, but nothing here depends on that.

pub mod add;
pub mod arithmetic;
pub mod compare;
pub mod control;
pub mod divide;
pub mod estimate;
pub mod format;
pub mod host;
pub mod integer;
pub mod multiply;
pub mod named;
pub mod nan;
pub mod number;
pub mod round;
pub mod square_root;
pub mod unpack;
