//! The execution of many iterations at once.

use kvrm_arm64::{Access, Cpu};
use kvrm_loops::{Loop, Memory, Plan, Stream, registers, set_register};

use crate::address_space::AddressSpace;
use crate::pages::{PAGE_BYTES, PAGE_SHIFT, page_of};

/// How often fewer iterations are tried if there are no frames for all of them.
const ATTEMPTS: u32 = 8;
/// The largest number of iterations of a plan with stores whose end depends on values that are loaded.
const SEARCHED_MAX: u64 = 1 << 16;

impl Memory for AddressSpace {
    fn readable(&self, address: u64) -> Option<&[u8]> {
        self.readable_bytes(address)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) {
        let written = self.write_bytes(address, bytes, Some(Access::Write));
        debug_assert_eq!(written, Ok(()), "the pages have been checked");
    }
}

/// Executes at most `most` iterations of a loop at whose beginning the lane is, and returns their number. One more is certain
/// to follow.
pub(super) fn execute(found: &Loop, cpu: &mut Cpu, memory: &mut AddressSpace, mut most: u64) -> u64 {
    let mut registers = registers(cpu);
    for _ in 0..ATTEMPTS {
        let Ok(plan) = Plan::new(found, &registers, most, memory) else { return 0 };
        let permitted =
            plan.streams.iter().flatten().map(|stream| permitted_iterations(stream, memory)).min();
        if let Some(permitted) = permitted.filter(|permitted| *permitted < plan.most) {
            most = permitted.saturating_sub(1);
        } else if changes_itself(found, &plan) {
            return 0;
        } else if plan.has_tests() && plan.stores().next().is_some() && most > SEARCHED_MAX {
            // Frames are needed for the iterations before the end only.
            most = SEARCHED_MAX;
        } else if has_room(&plan, memory) {
            let before = registers;
            let done = plan.execute(found, &mut registers, memory);
            for (register, value) in (0..).zip(registers) {
                if value != before[register as usize] {
                    set_register(cpu, register, value);
                }
            }
            cpu.steps += done * found.body().ops.len() as u64;
            return done;
        } else {
            most = plan.most / 2;
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
    let access = if stream.is_store() { Access::Write } else { Access::Read };
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

/// Returns the addresses of the accesses of a stream: the first one, and the number of bytes. They are mapped.
fn range(stream: &Stream, plan: &Plan) -> (u64, usize) {
    let (begin, end) = stream.range(plan.most);
    (begin as u64, (end - begin) as usize)
}

/// Returns whether a plan stores to the code of the loop.
fn changes_itself(found: &Loop, plan: &Plan) -> bool {
    let body = found.body();
    let (code_begin, code_end) = (body.head, body.head + 4 * body.ops.len() as u64);
    plan.stores().any(|stream| {
        let (begin, bytes) = range(stream, plan);
        begin < code_end && begin + bytes as u64 > code_begin
    })
}

/// Returns whether there are frames for all pages that a plan stores to.
fn has_room(plan: &Plan, memory: &AddressSpace) -> bool {
    let stores = || plan.stores().map(|stream| range(stream, plan));
    // A plan with more pages than the lane may have has no room, however many of them it has already.
    let pages: usize = stores().map(|(_, bytes)| bytes / PAGE_BYTES).max().unwrap_or(0);
    pages <= memory.frames_max()
        && stores().map(|(begin, bytes)| memory.fresh_pages(begin, bytes)).sum::<usize>()
            <= memory.frames_left()
}
