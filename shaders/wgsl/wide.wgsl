//! The 64-bit operations that WGSL, or a language it is translated to, lacks.
//!
//! Bit builtins are translated for 32 bits only, and naga 30 translates the zero check of a 64-bit `/` to code that
//! Metal refuses. Little is lost: GPUs, too, divide 64 bits by a sequence of instructions.

/// Returns the number of zeros above the top set bit, 64 without one.
///
/// Twin: `u64::leading_zeros`.
fn leading_zeros(value: u64) -> u32 {
    let high = u32(value >> 32u);
    return select(countLeadingZeros(high), 32u + countLeadingZeros(u32(value)), high == 0u);
}

/// Returns the number of zeros below the lowest set bit, 64 without one.
///
/// Twin: `u64::trailing_zeros`.
fn trailing_zeros(value: u64) -> u32 {
    let low = u32(value);
    return select(countTrailingZeros(low), 32u + countTrailingZeros(u32(value >> 32u)), low == 0u);
}

/// Returns the value with its bytes in reverse order.
///
/// Twin: `u64::swap_bytes`.
fn swap_bytes(value: u64) -> u64 {
    let pairs = ((value & 0x00ff00ff00ff00fflu) << 8u) | ((value >> 8u) & 0x00ff00ff00ff00fflu);
    let words = ((pairs & 0x0000ffff0000fffflu) << 16u) | ((pairs >> 16u) & 0x0000ffff0000fffflu);
    return (words << 32u) | (words >> 32u);
}

/// Returns the quotient, rounded down; zero if the divisor is zero.
///
/// Twin: `u64::checked_div`.
fn quotient(dividend: u64, divisor: u64) -> u64 {
    if divisor == 0lu {
        return 0lu;
    }
    // If the divisor fits a word, the quotient has two digits of 32 bits, and this is the upper one.
    let is_word = (divisor >> 32u) == 0lu;
    let word = select(0xffffffffu, u32(divisor), is_word);
    let high = u32(dividend >> 32u);
    let digit = high / word;
    let rest = (u64(high - digit * word) << 32u) | (dividend & 0xfffffffflu);
    // If not, it has one digit, estimated from half the dividend and the top 32 bits of the divisor.
    let scale = leading_zeros(divisor);
    let top = u32((divisor << scale) >> 32u);
    let low = u64(word_quotient(select(dividend >> 1u, rest, is_word), select(top, word, is_word)));
    if is_word {
        return (u64(digit) << 32u) | low;
    }
    // The estimate less one is right or one too small.
    let estimate = (low << scale) >> 31u;
    let below = estimate - select(0lu, 1lu, estimate != 0lu);
    return below + select(0lu, 1lu, dividend - below * divisor >= divisor);
}

/// Returns a quotient that fits a word, because the high word of the dividend is less than the divisor.
///
/// Twin: a part of `u64::checked_div`.
fn word_quotient(dividend: u64, divisor: u32) -> u32 {
    // With the top bit of the divisor set, digits of 16 bits are estimated well by its upper half.
    let scale = countLeadingZeros(divisor);
    let scaled_divisor = divisor << scale;
    let scaled_dividend = dividend << scale;
    let upper = half_quotient(scaled_dividend >> 16u, scaled_divisor);
    let rest = (scaled_dividend >> 16u) - u64(upper) * u64(scaled_divisor);
    let lower = half_quotient((rest << 16u) | (scaled_dividend & 0xfffflu), scaled_divisor);
    return (upper << 16u) | lower;
}

/// Returns a quotient that fits 16 bits. The top bit of the divisor is set.
///
/// Twin: a part of `u64::checked_div`.
fn half_quotient(dividend: u64, divisor: u32) -> u32 {
    // The estimate is never too small, and too large by two at most.
    let estimate = min(u32(dividend >> 16u) / (divisor >> 16u), 0xffffu);
    let product = u64(estimate) * u64(divisor);
    let excess = u32(product > dividend) + u32(product > dividend + u64(divisor));
    return estimate - excess;
}
