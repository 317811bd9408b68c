//! The instructions for AES, SHA-1 and SHA-256.

import package::machine::memory::{effort};
import package::machine::micro_op::{get_operation};
import package::machine::simd::registers::{Vector, elem, get_v, set_v, with_elem};
import package::machine::vector_op::{
    CRYPTO_AESD, CRYPTO_AESE, CRYPTO_AESIMC, CRYPTO_AESMC, CRYPTO_SHA1C, CRYPTO_SHA1H, CRYPTO_SHA1M,
    CRYPTO_SHA1P, CRYPTO_SHA1SU0, CRYPTO_SHA1SU1, CRYPTO_SHA256H, CRYPTO_SHA256H2, CRYPTO_SHA256SU0,
    CRYPTO_SHA256SU1,
};

/// The factor that repeats a byte four times.
const FOUR_BYTES = 0x01010101u;

/// Returns the products of four pairs of bytes in the field of AES.
fn ff_mul(a: u32, b: u32) -> u32 {
    var product = 0u;
    var power = a;
    for (var bit = 0u; bit < 8u; bit += 1u) {
        product ^= power & (((b >> bit) & FOUR_BYTES) * 0xffu);
        power = ((power << 1u) & (FOUR_BYTES * 0xfeu)) ^ (((power >> 7u) & FOUR_BYTES) * 0x1bu);
    }
    return product;
}

/// Returns the inverses of four bytes in the field of AES: their 254th powers.
fn ff_inverse(a: u32) -> u32 {
    var power = a;
    for (var step = 0u; step < 13u; step += 1u) {
        power = ff_mul(power, select(a, power, (step & 1u) == 0u));
    }
    return power;
}

/// Rotates each of four bytes left.
fn rotated_bytes(a: u32, amount: u32) -> u32 {
    let low = FOUR_BYTES * ((1u << amount) - 1u);
    return ((a << amount) & ~low) | ((a >> (8u - amount)) & low);
}

/// Applies the substitution of AES, or its inverse, to four bytes.
fn substituted(a: u32, inverse: bool) -> u32 {
    var before = a;
    if inverse {
        before = rotated_bytes(a, 1u) ^ rotated_bytes(a, 3u) ^ rotated_bytes(a, 6u) ^ (FOUR_BYTES * 0x05u);
    }
    let power = ff_inverse(before);
    if inverse {
        return power;
    }
    return power ^ rotated_bytes(power, 1u) ^ rotated_bytes(power, 2u) ^ rotated_bytes(power, 3u)
        ^ rotated_bytes(power, 4u) ^ (FOUR_BYTES * 0x63u);
}

/// Computes AESE or AESD: adds the key, rotates the bytes of each row, and substitutes them.
fn aes_round(d: Vector, n: Vector, inverse: bool) -> Vector {
    let state = Vector(d.low ^ n.low, d.high ^ n.high);
    let columns = select(1u, 3u, inverse);
    var moved = Vector(0lu, 0lu);
    for (var e = 0u; e < 16u; e += 1u) {
        // Byte 4 * column + row moves by `row` columns.
        moved = with_elem(moved, e, 8u, elem(state, (e + 4u * columns * (e % 4u)) % 16u, 8u));
    }
    var result = Vector(0lu, 0lu);
    for (var e = 0u; e < 4u; e += 1u) {
        result = with_elem(result, e, 32u, u64(substituted(u32(elem(moved, e, 32u)), inverse)));
    }
    effort += 500u;
    return result;
}

/// Computes AESMC or AESIMC: multiplies the columns by a matrix with the first row `factors`.
fn mix_columns(n: Vector, factors: u32) -> Vector {
    var result = Vector(0lu, 0lu);
    for (var e = 0u; e < 4u; e += 1u) {
        let column = u32(elem(n, e, 32u));
        var mixed = 0u;
        for (var i = 0u; i < 4u; i += 1u) {
            mixed ^= ff_mul(rotated_right(column, 8u * i), ((factors >> (8u * i)) & 0xffu) * FOUR_BYTES);
        }
        result = with_elem(result, e, 32u, u64(mixed));
    }
    effort += 160u;
    return result;
}

/// Rotates a word right by less than 32.
fn rotated_right(a: u32, amount: u32) -> u32 {
    return (a >> amount) | ((a << 1u) << (31u - amount));
}

/// `SHAchoose()`.
fn sha_choose(a: u32, b: u32, c: u32) -> u32 {
    return ((b ^ c) & a) ^ c;
}

/// `SHAmajority()`.
fn sha_majority(a: u32, b: u32, c: u32) -> u32 {
    return (a & b) | ((a | b) & c);
}

/// Returns a word of a vector.
fn vector_word(vector: Vector, index: u32) -> u32 {
    return u32(elem(vector, index, 32u));
}

/// Returns the vector of four words.
fn words_of(words: vec4<u32>) -> Vector {
    return Vector(u64(words.x) | (u64(words.y) << 32u), u64(words.z) | (u64(words.w) << 32u));
}

/// Computes four rounds of SHA-1.
fn sha1_hash(operation: u32, start: Vector, last: u32, schedule: Vector) -> Vector {
    var s = vec4<u32>(vector_word(start, 0u), vector_word(start, 1u), vector_word(start, 2u), vector_word(start, 3u));
    var e = last;
    for (var round = 0u; round < 4u; round += 1u) {
        var mixed = s.y ^ s.z ^ s.w;
        if operation == CRYPTO_SHA1C {
            mixed = sha_choose(s.y, s.z, s.w);
        } else if operation == CRYPTO_SHA1M {
            mixed = sha_majority(s.y, s.z, s.w);
        }
        let sum = e + rotated_right(s.x, 27u) + mixed + vector_word(schedule, round);
        e = s.w;
        s = vec4<u32>(sum, s.x, rotated_right(s.y, 2u), s.z);
    }
    return words_of(s);
}

/// `SHA256hash()`: computes four rounds, and returns the first or the second half of the state.
fn sha256_hash(x: Vector, y: Vector, schedule: Vector, second: bool) -> Vector {
    var s = vec4<u32>(vector_word(x, 0u), vector_word(x, 1u), vector_word(x, 2u), vector_word(x, 3u));
    var t = vec4<u32>(vector_word(y, 0u), vector_word(y, 1u), vector_word(y, 2u), vector_word(y, 3u));
    for (var round = 0u; round < 4u; round += 1u) {
        let first = rotated_right(t.x, 6u) ^ rotated_right(t.x, 11u) ^ rotated_right(t.x, 25u);
        let sum = t.w + first + sha_choose(t.x, t.y, t.z) + vector_word(schedule, round);
        let zeroth = rotated_right(s.x, 2u) ^ rotated_right(s.x, 13u) ^ rotated_right(s.x, 22u);
        let next = sum + zeroth + sha_majority(s.x, s.y, s.z);
        t = vec4<u32>(s.w + sum, t.x, t.y, t.z);
        s = vec4<u32>(next, s.x, s.y, s.z);
    }
    return words_of(select(s, t, second));
}

/// Returns the term of a word that SHA256SU0 adds.
fn sigma_zero(a: u32) -> u32 {
    return rotated_right(a, 7u) ^ rotated_right(a, 18u) ^ (a >> 3u);
}

/// Returns the term of a word that SHA256SU1 adds.
fn sigma_one(a: u32) -> u32 {
    return rotated_right(a, 17u) ^ rotated_right(a, 19u) ^ (a >> 10u);
}

/// Executes a cryptographic instruction.
fn compute_crypto(op: vec4<u32>) {
    let rd = op.z & 31u;
    set_v(rd, crypto(get_operation(op.y), get_v((op.z >> 5u) & 31u), get_v((op.z >> 16u) & 31u), get_v(rd)));
}

/// Returns the result of a cryptographic instruction, from Vn, Vm and Vd.
fn crypto(operation: u32, n: Vector, m: Vector, d: Vector) -> Vector {
    let n_words = vec4<u32>(vector_word(n, 0u), vector_word(n, 1u), vector_word(n, 2u), vector_word(n, 3u));
    let d_words = vec4<u32>(vector_word(d, 0u), vector_word(d, 1u), vector_word(d, 2u), vector_word(d, 3u));
    var result = Vector(0lu, 0lu);
    switch operation {
        case CRYPTO_AESE, CRYPTO_AESD: { result = aes_round(d, n, operation == CRYPTO_AESD); }
        case CRYPTO_AESMC, CRYPTO_AESIMC: {
            result = mix_columns(n, select(0x01010302u, 0x090d0b0eu, operation == CRYPTO_AESIMC));
        }
        case CRYPTO_SHA1C, CRYPTO_SHA1P, CRYPTO_SHA1M: { result = sha1_hash(operation, d, n_words.x, m); }
        case CRYPTO_SHA1H: { result.low = u64(rotated_right(n_words.x, 2u)); }
        case CRYPTO_SHA1SU0: { result = Vector(d.high ^ d.low ^ m.low, n.low ^ d.high ^ m.high); }
        case CRYPTO_SHA1SU1: {
            let mixed = d_words ^ vec4<u32>(n_words.y, n_words.z, n_words.w, 0u);
            let last = rotated_right(mixed.w, 31u) ^ rotated_right(mixed.x, 30u);
            result = words_of(vec4<u32>(
                rotated_right(mixed.x, 31u), rotated_right(mixed.y, 31u), rotated_right(mixed.z, 31u), last,
            ));
        }
        case CRYPTO_SHA256H, CRYPTO_SHA256H2: {
            let second = operation == CRYPTO_SHA256H2;
            var x = d;
            var y = n;
            if second {
                x = n;
                y = d;
            }
            result = sha256_hash(x, y, m, second);
        }
        case CRYPTO_SHA256SU0: {
            result = words_of(d_words + vec4<u32>(
                sigma_zero(d_words.y), sigma_zero(d_words.z), sigma_zero(d_words.w), sigma_zero(n_words.x),
            ));
        }
        case CRYPTO_SHA256SU1: {
            let start = d_words + vec4<u32>(n_words.y, n_words.z, n_words.w, vector_word(m, 0u));
            let first = start.x + sigma_one(vector_word(m, 2u));
            let second = start.y + sigma_one(vector_word(m, 3u));
            result = words_of(vec4<u32>(first, second, start.z + sigma_one(first), start.w + sigma_one(second)));
        }
        default: {}
    }
    effort += 8u;
    return result;
}
