//! Exclusive loads and stores, and the monitor.

use kvrm_arm64::{Cpu, Monitor};
use kvrm_testkit::random::Random;

use crate::rows::AccessRow;
use crate::{random_cpu, step_word};
use kvrm_testkit::flat::{BASE, Flat};

const DATA: u64 = BASE + 64;
const NEW: u64 = 0x0123_4567_89ab_cdef;

/// `clrex #0`
const CLREX: u32 = 0xd503_305f;
/// `str x1, [x3]`
const STR_X1_X3: u32 = 0xf900_0061;

fn exclusives(prefix: &str) -> Vec<AccessRow> {
    let all = AccessRow::all().into_iter();
    let rows: Vec<AccessRow> =
        all.filter(|access| access.is_exclusive() && access.row.mnemonic.starts_with(prefix)).collect();
    assert_eq!(rows.len(), 12, "five sizes, one of them twice, ordered or not");
    rows
}

/// Returns all pairs of an exclusive load and an exclusive store with the same number of bytes and registers.
fn matching_pairs() -> impl Iterator<Item = (AccessRow, AccessRow)> {
    exclusives("ld").into_iter().flat_map(|load| {
        let same =
            move |store: &AccessRow| store.bytes == load.bytes && store.row.group() == load.row.group();
        exclusives("st").into_iter().filter(same).map(move |store| (load, store))
    })
}

/// A machine whose X3 points at data. X1 and X2 hold the values to store.
struct Machine {
    cpu: Cpu,
    memory: Flat,
}

impl Machine {
    fn new() -> Self {
        let mut random = Random::new(1);
        let mut memory = Flat::new(&[], 128);
        memory.bytes.fill_with(|| random.bits() as u8);
        let mut cpu = random_cpu(&mut random);
        cpu.set_x(1, NEW);
        cpu.set_x(2, !NEW);
        cpu.set_x(3, DATA);
        Self { cpu, memory }
    }

    fn step(&mut self, word: u32) {
        self.cpu.pc = BASE;
        assert_eq!(step_word(&mut self.cpu, &mut self.memory, word), Ok(()), "{word:#010x}");
    }

    /// Loads into X10 and X11.
    fn load(&mut self, access: AccessRow) {
        self.step(access.word(10, 11, 3, 0));
    }

    /// Stores X1 and X2, and checks monitor, status register and memory. Returns whether the store succeeded.
    fn store(&mut self, access: AccessRow) -> bool {
        let before = self.memory.bytes[64..].to_vec();
        self.cpu.set_x(12, u64::MAX);
        self.step(access.word(1, 2, 3, 12));
        assert_eq!(self.cpu.monitor, None, "{} clears the monitor", access.row.name);
        let at = (self.cpu.x(3) - DATA) as usize;
        let mut stored = before.clone();
        let half = if access.row.group() == "ldstexclp" { access.bytes / 2 } else { access.bytes } as usize;
        stored[at..at + half].copy_from_slice(&NEW.to_le_bytes()[..half]);
        if access.row.group() == "ldstexclp" {
            stored[at + half..at + 2 * half].copy_from_slice(&(!NEW).to_le_bytes()[..half]);
        }
        let status = self.cpu.x(12);
        assert!(status < 2, "{} has status {status}", access.row.name);
        let expected = if status == 0 { stored } else { before };
        assert!(self.memory.bytes[64..] == expected, "memory after {}, status {status}", access.row.name);
        status == 0
    }
}

#[test]
fn a_store_after_a_load_of_the_same_place_succeeds_once() {
    for (load, store) in matching_pairs() {
        let mut machine = Machine::new();
        machine.load(load);
        let monitor = Monitor { address: DATA, bytes: load.bytes as u32 };
        assert_eq!(machine.cpu.monitor, Some(monitor), "monitor after {}", load.row.name);
        assert!(machine.store(store), "{} after {}", store.row.name, load.row.name);
        assert!(!machine.store(store), "{} for the second time", store.row.name);
    }
}

#[test]
fn a_store_without_a_load_fails() {
    for store in exclusives("st") {
        assert!(!Machine::new().store(store), "{} without a load", store.row.name);
    }
}

#[test]
fn a_store_after_clrex_fails() {
    for (load, store) in matching_pairs() {
        for option in 0..16 {
            let mut machine = Machine::new();
            machine.load(load);
            machine.step(CLREX | option << 8);
            assert!(!machine.store(store), "{} after clrex #{option}", store.row.name);
        }
    }
}

#[test]
fn a_store_to_another_address_fails_and_clears_the_monitor() {
    for (load, store) in matching_pairs() {
        let mut machine = Machine::new();
        machine.load(load);
        machine.cpu.set_x(3, DATA + load.bytes);
        assert!(!machine.store(store), "{} to another address than {}", store.row.name, load.row.name);
        machine.cpu.set_x(3, DATA);
        assert!(!machine.store(store), "{} after one that failed", store.row.name);
    }
}

#[test]
fn a_store_succeeds_if_its_total_size_is_that_of_the_load() {
    for load in exclusives("ld") {
        for store in exclusives("st") {
            let mut machine = Machine::new();
            machine.load(load);
            let succeeds = machine.store(store);
            // A pair of words is as large as a doubleword.
            assert_eq!(succeeds, load.bytes == store.bytes, "{} after {}", store.row.name, load.row.name);
        }
    }
}

#[test]
fn a_load_replaces_the_monitor_of_an_earlier_load() {
    for (load, store) in matching_pairs() {
        let mut machine = Machine::new();
        machine.load(load);
        machine.cpu.set_x(3, DATA + load.bytes);
        machine.load(load);
        machine.cpu.set_x(3, DATA);
        assert!(!machine.store(store), "{} to the first of two places", store.row.name);
    }
}

#[test]
fn plain_stores_do_not_clear_the_monitor() {
    for (load, store) in matching_pairs() {
        let mut machine = Machine::new();
        machine.load(load);
        machine.step(STR_X1_X3);
        assert!(machine.store(store), "{} after a plain store", store.row.name);
    }
}

#[test]
fn a_store_that_the_monitor_refuses_does_not_access_memory() {
    for store in exclusives("st") {
        let mut machine = Machine::new();
        machine.cpu.set_x(3, 0);
        let (word, before) = (store.word(1, 2, 3, 12), machine.memory.bytes[4..].to_vec());
        machine.step(word);
        assert_eq!(machine.cpu.x(12), 1, "{} to unmapped memory", store.row.name);
        assert!(machine.memory.bytes[4..] == before, "memory after {}", store.row.name);
    }
}
