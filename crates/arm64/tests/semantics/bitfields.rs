//! Bit fields, compared bit by bit with their definition: source and target of the field.

use kvrm_arm64::semantics::bitfield::{bfm, sbfm, ubfm};
use kvrm_arm64::{Cpu, Word};
use kvrm_testkit::random::Random;

use crate::harness::{check, datasize, set_x, x};
use crate::numbers::{bit, field, from_bits, low, random_number};

/// Returns the result of moving a field. The functions return the bits of the field, above it, and below it.
fn move_field(
    [immr, imms]: [u32; 2],
    datasize: u32,
    from_field: impl Fn(u32) -> bool,
    above: impl Fn(u32, u32) -> bool,
    below: impl Fn(u32) -> bool,
) -> u64 {
    // With imms at or above immr the field [immr, imms] is moved down to bit 0; else [0, imms] is moved up.
    let (first, last, target) = if imms >= immr { (immr, imms, 0) } else { (0, imms, datasize - immr) };
    from_bits(datasize, |i| {
        if i < target {
            below(i)
        } else if i - target <= last - first {
            from_field(first + i - target)
        } else {
            above(i, last)
        }
    })
}

fn result(mnemonic: &str, source: u64, destination: u64, w: u32, datasize: u32) -> u64 {
    let (immr, imms) = (field(w, 21, 16), field(w, 15, 10));
    let from_field = |i| bit(source, i);
    match mnemonic {
        "ubfm" => move_field([immr, imms], datasize, from_field, |_, _| false, |_| false),
        "sbfm" => move_field([immr, imms], datasize, from_field, |_, last| bit(source, last), |_| false),
        "bfm" => move_field(
            [immr, imms],
            datasize,
            from_field,
            |i, _| bit(destination, i),
            |i| bit(destination, i),
        ),
        _ => panic!("the test has no result for {mnemonic}"),
    }
}

#[test]
fn random_bit_fields_are_moved_whole() {
    check(&["bitfield"], |cpu, row, w| {
        let size = datasize(w);
        let (rd, rn) = (field(w, 4, 0), field(w, 9, 5));
        let value = result(row.mnemonic, x(cpu, rn, size), x(cpu, rd, size), w, size);
        set_x(cpu, rd, value);
    });
}

#[test]
fn all_bit_fields_are_moved_whole() {
    type Row = (&'static str, u32, fn(&mut Cpu, Word));
    let rows: [Row; 6] = [
        ("ubfm", 32, ubfm::<32>),
        ("ubfm", 64, ubfm::<64>),
        ("sbfm", 32, sbfm::<32>),
        ("sbfm", 64, sbfm::<64>),
        ("bfm", 32, bfm::<32>),
        ("bfm", 64, bfm::<64>),
    ];
    let mut random = Random::new(1);
    for (mnemonic, size, operation) in rows {
        for (immr, imms) in (0..size).flat_map(|immr| (0..size).map(move |imms| (immr, imms))) {
            // X0 from X1.
            let w = 1 << 5 | immr << 16 | imms << 10;
            let mut cpu = Cpu::default();
            let (destination, source) = (random_number(&mut random), random_number(&mut random));
            cpu.set_x(0, destination);
            cpu.set_x(1, source);
            operation(&mut cpu, Word(w));
            let expected = result(mnemonic, source, destination, w, size);
            assert_eq!(cpu.x(0), expected, "{mnemonic} of {size} bits, {immr}, {imms}, of {source:#x}");
        }
    }
}

#[test]
fn an_extract_is_a_window_of_two_registers() {
    check(&["extract"], |cpu, row, w| {
        let size = datasize(w);
        assert_eq!(row.mnemonic, "extr", "the only one");
        let (high, lower) = (x(cpu, field(w, 9, 5), size), x(cpu, field(w, 20, 16), size));
        let lsb = field(w, 15, 10);
        let value =
            from_bits(size, |i| if i + lsb < size { bit(lower, i + lsb) } else { bit(high, i + lsb - size) });
        set_x(cpu, field(w, 4, 0), low(value, size));
    });
}
