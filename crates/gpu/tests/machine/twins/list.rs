//! The list of twins, one in each line.

use std::sync::LazyLock;

use kvrm_arm64::semantics::atomic;
use kvrm_arm64::semantics::bitmask::{self, BitMasks};
use kvrm_arm64::semantics::flags;
use kvrm_arm64::semantics::float::format::{DOUBLE, Format, HALF, SINGLE, fp_format};
use kvrm_arm64::semantics::float::number::{KIND_FINITE, Number};
use kvrm_arm64::semantics::float::round::{FpResult, fp_round};
use kvrm_arm64::semantics::float::unpack::fp_unpack;
use kvrm_arm64::semantics::float::{
    add, arithmetic, compare, control, divide as float_divide, estimate, format, integer,
    multiply as float_multiply, nan, number, round, square_root, unpack,
};
use kvrm_arm64::semantics::{bitfield, bits, crc, divide, load_store, multiply, operand, pauth, qarma};
use kvrm_arm64::{Class, Word, class_of, semantics};
use kvrm_testkit::numbers;
use kvrm_testkit::random::Random;

/// The maximum number of arguments of a function.
pub(crate) const ARGUMENTS: usize = 8;
/// The maximum number of words in a result.
pub(crate) const RESULTS: usize = 3;

/// A function of the shaders and its twin.
pub(crate) struct Twin {
    /// The path of the WGSL module.
    pub(crate) module: &'static str,
    /// The name of the function in WGSL.
    pub(crate) name: &'static str,
    /// Whether each argument has 64 bits.
    pub(crate) wide: &'static [bool],
    /// The WGSL expressions that convert words, written as `{}`, to arguments.
    pub(crate) arguments: &'static [&'static str],
    /// The WGSL expressions that convert the result `r` to words.
    pub(crate) results: &'static [&'static str],
    /// A function that maps any words to arguments that the function takes, and calls the twin with them.
    pub(crate) reference: fn(&mut [u64; ARGUMENTS]) -> [u64; RESULTS],
}

/// Returns the index of a function in [`TWINS`].
pub(crate) fn position(name: &str) -> usize {
    TWINS.iter().position(|twin| twin.name == name).expect("the function is in the list")
}

/// A type of arguments, in both languages.
trait Argument {
    const IS_WIDE: bool;
    /// The WGSL expression that converts a word, written as `{}`, to the argument.
    const WGSL: &'static str;
    fn from_word(word: u64) -> Self;
    fn word(self) -> u64;
}

/// A type of results, in both languages.
trait TwinResult {
    /// The WGSL expressions that convert the result `r` to words.
    const WGSL: &'static [&'static str];
    fn words(self) -> [u64; RESULTS];
}

macro_rules! numbers { ($($type:ident $is_wide:literal $wgsl:literal;)*) => { $(
    impl Argument for $type {
        const IS_WIDE: bool = $is_wide;
        const WGSL: &'static str = $wgsl;
        fn from_word(word: u64) -> Self {
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
    i32 false "i32(u32({}))";
}

impl Argument for bool {
    const IS_WIDE: Self = false;
    const WGSL: &'static str = "({} != 0lu)";
    fn from_word(word: u64) -> Self {
        word & 1 != 0
    }
    fn word(self) -> u64 {
        self.into()
    }
}

impl Argument for Format {
    const IS_WIDE: bool = false;
    const WGSL: &'static str = "format_of({})";
    fn from_word(word: u64) -> Self {
        fp_format(16 << ((word & 3) % 3), word & 4 != 0)
    }
    fn word(self) -> u64 {
        let length = if self == SINGLE { 1 } else { u64::from(self == DOUBLE) * 2 };
        length | u64::from(self.alternative) << 2
    }
}

/// A number is made from a double, of which the word is the seed. Negative numbers have more significant bits than a
/// double.
impl Argument for Number {
    const IS_WIDE: bool = true;
    const WGSL: &'static str = "number_of({})";
    fn from_word(word: u64) -> Self {
        let number = fp_unpack(float(word, DOUBLE), DOUBLE, 0);
        let is_long = number.kind == KIND_FINITE && number.sign == 1;
        let rest = if is_long { number.significand.wrapping_mul(0x9e37_79b9_7f4a_7c15) } else { 0 };
        Self { rest, ..number }
    }
    fn word(self) -> u64 {
        fp_round(Self { rest: 0, ..self }, DOUBLE, control::ROUND_ZERO, 0).value
    }
}

impl TwinResult for i32 {
    const WGSL: &'static [&'static str] = &["u64(u32(r))"];
    fn words(self) -> [u64; RESULTS] {
        [u64::from(self as u32), 0, 0]
    }
}

impl TwinResult for Format {
    const WGSL: &'static [&'static str] =
        &["u64(r.fraction_bits)", "u64(r.exponent_bits)", "select(0lu, 1lu, r.alternative)"];
    fn words(self) -> [u64; RESULTS] {
        [self.fraction_bits.into(), self.exponent_bits.into(), self.alternative.into()]
    }
}

impl TwinResult for Number {
    const WGSL: &'static [&'static str] = &[
        "r.significand",
        "r.rest",
        "u64(r.kind) | (u64(r.sign) << 8u) | (u64(r.fpsr) << 16u) | (u64(u32(r.exponent)) << 32u)",
    ];
    fn words(self) -> [u64; RESULTS] {
        let small = u64::from(self.kind) | u64::from(self.sign) << 8 | u64::from(self.fpsr) << 16;
        [self.significand, self.rest, small | u64::from(self.exponent as u32) << 32]
    }
}

impl TwinResult for FpResult {
    const WGSL: &'static [&'static str] = &["r.value", "u64(r.fpsr)"];
    fn words(self) -> [u64; RESULTS] {
        [self.value, self.fpsr.into(), 0]
    }
}

impl TwinResult for u64 {
    const WGSL: &'static [&'static str] = &["r"];
    fn words(self) -> [Self; RESULTS] {
        [self, 0, 0]
    }
}

impl TwinResult for u32 {
    const WGSL: &'static [&'static str] = &["u64(r)"];
    fn words(self) -> [u64; RESULTS] {
        [self.into(), 0, 0]
    }
}

impl TwinResult for bool {
    const WGSL: &'static [&'static str] = &["select(0lu, 1lu, r)"];
    fn words(self) -> [u64; RESULTS] {
        [self.into(), 0, 0]
    }
}

impl TwinResult for Class {
    const WGSL: &'static [&'static str] = &["u64(r)"];
    fn words(self) -> [u64; RESULTS] {
        [self as u64, 0, 0]
    }
}

impl TwinResult for Option<BitMasks> {
    const WGSL: &'static [&'static str] = &["select(0lu, 1lu, r.defined)", "r.wmask", "r.tmask"];
    fn words(self) -> [u64; RESULTS] {
        self.map_or([0; RESULTS], |masks| [1, masks.wmask, masks.tmask])
    }
}

/// Each line names a function of the shaders with its arguments, and the expression that calls its twin in Rust.
/// Statements in braces between them map any arguments to those that the function takes.
macro_rules! twins { ($(
    $package:ident$(/$part:ident)?::$name:ident($($argument:ident: $type:ident),*) $({ $($narrow:expr);* })? = $twin:expr;
)*) => {
    /// All leaf functions of the shaders.
    pub(crate) static TWINS: &[Twin] = &[$(Twin {
        module: module!($package $(/$part)?),
        name: stringify!($name),
        wide: &[$(<$type as Argument>::IS_WIDE),*],
        arguments: &[$(<$type as Argument>::WGSL),*],
        results: {
            const fn wgsl<T: TwinResult>(_: fn($($type),*) -> T) -> &'static [&'static str] {
                T::WGSL
            }
            wgsl(|$($argument: $type),*| $twin)
        },
        reference: |words| {
            let mut rest = words.iter().copied();
            $(#[allow(unused_mut, unused_assignments, reason = "most lines take arguments as they are, some replace one")]
            let mut $argument = <$type as Argument>::from_word(rest.next().unwrap_or_default());)*
            $($($narrow;)*)?
            let arguments = [$(Argument::word($argument)),*];
            words[..arguments.len()].copy_from_slice(&arguments);
            TwinResult::words($twin)
        },
    }),*];
} }

/// Expands to the path of a WGSL module.
macro_rules! module {
    (wide) => {
        "wide"
    };
    ($name:ident) => {
        concat!("arm64::", stringify!($name))
    };
    ($name:ident/$part:ident) => {
        concat!("arm64::", stringify!($name), "::", stringify!($part))
    };
}

/// Maps a number to a register size.
const fn size(any: u32) -> u32 {
    if any & 1 == 0 { 32 } else { 64 }
}

/// Maps a number to an access size in bytes.
const fn access(any: usize) -> usize {
    1 << (any & 3)
}

/// Maps a word to a bit pattern of a format. Neighbouring words mostly give neighbouring numbers with any signs, so
/// that operations on similar random words often cancel.
fn float(any: u64, format: Format) -> u64 {
    static EDGES: LazyLock<[Vec<u64>; 3]> = LazyLock::new(|| [HALF, SINGLE, DOUBLE].map(numbers::floats));
    let edges = &EDGES[(Argument::word(format) & 3) as usize];
    let number = numbers::float(format, edges, &mut Random::new(any >> 3)).wrapping_add(any & 3);
    let sign = 1 << (format.fraction_bits + format.exponent_bits);
    (number ^ if any & 4 == 0 { 0 } else { sign }) & (sign | (sign - 1))
}

/// Maps a NaN to an infinity, and other numbers to themselves.
fn not_nan(number: Number) -> Number {
    if number::is_nan(number) { number::fp_infinity(number.sign, 0) } else { number }
}

/// Maps a number to a value of FPCR, by the five bits from bit 22 on that the functions use.
const fn fpcr(any: u32) -> u32 {
    (any & 31) << 22
}

/// Maps a number to a floating-point operation, or to the number after the last one, which is treated as the first.
const fn operation(any: u32) -> u32 {
    any % (arithmetic::FP_CONVERT + 2)
}

use semantics::truncate;

#[rustfmt::skip] // Keeps each twin in one line.
twins! {
    wide::leading_zeros(value: u64) = value.leading_zeros();
    wide::trailing_zeros(value: u64) = value.trailing_zeros();
    wide::swap_bytes(value: u64) = value.swap_bytes();
    wide::quotient(dividend: u64, divisor: u64) = dividend.checked_div(divisor).unwrap_or(0);

    word::bits(word: u32, low: u32, width: u32) { low %= 32; width = 1 + width % 31 } = Word(word).bits(low, width);

    numbers::truncate(value: u64, datasize: u32) { datasize = size(datasize) } = truncate(value, datasize);
    numbers::sign_extend(value: u64, bits: u32) { bits = 1 + bits % 64 } = semantics::sign_extend(value, bits);

    flags::cv(x: u64, y: u64, sum: u64, wide: bool) { x = truncate(x, size(wide.into())); y = truncate(y, size(wide.into())); sum = x.wrapping_add(y).wrapping_add(sum & 1) } = flags::cv(x, y, sum.wrapping_sub(x.wrapping_add(y)) as u32, sum, wide);
    flags::nz(value: u64, wide: bool) { value = truncate(value, size(wide.into())) } = flags::nz(value, wide);
    flags::manipulated(operation: u32, value: u64, rotation: u32, mask: u32, nzcv: u32) { operation %= 6; rotation %= 64; mask %= 16; nzcv %= 16 } = flags::manipulated(operation, value, rotation, mask, nzcv);
    flags::condition_holds(cond: u32, nzcv: u32) { cond %= 16; nzcv %= 16 } = flags::condition_holds(cond, nzcv);

    operand::shift_reg(value: u64, shift_type: u32, amount: u32, datasize: u32) { datasize = size(datasize); value = truncate(value, datasize); shift_type %= 4; amount %= datasize } = operand::shift_reg(value, shift_type, amount, datasize);
    operand::rotate_right(value: u64, amount: u32, datasize: u32) { datasize = size(datasize); amount %= datasize } = operand::rotate_right(value, amount, datasize);

    bitmask::decode_bit_masks(n: u32, imms: u32, immr: u32, immediate: bool) { n %= 2; imms %= 64; immr %= 64 } = bitmask::decode_bit_masks(n, imms, immr, immediate);
    bitmask::ones(count: u32) { count = 1 + count % 64 } = bitmask::ones(count);
    bitmask::replicate(element: u64, esize: u32) { esize = 2 << (esize % 6); element &= bitmask::ones(esize) } = bitmask::replicate(element, esize);

    bitfield::window(high: u64, low: u64, lsb: u32, datasize: u32) { datasize = size(datasize); high = truncate(high, datasize); low = truncate(low, datasize); lsb %= datasize } = bitfield::window(high, low, lsb, datasize);

    bits::reverse_bits(value: u64) = bits::reverse_bits(value);
    bits::reverse_bytes(value: u64, container: u32) { container = 16 << (container % 3) } = bits::reverse_bytes(value, container);
    bits::count_leading_zero_bits(value: u64, datasize: u32) { datasize = size(datasize); value = truncate(value, datasize) } = bits::count_leading_zero_bits(value, datasize);
    bits::count_leading_sign_bits(value: u64, datasize: u32) { datasize = size(datasize); value = truncate(value, datasize) } = bits::count_leading_sign_bits(value, datasize);

    qarma::pick(source: u64, places: u64) = qarma::pick(source, places);
    qarma::mult(state: u64) = qarma::mult(state);
    qarma::tweak_shuffle(tweak: u64) = qarma::tweak_shuffle(tweak);
    qarma::tweak_inv_shuffle(tweak: u64) = qarma::tweak_inv_shuffle(tweak);
    qarma::compute_pac(data: u64, modifier: u64, k0: u64, k1: u64) = qarma::compute_pac(data, modifier, [k0, k1]);
    pauth::authenticated(operation: u32, pointer: u64, modifier: u64, keys: u64) { operation = (operation % 4) | (((operation >> 2) % 5) << 2) } = pauth::authenticated(operation, pointer, modifier, keys);

    crc::checksum(accumulator: u32, value: u64, bits: u32, polynomial: u32) { bits = 8 << (bits % 4) } = crc::checksum(accumulator, value, bits, polynomial);

    load_store::extend_loaded(value: u64, size: u32, extend: u32) { size %= 4; extend %= 3 } = load_store::extend_loaded(value, size, extend);

    atomic::low(value: u64, bytes: usize) { bytes = access(bytes) } = value & (u64::MAX >> (64 - 8 * bytes));
    atomic::mem_atomic_op(op: u32, old: u64, operand: u64, bytes: usize) { op %= 9; bytes = access(bytes) } = atomic::mem_atomic_op(op, old, operand, bytes);

    multiply::multiply_high_unsigned(x: u64, y: u64) = multiply::multiply_high_unsigned(x, y);
    multiply::multiply_high(x: u64, y: u64, signed: bool) = multiply::multiply_high(x, y, signed);
    multiply::long_product(x: u64, y: u64, signed: bool) = multiply::long_product(x, y, signed);

    divide::divide(dividend: u64, divisor: u64, signed: bool) = divide::divide(dividend, divisor, signed);

    class::class_of(word: u32) = class_of(word);

    float/control::fp_rounding_mode(fpcr: u32) = control::fp_rounding_mode(fpcr);

    float/format::fp_format(datasize: u32, alternative: bool) { datasize = 16 << (datasize % 3) } = fp_format(datasize, alternative);
    float/format::exponent_bias(format: Format) = format::exponent_bias(format);
    float/format::exponent_ones(format: Format) = format::exponent_ones(format);

    float/number::fp_zero(sign: u32, fpsr: u32) { sign &= 1; fpsr &= 0x9f } = number::fp_zero(sign, fpsr);
    float/number::fp_infinity(sign: u32, fpsr: u32) { sign &= 1; fpsr &= 0x9f } = number::fp_infinity(sign, fpsr);
    float/number::fp_finite(sign: u32, exponent: i32, significand: u64, fpsr: u32) { sign &= 1; fpsr &= 0x9f } = number::fp_finite(sign, exponent, significand, fpsr);
    float/number::fp_default_nan(fpsr: u32) { fpsr &= 0x9f } = number::fp_default_nan(fpsr);
    float/number::fp_invalid(fpsr: u32) { fpsr &= 0x9f } = number::fp_invalid(fpsr);
    float/number::with_fpsr(number: Number, fpsr: u32) { fpsr &= 0x9f } = number::with_fpsr(number, fpsr);
    float/number::is_nan(number: Number) = number::is_nan(number);
    float/number::normalized(number: Number) = number::normalized(number);
    float/number::denormalized(number: Number, amount: u32) { amount %= 4096 } = number::denormalized(number, amount);
    float/number::is_smaller(a: Number, b: Number) { a = not_nan(a); b = not_nan(b) } = number::is_smaller(a, b);

    float/unpack::fp_unpack(value: u64, format: Format, fpcr: u32) { value = float(value, format); fpcr = self::fpcr(fpcr) } = fp_unpack(value, format, fpcr);
    float/unpack::is_flushed(format: Format, fpcr: u32) { fpcr = self::fpcr(fpcr) } = unpack::is_flushed(format, fpcr);

    float/round::fp_round(number: Number, format: Format, rounding: u32, fpcr: u32) { rounding %= 6; fpcr = self::fpcr(fpcr) } = fp_round(number, format, rounding, fpcr);
    float/round::is_rounded_up(rounding: u32, sign: u32, kept: u64, error: u64) { rounding %= 7; sign &= 1 } = round::is_rounded_up(rounding, sign, kept, error);

    float/nan::fp_process_nan(nan: Number, fpcr: u32) { fpcr = self::fpcr(fpcr) } = nan::fp_process_nan(nan, fpcr);
    float/nan::fp_process_nans3(a: Number, b: Number, c: Number, fpcr: u32) { fpcr = self::fpcr(fpcr) } = nan::fp_process_nans3(a, b, c, fpcr);

    float/multiply::multiply_numbers(a: Number, b: Number) { a = not_nan(a); b = not_nan(b) } = float_multiply::multiply_numbers(a, b);
    float/multiply::is_zero_times_infinity(a: Number, b: Number) = float_multiply::is_zero_times_infinity(a, b);

    float/add::add_numbers(a: Number, b: Number, rounding: u32) { a = not_nan(a); b = not_nan(b); rounding %= 6 } = add::add_numbers(a, b, rounding);

    float/divide::divide_numbers(a: Number, b: Number) { a = not_nan(a); b = not_nan(b) } = float_divide::divide_numbers(a, b);

    float/square_root::square_root(a: Number) { a = not_nan(a) } = square_root::square_root(a);

    float/compare::fp_compare(a: Number, b: Number, signal_nans: bool) = compare::fp_compare(a, b, signal_nans);
    float/compare::is_less(a: Number, b: Number) { a = not_nan(a); b = not_nan(b) } = compare::is_less(a, b);
    float/compare::fp_extremum(a: Number, b: Number, minimum: bool) { a = not_nan(a); b = not_nan(b) } = compare::fp_extremum(a, b, minimum);
    float/compare::quiet_as_infinity(a: Number, b: Number, minimum: bool) = compare::quiet_as_infinity(a, b, minimum);

    float/integer::nearest_integer(a: Number, rounding: u32) { rounding %= 6; a.exponent = a.exponent.min(63) } = integer::nearest_integer(a, rounding);
    float/integer::fp_round_int(a: Number, rounding: u32, exact: bool) { a = not_nan(a); rounding %= 6 } = integer::fp_round_int(a, rounding, exact);
    float/integer::fp_to_fixed(a: Number, fbits: u32, intsize: u32, unsigned: bool, rounding: u32) { fbits %= 65; intsize = 16 << (intsize % 3); rounding %= 6 } = integer::fp_to_fixed(a, fbits, intsize, unsigned, rounding);
    float/integer::fixed_to_fp(integer: u64, fbits: u32, intsize: u32, unsigned: bool) { fbits %= 65; intsize = 16 << (intsize % 3) } = integer::fixed_to_fp(integer, fbits, intsize, unsigned);

    float/estimate::recip_estimate(a: u32) { a = 256 + a % 256 } = estimate::recip_estimate(a);
    float/estimate::recip_sqrt_estimate(a: u32) { a = 128 + a % 384 } = estimate::recip_sqrt_estimate(a);
    float/estimate::fp_recip_estimate(a: Number) { a = not_nan(a) } = estimate::fp_recip_estimate(a);
    float/estimate::fp_rsqrt_estimate(a: Number) { a = not_nan(a) } = estimate::fp_rsqrt_estimate(a);
    float/estimate::fp_recpx(a: Number, format: Format) { a = not_nan(a) } = estimate::fp_recpx(a, format);
    float/estimate::unsigned_recip_estimate(a: u32) = estimate::unsigned_recip_estimate(a);
    float/estimate::unsigned_rsqrt_estimate(a: u32) = estimate::unsigned_rsqrt_estimate(a);

    float/arithmetic::fp_arithmetic(operation: u32, x: Number, y: Number, z: Number, to: Format, rounding: u32, fpcr: u32) { operation = self::operation(operation); rounding %= 6; fpcr = self::fpcr(fpcr) } = arithmetic::fp_arithmetic(operation, x, y, z, to, rounding, fpcr);
    float/arithmetic::add_product(operation: u32, a: Number, b: Number, c: Number, rounding: u32) { operation %= 7; a = not_nan(a); b = not_nan(b); c = not_nan(c); rounding %= 6 } = arithmetic::add_product(operation, a, b, c, rounding);
}
