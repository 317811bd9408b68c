//! The execution of many iterations at once.

use kvrm_arm64::{Access, Cpu};
use kvrm_loops::{Body, Loop, Memory, Obstacle, Pass, Plan, Proof, Stream, registers, set_register};

use crate::address_space::AddressSpace;
use crate::pages::{PAGE_BYTES, PAGE_SHIFT, page_of};

/// The largest number of attempts, each with fewer iterations than the one before.
const ATTEMPTS: u32 = 8;
/// The largest number of iterations of a plan with stores whose end depends on values that are loaded.
const SEARCHED_MAX: u64 = 1 << 16;
/// The largest number of bytes of a pattern that fills memory.
const FILL_MAX: usize = 16;

impl Memory for AddressSpace {
    fn readable(&self, address: u64) -> Option<&[u8]> {
        self.readable_bytes(address)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) {
        let written = self.write_bytes(address, bytes, Some(Access::Write));
        debug_assert_eq!(written, Ok(()), "the pages have been checked");
    }

    fn fill(&mut self, address: u64, bytes: u64, with: &[u8]) {
        // Copies of the bytes that are as long as a page, from each place in them.
        let mut copies = [0; 2 * FILL_MAX];
        let mut pattern = [0; PAGE_BYTES + FILL_MAX];
        for (byte, value) in copies.iter_mut().zip(with.iter().cycle()) {
            *byte = *value;
        }
        let chunk = FILL_MAX / with.len() * with.len();
        pattern.chunks_mut(chunk).for_each(|part| part.copy_from_slice(&copies[..part.len()]));
        self.change_bytes(address, bytes as usize, |done, piece| {
            piece.copy_from_slice(&pattern[done % with.len()..][..piece.len()]);
        });
    }

    fn copy(&mut self, to: u64, from: u64, bytes: u64) {
        let mut buffer = [0; PAGE_BYTES];
        let mut done = 0;
        while done < bytes {
            let from = from.wrapping_add(done);
            let piece = self.readable_bytes(from).unwrap_or(&[]);
            let count = piece.len().min((bytes - done) as usize);
            buffer[..count].copy_from_slice(&piece[..count]);
            self.change_bytes(to.wrapping_add(done), count, |place, piece| {
                piece.copy_from_slice(&buffer[place..place + piece.len()]);
            });
            // The pages have been checked, so there is a piece.
            done += count.max(1) as u64;
        }
    }
}

/// The result of an attempt to execute iterations.
enum Attempt {
    /// They are executed: the number of their steps.
    Executed(u64),
    /// There are too many of them. At most so many steps may be possible, with those of one more iteration.
    Fewer(u64),
}

/// Executes iterations of a loop, at whose beginning the lane is, and returns the number of steps. One more iteration is certain to
/// follow, and has at most `steps` steps together with them.
///
/// # Errors
/// No iteration can be executed at once. The obstacle is `None` if the analysis does not know it.
pub(super) fn execute(
    proof: &Proof,
    cpu: &mut Cpu,
    memory: &mut AddressSpace,
    mut steps: u64,
) -> Result<u64, Option<Obstacle>> {
    let before = registers(cpu);
    for _ in 0..ATTEMPTS {
        let mut after = before;
        let attempt = match proof {
            Proof::Loop(found) => try_loop(found, &mut after, memory, steps)?,
            Proof::Pass(pass) => try_pass(pass, &mut after, memory, steps)?,
        };
        match attempt {
            Attempt::Executed(done) => {
                set_registers(cpu, &before, &after);
                cpu.steps += done;
                return Ok(done);
            }
            Attempt::Fewer(0) => break,
            Attempt::Fewer(fewer) => steps = fewer,
        }
    }
    Err(None)
}

/// Executes iterations of a loop as [`execute`] does, unless there are too many.
fn try_loop(
    found: &Loop,
    registers: &mut [u64],
    memory: &mut AddressSpace,
    steps: u64,
) -> Result<Attempt, Option<Obstacle>> {
    let plan = Plan::new(found, registers, steps, memory).map_err(Some)?;
    let permitted = plan.streams.iter().flatten().map(|stream| {
        let access = if stream.is_store() { Access::Write } else { Access::Read };
        permitted_iterations(stream, access, memory)
    });
    if let Some(permitted) = permitted.min().filter(|permitted| *permitted < plan.most) {
        return Ok(Attempt::Fewer(permitted * plan.length));
    }
    if changes_itself(found, &plan) {
        return Err(None);
    }
    if plan.has_tests() && plan.stores().next().is_some() && plan.most > SEARCHED_MAX {
        // Frames are needed for the iterations before the end only.
        return Ok(Attempt::Fewer(SEARCHED_MAX * plan.length));
    }
    if !has_room(&plan, memory) {
        return Ok(Attempt::Fewer(plan.most / 2 * plan.length));
    }
    match plan.execute(found, registers, memory) {
        0 => Err(None),
        done => Ok(Attempt::Executed(done * plan.length)),
    }
}

/// Executes iterations of a pass as [`execute`] does, unless there are too many.
fn try_pass(
    pass: &Pass,
    registers: &mut [u64],
    memory: &mut AddressSpace,
    steps: u64,
) -> Result<Attempt, Option<Obstacle>> {
    let plan = pass.plan(registers, steps).map_err(Some)?;
    let [_, longest] = pass.lengths();
    let (begin, end) = plan.neighbours.range(plan.most);
    let (begin, bytes) = (begin as u64, (end - begin) as usize);
    let permitted = [Access::Read, Access::Write]
        .map(|access| permitted_iterations(&plan.neighbours, access, memory))
        .into_iter()
        .fold(plan.most, u64::min);
    if permitted < plan.most {
        return Ok(Attempt::Fewer(permitted * longest));
    }
    if meets_code(begin, bytes, pass.exchanging().body()) {
        return Err(None);
    }
    if memory.fresh_pages(begin, bytes) > memory.frames_left() {
        return Ok(Attempt::Fewer(plan.most / 2 * longest));
    }
    Ok(Attempt::Executed(pass.execute(&plan, registers, memory).steps))
}

/// Sets the registers that have changed.
fn set_registers(cpu: &mut Cpu, before: &[u64], after: &[u64]) {
    for ((register, value), before) in (0..).zip(after).zip(before) {
        if value != before {
            set_register(cpu, register, *value);
        }
    }
}

/// Returns the number of iterations, from the next one on, in which the accesses of a stream are in the pages around its first address
/// that are mapped and permit it.
fn permitted_iterations(stream: &Stream, access: Access, memory: &AddressSpace) -> u64 {
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
    plan.stores().any(|stream| {
        let (begin, bytes) = range(stream, plan);
        meets_code(begin, bytes, found.body())
    })
}

/// Returns whether bytes at an address are among those of the instructions of a loop.
fn meets_code(begin: u64, bytes: usize, body: &Body) -> bool {
    let code_end = body.head + 4 * body.ops.len() as u64;
    begin < code_end && begin + bytes as u64 > body.head
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
