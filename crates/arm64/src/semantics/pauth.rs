//! Pointer authentication (`FEAT_PAuth`), with QARMA5.
//!
//! Addresses have 48 bits. As in a Linux process, the top byte of addresses whose bit 55 is 0 is a tag (`TBI0` is 1, `TBID0`
//! is 0), and that of the others is not (`TBI1` is 0). So a code is in bits 54 to 48 of a pointer, and if bit 55 is 1, also in
//! bits 63 to 56.

use super::qarma::compute_pac;
use crate::{Cpu, Memory, Stop, Word};

/// The number of the key `APIAKey_EL1`.
pub const KEY_IA: u32 = 0;
/// The number of the key `APIBKey_EL1`.
pub const KEY_IB: u32 = 1;
/// The number of the key `APDAKey_EL1`.
pub const KEY_DA: u32 = 2;
/// The number of the key `APDBKey_EL1`.
pub const KEY_DB: u32 = 3;
/// The number of the key `APGAKey_EL1`.
pub const KEY_GA: u32 = 4;
/// The number of keys.
pub const KEYS: u32 = 5;

/// The lowest bits of an operation: adds a code.
pub const POINTER_SIGN: u32 = 0;
/// Checks a code and removes it.
pub const POINTER_AUTHENTICATE: u32 = 1;
/// Removes a code.
pub const POINTER_STRIP: u32 = 2;
/// Makes a code of a number.
pub const POINTER_GENERIC: u32 = 3;

/// `CalculateBottomPACBit()`: the lowest bit of a code.
const BOTTOM: u32 = 48;
/// The bits of [`Cpu::keys`] for the seed.
pub const KEYS_SEED_BITS: u32 = 30;
/// The lowest bit of [`Cpu::keys`] of those that disable a key for addresses: instructions with this key are then NOPs.
pub const KEYS_DISABLED: u32 = 30;
/// The lowest bit of [`Cpu::keys`] of the counts of resets.
pub const KEYS_COUNTS: u32 = 34;
/// The bits of [`Cpu::keys`] that count the resets of one key.
pub const KEYS_COUNT_BITS: u32 = 6;
/// The number that distinguishes the halves of keys: 2^64 divided by the golden ratio.
pub const KEYS_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer of `SplitMix64`.
const fn mixed(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

/// Returns the high and the low half of a key. `keys` is the value from which all keys of a lane follow ([`Cpu::keys`]): a seed,
/// which keys for addresses are disabled, and for each key the number of its resets.
#[must_use]
pub const fn key(keys: u64, number: u32) -> [u64; 2] {
    let seed = keys & ((1 << KEYS_SEED_BITS) - 1);
    let count = keys >> (KEYS_COUNTS + KEYS_COUNT_BITS * number) & ((1 << KEYS_COUNT_BITS) - 1);
    let first = (seed | count << KEYS_SEED_BITS).wrapping_add(KEYS_STEP.wrapping_mul(2 * number as u64 + 1));
    [mixed(first), mixed(first.wrapping_add(KEYS_STEP))]
}

/// Returns the value of [`Cpu::keys`] after one key was replaced by another one. A key returns after 64 resets.
#[must_use]
pub const fn reset_key(keys: u64, number: u32) -> u64 {
    let low = KEYS_COUNTS + KEYS_COUNT_BITS * number;
    let mask = ((1 << KEYS_COUNT_BITS) - 1) << low;
    keys & !mask | keys.wrapping_add(1 << low) & mask
}

/// Returns the bits of the code in a pointer, of which bit 55 is never one.
const fn code_bits(pointer: u64) -> u64 {
    let tag = if pointer >> 55 & 1 == 1 { 0xff << 56 } else { 0 };
    0x7f << BOTTOM | tag
}

/// `Strip()`: returns the pointer without its code, whose bits become copies of bit 55.
#[must_use]
pub const fn strip(pointer: u64) -> u64 {
    if pointer >> 55 & 1 == 1 { pointer | code_bits(pointer) } else { pointer & !code_bits(pointer) }
}

/// `AddPAC()`.
#[must_use]
pub const fn add_pac(pointer: u64, modifier: u64, key: [u64; 2]) -> u64 {
    let mut code = compute_pac(strip(pointer), modifier, key);
    let bits = code_bits(pointer);
    let extension = pointer & (bits | 1 << 55);
    if extension != 0 && extension != bits | 1 << 55 {
        // The code of a pointer that is not canonical is wrong in its highest bit but one.
        code ^= if bits >> 63 == 1 { 1 << 62 } else { 1 << 54 };
    }
    pointer & !bits | code & bits
}

/// `Auth()`: returns the pointer without its code, or if the code is wrong, one that faults. `number` is that of the key.
#[must_use]
pub const fn auth(pointer: u64, modifier: u64, key: [u64; 2], number: u32) -> u64 {
    let original = strip(pointer);
    let bits = code_bits(pointer);
    if (compute_pac(original, modifier, key) ^ pointer) & bits == 0 {
        return original;
    }
    let error = if number & 1 == 1 { 0b10 } else { 0b01 };
    let low = if bits >> 63 == 1 { 61 } else { 53 };
    original & !(3 << low) | error << low
}

/// Returns the result of an operation: `POINTER_*` of this module, and the number of the key from bit 2 on.
#[must_use]
#[inline]
pub const fn authenticated(operation: u32, pointer: u64, modifier: u64, keys: u64) -> u64 {
    let number = operation >> 2;
    if number < KEY_GA && operation & 3 != POINTER_STRIP && keys >> (KEYS_DISABLED + number) & 1 == 1 {
        return pointer;
    }
    match operation & 3 {
        POINTER_SIGN => add_pac(pointer, modifier, key(keys, number)),
        POINTER_AUTHENTICATE => auth(pointer, modifier, key(keys, number), number),
        POINTER_STRIP => strip(pointer),
        _ => compute_pac(pointer, modifier, key(keys, number)) & !0xffff_ffff,
    }
}

/// Replaces register `d` by the result of an operation on it.
#[inline]
fn replace(cpu: &mut Cpu, operation: u32, d: u32, modifier: u64) {
    let result = authenticated(operation, cpu.x(d), modifier, cpu.keys);
    cpu.set_x(d, result);
}

/// PACIA, AUTIA and the like.
#[inline]
pub fn pointer<const OPERATION: u32, const KEY: u32>(cpu: &mut Cpu, w: Word) {
    let modifier = cpu.x_or_sp(w.rn());
    replace(cpu, OPERATION | KEY << 2, w.rd(), modifier);
}

/// PACIZA, AUTIZA, XPACI and the like.
#[inline]
pub fn pointer_zero<const OPERATION: u32, const KEY: u32>(cpu: &mut Cpu, w: Word) {
    replace(cpu, OPERATION | KEY << 2, w.rd(), 0);
}

/// PACIASP, AUTIASP and the like.
#[inline]
pub fn link_sp<const OPERATION: u32, const KEY: u32>(cpu: &mut Cpu, _: Word) {
    replace(cpu, OPERATION | KEY << 2, 30, cpu.sp);
}

/// PACIAZ, AUTIAZ, XPACLRI and the like.
#[inline]
pub fn link_zero<const OPERATION: u32, const KEY: u32>(cpu: &mut Cpu, _: Word) {
    replace(cpu, OPERATION | KEY << 2, 30, 0);
}

/// PACIA1716, AUTIA1716 and the like.
#[inline]
pub fn x17_x16<const OPERATION: u32, const KEY: u32>(cpu: &mut Cpu, _: Word) {
    replace(cpu, OPERATION | KEY << 2, 17, cpu.x(16));
}

/// PACGA.
#[inline]
pub fn pacga(cpu: &mut Cpu, w: Word) {
    let operation = POINTER_GENERIC | KEY_GA << 2;
    let result = authenticated(operation, cpu.x(w.rn()), cpu.x_or_sp(w.rm()), cpu.keys);
    cpu.set_x(w.rd(), result);
}

/// Branches to an authenticated address. The target is read before X30 is written.
#[inline]
fn branch<const LINK: bool>(cpu: &mut Cpu, key: u32, register: u32, modifier: u64) {
    let target = authenticated(POINTER_AUTHENTICATE | key << 2, cpu.x(register), modifier, cpu.keys);
    if LINK {
        cpu.set_x(30, cpu.pc.wrapping_add(4));
    }
    cpu.pc = target;
}

/// BRAA, BRAB, BLRAA, BLRAB.
#[inline]
pub fn branch_register<const LINK: bool, const KEY: u32>(cpu: &mut Cpu, w: Word) {
    let modifier = cpu.x_or_sp(w.rd());
    branch::<LINK>(cpu, KEY, w.rn(), modifier);
}

/// BRAAZ, BRABZ, BLRAAZ, BLRABZ.
#[inline]
pub fn branch_zero<const LINK: bool, const KEY: u32>(cpu: &mut Cpu, w: Word) {
    branch::<LINK>(cpu, KEY, w.rn(), 0);
}

/// RETAA, RETAB.
#[inline]
pub fn ret<const KEY: u32>(cpu: &mut Cpu, _: Word) {
    branch::<false>(cpu, KEY, 30, cpu.sp);
}

/// LDRAA, LDRAB. If base and destination are the same register, the written-back address wins.
#[inline]
pub fn load<const KEY: u32, const WRITE_BACK: bool>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let base = authenticated(POINTER_AUTHENTICATE | KEY << 2, cpu.x_or_sp(w.rn()), 0, cpu.keys);
    let address = base.wrapping_add_signed(w.imm10());
    let value = u64::from_le_bytes(memory.read(address)?);
    cpu.set_x(w.rt(), value);
    if WRITE_BACK {
        cpu.set_x_or_sp(w.rn(), address);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const POINTERS: [u64; 4] =
        [0x7fff_1234_5678, 0x5a00_0000_0000_1000, 0xffff_8000_0000_0010, 0xffff_ffff_ffff_fff0];

    #[test]
    fn signed_pointers_authenticate_with_the_same_key_and_modifier_only() {
        for pointer in POINTERS {
            let mut accepted = 0;
            for number in 0..KEY_GA {
                let signed = add_pac(pointer, 77, key(0, number));
                assert_eq!(strip(signed), pointer, "the address stays");
                assert_eq!(auth(signed, 77, key(0, number), number), pointer, "the right modifier");
                for modifier in 0..128 {
                    let result = auth(signed, modifier, key(0, number), number);
                    accepted += u32::from(result == pointer);
                    let error = (result ^ pointer) >> 48;
                    assert!(
                        result == pointer || [0x20, 0x40, 0x2000, 0x4000].contains(&error),
                        "{result:#x}"
                    );
                }
            }
            // One of 128 wrong modifiers is accepted by chance, because codes have seven bits here.
            assert!((4..20).contains(&accepted), "{accepted} modifiers are accepted for {pointer:#x}");
        }
    }

    #[test]
    fn a_pointer_that_is_not_canonical_does_not_authenticate() {
        for pointer in [0x0010_0000_0000_1000, 0x00ff_0000_0000_1000, 0xff00_0000_0000_0000 | 1 << 55] {
            let signed = add_pac(pointer, 5, key(0, KEY_DA));
            assert_ne!(auth(signed, 5, key(0, KEY_DA), KEY_DA), strip(pointer), "{pointer:#x}");
        }
    }

    #[test]
    fn keys_differ_and_a_reset_changes_one() {
        let all = |keys: u64| (0..KEYS).map(move |number| key(keys, number)).collect::<Vec<_>>();
        let mut keys = 0x1234_5678;
        for number in 0..KEYS {
            let before = all(keys);
            keys = reset_key(keys, number);
            let changed: Vec<u32> =
                (0..KEYS).filter(|n| all(keys)[*n as usize] != before[*n as usize]).collect();
            assert_eq!(changed, [number], "the key that was reset");
        }
        let mut halves: Vec<u64> = [0, 1, keys].into_iter().flat_map(all).flatten().collect();
        halves.sort_unstable();
        halves.dedup();
        assert_eq!(halves.len(), 3 * 2 * KEYS as usize, "no half occurs twice");
    }

    #[test]
    fn a_disabled_key_does_nothing_and_changes_no_key() {
        for number in 0..KEY_GA {
            let keys = 5 | 1 << (KEYS_DISABLED + number);
            let changes = |operation| authenticated(operation | number << 2, 0x1000, 3, keys) != 0x1000;
            assert!(!changes(POINTER_SIGN) && !changes(POINTER_AUTHENTICATE), "key {number}");
            assert_eq!(key(keys, number), key(5, number), "key {number}");
            let other = authenticated(POINTER_SIGN | (number ^ 1) << 2, 0x1000, 3, keys);
            assert_eq!(other, add_pac(0x1000, 3, key(5, number ^ 1)), "another key");
        }
    }

    #[test]
    fn counts_of_resets_do_not_carry_into_each_other() {
        let keys = (0..64).fold(9, |keys, _| reset_key(keys, KEY_IB));
        assert_eq!(keys, 9, "64 resets");
        assert_eq!(reset_key(u64::MAX, KEY_GA), !(0x3f << 58), "the highest count");
    }
}
