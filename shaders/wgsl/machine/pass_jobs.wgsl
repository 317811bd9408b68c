//! The kernels that execute iterations of passes of a bubble sort at once. They run one after the other, for the same jobs.
//!
//! An iteration compares an element with the greatest one before it. `greatest` finds the greatest element of each chunk, and
//! checks that the lane may access all elements; `carry` finds the greatest one before each chunk. `count` counts the exchanges,
//! and finds the pages in which there are some; `prepare` gives the lane these pages. `exchange` stores to them, and `finish` sets
//! the registers. Chunks begin at multiples of their size in memory, so no two invocations store to the same word.
//!
//! Twin: `Pass::execute` of `kvrm-loops`.

import package::arm64::load_store::{extend_loaded};
import package::machine::bindings::{parameters};
import package::machine::frame_bytes::{load_bytes, store_bytes};
import package::machine::layout::{COLUMN_STEPS, JOB_INVOCATIONS, PASS_HEADER, PASS_RESULT, PASS_RUN};
import package::machine::loop_cells::{cells};
import package::machine::loop_pages::{
    PAGES_INVOCATIONS, begin_to_count, count_page, has_other_word, has_room, own_pages,
};
import package::machine::loop_tape::{checked_page, is_writable, owned_frame, readable_frame};
import package::machine::memory::{forget_pages, get_state, joined, lane, set_state};
import package::machine::workgroups::{job_of};

/// The first cell of each job.
@group(1) @binding(1) var<storage, read> jobs: array<u32>;
/// The results of jobs, `PASS_RESULT` words each.
@group(1) @binding(2) var<storage, read_write> results: array<atomic<u32>>;
/// For each chunk the key of its greatest element, and then of the greatest one before it; and the element behind the chunk.
@group(1) @binding(3) var<storage, read_write> chunks: array<vec2<u64>>;
/// Whether exchanges store to each page.
@group(1) @binding(4) var<storage, read_write> pages: array<atomic<u32>>;

/// Keys of the invocations.
var<workgroup> keys: array<u64, PAGES_INVOCATIONS>;
/// The number of pages of a batch to which exchanges store.
var<workgroup> wanted_pages: atomic<u32>;

/// The elements behind those of the invocation.
var<private> elements: array<u64, PASS_RUN>;

/// A job.
struct Job {
    /// Its number.
    number: u32,
    /// The number of chunks.
    chunk_count: u32,
    /// The number of instructions.
    words: u32,
    /// The logarithm of the number of bytes of an element.
    size: u32,
    /// How elements are extended.
    extension: u32,
    /// Whether equal elements are exchanged.
    exchanges_equal: bool,
    /// The number of iterations.
    iterations: u32,
    /// The first chunk in `chunks`.
    chunk: u32,
    /// The first page in `pages`.
    page: u32,
    /// The number of pages.
    page_count: u32,
    /// The address of the first element.
    address: u64,
    /// The bits of keys that are inverted.
    inverted: u64,
    /// The bits that keys have.
    mask: u64,
    /// The address of the first instruction.
    code: u64,
    /// The first cell of the instructions.
    instructions: u32,
    /// The first cell of registers that move.
    registers: u32,
    /// The first cell of registers that exchanges change.
    counts: u32,
    /// The cell behind them.
    end: u32,
    /// The number of steps of an iteration without an exchange, and of one with it.
    steps: vec2<u32>,
}

/// Reads the header of a job, and makes its lane the current one.
fn open(number: u32) -> Job {
    let at = jobs[number];
    let first = cells[at];
    let second = cells[at + 1u];
    let third = cells[at + 2u];
    let fourth = cells[at + 3u];
    let counts = cells[at + 4u];
    let instructions = at + PASS_HEADER;
    let registers = instructions + (first.z + 3u) / 4u;
    lane = first.x;
    checked_page = 0lu;
    forget_pages();
    return Job(
        number, first.y, first.z, first.w & 255u, (first.w >> 8u) & 255u, (first.w >> 16u) != 0u,
        second.x, second.y, second.z, second.w,
        joined(third.x, third.y), joined(third.z, third.w), joined(fourth.x, fourth.y), joined(fourth.z, fourth.w),
        instructions, registers, registers + counts.x, registers + counts.x + counts.y,
        counts.zw,
    );
}

/// Returns whether the iterations of a job are executed.
fn is_executed(job: Job) -> bool {
    return atomicLoad(&results[job.number * PASS_RESULT]) == 0u;
}

/// Returns the first iteration of an invocation in a chunk, and the one behind its last.
fn run_of(job: Job, chunk: u32, local: u32) -> vec2<u32> {
    let elements_before = u32(job.address >> job.size) % (PASS_RUN * JOB_INVOCATIONS);
    let begin = (chunk * JOB_INVOCATIONS + local) * PASS_RUN;
    let end = begin + PASS_RUN;
    let first = max(begin, elements_before) - elements_before;
    return vec2<u32>(min(first, job.iterations), min(max(end, elements_before) - elements_before, job.iterations));
}

/// Returns the address of an element.
fn element_address(job: Job, element: u32) -> u64 {
    return job.address + (u64(element) << job.size);
}

/// Returns an element of a page that the lane may read.
fn element_at(job: Job, element: u32) -> u64 {
    let address = element_address(job, element);
    let frame = readable_frame(address);
    return load_bytes(frame, frame, u32(address) & 4095u, 1u << job.size);
}

/// Returns the key of an element.
fn key_of(job: Job, element: u64) -> u64 {
    return (extend_loaded(element, job.size, job.extension) ^ job.inverted) & job.mask;
}

/// Returns whether elements with these keys are exchanged.
fn is_exchanged(job: Job, first: u64, second: u64) -> bool {
    return first > second || (job.exchanges_equal && first == second);
}

/// Finds the greatest element of each chunk.
@compute @workgroup_size(JOB_INVOCATIONS)
fn greatest(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = job_of(workgroup);
    let is_job = number < parameters.jobs;
    let job = open(min(number, parameters.jobs - 1u));
    let is_chunk = is_job && workgroup.x < job.chunk_count;
    var key = 0lu;
    if is_chunk {
        let run = run_of(job, workgroup.x, local);
        for (var iteration = run.x; iteration < run.y; iteration += 1u) {
            let address = element_address(job, iteration + 1u);
            if readable_frame(address) == 0u || !is_writable(address) {
                atomicStore(&results[number * PASS_RESULT], 1u);
                break;
            }
            key = max(key, key_of(job, element_at(job, iteration + 1u)));
        }
    }
    keys[local] = key;
    workgroupBarrier();
    if is_chunk && local == 0u {
        for (var other = 1u; other < JOB_INVOCATIONS; other += 1u) {
            key = max(key, keys[other]);
        }
        let last = run_of(job, workgroup.x, JOB_INVOCATIONS - 1u).y;
        var behind = 0lu;
        if last > 0u && readable_frame(element_address(job, last)) != 0u {
            behind = element_at(job, last);
        }
        chunks[job.chunk + workgroup.x] = vec2<u64>(key, behind);
    }
}

/// Finds the greatest element before each chunk, and whether the lane has the code of the job.
@compute @workgroup_size(PAGES_INVOCATIONS)
fn carry(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = job_of(workgroup);
    let is_job = number < parameters.jobs;
    let job = open(min(number, parameters.jobs - 1u));
    if is_job && local < job.words {
        let words = cells[job.instructions + local / 4u];
        if has_other_word(job.code + u64(local) * 4lu, words[local % 4u]) {
            atomicStore(&results[number * PASS_RESULT], 1u);
        }
    }
    if is_job && local == 0u && (readable_frame(job.address) == 0u || !is_writable(job.address)) {
        atomicStore(&results[number * PASS_RESULT], 1u);
    }
    storageBarrier();
    workgroupBarrier();
    let is_needed = is_job && is_executed(job);
    // Each invocation has chunks that follow each other.
    let count = (job.chunk_count + PAGES_INVOCATIONS - 1u) / PAGES_INVOCATIONS;
    let begin = job.chunk + min(local * count, job.chunk_count);
    let end = job.chunk + min((local + 1u) * count, job.chunk_count);
    var key = 0lu;
    for (var chunk = begin; is_needed && chunk < end; chunk += 1u) {
        key = max(key, chunks[chunk].x);
    }
    keys[local] = key;
    workgroupBarrier();
    if is_needed {
        key = key_of(job, element_at(job, 0u));
        for (var other = 0u; other < local; other += 1u) {
            key = max(key, keys[other]);
        }
        for (var chunk = begin; chunk < end; chunk += 1u) {
            let own = chunks[chunk].x;
            chunks[chunk].x = key;
            key = max(key, own);
        }
    }
}

/// Loads the elements behind those of the invocation, and returns the key of the greatest element before them.
fn load_run(job: Job, chunk: u32, local: u32, is_needed: bool) -> u64 {
    let run = run_of(job, chunk, local);
    // The element after the last one is in the next chunk, which may be stored to at the same time.
    let last = run_of(job, chunk, JOB_INVOCATIONS - 1u).y;
    var key = 0lu;
    if is_needed {
        for (var iteration = run.x; iteration < run.y; iteration += 1u) {
            var element = 0lu;
            if iteration + 1u == last {
                element = chunks[job.chunk + chunk].y;
            } else {
                element = element_at(job, iteration + 1u);
            }
            elements[iteration - run.x] = element;
            key = max(key, key_of(job, element));
        }
    }
    keys[local] = key;
    // Nothing is stored before all elements of the chunk are loaded.
    storageBarrier();
    workgroupBarrier();
    key = 0lu;
    if is_needed {
        key = chunks[job.chunk + chunk].x;
        for (var other = 0u; other < local; other += 1u) {
            key = max(key, keys[other]);
        }
    }
    return key;
}

/// Returns the number in `pages` of the page of an element.
fn element_page(job: Job, element: u32) -> u32 {
    return job.page + u32((element_address(job, element) >> 12u) - (job.address >> 12u));
}

/// Counts exchanges, and finds the pages to which they store.
@compute @workgroup_size(JOB_INVOCATIONS)
fn count(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = job_of(workgroup);
    let is_job = number < parameters.jobs;
    let job = open(min(number, parameters.jobs - 1u));
    let is_needed = is_job && workgroup.x < job.chunk_count && is_executed(job);
    var key = load_run(job, workgroup.x, local, is_needed);
    if !is_needed {
        return;
    }
    let run = run_of(job, workgroup.x, local);
    var exchanges = 0u;
    var last = 0u;
    for (var iteration = run.x; iteration < run.y; iteration += 1u) {
        let next = key_of(job, elements[iteration - run.x]);
        if is_exchanged(job, key, next) {
            exchanges += 1u;
            last = iteration;
            atomicStore(&pages[element_page(job, iteration)], 1u);
            atomicStore(&pages[element_page(job, iteration + 1u)], 1u);
        } else {
            key = next;
        }
    }
    if exchanges > 0u {
        atomicAdd(&results[number * PASS_RESULT + 1u], exchanges);
        atomicMax(&results[number * PASS_RESULT + 2u], last);
    }
}

/// Gives the lane of each job the pages to which exchanges store, if there is room for all of them.
@compute @workgroup_size(PAGES_INVOCATIONS)
fn prepare(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = job_of(workgroup);
    let is_job = number < parameters.jobs;
    let job = open(min(number, parameters.jobs - 1u));
    let is_needed = is_job && is_executed(job);
    let first = job.address >> 12u;
    begin_to_count(local);
    workgroupBarrier();
    for (var page = local; is_needed && page < job.page_count; page += PAGES_INVOCATIONS) {
        if atomicLoad(&pages[job.page + page]) != 0u {
            count_page(first + u64(page));
        }
    }
    workgroupBarrier();
    if is_needed && local == 0u && !has_room(1u) {
        atomicStore(&results[number * PASS_RESULT], 1u);
    }
    storageBarrier();
    workgroupBarrier();
    let is_permitted = is_needed && is_executed(job);
    for (var page = 0u; is_permitted && page < job.page_count; page += PAGES_INVOCATIONS) {
        let batch = min(job.page_count - page, PAGES_INVOCATIONS);
        var is_wanted = false;
        if local == 0u {
            atomicStore(&wanted_pages, 0u);
        }
        workgroupBarrier();
        if local < batch {
            is_wanted = atomicLoad(&pages[job.page + page + local]) != 0u;
        }
        if is_wanted {
            atomicAdd(&wanted_pages, 1u);
        }
        workgroupBarrier();
        if atomicLoad(&wanted_pages) > 0u {
            own_pages(first + u64(page), batch, local, is_wanted);
        }
        workgroupBarrier();
    }
}

/// Stores an element to a page that the lane owns, if exchanges store to it.
fn store_element(job: Job, element: u32, key: u64) {
    if atomicLoad(&pages[element_page(job, element)]) != 0u {
        let address = element_address(job, element);
        let frame = owned_frame(address);
        store_bytes(frame, frame, u32(address) & 4095u, 1u << job.size, key ^ job.inverted);
    }
}

/// Stores the elements.
@compute @workgroup_size(JOB_INVOCATIONS)
fn exchange(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = job_of(workgroup);
    let is_job = number < parameters.jobs;
    let job = open(min(number, parameters.jobs - 1u));
    let is_needed = is_job && workgroup.x < job.chunk_count && is_executed(job);
    var key = load_run(job, workgroup.x, local, is_needed);
    if !is_needed {
        return;
    }
    let run = run_of(job, workgroup.x, local);
    for (var iteration = run.x; iteration < run.y; iteration += 1u) {
        let next = key_of(job, elements[iteration - run.x]);
        if is_exchanged(job, key, next) {
            store_element(job, iteration, next);
        } else {
            store_element(job, iteration, key);
            key = next;
        }
    }
    if run.x < run.y && run.y == job.iterations {
        store_element(job, run.y, key);
    }
}

/// Sets the registers of the lanes.
@compute @workgroup_size(JOB_INVOCATIONS)
fn finish(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = job_of(workgroup);
    if number >= parameters.jobs || local != 0u {
        return;
    }
    let job = open(number);
    if !is_executed(job) {
        return;
    }
    let exchanges = atomicLoad(&results[number * PASS_RESULT + 1u]);
    let steps = u64(job.iterations - exchanges) * u64(job.steps.x) + u64(exchanges) * u64(job.steps.y);
    set_state(COLUMN_STEPS, get_state(COLUMN_STEPS) + steps);
    // The registers that exchanges change are functions of those that move, before these move.
    let last = atomicLoad(&results[number * PASS_RESULT + 2u]);
    for (var at = job.counts; exchanges > 0u && at < job.end; at += 2u) {
        let cell = cells[at];
        let step = cells[at + 1u];
        let amount = joined(cell.z, cell.w);
        var value = get_state(cell.x) + amount * u64(exchanges);
        if (cell.y & 2u) != 0u {
            value = amount + joined(step.x, step.y) * u64(last);
        }
        set_state(cell.x, select(value & 0xfffffffflu, value, (cell.y & 1u) != 0u));
    }
    for (var at = job.registers; at < job.counts; at += 1u) {
        let cell = cells[at];
        let value = get_state(cell.x) + joined(cell.z, cell.w) * u64(job.iterations);
        set_state(cell.x, select(value & 0xfffffffflu, value, cell.y == 1u));
    }
}
