//! Pointer authentication: the operation, key and modifier that each mnemonic names.
//!
//! What the operations compute is compared with QEMU by the vectors of `kvrm-machine`.

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::semantics::pauth::{add_pac, auth, key, strip};
use kvrm_arm64::semantics::qarma::compute_pac;
use kvrm_arm64::{Access, Cpu, Fault, FaultKind, Stop, Word};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

use crate::harness::{check, random_cpu, set_x, set_x_or_sp, x, x_or_sp};
use crate::numbers::{field, signed_field};
use kvrm_testkit::flat::{BASE, Flat, execute};

/// The keys as mnemonics name them, and their numbers.
const KEYS: [(&str, u32); 4] = [("ia", 0), ("ib", 1), ("da", 2), ("db", 3)];
/// The lowest bit of `Cpu::keys` that disables a key.
const DISABLED: u32 = 30;

/// Returns the signed or authenticated pointer.
fn operated(operation: &str, name: &str, pointer: u64, modifier: u64, cpu: &Cpu) -> Option<u64> {
    let (_, number) = KEYS.into_iter().find(|(key, _)| *key == name)?;
    if cpu.keys >> (DISABLED + number) & 1 == 1 {
        return Some(pointer);
    }
    let value = key(cpu.keys, number);
    match operation {
        "pac" => Some(add_pac(pointer, modifier, value)),
        "aut" => Some(auth(pointer, modifier, value, number)),
        _ => None,
    }
}

/// Returns the result of an instruction with one source, if it is one of pointer authentication.
pub(crate) fn result(mnemonic: &str, cpu: &Cpu, w: u32) -> Option<u64> {
    let pointer = x(cpu, field(w, 4, 0), 64);
    if let "xpaci" | "xpacd" = mnemonic {
        return Some(strip(pointer));
    }
    let (operation, name) = mnemonic.split_at_checked(3)?;
    // PACIZA is PACIA with a modifier of zero.
    match name.as_bytes() {
        [kind, b'z', letter] => operated(operation, str::from_utf8(&[*kind, *letter]).ok()?, pointer, 0, cpu),
        _ => operated(operation, name, pointer, x_or_sp(cpu, field(w, 9, 5), 64), cpu),
    }
}

/// Returns the result of PACGA.
pub(crate) fn generic(cpu: &Cpu, w: u32) -> u64 {
    let (number, modifier) = (x(cpu, field(w, 9, 5), 64), x_or_sp(cpu, field(w, 20, 16), 64));
    compute_pac(number, modifier, key(cpu.keys, 4)) >> 32 << 32
}

/// Returns the target of a branch, if it authenticates the address.
pub(crate) fn target(mnemonic: &str, cpu: &Cpu, w: u32) -> Option<u64> {
    let (rest, has_modifier) = match mnemonic.strip_suffix('z') {
        Some(rest) => (rest, false),
        None => (mnemonic, true),
    };
    let (form, letter) = rest.split_at_checked(rest.len() - 1)?;
    let key = match letter {
        "a" => "ia",
        "b" => "ib",
        _ => return None,
    };
    let (pointer, modifier) = match form {
        "reta" => (x(cpu, 30, 64), cpu.sp),
        "bra" | "blra" => (x(cpu, field(w, 9, 5), 64), x_or_sp(cpu, field(w, 4, 0), 64)),
        _ => return None,
    };
    operated("aut", key, pointer, if has_modifier { modifier } else { 0 }, cpu)
}

#[test]
fn hints_change_the_link_register_or_x17_as_their_names_say() {
    check(&["hints"], |cpu, row, _| {
        let Some((operation, rest)) = row.mnemonic.split_at_checked(3) else { return };
        let (register, key, modifier) = match rest {
            "clri" => return cpu.set_x(30, strip(x(cpu, 30, 64))),
            _ if rest.ends_with("1716") => (17, &rest[..2], x(cpu, 16, 64)),
            _ if rest.ends_with("sp") => (30, &rest[..2], cpu.sp),
            _ if rest.ends_with('z') => (30, &rest[..2], 0),
            _ => return,
        };
        if let Some(pointer) = operated(operation, key, x(cpu, register, 64), modifier, cpu) {
            cpu.set_x(register, pointer);
        }
    });
}

#[test]
fn loads_authenticate_their_base_and_add_the_offset() {
    const BYTES: usize = 0x2010;
    let mut random = Random::new(5);
    let (mut loaded, mut faults) = (0, 0);
    for row in ENCODINGS.iter().filter(|row| row.group() == "ldst_pac") {
        for _ in 0..2000 {
            let word = words::allocated(row, &mut random);
            let (n, t) = (field(word, 9, 5), field(word, 4, 0));
            let mut memory = Flat::new(&[], BYTES);
            memory.bytes.fill_with(|| random.bits() as u8);
            let mut cpu = random_cpu(&mut random);
            let name = if row.mnemonic == "ldraa" { "da" } else { "db" };
            let number = if name == "da" { 2 } else { 3 };
            let mut base = BASE + 0x1000;
            if random.below(4) != 0 && cpu.keys >> (DISABLED + number) & 1 == 0 {
                base = add_pac(base, 0, key(cpu.keys, number));
            }
            set_x_or_sp(&mut cpu, n, base);
            let offset = 8 * (signed_field(word, 22, 22) * 512 + i64::from(field(word, 20, 12)));
            let authenticated = operated("aut", name, base, 0, &cpu).expect("a known key");
            let address = authenticated.wrapping_add_signed(offset);
            let mut expected = cpu.clone();
            let result = execute(&mut cpu, &mut memory, row.op, Word(word));
            if address.wrapping_sub(BASE) >= BYTES as u64 {
                let fault = Fault { kind: FaultKind::Translation, access: Access::Read, address };
                assert_eq!(result, Err(Stop::from(fault)), "{} {word:#010x}", row.name);
                faults += 1;
                continue;
            }
            let at = (address - BASE) as usize;
            let value =
                memory.bytes[at..at + 8].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
            expected.pc = cpu.pc;
            set_x(&mut expected, t, value);
            if row.name.contains("64W") {
                set_x_or_sp(&mut expected, n, address);
            }
            assert_eq!((result, &cpu), (Ok(()), &expected), "{} {word:#010x}", row.name);
            loaded += 1;
        }
    }
    assert!(loaded > 4000 && faults > 200, "{loaded} loads, {faults} faults");
}
