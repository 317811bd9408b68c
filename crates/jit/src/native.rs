//! The boundary to translated code: the only module of this crate with `unsafe`.
//!
//! Translated code accesses nothing but what [`enter`] gives it: the registers and the memory of a lane, a [`Context`],
//! and a [`Table`]. All of them are borrowed for the whole call. The pointers are made from these borrows, so they are
//! valid as long as the code runs, and nothing else uses what they point to: the code runs on the thread of the call,
//! and helpers run only while the code waits for them. The table is shared, but its slots are atomic.
//!
//! Within the memory of a lane, the code reads the TLB, and accesses the frames of its entries. The address space
//! guarantees that the frame of an entry is alive, and that it is a private page of the lane if the entry is for stores.
//! Entries change only in helpers.
//!
//! Code comes only from the compiler of this crate, which keeps it until it is dropped ([`Code`]). Whoever has a table
//! keeps the compiler.
#![allow(unsafe_code, reason = "calls of generated code, and helpers that it calls")]

use std::collections::HashMap;
use std::fmt;
use std::ptr::{from_mut, from_ref};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cranelift_jit::JITModule;
use kvrm_arm64::{Cpu, Memory, Stop};
use kvrm_machine::{AddressSpace, Interpreter};

use crate::context::{BUFFER_BYTES, Context, Entry, FLAGS_PACKED, Site};

/// A module of generated code, which is freed when it is dropped.
pub(crate) struct Code(Option<JITModule>);

impl Code {
    pub(crate) const fn new(module: JITModule) -> Self {
        Self(Some(module))
    }

    /// Returns the module.
    pub(crate) const fn module(&mut self) -> &mut JITModule {
        self.0.as_mut().expect("only `drop` takes the module")
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code")
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: code runs only in `enter`, whose caller keeps the owner of this module.
            unsafe { module.free_memory() };
        }
    }
}

/// A table of translated code, in which code finds the targets of its branches. A slot serves all addresses with the
/// same low bits; the last one inserted wins.
#[derive(Debug)]
pub(crate) struct Table {
    slots: Box<[AtomicPtr<Entry>]>,
    /// The entries that slots point to, or did, by their addresses.
    entries: Mutex<HashMap<usize, Arc<Entry>>>,
}

/// The entry of empty slots. No look-up accepts it, because instructions have even addresses.
static EMPTY: Entry = Entry { pc: 1, code: 0 };

fn empty() -> *mut Entry {
    from_ref(&EMPTY).cast_mut()
}

impl Table {
    /// Creates an empty table with a number of slots that is a power of two.
    pub(crate) fn new(slots: usize) -> Self {
        let slots = (0..slots.next_power_of_two()).map(|_| AtomicPtr::new(empty())).collect();
        Self { slots, entries: Mutex::default() }
    }

    fn slot(&self, pc: u64) -> &AtomicPtr<Entry> {
        &self.slots[(pc >> 2) as usize & (self.slots.len() - 1)]
    }

    /// Returns the code for an address.
    pub(crate) fn find(&self, pc: u64) -> Option<u64> {
        // SAFETY: slots point to `EMPTY` or to entries that `self.entries` keeps alive.
        let entry = unsafe { &*self.slot(pc).load(Ordering::Acquire) };
        (entry.pc == pc && entry.code != 0).then_some(entry.code)
    }

    /// Inserts an entry.
    pub(crate) fn insert(&self, entry: &Arc<Entry>) {
        let slot = self.slot(entry.pc);
        let pointer = Arc::as_ptr(entry).cast_mut();
        if slot.load(Ordering::Acquire) != pointer {
            // Two entries for the same slot may take turns, so each is kept once.
            let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            entries.entry(pointer.addr()).or_insert_with(|| Arc::clone(entry));
            slot.store(pointer, Ordering::Release);
        }
    }

    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        for slot in &mut self.slots {
            *slot.get_mut() = empty();
        }
        self.entries.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// A call of translated code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// The function of the compiler that calls regions.
    pub(crate) enter: u64,
    /// The code of the region.
    pub(crate) code: u64,
    /// The steps that the lane may take.
    pub(crate) steps: u64,
}

/// Runs the code of a region, and of the regions to which it leads, until one returns or the steps have retired. Returns
/// the stop of the lane, if there is one.
pub(crate) fn enter(
    Call { enter, code, steps }: Call,
    cpu: &mut Cpu,
    memory: &mut AddressSpace,
    table: &Table,
) -> Option<Stop> {
    let end = cpu.steps.wrapping_add(steps);
    let (cpu, memory) = (from_mut(cpu), from_mut(memory));
    let mut context = Context {
        table: table.slots.as_ptr(),
        mask: table.slots.len() as u64 - 1,
        end,
        flags: FLAGS_PACKED,
        operands: [0; 2],
        answer: 0,
        retired: 0,
        buffer: [0; BUFFER_BYTES],
        cpu,
        memory,
        stop: None,
    };
    type Enter = extern "C" fn(*mut Context, *mut Cpu, *mut AddressSpace, u64, u64) -> u64;
    // SAFETY: the compiler has generated the function with this signature and the host's convention.
    let enter =
        unsafe { std::mem::transmute::<*const (), Enter>(std::ptr::with_exposed_provenance(enter as usize)) };
    let left = enter(&raw mut context, cpu, memory, steps, code);
    // SAFETY: the pointer comes from a reference that is borrowed for this call.
    let cpu = unsafe { &mut *cpu };
    cpu.steps = end.wrapping_sub(left);
    cpu.nzcv = context.nzcv().unwrap_or(cpu.nzcv);
    context.stop
}

/// Returns the parts of a context.
///
/// # Safety
/// `context` is that of a call of [`enter`] that has not returned, and nothing else uses it, the registers and the
/// memory.
unsafe fn parts<'a>(context: *mut Context) -> (&'a mut Context, &'a mut Cpu, &'a mut AddressSpace) {
    // SAFETY: as the caller promises.
    let context = unsafe { &mut *context };
    // SAFETY: they are borrowed for the call, too.
    let (cpu, memory) = unsafe { (&mut *context.cpu, &mut *context.memory) };
    (context, cpu, memory)
}

extern "C" fn read(context: *mut Context, site: u64, address: u64, bytes: u64) {
    // SAFETY: translated code passes its context.
    let (context, cpu, memory) = unsafe { parts(context) };
    fn load<const N: usize>(memory: &mut AddressSpace, address: u64, to: &mut [u8]) -> Result<(), Stop> {
        to[..N].copy_from_slice(&memory.read::<N>(address)?);
        Ok(())
    }
    let to = &mut context.buffer;
    let read = match bytes {
        1 => load::<1>(memory, address, to),
        2 => load::<2>(memory, address, to),
        4 => load::<4>(memory, address, to),
        8 => load::<8>(memory, address, to),
        16 => load::<16>(memory, address, to),
        _ => load::<BUFFER_BYTES>(memory, address, to),
    };
    let buffer = to.as_ptr().expose_provenance() as u64;
    conclude(context, cpu, Site(site), read, false);
    if context.answer != 0 {
        context.answer = buffer;
    }
}

extern "C" fn write(context: *mut Context, site: u64, address: u64, bytes: u64) {
    // SAFETY: translated code passes its context.
    let (context, cpu, memory) = unsafe { parts(context) };
    fn store<const N: usize>(memory: &mut AddressSpace, address: u64, from: &[u8]) -> Result<(), Stop> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&from[..N]);
        memory.write(address, bytes)
    }
    let version = memory.code_version();
    let from = &context.buffer;
    let written = match bytes {
        1 => store::<1>(memory, address, from),
        2 => store::<2>(memory, address, from),
        4 => store::<4>(memory, address, from),
        8 => store::<8>(memory, address, from),
        16 => store::<16>(memory, address, from),
        _ => store::<BUFFER_BYTES>(memory, address, from),
    };
    conclude(context, cpu, Site(site), written, memory.code_version() != version);
}

extern "C" fn execute(context: *mut Context, site: u64, _: u64, _: u64) {
    // SAFETY: translated code passes its context.
    let (context, cpu, memory) = unsafe { parts(context) };
    let version = memory.code_version();
    cpu.pc = Site(site).pc();
    pack(context, cpu);
    // The caller counts the steps.
    let executed = Interpreter::step(cpu, memory);
    conclude(context, cpu, Site(site), executed, memory.code_version() != version);
}

extern "C" fn flags(context: *mut Context, _: u64, _: u64, _: u64) {
    // SAFETY: translated code passes its context.
    let (context, cpu, _) = unsafe { parts(context) };
    pack(context, cpu);
}

/// Makes the flags those of the registers.
fn pack(context: &mut Context, cpu: &mut Cpu) {
    cpu.nzcv = context.nzcv().unwrap_or(cpu.nzcv);
    context.flags = FLAGS_PACKED;
}

/// Notes what became of an instruction, and where the lane goes on if the code has to be left: at the instruction if it
/// stopped the lane, behind it if it has changed code.
fn conclude(
    context: &mut Context,
    cpu: &mut Cpu,
    site: Site,
    result: Result<(), Stop>,
    has_changed_code: bool,
) {
    let retired = u64::from(result.is_ok());
    context.answer = u64::from(result.is_ok() && !has_changed_code);
    context.stop = result.err();
    context.retired = site.steps() + retired;
    cpu.pc = site.pc().wrapping_add(4 * retired);
}

type Helper = extern "C" fn(*mut Context, u64, u64, u64);

/// Returns the addresses of the helpers, in the order of the fields of `Helpers`.
pub(crate) fn helpers() -> [u64; 4] {
    [read as Helper, write, execute, flags].map(|helper| (helper as *const ()).expose_provenance() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_each_entry_once_although_two_take_turns_in_a_slot() {
        let table = Table::new(1);
        let entries = [4, 8].map(|pc| Arc::new(Entry { pc, code: pc }));
        for _ in 0..100 {
            for entry in &entries {
                table.insert(entry);
                assert_eq!(table.find(entry.pc), Some(entry.code), "the last one inserted wins");
            }
        }
        assert_eq!(Arc::strong_count(&entries[0]), 2, "one is here, one in the table");
    }
}
