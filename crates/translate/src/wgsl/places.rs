//! Which accesses of a block are in the same page, and where their places are looked up.
//!
//! A look-up of a place takes more instructions of the GPU than the access, and a way out of the region as many again. So
//! accesses with the same base register share a place, and places are looked up together: a lane that does not have one of
//! them leaves before the first of the accesses. The interpreter executes the rest of the block then.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use kvrm_arm64::micro_op::MicroOp;

use crate::effects::Effects;

use super::address::{Address, Base};

/// The largest number of bytes from the first to the last that share a place.
const SPAN_MAX: u64 = 256;
/// The largest number of places that are looked up together.
const TOGETHER_MAX: usize = 4;

/// The place of one access or of several.
#[derive(Debug)]
struct Shared {
    /// The accesses: their indices in the block, and their distances from the address at `base`.
    members: Vec<(usize, i64)>,
    base: Base,
    /// The bytes before and behind `base` that are accessed.
    low: i64,
    high: i64,
}

/// The place of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// The number of the place.
    pub(super) number: usize,
    /// The distance from it in bytes.
    pub(super) distance: u32,
    /// The alignment that the look-up has checked, or 1.
    pub(super) alignment: u32,
}

/// The places of a block.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The number of places.
    pub(super) count: usize,
    /// The statements that look up places before an instruction, by its index, without the way out; and the condition to
    /// take it.
    pub(super) look_ups: BTreeMap<usize, (String, String)>,
    /// The addresses of the accesses, by the indices of their instructions.
    addresses: Vec<Option<Address>>,
    /// The places of the accesses, by the indices of their instructions.
    placed: BTreeMap<usize, Placed>,
}

impl Places {
    /// Returns the places of the accesses of a block at `pc`. They are numbered from `first` on.
    pub(super) fn of(ops: &[MicroOp], pc: u64, first: usize) -> Self {
        let addresses: Vec<Option<Address>> =
            ops.iter().zip(0..).map(|(op, index)| Address::of(*op, pc.wrapping_add(4 * index))).collect();
        let shared = Shared::find(ops, &addresses);
        let mut places = Self { count: shared.len(), ..Self::default() };
        let mut is_found = vec![false; shared.len()];
        for number in 0..shared.len() {
            if is_found[number] {
                continue;
            }
            let at = shared[number].members[0].0;
            let together = (number..shared.len())
                .filter(|other| !is_found[*other] && shared[*other].is_known(at, ops))
                .take(TOGETHER_MAX);
            let (mut text, mut missing) = (String::new(), Vec::new());
            for other in together.collect::<Vec<_>>() {
                is_found[other] = true;
                let number = first + other;
                let _ = writeln!(text, "let place_{number} = {};", shared[other].look_up(&addresses));
                missing.push(format!("place_{number}.missing"));
                places.placed.extend(shared[other].placed(number, &addresses));
            }
            places.look_ups.insert(at, (text, format!("({}) != 0u", missing.join(" | "))));
        }
        places.addresses = addresses;
        places
    }

    /// Returns the address and the place of the access of an instruction, or `None` if it is no access.
    pub(super) fn access(&self, index: usize) -> Option<(&Address, Placed)> {
        Some((self.addresses[index].as_ref()?, *self.placed.get(&index)?))
    }
}

impl Shared {
    /// Returns the places that the accesses of a block share, in the order of their first accesses.
    fn find(ops: &[MicroOp], addresses: &[Option<Address>]) -> Vec<Self> {
        let mut shared: Vec<Self> = Vec::new();
        // The place of the last access with a base, and what was added to the base register since its first one.
        let mut current: BTreeMap<String, (usize, u64)> = BTreeMap::new();
        for (index, (op, address)) in ops.iter().zip(addresses).enumerate() {
            let mut moved = None;
            if let Some(Address { base, bytes, must_align, write_back, .. }) = address {
                let of_base = current.get(&base.text).copied().filter(|_| !must_align);
                let joined = of_base.filter(|(number, added)| {
                    let at = added.wrapping_add(base.displacement) as i64;
                    shared[*number].extend(index, at, i64::from(*bytes))
                });
                if joined.is_none() {
                    if !must_align {
                        current.insert(base.text.clone(), (shared.len(), 0));
                    }
                    shared.push(Self::new(index, base.clone(), i64::from(*bytes)));
                }
                let added = write_back.as_ref().and_then(|write_back| write_back.constant);
                if let (Some(added), Some((number, before)), false) =
                    (added, current.get(&base.text), must_align)
                {
                    moved = Some((base.text.clone(), (*number, before.wrapping_add(added))));
                }
            }
            let written = Effects::of(*op).may_write;
            current.retain(|_, (number, _)| !shared[*number].base.needs(written));
            current.extend(moved);
        }
        shared
    }

    fn new(index: usize, base: Base, bytes: i64) -> Self {
        let at = base.displacement as i64;
        Self { members: vec![(index, at)], base, low: at, high: at.wrapping_add(bytes) }
    }

    /// Adds an access if it is near. Returns whether it is.
    fn extend(&mut self, index: usize, at: i64, bytes: i64) -> bool {
        let (low, high) = (self.low.min(at), self.high.max(at.wrapping_add(bytes)));
        let is_near = at.checked_add(bytes).is_some() && low.abs_diff(high) <= SPAN_MAX;
        if is_near {
            self.members.push((index, at));
            (self.low, self.high) = (low, high);
        }
        is_near
    }

    /// Whether the address is known before the instruction number `at`.
    fn is_known(&self, at: usize, ops: &[MicroOp]) -> bool {
        let before = &ops[at..self.members[0].0];
        before.iter().all(|op| !self.base.needs(Effects::of(*op).may_write))
    }

    /// Returns the alignment to check, and what the lowest address has to be modulo that.
    fn alignment(&self, addresses: &[Option<Address>]) -> (u32, u32) {
        let usual = self.members.iter().filter_map(|(index, at)| {
            let address = addresses[*index].as_ref()?;
            let usual = address.usual_alignment(self.members.len() == 1);
            let alignment = if address.must_align { address.bytes } else { usual };
            Some((alignment, self.low.wrapping_sub(*at) as u32 & (alignment - 1)))
        });
        usual.max_by_key(|(alignment, _)| *alignment).unwrap_or((1, 0))
    }

    /// Returns the expression that looks up the place.
    fn look_up(&self, addresses: &[Option<Address>]) -> String {
        let address = format!("{} + {:#x}lu", self.base.text, self.low as u64);
        let accesses = || self.members.iter().filter_map(|(index, _)| addresses[*index].as_ref());
        let needed = match (accesses().any(|of| of.is_load), accesses().any(|of| !of.is_load)) {
            (true, true) => "TLB_READ | TLB_WRITE",
            (true, _) => "TLB_READ",
            _ => "TLB_WRITE",
        };
        let bytes = self.low.abs_diff(self.high);
        let (alignment, remainder) = self.alignment(addresses);
        format!("find_place({address}, {bytes}u, {needed}, {}u, {remainder}u)", alignment - 1)
    }

    /// Returns the places of the accesses.
    fn placed(&self, number: usize, addresses: &[Option<Address>]) -> Vec<(usize, Placed)> {
        let (alignment, remainder) = self.alignment(addresses);
        let of = |(index, at): &(usize, i64)| {
            let distance = at.wrapping_sub(self.low) as u32;
            // The lowest bit that is set in the address, if it is known.
            let known = (distance + remainder) | alignment;
            (*index, Placed { number, distance, alignment: 1 << known.trailing_zeros() })
        };
        self.members.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use kvrm_arm64::Features;
    use kvrm_arm64::lowering::lower;

    use super::*;

    /// Returns the places of the accesses of a block of instructions.
    fn places(words: &[u32]) -> Places {
        let ops: Vec<MicroOp> = words.iter().map(|word| lower(*word, Features::BASE)).collect();
        Places::of(&ops, 0x1000, 7)
    }

    #[test]
    fn accesses_with_the_same_base_share_a_place() {
        // ldr x1, [x0, #8]; str w2, [x0, #4]; ldr x3, [x0], #16; ldr x4, [x0]
        let places = places(&[0xf940_0401, 0xb900_0402, 0xf841_0403, 0xf940_0004]);
        assert_eq!(places.count, 1, "{places:?}");
        let of = |distance| Placed { number: 7, distance, alignment: 8 };
        let expected = [of(8), Placed { alignment: 4, ..of(4) }, of(0), of(16)];
        assert_eq!(places.placed.into_values().collect::<Vec<_>>(), expected);
        let (look_up, is_missing) = &places.look_ups[&0];
        assert_eq!(look_up, "let place_7 = find_place(r0 + 0x0lu, 24u, TLB_READ | TLB_WRITE, 7u, 0u);\n");
        assert_eq!(is_missing, "(place_7.missing) != 0u");
    }

    #[test]
    fn places_are_looked_up_as_early_as_their_bases_are_known() {
        // ldr x1, [x0]; ldr x2, [x5]; ldr x3, [x1]; ldr x1, [x1, #8]; ldr x4, [x1]
        let places = places(&[0xf940_0001, 0xf940_00a2, 0xf940_0023, 0xf940_0421, 0xf940_0024]);
        let look_ups: Vec<(usize, usize)> =
            places.look_ups.iter().map(|(at, (text, _))| (*at, text.lines().count())).collect();
        assert_eq!(look_ups, [(0, 2), (2, 1), (4, 1)], "x0 and x5, x1, and the x1 that was loaded");
    }

    #[test]
    fn an_access_that_must_be_aligned_has_its_own_place() {
        // ldr x1, [x0]; ldar w2, [x0]; ldr w3, [x0, #2047 * 4]
        let places = places(&[0xf940_0001, 0x88df_fc02, 0xb95f_fc03]);
        assert_eq!(places.count, 3, "the last one is far from the first: {places:?}");
        assert_eq!(places.placed[&1].alignment, 4);
    }
}
