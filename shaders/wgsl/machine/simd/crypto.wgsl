//! The instructions for AES, SHA-1, SHA-2, SHA-3, SM3 and SM4.

import package::machine::memory::{effort};
import package::machine::micro_op::{get_operation};
import package::machine::simd::registers::{Vector, elem, get_v, set_v, with_elem};
import package::machine::vector_op::{
    CRYPTO_AESD, CRYPTO_AESE, CRYPTO_AESIMC, CRYPTO_AESMC, CRYPTO_BCAX, CRYPTO_EOR3, CRYPTO_RAX1,
    CRYPTO_SHA1C, CRYPTO_SHA1H, CRYPTO_SHA1M, CRYPTO_SHA1P, CRYPTO_SHA1SU0, CRYPTO_SHA1SU1, CRYPTO_SHA256H,
    CRYPTO_SHA256H2, CRYPTO_SHA256SU0, CRYPTO_SHA256SU1, CRYPTO_SHA512H, CRYPTO_SHA512H2, CRYPTO_SHA512SU0,
    CRYPTO_SM3PARTW1, CRYPTO_SM3PARTW2, CRYPTO_SM3SS1, CRYPTO_SM3TT1A, CRYPTO_SM3TT1B, CRYPTO_SM3TT2A,
    CRYPTO_SM3TT2B, CRYPTO_SM4E, CRYPTO_SM4EKEY, CRYPTO_XAR,
};

/// The factor that repeats a byte four times.
const FOUR_BYTES = 0x01010101u;

/// The reduction of the field of AES: the coefficients below the eighth of its polynomial.
const AES_FIELD = 0x1bu;
/// The reduction of the field of SM4.
const SM4_FIELD = 0xf5u;

/// Returns the products of four pairs of bytes in a field with a reduction.
fn ff_mul(a: u32, b: u32, reduction: u32) -> u32 {
    var product = 0u;
    var power = a;
    for (var bit = 0u; bit < 8u; bit += 1u) {
        product ^= power & (((b >> bit) & FOUR_BYTES) * 0xffu);
        power = ((power << 1u) & (FOUR_BYTES * 0xfeu)) ^ (((power >> 7u) & FOUR_BYTES) * reduction);
    }
    return product;
}

/// Returns the inverses of four bytes in a field: their 254th powers.
fn ff_inverse(a: u32, reduction: u32) -> u32 {
    var power = a;
    for (var step = 0u; step < 13u; step += 1u) {
        power = ff_mul(power, select(a, power, (step & 1u) == 0u), reduction);
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
    let power = ff_inverse(before, AES_FIELD);
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
            mixed ^= ff_mul(rotated_right(column, 8u * i), ((factors >> (8u * i)) & 0xffu) * FOUR_BYTES, AES_FIELD);
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

/// Rotates a doubleword right by less than 64.
fn rotated_doubleword(a: u64, amount: u32) -> u64 {
    return (a >> amount) | ((a << 1u) << (63u - amount));
}

/// Returns the exclusive or of three rotations of a doubleword.
fn rotations_of(a: u64, amounts: vec3<u32>) -> u64 {
    return rotated_doubleword(a, amounts.x) ^ rotated_doubleword(a, amounts.y) ^ rotated_doubleword(a, amounts.z);
}

/// Computes an instruction for SHA-512 or SHA-3 from Vn, Vm and Vd or Va.
fn hash_doublewords(operation: u32, n: Vector, m: Vector, d: Vector, amount: u32) -> Vector {
    switch operation {
        case CRYPTO_EOR3: { return Vector(n.low ^ m.low ^ d.low, n.high ^ m.high ^ d.high); }
        case CRYPTO_BCAX: { return Vector(n.low ^ (m.low & ~d.low), n.high ^ (m.high & ~d.high)); }
        case CRYPTO_RAX1: {
            return Vector(n.low ^ rotated_doubleword(m.low, 63u), n.high ^ rotated_doubleword(m.high, 63u));
        }
        case CRYPTO_XAR: {
            return Vector(rotated_doubleword(n.low ^ m.low, amount), rotated_doubleword(n.high ^ m.high, amount));
        }
        case CRYPTO_SHA512H: {
            let amounts = vec3<u32>(14u, 18u, 41u);
            let high = (((n.low ^ n.high) & m.high) ^ n.high) + rotations_of(m.high, amounts) + d.high;
            let next = high + m.low;
            let low = (((m.high ^ n.low) & next) ^ n.low) + rotations_of(next, amounts) + d.low;
            return Vector(low, high);
        }
        case CRYPTO_SHA512H2: {
            let amounts = vec3<u32>(28u, 34u, 39u);
            let high = ((n.low & m.high) | ((n.low | m.high) & m.low)) + rotations_of(m.low, amounts) + d.high;
            let low = ((high & m.low) | ((high | m.low) & m.high)) + rotations_of(high, amounts) + d.low;
            return Vector(low, high);
        }
        case CRYPTO_SHA512SU0: {
            let first = rotated_doubleword(d.high, 1u) ^ rotated_doubleword(d.high, 8u) ^ (d.high >> 7u);
            let second = rotated_doubleword(n.low, 1u) ^ rotated_doubleword(n.low, 8u) ^ (n.low >> 7u);
            return Vector(d.low + first, d.high + second);
        }
        default: {
            let first = rotated_doubleword(n.low, 19u) ^ rotated_doubleword(n.low, 61u) ^ (n.low >> 6u);
            let second = rotated_doubleword(n.high, 19u) ^ rotated_doubleword(n.high, 61u) ^ (n.high >> 6u);
            return Vector(d.low + first + m.low, d.high + second + m.high);
        }
    }
}

/// Computes half a round of SM3, with the word `word` of the schedule.
fn sm3_half_round(operation: u32, n: u32, word: u32, d: vec4<u32>) -> Vector {
    var mixed = d.y ^ d.z ^ d.w;
    if operation == CRYPTO_SM3TT1B {
        mixed = sha_majority(d.w, d.z, d.y);
    } else if operation == CRYPTO_SM3TT2B {
        mixed = sha_choose(d.w, d.z, d.y);
    }
    let sum = mixed + d.x + word;
    if operation == CRYPTO_SM3TT1A || operation == CRYPTO_SM3TT1B {
        return words_of(vec4<u32>(d.y, rotated_right(d.z, 23u), d.w, sum + (n ^ rotated_right(d.w, 20u))));
    }
    let tt2 = sum + n;
    let last = tt2 ^ rotated_right(tt2, 23u) ^ rotated_right(tt2, 15u);
    return words_of(vec4<u32>(d.y, rotated_right(d.z, 13u), d.w, last));
}

/// The permutation of words of the schedule of SM3.
fn sm3_permuted(a: u32) -> u32 {
    return a ^ rotated_right(a, 17u) ^ rotated_right(a, 9u);
}

/// The affine map of the substitution of SM4, for four bytes.
fn sm4_affine(a: u32) -> u32 {
    return a ^ rotated_bytes(a, 1u) ^ rotated_bytes(a, 3u) ^ rotated_bytes(a, 6u) ^ rotated_bytes(a, 7u)
        ^ (FOUR_BYTES * 0xd3u);
}

/// Computes four rounds of SM4, or of the expansion of its key.
fn sm4_rounds(start: vec4<u32>, keys: Vector, expands: bool) -> Vector {
    var s = start;
    for (var round = 0u; round < 4u; round += 1u) {
        let sum = s.w ^ s.z ^ s.y ^ vector_word(keys, round);
        let t = sm4_affine(ff_inverse(sm4_affine(sum), SM4_FIELD));
        var mixed = t ^ rotated_right(t, 30u) ^ rotated_right(t, 22u) ^ rotated_right(t, 14u) ^ rotated_right(t, 8u);
        if expands {
            mixed = t ^ rotated_right(t, 19u) ^ rotated_right(t, 9u);
        }
        s = vec4<u32>(s.y, s.z, s.w, s.x ^ mixed);
    }
    effort += 500u;
    return words_of(s);
}

/// Executes a cryptographic instruction.
fn compute_crypto(op: vec4<u32>) {
    let word = op.z;
    let rd = word & 31u;
    let operation = get_operation(op.y);
    let has_third = operation >= CRYPTO_EOR3 && operation <= CRYPTO_SM3SS1;
    let d = get_v(select(rd, (word >> 10u) & 31u, has_third));
    set_v(rd, crypto(operation, get_v((word >> 5u) & 31u), get_v((word >> 16u) & 31u), d, (word >> 10u) & 63u));
}

/// Returns the result of a cryptographic instruction, from Vn, Vm, Vd or Va, and the field imm6.
fn crypto(operation: u32, n: Vector, m: Vector, d: Vector, imm6: u32) -> Vector {
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
        case CRYPTO_SM3SS1: {
            let sum = rotated_right(n_words.w, 20u) + vector_word(m, 3u) + d_words.w;
            result.high = u64(rotated_right(sum, 25u)) << 32u;
        }
        case CRYPTO_SM3TT1A, CRYPTO_SM3TT1B, CRYPTO_SM3TT2A, CRYPTO_SM3TT2B: {
            result = sm3_half_round(operation, n_words.w, vector_word(m, (imm6 >> 2u) & 3u), d_words);
        }
        case CRYPTO_SM3PARTW1: {
            let sum = d_words ^ n_words;
            let first = sm3_permuted(sum.x ^ rotated_right(vector_word(m, 1u), 17u));
            result = words_of(vec4<u32>(
                first,
                sm3_permuted(sum.y ^ rotated_right(vector_word(m, 2u), 17u)),
                sm3_permuted(sum.z ^ rotated_right(vector_word(m, 3u), 17u)),
                sm3_permuted(sum.w ^ rotated_right(first, 17u)),
            ));
        }
        case CRYPTO_SM3PARTW2: {
            let terms = n_words ^ vec4<u32>(
                rotated_right(vector_word(m, 0u), 25u), rotated_right(vector_word(m, 1u), 25u),
                rotated_right(vector_word(m, 2u), 25u), rotated_right(vector_word(m, 3u), 25u),
            );
            let last = sm3_permuted(rotated_right(terms.x, 17u));
            result = words_of(d_words ^ terms ^ vec4<u32>(0u, 0u, 0u, last));
        }
        case CRYPTO_SM4E, CRYPTO_SM4EKEY: {
            let expands = operation == CRYPTO_SM4EKEY;
            var keys = n;
            if expands {
                keys = m;
            }
            result = sm4_rounds(select(d_words, n_words, expands), keys, expands);
        }
        default: { result = hash_doublewords(operation, n, m, d, imm6); }
    }
    effort += 8u;
    return result;
}
