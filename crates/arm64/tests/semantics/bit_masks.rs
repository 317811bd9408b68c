//! Bit mask immediates: all encodings and all values.

use std::collections::BTreeSet;

use kvrm_arm64::asm::encode_bit_mask;
use kvrm_arm64::semantics::bitmask::{decode_bit_masks, ones, replicate};
use kvrm_testkit::random::Random;

use crate::numbers::{bit, from_bits, low};

/// Returns all bit masks: repetitions of an element of 2, 4, 8, 16, 32 or 64 bits, which is a rotated run of ones with
/// at least one zero.
fn all_masks(datasize: u32) -> BTreeSet<u64> {
    let mut masks = BTreeSet::new();
    for size in [2, 4, 8, 16, 32, 64].into_iter().filter(|size| *size <= datasize) {
        for count in 1..size {
            for rotation in 0..size {
                masks.insert(from_bits(datasize, |i| (i + rotation) % size < count));
            }
        }
    }
    masks
}

/// Returns the element size of an encoding, by the table in the manual. `None` if the encoding is reserved.
fn element_size(n: u32, imms: u32) -> Option<u32> {
    match (n, format!("{imms:06b}").as_bytes()) {
        (1, _) => Some(64),
        (0, [b'0', ..]) => Some(32),
        (0, [b'1', b'0', ..]) => Some(16),
        (0, [b'1', b'1', b'0', ..]) => Some(8),
        (0, [b'1', b'1', b'1', b'0', ..]) => Some(4),
        (0, [b'1', b'1', b'1', b'1', b'0', _]) => Some(2),
        _ => None,
    }
}

/// Returns the mask of a logical immediate: a run of S + 1 ones, rotated right by R in each element.
pub(crate) fn mask(n: u32, imms: u32, immr: u32) -> Option<u64> {
    let size = element_size(n, imms)?;
    let (s, r) = (imms % size, immr % size);
    (s < size - 1).then(|| from_bits(64, |i| (i + r) % size <= s))
}

/// Returns N, imms and immr of all 8,192 encodings.
fn encodings() -> impl Iterator<Item = (u32, u32, u32)> {
    (0..2).flat_map(|n| (0..64).flat_map(move |imms| (0..64).map(move |immr| (n, imms, immr))))
}

#[test]
fn every_encoding_is_the_rotated_run_its_fields_describe_or_is_reserved() {
    for (n, imms, immr) in encodings() {
        let masks = decode_bit_masks(n, imms, immr, true);
        assert_eq!(
            masks.map(|masks| masks.wmask),
            mask(n, imms, immr),
            "N {n} imms {imms:06b} immr {immr:06b}"
        );
    }
}

#[test]
fn there_are_5334_masks_of_64_bits_and_1302_of_32() {
    let decoded: BTreeSet<u64> = encodings()
        .filter_map(|(n, imms, immr)| decode_bit_masks(n, imms, immr, true))
        .map(|masks| masks.wmask)
        .collect();
    assert_eq!(decoded.len(), 5334, "distinct masks of 64 bits");
    assert_eq!(decoded, all_masks(64), "decoded masks and enumerated ones");
    let narrow: BTreeSet<u64> = encodings()
        .filter_map(|(n, imms, immr)| decode_bit_masks(n, imms, immr, true).filter(|_| n == 0))
        .map(|masks| low(masks.wmask, 32))
        .collect();
    assert_eq!(narrow.len(), 1302, "distinct masks of 32 bits");
    assert_eq!(narrow, all_masks(32), "decoded masks and enumerated ones of 32 bits");
}

#[test]
fn the_masks_of_a_bit_field_are_its_place_and_its_length() {
    // Bit fields may be as long as the register, and N is 1 for 64 bits and 0 for 32.
    for (size, n) in [(32, 0), (64, 1)] {
        for (imms, immr) in (0..size).flat_map(|imms| (0..size).map(move |immr| (imms, immr))) {
            let masks = decode_bit_masks(n, imms, immr, false).expect("no bit field is reserved");
            let top = (imms + size - immr) % size;
            let place = from_bits(64, |i| (i + immr) % size <= imms);
            assert_eq!(masks.wmask, place, "place of {immr} to {imms} of {size} bits");
            assert_eq!(
                masks.tmask,
                from_bits(64, |i| i % size <= top),
                "length of {immr} to {imms} of {size} bits"
            );
        }
    }
}

#[test]
fn every_mask_has_an_encoding_that_gives_it_back() {
    for datasize in [32, 64] {
        for value in all_masks(datasize) {
            let raw = encode_bit_mask(value, datasize);
            let raw = raw.unwrap_or_else(|| panic!("{value:#x} is a mask of {datasize} bits"));
            let back = mask(raw >> 12, raw & 0x3f, raw >> 6 & 0x3f).map(|mask| low(mask, datasize));
            assert_eq!(back, Some(value), "{value:#x} as {raw:#x}");
        }
    }
}

#[test]
fn values_that_are_not_masks_have_no_encoding() {
    let mut random = Random::new(1);
    for datasize in [32, 64] {
        let masks = all_masks(datasize);
        // Values that mostly differ from a mask in one bit, and the values without ones or without zeros.
        let near = masks.iter().map(|mask| mask ^ 1 << random.below(u64::from(datasize))).collect::<Vec<_>>();
        for value in near.into_iter().chain([0, low(u64::MAX, datasize)]) {
            let encoded = encode_bit_mask(value, datasize).is_some();
            assert_eq!(encoded, masks.contains(&value), "{value:#x} in {datasize} bits");
        }
    }
}

#[test]
fn ones_and_replicate_match_their_definitions() {
    for count in 1..=64 {
        assert_eq!(ones(count), from_bits(64, |i| i < count), "{count} ones");
    }
    let mut random = Random::new(2);
    for size in [2, 4, 8, 16, 32, 64] {
        for _ in 0..100 {
            let element = low(random.bits(), size);
            let expected = from_bits(64, |i| bit(element, i % size));
            assert_eq!(replicate(element, size), expected, "{element:#x} of {size} bits");
        }
    }
}
