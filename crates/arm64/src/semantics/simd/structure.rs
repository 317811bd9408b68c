//! LD1 to LD4 and ST1 to ST4: loads and stores of structures. Each member of a structure is in a separate register.
//!
//! All bytes of an instruction are one access, so a fault changes neither registers nor memory.

use super::vector::{elem, set_v, v};
use crate::semantics::bitmask::ones;
use crate::semantics::load_store::{OFFSET, POST_INDEX};
use crate::view::TS;
use crate::{Cpu, Memory, Stop, Word};

/// `MODE`: base; a register is added to the base register afterwards.
pub const POST_REGISTER: u32 = 5;

/// The largest size of an access in bytes: four registers.
const BYTES_MAX: usize = 64;

/// Evaluates an expression in which the constant `$n` is the number of bytes.
macro_rules! with_bytes { ($bytes:expr, |$n:ident| $body:expr, $($number:literal)*) => {
    match $bytes {
        $($number => { const $n: usize = $number; $body })*
        bytes => unreachable!("no access to structures has {bytes} bytes"),
    }
} }

/// Reads `bytes` bytes.
fn read(memory: &mut impl Memory, address: u64, bytes: usize) -> Result<[u8; BYTES_MAX], Stop> {
    let mut all = [0; BYTES_MAX];
    with_bytes!(bytes, |N| all[..N].copy_from_slice(&memory.read::<N>(address)?), 1 2 3 4 6 8 12 16 24 32 48 64);
    Ok(all)
}

/// Writes the first `bytes` bytes of `all`.
fn write(memory: &mut impl Memory, address: u64, all: &[u8; BYTES_MAX], bytes: usize) -> Result<(), Stop> {
    with_bytes!(bytes, |N| {
        let mut some = [0; N];
        some.copy_from_slice(&all[..N]);
        memory.write(address, some)
    }, 1 2 3 4 6 8 12 16 24 32 48 64)
}

/// Returns the element of `ebytes` bytes at offset `at`.
fn member(all: &[u8; BYTES_MAX], at: usize, ebytes: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes[..ebytes].copy_from_slice(&all[at..at + ebytes]);
    u64::from_le_bytes(bytes)
}

/// Writes the base register back after an access to `bytes` bytes.
fn finish<const MODE: u32>(cpu: &mut Cpu, w: Word, bytes: usize) {
    let offset = match MODE {
        OFFSET => return,
        POST_INDEX => bytes as u64,
        _ => cpu.x(w.rm()),
    };
    cpu.set_x_or_sp(w.rn(), cpu.x_or_sp(w.rn()).wrapping_add(offset));
}

/// Replaces an element of a register.
fn set_elem(cpu: &mut Cpu, register: u32, index: u32, esize: u32, value: u64) {
    let at = index * esize;
    let kept = v(cpu, register) & !(u128::from(ones(esize)) << at);
    set_v(cpu, register, kept | u128::from(value) << at);
}

/// Calls a function for each element of an access to whole registers: with its offset in memory, its register, and its
/// index in the register.
fn each_element(w: Word, registers: u32, members: u32, mut element: impl FnMut(usize, u32, u32)) {
    let (lanes, ebytes) = (TS.lanes(w), 1 << TS.size(w));
    let mut offset = 0;
    // In LD1 and ST1, structures have one member, and registers follow each other in memory.
    for register in 0..registers / members {
        for index in 0..lanes {
            for member in 0..members {
                element(offset, w.rt() + register + member, index);
                offset += ebytes;
            }
        }
    }
}

// The following functions have parameters instead of const parameters and are not inlined, because compiling them for
// each of the many instructions takes long. They return the number of bytes they accessed.

/// Loads whole registers from structures.
#[inline(never)]
fn load_all(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
    registers: u32,
    members: u32,
) -> Result<usize, Stop> {
    let bytes = (registers * TS.bytes(w)) as usize;
    let all = read(memory, cpu.x_or_sp(w.rn()), bytes)?;
    for register in 0..registers {
        set_v(cpu, w.rt() + register, 0);
    }
    let ebytes = 1 << TS.size(w);
    each_element(w, registers, members, |offset, register, index| {
        set_elem(cpu, register, index, 8 * ebytes as u32, member(&all, offset, ebytes));
    });
    Ok(bytes)
}

/// Stores whole registers as structures.
#[inline(never)]
fn store_all(
    cpu: &Cpu,
    memory: &mut impl Memory,
    w: Word,
    registers: u32,
    members: u32,
) -> Result<usize, Stop> {
    let bytes = (registers * TS.bytes(w)) as usize;
    let mut all = [0; BYTES_MAX];
    let ebytes = 1 << TS.size(w);
    each_element(w, registers, members, |offset, register, index| {
        let value = elem(v(cpu, register), index, 8 * ebytes as u32);
        all[offset..offset + ebytes].copy_from_slice(&value.to_le_bytes()[..ebytes]);
    });
    write(memory, cpu.x_or_sp(w.rn()), &all, bytes)?;
    Ok(bytes)
}

/// Returns the index of the element that an access to a single structure transfers.
const fn lane(w: Word, ebytes: usize) -> u32 {
    crate::operand::vt_index(ebytes.trailing_zeros(), w)
}

/// Loads a single structure to one element of each register.
#[inline(never)]
fn load_one(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
    members: u32,
    ebytes: usize,
) -> Result<usize, Stop> {
    let bytes = members as usize * ebytes;
    let all = read(memory, cpu.x_or_sp(w.rn()), bytes)?;
    for n in 0..members {
        let value = member(&all, n as usize * ebytes, ebytes);
        set_elem(cpu, w.rt() + n, lane(w, ebytes), 8 * ebytes as u32, value);
    }
    Ok(bytes)
}

/// Stores one element of each register as a single structure.
#[inline(never)]
fn store_one(
    cpu: &Cpu,
    memory: &mut impl Memory,
    w: Word,
    members: u32,
    ebytes: usize,
) -> Result<usize, Stop> {
    let bytes = members as usize * ebytes;
    let mut all = [0; BYTES_MAX];
    for n in 0..members {
        let value = elem(v(cpu, w.rt() + n), lane(w, ebytes), 8 * ebytes as u32);
        all[n as usize * ebytes..][..ebytes].copy_from_slice(&value.to_le_bytes()[..ebytes]);
    }
    write(memory, cpu.x_or_sp(w.rn()), &all, bytes)?;
    Ok(bytes)
}

/// Loads a single structure to all elements of each register.
#[inline(never)]
fn load_copies(cpu: &mut Cpu, memory: &mut impl Memory, w: Word, members: u32) -> Result<usize, Stop> {
    let ebytes = 1 << TS.size(w);
    let bytes = members as usize * ebytes;
    let all = read(memory, cpu.x_or_sp(w.rn()), bytes)?;
    for n in 0..members {
        let value = member(&all, n as usize * ebytes, ebytes);
        let vector = super::vector::collect(8 * ebytes as u32, TS.lanes(w), |_| value);
        set_v(cpu, w.rt() + n, vector);
    }
    Ok(bytes)
}

/// LD1 to LD4 (multiple structures).
pub fn load_multiple<const REGISTERS: u32, const MEMBERS: u32, const MODE: u32>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let bytes = load_all(cpu, memory, w, REGISTERS, MEMBERS)?;
    finish::<MODE>(cpu, w, bytes);
    Ok(())
}

/// ST1 to ST4 (multiple structures).
pub fn store_multiple<const REGISTERS: u32, const MEMBERS: u32, const MODE: u32>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let bytes = store_all(cpu, memory, w, REGISTERS, MEMBERS)?;
    finish::<MODE>(cpu, w, bytes);
    Ok(())
}

/// LD1 to LD4 (single structure).
pub fn load_lane<const MEMBERS: u32, const EBYTES: usize, const MODE: u32>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let bytes = load_one(cpu, memory, w, MEMBERS, EBYTES)?;
    finish::<MODE>(cpu, w, bytes);
    Ok(())
}

/// ST1 to ST4 (single structure).
pub fn store_lane<const MEMBERS: u32, const EBYTES: usize, const MODE: u32>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let bytes = store_one(cpu, memory, w, MEMBERS, EBYTES)?;
    finish::<MODE>(cpu, w, bytes);
    Ok(())
}

/// LD1R to LD4R: load each member to all elements of its register.
pub fn load_replicate<const MEMBERS: u32, const MODE: u32>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let bytes = load_copies(cpu, memory, w, MEMBERS)?;
    finish::<MODE>(cpu, w, bytes);
    Ok(())
}
