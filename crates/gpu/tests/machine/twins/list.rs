//! The list of twins, a line each.

use kvrm_arm64::semantics::atomic;
use kvrm_arm64::semantics::bitmask::{self, BitMasks};
use kvrm_arm64::semantics::flags::{self, AddResult};
use kvrm_arm64::semantics::{bits, crc, divide, multiply, operand};
use kvrm_arm64::{Class, Word, class_of, semantics};

/// The most arguments a function has, and the most words that what it returns consists of.
pub(crate) const ARGUMENTS: usize = 4;
pub(crate) const RESULTS: usize = 3;

/// A function of the shaders and its twin.
pub(crate) struct Twin {
    /// The module of the shaders it is in.
    pub(crate) module: &'static str,
    /// Its name there.
    pub(crate) name: &'static str,
    /// Which arguments have 64 bits.
    pub(crate) wide: &'static [bool],
    /// How WGSL makes arguments of words.
    pub(crate) arguments: &'static [&'static str],
    /// How WGSL makes words of the result `r`.
    pub(crate) results: &'static [&'static str],
    /// Makes of any words those that the function takes; then calls the twin.
    pub(crate) reference: fn(&mut [u64; ARGUMENTS]) -> [u64; RESULTS],
}

/// The index of a function in [`TWINS`].
pub(crate) fn position(name: &str) -> usize {
    TWINS.iter().position(|twin| twin.name == name).expect("the list has it")
}

/// What an argument is in both languages.
trait Argument {
    const IS_WIDE: bool;
    /// What comes before and after a word in WGSL is in `{}`.
    const WGSL: &'static str;
    fn of(word: u64) -> Self;
    fn word(self) -> u64;
}

/// What a result is in both languages.
trait Outcome {
    const WGSL: &'static [&'static str];
    fn words(self) -> [u64; RESULTS];
}

macro_rules! numbers { ($($type:ident $is_wide:literal $wgsl:literal;)*) => { $(
    impl Argument for $type {
        const IS_WIDE: bool = $is_wide;
        const WGSL: &'static str = $wgsl;
        fn of(word: u64) -> Self {
            word as Self
        }
        fn word(self) -> u64 {
            self as u64
        }
    }
)* } }
numbers! {
    u64 true "{}";
    u32 false "u32({})";
    usize false "u32({})";
}

impl Argument for bool {
    const IS_WIDE: Self = false;
    const WGSL: &'static str = "({} != 0lu)";
    fn of(word: u64) -> Self {
        word & 1 != 0
    }
    fn word(self) -> u64 {
        self.into()
    }
}

impl Outcome for u64 {
    const WGSL: &'static [&'static str] = &["r"];
    fn words(self) -> [Self; RESULTS] {
        [self, 0, 0]
    }
}

impl Outcome for u32 {
    const WGSL: &'static [&'static str] = &["u64(r)"];
    fn words(self) -> [u64; RESULTS] {
        [self.into(), 0, 0]
    }
}

impl Outcome for bool {
    const WGSL: &'static [&'static str] = &["select(0lu, 1lu, r)"];
    fn words(self) -> [u64; RESULTS] {
        [self.into(), 0, 0]
    }
}

impl Outcome for Class {
    const WGSL: &'static [&'static str] = &["u64(r)"];
    fn words(self) -> [u64; RESULTS] {
        [self as u64, 0, 0]
    }
}

impl Outcome for AddResult {
    const WGSL: &'static [&'static str] = &["r.value", "u64(r.nzcv)"];
    fn words(self) -> [u64; RESULTS] {
        [self.value, self.nzcv.into(), 0]
    }
}

impl Outcome for Option<BitMasks> {
    const WGSL: &'static [&'static str] = &["select(0lu, 1lu, r.defined)", "r.wmask", "r.tmask"];
    fn words(self) -> [u64; RESULTS] {
        self.map_or([0; RESULTS], |masks| [1, masks.wmask, masks.tmask])
    }
}

/// A line names a function of the shaders, its arguments as its twin in Rust has them, and a call of the twin.
/// Between them may stand what maps any arguments to those the function takes.
macro_rules! twins { ($(
    $package:ident::$name:ident($($argument:ident: $type:ident),*) $({ $($narrow:expr);* })? = $twin:expr;
)*) => {
    /// Every leaf function of the shaders.
    pub(crate) static TWINS: &[Twin] = &[$(Twin {
        module: module!($package),
        name: stringify!($name),
        wide: &[$(<$type as Argument>::IS_WIDE),*],
        arguments: &[$(<$type as Argument>::WGSL),*],
        results: {
            const fn wgsl<T: Outcome>(_: fn($($type),*) -> T) -> &'static [&'static str] {
                T::WGSL
            }
            wgsl(|$($argument: $type),*| $twin)
        },
        reference: |words| {
            let mut rest = words.iter().copied();
            $(#[allow(unused_mut, reason = "most lines take arguments as they are")]
            let mut $argument = <$type as Argument>::of(rest.next().unwrap_or_default());)*
            $($($narrow;)*)?
            let arguments = [$(Argument::word($argument)),*];
            words[..arguments.len()].copy_from_slice(&arguments);
            Outcome::words($twin)
        },
    }),*];
} }

/// The path of a module by its last part.
macro_rules! module {
    (wide) => {
        "wide"
    };
    ($name:ident) => {
        concat!("arm64::", stringify!($name))
    };
}

/// Register sizes.
const fn size(any: u32) -> u32 {
    if any & 1 == 0 { 32 } else { 64 }
}

/// Access sizes.
const fn access(any: usize) -> usize {
    1 << (any & 3)
}

use semantics::truncate;

#[rustfmt::skip] // Keeps a twin on a line.
twins! {
    wide::leading_zeros(value: u64) = value.leading_zeros();
    wide::swap_bytes(value: u64) = value.swap_bytes();
    wide::quotient(dividend: u64, divisor: u64) = dividend.checked_div(divisor).unwrap_or(0);

    word::bits(word: u32, low: u32, width: u32) { low %= 32; width = 1 + width % 31 } = Word(word).bits(low, width);

    numbers::truncate(value: u64, datasize: u32) { datasize = size(datasize) } = truncate(value, datasize);
    numbers::sign_extend(value: u64, bits: u32) { bits = 1 + bits % 64 } = semantics::sign_extend(value, bits);

    flags::add_with_carry(x: u64, y: u64, carry_in: u32, datasize: u32) { datasize = size(datasize); x = truncate(x, datasize); y = truncate(y, datasize); carry_in &= 1 } = flags::add_with_carry(x, y, carry_in, datasize);
    flags::nz(value: u64, datasize: u32) { datasize = size(datasize); value = truncate(value, datasize) } = flags::nz(value, datasize);
    flags::condition_holds(cond: u32, nzcv: u32) { cond %= 16; nzcv %= 16 } = flags::condition_holds(cond, nzcv);

    operand::shift_reg(value: u64, shift_type: u32, amount: u32, datasize: u32) { datasize = size(datasize); value = truncate(value, datasize); shift_type %= 4; amount %= datasize } = operand::shift_reg(value, shift_type, amount, datasize);
    operand::rotate_right(value: u64, amount: u32, datasize: u32) { datasize = size(datasize); amount %= datasize } = operand::rotate_right(value, amount, datasize);
    operand::extend_reg(value: u64, option: u32, shift: u32, datasize: u32) { option %= 8; shift %= 5; datasize = size(datasize) } = operand::extend_reg(value, option, shift, datasize);

    bitmask::decode_bit_masks(n: u32, imms: u32, immr: u32, immediate: bool) { n %= 2; imms %= 64; immr %= 64 } = bitmask::decode_bit_masks(n, imms, immr, immediate);
    bitmask::ones(count: u32) { count = 1 + count % 64 } = bitmask::ones(count);
    bitmask::replicate(element: u64, esize: u32) { esize = 2 << (esize % 6); element &= bitmask::ones(esize) } = bitmask::replicate(element, esize);

    bits::reverse_bits(value: u64) = bits::reverse_bits(value);
    bits::reverse_bytes(value: u64, container: u32) { container = 16 << (container % 3) } = bits::reverse_bytes(value, container);
    bits::count_leading_zero_bits(value: u64, datasize: u32) { datasize = size(datasize); value = truncate(value, datasize) } = bits::count_leading_zero_bits(value, datasize);
    bits::count_leading_sign_bits(value: u64, datasize: u32) { datasize = size(datasize); value = truncate(value, datasize) } = bits::count_leading_sign_bits(value, datasize);

    crc::checksum(accumulator: u32, value: u64, bits: u32, polynomial: u32) { bits = 8 << (bits % 4) } = crc::checksum(accumulator, value, bits, polynomial);

    atomic::low(value: u64, bytes: usize) { bytes = access(bytes) } = value & (u64::MAX >> (64 - 8 * bytes));
    atomic::mem_atomic_op(op: u32, old: u64, operand: u64, bytes: usize) { op %= 9; bytes = access(bytes) } = atomic::mem_atomic_op(op, old, operand, bytes);

    multiply::multiply_high_unsigned(x: u64, y: u64) = multiply::multiply_high_unsigned(x, y);
    multiply::multiply_high_signed(x: u64, y: u64) = multiply::multiply_high_signed(x, y);
    multiply::multiply_high(x: u64, y: u64, signed: bool) = multiply::multiply_high(x, y, signed);

    divide::divide(dividend: u64, divisor: u64, signed: bool) = divide::divide(dividend, divisor, signed);
    divide::divide_unsigned(dividend: u64, divisor: u64) = divide::divide_unsigned(dividend, divisor);
    divide::divide_signed(dividend: u64, divisor: u64) = divide::divide_signed(dividend, divisor);

    class::class_of(word: u32) = class_of(word);
}
