//! Moves between SIMD and general registers, moves of immediates, and permutations of elements.

import package::arm64::bitmask::{ones};
import package::arm64::flags::{condition_holds};
import package::arm64::numbers::{sign_extend, truncate};
import package::machine::memory::{effort};
import package::machine::micro_op::{get_a, get_dst, get_element, get_operation, get_wide};
import package::machine::registers::{SCRATCH_FLAGS, x};
import package::machine::simd::packed::{each_one, packed_is_zero};
import package::machine::simd::registers::{Vector, elem, get_v, number_size, set_v, with_elem, without_elem};
import package::machine::vector_op::{
    MOVE_DUP_ELEMENT, MOVE_DUP_GENERAL, MOVE_FLOAT_IMMEDIATE, MOVE_FROM_GENERAL, MOVE_FROM_GENERAL_HALF,
    MOVE_FROM_GENERAL_HIGH, MOVE_HALF_IMMEDIATE, MOVE_HALVES_IMMEDIATE, MOVE_IMMEDIATE_BIC,
    MOVE_IMMEDIATE_INVERTED, MOVE_IMMEDIATE_ORR, MOVE_INS_ELEMENT, MOVE_INS_GENERAL, MOVE_SELECT, MOVE_SMOV,
    MOVE_TO_GENERAL, MOVE_TO_GENERAL_HALF, MOVE_TO_GENERAL_HIGH, MOVE_UMOV, PERMUTE_EXT, PERMUTE_REV,
    PERMUTE_TBL, PERMUTE_TBX, PERMUTE_TRN, PERMUTE_UZP, PERMUTE_ZIP,
};

/// `VFPExpandImm()`: expands a number of eight bits to a format with the given numbers of fraction and exponent bits.
fn vfp_expand_imm(imm8: u32, fraction_bits: u32, exponent_bits: u32) -> u64 {
    let exponent = (imm8 >> 6u) & 1u;
    // The exponent is NOT(b), then b repeated, then two bits of imm8. The other bits of imm8 are the fraction.
    let repeated = exponent * ((1u << (exponent_bits - 3u)) - 1u);
    let top = ((1u - exponent) << (exponent_bits - 1u)) | (repeated << 2u);
    return (u64(imm8 >> 7u) << (exponent_bits + fraction_bits)) | (u64(top) << fraction_bits)
        | (u64(imm8 & 63u) << (fraction_bits - 4u));
}

/// `AdvSIMDExpandImm()`.
fn adv_simd_expand_imm(word: u32) -> u64 {
    let imm8 = ((word >> 11u) & 0xe0u) | ((word >> 5u) & 31u);
    let cmode = (word >> 12u) & 15u;
    let is_inverted = ((word >> 29u) & 1u) == 1u;
    var half = imm8;
    switch cmode >> 1u {
        case 0u, 1u, 2u, 3u: { half = imm8 << (8u * (cmode >> 1u)); }
        case 4u: { half = imm8 | (imm8 << 16u); }
        case 5u: { half = (imm8 | (imm8 << 16u)) << 8u; }
        case 6u: { half = select((imm8 << 8u) | 0xffu, (imm8 << 16u) | 0xffffu, (cmode & 1u) == 1u); }
        default: {
            if (cmode & 1u) == 1u {
                if is_inverted {
                    return vfp_expand_imm(imm8, 52u, 11u);
                }
                half = u32(vfp_expand_imm(imm8, 23u, 8u));
            } else if is_inverted {
                // Each bit of imm8 fills a byte.
                let chosen = (u64(imm8) * 0x0101010101010101lu) & 0x8040201008040201lu;
                return ~packed_is_zero(chosen, 0x8080808080808080lu, 8u);
            } else {
                half = imm8 * 0x01010101u;
            }
        }
    }
    return u64(half) | (u64(half) << 32u);
}

/// Executes a move.
fn move_vector(op: vec4<u32>) {
    let word = op.z;
    let rd = word & 31u;
    let n = get_v((word >> 5u) & 31u);
    let m = get_v((word >> 16u) & 31u);
    let holds = condition_holds((word >> 12u) & 15u, u32(x[SCRATCH_FLAGS]));
    let value = moved(op, n, m, get_v(rd), x[get_a(op.x)], holds);
    switch get_operation(op.y) {
        case MOVE_UMOV, MOVE_SMOV, MOVE_TO_GENERAL, MOVE_TO_GENERAL_HALF, MOVE_TO_GENERAL_HIGH: { x[get_dst(op.x)] = value.low; }
        default: { set_v(rd, value); }
    }
}

/// Returns the new value of Vd, or of a general register in the lower half, from Vn, Vm, Vd and a general register.
/// `holds` says whether the condition of FCSEL holds.
fn moved(op: vec4<u32>, n: Vector, m: Vector, d: Vector, general: u64, holds: bool) -> Vector {
    let word = op.z;
    let operation = get_operation(op.y);
    let q = (word >> 30u) & 1u;
    let datasize = 32u << get_wide(op.y);
    let imm5 = (word >> 16u) & 31u;
    let size = countTrailingZeros(imm5 | 16u) & 3u;
    let esize = 8u << size;
    let index = imm5 >> (size + 1u);
    switch operation {
        case MOVE_DUP_ELEMENT, MOVE_DUP_GENERAL: {
            let value = select(general, elem(n, index, esize), operation == MOVE_DUP_ELEMENT);
            if ((word >> 28u) & 1u) == 1u {
                return Vector(value & ones(esize), 0lu);
            }
            let repeated = (value & ones(esize)) * each_one(esize);
            return Vector(repeated, select(0lu, repeated, q == 1u));
        }
        case MOVE_INS_ELEMENT, MOVE_INS_GENERAL: {
            let chosen = elem(n, ((word >> 11u) & 15u) >> size, esize);
            let value = select(general, chosen, operation == MOVE_INS_ELEMENT);
            return with_elem(without_elem(d, index, esize), index, esize, value);
        }
        case MOVE_UMOV: { return Vector(elem(n, index, esize), 0lu); }
        case MOVE_SMOV: { return Vector(truncate(sign_extend(elem(n, index, esize), esize), datasize), 0lu); }
        case MOVE_FROM_GENERAL: { return Vector(truncate(general, datasize), 0lu); }
        case MOVE_TO_GENERAL: { return Vector(truncate(n.low, datasize), 0lu); }
        case MOVE_FROM_GENERAL_HIGH: { return Vector(d.low, general); }
        case MOVE_TO_GENERAL_HIGH: { return Vector(n.high, 0lu); }
        case MOVE_FLOAT_IMMEDIATE: {
            let imm8 = (word >> 13u) & 0xffu;
            let double = vfp_expand_imm(imm8, 52u, 11u);
            return Vector(select(vfp_expand_imm(imm8, 23u, 8u), double, datasize == 64u), 0lu);
        }
        case MOVE_FROM_GENERAL_HALF: { return Vector(general & 0xfffflu, 0lu); }
        case MOVE_TO_GENERAL_HALF: { return Vector(n.low & 0xfffflu, 0lu); }
        case MOVE_HALF_IMMEDIATE: { return Vector(vfp_expand_imm((word >> 13u) & 0xffu, 10u, 5u), 0lu); }
        case MOVE_HALVES_IMMEDIATE: {
            let imm8 = ((word >> 11u) & 0xe0u) | ((word >> 5u) & 31u);
            let repeated = vfp_expand_imm(imm8, 10u, 5u) * each_one(16u);
            return Vector(repeated, select(0lu, repeated, q == 1u));
        }
        case MOVE_SELECT: {
            let mask = ones(number_size(word));
            return Vector(select(m.low, n.low, holds) & mask, 0lu);
        }
        default: {
            let imm = adv_simd_expand_imm(word);
            var result = Vector(imm, imm);
            switch operation {
                case MOVE_IMMEDIATE_INVERTED: { result = Vector(~imm, ~imm); }
                case MOVE_IMMEDIATE_ORR: { result = Vector(d.low | imm, d.high | imm); }
                case MOVE_IMMEDIATE_BIC: { result = Vector(d.low & ~imm, d.high & ~imm); }
                default: {}
            }
            return Vector(result.low, select(0lu, result.high, q == 1u));
        }
    }
}

/// Executes a permutation.
fn permute_vector(op: vec4<u32>) {
    let word = op.z;
    let rd = word & 31u;
    let rn = (word >> 5u) & 31u;
    let m = get_v((word >> 16u) & 31u);
    let operation = get_operation(op.y);
    if operation < PERMUTE_TBL {
        set_v(rd, permuted(op, get_v(rn), m));
        return;
    }
    var result = Vector(0lu, 0lu);
    if operation == PERMUTE_TBX {
        result = get_v(rd);
    }
    for (var table = 0u; table < get_element(op.y); table += 1u) {
        result = looked_up(result, m, get_v(rn + table), table);
    }
    set_v(rd, Vector(result.low, select(0lu, result.high, ((word >> 30u) & 1u) == 1u)));
}

/// Returns a vector with each byte replaced whose index, in `indices`, is in register `number` of a table.
fn looked_up(before: Vector, indices: Vector, table: Vector, number: u32) -> Vector {
    var result = Vector(0lu, 0lu);
    for (var e = 0u; e < 16u; e += 1u) {
        let index = u32(elem(indices, e, 8u));
        let found = elem(table, index % 16u, 8u);
        result = with_elem(result, e, 8u, select(elem(before, e, 8u), found, index / 16u == number));
    }
    effort += 16u;
    return result;
}

/// Returns the permutation of the elements of Vn and Vm.
fn permuted(op: vec4<u32>, n: Vector, m: Vector) -> Vector {
    let word = op.z;
    let operation = get_operation(op.y);
    let part = get_element(op.y);
    let q = (word >> 30u) & 1u;
    let esize = select(8u << ((word >> 22u) & 3u), 8u, operation == PERMUTE_EXT);
    let count = (64u << q) / esize;
    var result = Vector(0lu, 0lu);
    for (var e = 0u; e < count; e += 1u) {
        // The indices below `count` are elements of Vn, the following ones elements of Vm.
        var index = e;
        switch operation {
            case PERMUTE_UZP: { index = 2u * e + part; }
            case PERMUTE_ZIP: { index = e / 2u + part * count / 2u + (e & 1u) * count; }
            case PERMUTE_TRN: { index = (e & ~1u) + part + (e & 1u) * count; }
            case PERMUTE_EXT: { index = e + ((word >> 11u) & 15u); }
            case PERMUTE_REV: { index = e ^ ((1u << part) / esize - 1u); }
            default: {}
        }
        var value = elem(n, index, esize);
        if index >= count {
            value = elem(m, index - count, esize);
        }
        result = with_elem(result, e, esize, value);
    }
    effort += count;
    return result;
}
