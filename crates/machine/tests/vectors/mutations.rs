//! Tests that a vector with a changed expectation fails and names exactly the changed state.

use std::collections::BTreeMap;

use kvrm_machine::vectors::{Bytes, Hex, Number, StopName, Vector};
use proptest::prelude::*;

use crate::support::{MANUAL, UNICORN};

/// A change to the expected state of a vector.
#[derive(Clone, Copy, Debug)]
enum Mutation {
    X(u32, u32),
    V(u32, u32),
    Sp(u32),
    Pc(u32),
    Nzcv(u32),
    Fpcr(u32),
    Fpsr(u32),
    Tpidr(u32),
    Stop(StopName),
    /// Flips a bit of a byte that the vector maps.
    Memory(prop::sample::Index, u32),
}

const STOPS: [StopName; 7] = [
    StopName::Exit,
    StopName::Halt,
    StopName::Breakpoint,
    StopName::Syscall,
    StopName::Undefined,
    StopName::Fault,
    StopName::Budget,
];

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        (0..31u32, 0..64u32).prop_map(|(n, bit)| Mutation::X(n, bit)),
        (0..32u32, 0..128u32).prop_map(|(n, bit)| Mutation::V(n, bit)),
        (0..64u32).prop_map(Mutation::Sp),
        (0..64u32).prop_map(Mutation::Pc),
        (0..4u32).prop_map(Mutation::Nzcv),
        (0..32u32).prop_map(Mutation::Fpcr),
        (0..32u32).prop_map(Mutation::Fpsr),
        (0..64u32).prop_map(Mutation::Tpidr),
        prop::sample::select(&STOPS[..]).prop_map(Mutation::Stop),
        (any::<prop::sample::Index>(), 0..8u32).prop_map(|(index, bit)| Mutation::Memory(index, bit)),
    ]
}

/// Returns the memory that a vector names: that before the run, overlaid with the expected memory.
fn memory(vector: &Vector) -> BTreeMap<u64, u8> {
    let mut bytes = BTreeMap::new();
    for segment in vector.segments() {
        bytes.extend(segment.range().map(|address| (address, 0)));
    }
    for segment in vector.segments() {
        bytes.extend((segment.address..).zip(segment.data));
    }
    for Bytes { at, bytes: expected } in &vector.expected.mem {
        bytes.extend((at.0..).zip(expected.iter().copied()));
    }
    bytes
}

/// Changes the expected state. Returns the name of the difference to expect, or `None` if nothing has changed.
fn apply(vector: &mut Vector, mutation: Mutation) -> Option<String> {
    let before = vector.cpu();
    let memory = memory(vector);
    let expected = &mut vector.expected;
    Some(match mutation {
        Mutation::X(n, bit) => {
            let value = expected.x.entry(Number(n)).or_insert(Hex(before.x(n)));
            value.0 ^= 1 << bit;
            format!("x{n}")
        }
        Mutation::V(n, bit) => {
            let value = expected.v.entry(Number(n)).or_insert(Hex(before.v[n as usize]));
            value.0 ^= 1 << bit;
            format!("v{n}")
        }
        Mutation::Sp(bit) => {
            expected.sp.get_or_insert(Hex(before.sp)).0 ^= 1 << bit;
            "sp".to_owned()
        }
        Mutation::Pc(bit) => {
            expected.pc.as_mut()?.0 ^= 1 << bit;
            "pc".to_owned()
        }
        Mutation::Nzcv(bit) => {
            expected.nzcv.get_or_insert(Hex(before.nzcv)).0 ^= 1 << bit;
            "nzcv".to_owned()
        }
        Mutation::Fpcr(bit) => {
            expected.fpcr.get_or_insert(Hex(before.fpcr)).0 ^= 1 << bit;
            "fpcr".to_owned()
        }
        Mutation::Fpsr(bit) => {
            expected.fpsr.get_or_insert(Hex(before.fpsr)).0 ^= 1 << bit;
            "fpsr".to_owned()
        }
        Mutation::Tpidr(bit) => {
            expected.tpidr_el0.get_or_insert(Hex(before.tpidr_el0)).0 ^= 1 << bit;
            "tpidr_el0".to_owned()
        }
        Mutation::Stop(stop) => {
            if expected.stop.replace(stop)? == stop {
                return None;
            }
            "stop".to_owned()
        }
        Mutation::Memory(index, bit) => {
            let (&address, &byte) = memory.iter().nth(index.index(memory.len()))?;
            expected.mem.push(Bytes { at: Hex(address), bytes: vec![byte ^ 1 << bit] });
            format!("memory at {address:#x}")
        }
    })
}

/// Returns the address of a difference in memory, which is that of a row of up to sixteen bytes.
fn address(what: &str) -> Option<u64> {
    u64::from_str_radix(what.strip_prefix("memory at 0x")?, 16).ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_vector_with_a_changed_expectation_fails_and_names_it(
        index in any::<prop::sample::Index>(),
        manual in any::<bool>(),
        mutation in mutation(),
        exact in any::<bool>(),
    ) {
        let corpus: &[Vector] = if manual { &MANUAL } else { &UNICORN };
        let mut vector = corpus[index.index(corpus.len())].clone();
        let named = apply(&mut vector, mutation);
        // Named state is compared whether or not the vector is exact.
        vector.exact = exact;
        let differences = vector.run();
        let Some(named) = named else {
            prop_assert_eq!(differences, []);
            return Ok(());
        };
        prop_assert_eq!(differences.len(), 1, "{}", vector.describe(&differences));
        let what = &differences[0].what;
        if let Some(changed) = address(&named) {
            let shows = |from| (from..from + 16).contains(&changed);
            prop_assert!(address(what).is_some_and(shows), "{what} for {named}");
        } else {
            prop_assert_eq!(what, &named);
        }
        prop_assert_ne!(&differences[0].expected, &differences[0].got);
        let text = vector.describe(&differences);
        prop_assert!(text.contains(&differences[0].what), "{text}");
    }
}
