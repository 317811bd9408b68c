//! Plain and ordered loads and stores, by mnemonic: size, extension, address, write-back.

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::operand::Operand;
use kvrm_arm64::{Cpu, Encoding, Feature, Word};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

use crate::harness::{random_cpu, set_x, set_x_or_sp, x, x_or_sp};
use crate::numbers::{field, low, signed, signed_field, wrapped};
use crate::operands::extended;
use kvrm_testkit::flat::{BASE, Flat, execute};

const WORDS_OF_EACH: usize = 1000;
const MEMORY_BYTES: u64 = 4096;

/// The properties of a transfer, from its mnemonic and operands.
struct Data {
    is_load: bool,
    /// Bytes in memory of one register.
    bytes: u64,
    is_signed: bool,
    registers: u64,
    /// Bits of a register.
    datasize: u32,
}

impl Data {
    fn of(row: &Encoding) -> Self {
        let name = row.mnemonic;
        let is_wide = row.operands.contains(&Operand::Xt);
        let is_signed = ["sb", "sh", "sw"].iter().any(|end| name.ends_with(end));
        let bytes = match name.chars().last() {
            Some('b') => 1,
            Some('h') => 2,
            Some('w') => 4,
            _ if is_wide => 8,
            _ => 4,
        };
        let registers = if name[2..].starts_with(['p', 'n']) { 2 } else { 1 };
        Self {
            is_load: name.starts_with("ld"),
            bytes,
            is_signed,
            registers,
            datasize: if is_wide { 64 } else { 32 },
        }
    }

    /// Returns a loaded number, extended to the register.
    fn extended(&self, value: u64) -> u64 {
        if self.is_signed { wrapped(signed(value, 8 * self.bytes as u32), self.datasize) } else { value }
    }
}

/// Returns the offsets that are added to the base before the access and after it.
fn displacements(cpu: &Cpu, row: &Encoding, w: u32, data: &Data) -> (i64, i64) {
    let bytes = data.bytes as i64;
    let (imm9, imm7) = (signed_field(w, 20, 12), signed_field(w, 21, 15) * bytes);
    match row.group() {
        "ldst_pos" => (i64::from(field(w, 21, 10)) * bytes, 0),
        "ldst_unscaled" | "ldst_unpriv" => (imm9, 0),
        "ldst_immpre" => (imm9, imm9),
        "ldst_immpost" => (0, imm9),
        "ldst_regoff" => {
            let shift = if field(w, 12, 12) == 1 { data.bytes.ilog2() } else { 0 };
            (extended(x(cpu, field(w, 20, 16), 64), field(w, 15, 13), shift, 64) as i64, 0)
        }
        "ldstpair_off" | "ldstnapair_offs" => (imm7, 0),
        "ldstpair_pre" => (imm7, imm7),
        "ldstpair_post" => (0, imm7),
        "ldstord" => (0, 0),
        group => panic!("how does {group} form addresses?"),
    }
}

/// Returns the bytes of a number, least significant first.
fn bytes(value: u64, count: u64) -> Vec<u8> {
    (0..count).map(|i| (value >> (8 * i)) as u8).collect()
}

/// Changes `cpu` and `memory` as the instruction does, with the data at `address`, except for the base register.
fn transfer(cpu: &mut Cpu, memory: &mut [u8], w: u32, data: &Data, address: u64) {
    let registers = [field(w, 4, 0), field(w, 14, 10)];
    let mut loaded = Vec::new();
    for (i, register) in (0..data.registers).zip(registers) {
        let at = (address - BASE + i * data.bytes) as usize;
        let bytes_of = &mut memory[at..at + data.bytes as usize];
        if data.is_load {
            let value = bytes_of.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
            loaded.push((register, data.extended(value)));
        } else {
            bytes_of.copy_from_slice(&bytes(x(cpu, register, 64), data.bytes));
        }
    }
    // If both registers are the same, the first value wins, as described in docs/isa.md.
    for (register, value) in loaded.into_iter().rev() {
        set_x(cpu, register, value);
    }
}

fn filled(random: &mut Random) -> Flat {
    let mut memory = Flat::new(&[], MEMORY_BYTES as usize);
    memory.bytes.fill_with(|| random.bits() as u8);
    memory
}

#[test]
fn loads_and_stores_transfer_the_bytes_that_their_names_say() {
    let mut random = Random::new(1);
    let is_transfer = |row: &&Encoding| {
        let groups = ["ldst_", "ldstpair_", "ldstnapair_", "ldstord"];
        let is_general = row.feature == Feature::Base && !row.mnemonic.starts_with("prf");
        is_general && groups.iter().any(|group| row.group().starts_with(group))
    };
    let rows: Vec<&Encoding> = ENCODINGS.iter().filter(is_transfer).collect();
    assert!(rows.len() >= 90, "only {} rows", rows.len());
    let memory = filled(&mut random);
    for row in rows {
        let data = Data::of(row);
        let mut inside = 0;
        for _ in 0..WORDS_OF_EACH {
            let w = words::allocated(row, &mut random);
            let mut before = random_cpu(&mut random);
            if random.below(2) == 0 {
                // A random index is hardly ever small enough.
                set_x(&mut before, field(w, 20, 16), random.below(64).wrapping_sub(32));
            }
            let size = data.registers * data.bytes;
            let target = BASE + random.below(MEMORY_BYTES / size) * size;
            let is_ordered = row.group() == "ldstord";
            let target = if is_ordered { target } else { target + random.below(8) };
            let base = field(w, 9, 5);
            let (offset, _) = displacements(&before, row, w, &data);
            set_x_or_sp(&mut before, base, target.wrapping_add_signed(offset.wrapping_neg()));
            // The base may be the index register too, so the address is computed again.
            let (offset, write_back) = displacements(&before, row, w, &data);
            let address = x_or_sp(&before, base, 64).wrapping_add_signed(offset);
            if address < BASE || address > BASE + MEMORY_BYTES - size {
                continue;
            }
            inside += 1;

            let (mut expected, mut expected_memory) = (before.clone(), memory.clone());
            transfer(&mut expected, &mut expected_memory.bytes, w, &data, address);
            if write_back != 0 || row.group().ends_with("pre") || row.group().ends_with("post") {
                let value = x_or_sp(&before, base, 64).wrapping_add_signed(write_back);
                set_x_or_sp(&mut expected, base, value);
            }
            expected.pc = expected.pc.wrapping_add(4);

            let (mut after, mut after_memory) = (before.clone(), memory.clone());
            let result = execute(&mut after, &mut after_memory, row.op, Word(w));
            assert_eq!(result, Ok(()), "{} {w:#010x} at {address:#x}", row.name);
            assert_eq!(after, expected, "{} {w:#010x} at {address:#x} after {before:?}", row.name);
            assert!(after_memory == expected_memory, "memory after {} {w:#010x} at {address:#x}", row.name);
        }
        assert!(inside > WORDS_OF_EACH / 3, "only {inside} accesses of {} were inside memory", row.name);
    }
}

#[test]
fn a_literal_is_loaded_from_its_distance_to_the_pc() {
    let mut random = Random::new(2);
    let memory = filled(&mut random);
    let is_general = |row: &&Encoding| row.feature == Feature::Base && row.mnemonic != "prfm";
    let rows = || ENCODINGS.iter().filter(|row| row.group() == "loadlit").filter(is_general);
    assert_eq!(rows().count(), 3, "LDR of both sizes and LDRSW");
    for row in rows() {
        let data = Data::of(row);
        for _ in 0..WORDS_OF_EACH {
            let w = words::allocated(row, &mut random);
            let target = BASE + 4 * random.below(MEMORY_BYTES / 4 - 1);
            let mut before = random_cpu(&mut random);
            before.pc = target.wrapping_add_signed(-4 * signed_field(w, 23, 5));
            let mut expected = before.clone();
            transfer(&mut expected, &mut memory.bytes.clone(), w, &data, target);
            expected.pc = expected.pc.wrapping_add(4);
            let mut after = before.clone();
            let result = execute(&mut after, &mut memory.clone(), row.op, Word(w));
            assert_eq!(result, Ok(()), "{} {w:#010x}", row.name);
            assert_eq!(after, expected, "{} {w:#010x} after {before:?}", row.name);
        }
    }
}

#[test]
fn small_loads_overwrite_the_whole_register() {
    let mut memory = Flat::new(&[], 64);
    memory.bytes.fill(0x80);
    let is_general = |row: &&Encoding| row.feature == Feature::Base && row.mnemonic.starts_with("ldur");
    for row in ENCODINGS.iter().filter(|row| row.group() == "ldst_unscaled").filter(is_general) {
        let mut cpu = memory.cpu();
        cpu.set_x(0, 0x1122_3344_5566_7788);
        cpu.set_x(1, BASE);
        // Rt 0, Rn 1, offset 0.
        let result = execute(&mut cpu, &mut memory, row.op, Word(row.pattern.value | 1 << 5));
        assert_eq!(result, Ok(()), "{}", row.name);
        let data = Data::of(row);
        let value = low(0x8080_8080_8080_8080, 8 * data.bytes as u32);
        assert_eq!(cpu.x(0), data.extended(value), "{} of bytes 0x80", row.name);
    }
}
