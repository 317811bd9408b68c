//! The execution of many iterations at once.

use kvrm_arm64::{Access, Cpu, Memory};
use kvrm_loops::{Loop, Plan, Source, Stream, registers, set_register};

use crate::address_space::AddressSpace;
use crate::pages::{PAGE_BYTES, PAGE_SHIFT, page_of};

/// How often fewer iterations are tried if there are no frames for all of them.
const ATTEMPTS: u32 = 8;
/// The number of bytes that are written together.
const BLOCK: usize = 1 << 16;

/// Executes at most `most` iterations of a loop at whose beginning the lane is, and returns their number. One more is certain
/// to follow.
pub(super) fn execute(found: &Loop, cpu: &mut Cpu, memory: &mut AddressSpace, mut most: u64) -> u64 {
    let registers = registers(cpu);
    for _ in 0..ATTEMPTS {
        let Ok(plan) = Plan::new(found, &registers, most) else { return 0 };
        // The iteration behind the plan is stepped, and must not fault either.
        let needed = plan.iterations + 1;
        let permitted = plan.streams.iter().map(|stream| permitted_iterations(stream, memory)).min();
        if let Some(permitted) = permitted.filter(|permitted| *permitted < needed) {
            most = permitted.saturating_sub(1);
        } else if changes_itself(found, &plan) {
            return 0;
        } else if has_room(&plan, memory) {
            commit(found, &plan, cpu, memory);
            return plan.iterations;
        } else {
            most = plan.iterations / 2;
        }
        if most == 0 {
            return 0;
        }
    }
    0
}

/// Returns the number of iterations, from the next one on, in which an access is in the pages around its first address that are
/// mapped and permit it.
fn permitted_iterations(stream: &Stream, memory: &AddressSpace) -> u64 {
    let access = if stream.sources.is_empty() { Access::Read } else { Access::Write };
    let region = |page| memory.page_map().region(page).filter(|region| region.permissions.permit(access));
    let Some(here) = region(page_of(stream.address)) else { return 0 };
    let (mut first, mut end) = (here.first_page, here.end_page);
    while stream.step < 0
        && let Some(before) = first.checked_sub(1).and_then(region)
    {
        first = before.first_page;
    }
    // Also for steps down or of zero, because the first access may cross pages.
    while let Some(next) = region(end) {
        end = next.end_page;
    }
    stream.iterations_within(first << PAGE_SHIFT, end << PAGE_SHIFT)
}

/// Returns the addresses of the accesses of a plan and of the iteration that is stepped behind it: the first one, and the number
/// of bytes. They are mapped.
fn range(stream: &Stream, plan: &Plan) -> (u64, usize) {
    let (begin, end) = stream.range(plan.iterations + 1);
    (begin as u64, (end - begin) as usize)
}

/// Returns whether a plan stores to the code of the loop.
fn changes_itself(found: &Loop, plan: &Plan) -> bool {
    let body = found.body();
    let (code_begin, code_end) = (body.head, body.head + 4 * body.ops.len() as u64);
    plan.streams.iter().filter(|stream| !stream.sources.is_empty()).any(|stream| {
        let (begin, bytes) = range(stream, plan);
        begin < code_end && begin + bytes as u64 > code_begin
    })
}

/// Returns whether there are frames for all pages that a plan stores to.
fn has_room(plan: &Plan, memory: &AddressSpace) -> bool {
    let stores = || plan.streams.iter().filter(|stream| !stream.sources.is_empty()).map(|of| range(of, plan));
    // A plan with more pages than the lane may have has no room, however many of them it has already.
    let pages: usize = stores().map(|(_, bytes)| bytes / PAGE_BYTES).max().unwrap_or(0);
    pages <= memory.frames_max()
        && stores().map(|(begin, bytes)| memory.fresh_pages(begin, bytes)).sum::<usize>()
            <= memory.frames_left()
}

/// Executes a plan.
fn commit(found: &Loop, plan: &Plan, cpu: &mut Cpu, memory: &mut AddressSpace) {
    for stream in plan.streams.iter().filter(|stream| !stream.sources.is_empty()) {
        store(stream, plan, memory);
    }
    for (register, value) in &plan.registers {
        set_register(cpu, *register, *value);
    }
    cpu.steps += plan.iterations * found.body().ops.len() as u64;
}

/// Makes the stores of a stream.
fn store(stream: &Stream, plan: &Plan, memory: &mut AddressSpace) {
    let is_block = stream.step.unsigned_abs() == stream.bytes;
    // The iterations in the order of their addresses, as many as fit a block, or one if there is room between them.
    let together = if is_block { BLOCK as u64 / stream.bytes } else { 1 };
    let iteration = |place: u64| if stream.step < 0 { plan.iterations - 1 - place } else { place };
    let kind = kind(stream, plan);
    let mut buffer = Vec::new();
    let mut done = 0;
    while done < plan.iterations {
        let count = together.min(plan.iterations - done);
        let bytes = (count * stream.bytes) as usize;
        match kind {
            Kind::Fill if buffer.len() >= bytes => buffer.truncate(bytes),
            Kind::Copy(load) => {
                buffer.resize(bytes, 0);
                let from = address(load, iteration(done));
                let read = memory.read_bytes(from, &mut buffer, Some(Access::Read));
                debug_assert_eq!(read, Ok(()), "the pages have been checked");
            }
            Kind::Fill | Kind::Other => {
                buffer.clear();
                for place in done..done + count {
                    append(&mut buffer, stream, plan, iteration(place), memory);
                }
            }
        }
        let written = memory.write_bytes(address(stream, iteration(done)), &buffer, Some(Access::Write));
        debug_assert_eq!(written, Ok(()), "the pages have been checked");
        done += count;
    }
}

/// What the bytes of a stream have in common.
#[derive(Clone, Copy)]
enum Kind<'a> {
    /// They are the same in all iterations.
    Fill,
    /// They are those of a load, in the same order.
    Copy(&'a Stream),
    /// Something else.
    Other,
}

/// Returns the kind of a stream.
fn kind<'a>(stream: &Stream, plan: &'a Plan) -> Kind<'a> {
    let size = stream.bytes / stream.sources.len() as u64;
    let copied = |load: usize| {
        let from = &plan.streams[load];
        let is_whole = (from.step, from.bytes) == (stream.step, stream.bytes);
        let mut sources = stream.sources.iter().enumerate();
        let are_in_order =
            sources.all(|(number, source)| *source == Source::Loaded { load, offset: number as u64 * size });
        if is_whole && are_in_order { Kind::Copy(from) } else { Kind::Other }
    };
    match stream.sources[0] {
        Source::Loaded { load, .. } => copied(load),
        Source::Progression(_) => {
            let is_same = |source: &Source| matches!(source, Source::Progression(values) if values.step == 0);
            if stream.sources.iter().all(is_same) { Kind::Fill } else { Kind::Other }
        }
    }
}

/// Returns the address of an access in an iteration, from the next one on.
const fn address(stream: &Stream, iteration: u64) -> u64 {
    stream.address.wrapping_add((stream.step as u64).wrapping_mul(iteration))
}

/// Appends the bytes that an iteration stores.
fn append(buffer: &mut Vec<u8>, stream: &Stream, plan: &Plan, iteration: u64, memory: &mut AddressSpace) {
    let size = stream.bytes as usize / stream.sources.len();
    for source in &stream.sources {
        let value = match source {
            Source::Progression(values) => {
                values.start.wrapping_add(values.step.wrapping_mul(iteration)).to_le_bytes()
            }
            Source::Loaded { load, offset } => {
                let from = address(&plan.streams[*load], iteration).wrapping_add(*offset);
                loaded(from, size, memory)
            }
        };
        buffer.extend_from_slice(&value[..size]);
    }
}

/// Loads the bytes of a register.
fn loaded(from: u64, size: usize, memory: &mut AddressSpace) -> [u8; 8] {
    let mut value = [0; 8];
    let loads = match size {
        1 => memory.read::<1>(from).map(|bytes| value[..1].copy_from_slice(&bytes)),
        2 => memory.read::<2>(from).map(|bytes| value[..2].copy_from_slice(&bytes)),
        4 => memory.read::<4>(from).map(|bytes| value[..4].copy_from_slice(&bytes)),
        _ => memory.read::<8>(from).map(|bytes| value = bytes),
    };
    debug_assert_eq!(loads, Ok(()), "the pages have been checked");
    value
}
