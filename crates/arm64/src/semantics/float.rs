//! Floating point, computed with integers, so that the results are the same on every host.
//!
//! [`unpack::fp_unpack`] turns a bit pattern into a [`number::Number`], which is more precise than any format.
//! Operations take and return numbers. One function, [`round::fp_round`], rounds and packs the result, and adds the
//! exceptions of rounding. The format is a parameter, so one adder and one multiplier serve all formats. FPCR is a
//! parameter, and every result contains the bits that it sets in FPSR.
//!
//! Shaders have twins of these functions (`shaders/wgsl/arm64/float/`), so no integer has more than 64 bits. Shaders
//! call [`arithmetic::fp_operation`]; [`named`] has functions with the names of the manual for it. Only [`host`],
//! [`order`] and [`quick`] have no twins: they compute the same results faster, mostly with the floating point of the
//! host.
//!
//! The behaviour is that of Armv8.0, which has half precision only in conversions. These functions also compute with
//! half precision.

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
pub mod order;
pub mod quick;
pub mod round;
pub mod square_root;
pub mod unpack;
