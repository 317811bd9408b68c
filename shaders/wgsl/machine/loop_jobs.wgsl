//! The kernels that execute many iterations of a loop at once. They run one after the other, for the same jobs.
//!
//! A job is a lane that is at the beginning of an iteration, and a list of operations that the host has proved to be the
//! iteration, whatever other iterations do. `check` checks all pages that iterations access, if they are known in advance; else
//! `probe` evaluates iterations to find the first one that leaves the loop or faults. The last one before it is left to the
//! interpreter, which also sets flags and temporary registers. `prepare` gives the lane the pages that the others store to.
//! `commit_even` and `commit_odd` store, and combine values with registers: a store changes a whole word, which the iterations of
//! the next chunk may share, so neighbouring chunks are not executed at the same time. `finish` sets the registers.

import package::machine::bindings::{parameters};
import package::machine::layout::{
    COLUMN_STEPS, FOLD_LEAST, JOB_HEADER, JOB_INVOCATIONS, JOB_RESULT, STOP_NONE, TAPE_FOLDS,
};
import package::machine::loop_cells::{cells};
import package::machine::loop_pages::{
    PAGES_INVOCATIONS, begin_to_count, count_page, has_other_word, has_room, own_pages,
};
import package::machine::loop_tape::{
    checked_page, evaluate, fold_identity, fold_key, fold_values, folded, folds, is_writable, stores,
};
import package::machine::memory::{
    PAGE_MASK, WANT_READ, forget_pages, get_state, joined, lane, set_state, translate,
};
import package::machine::workgroups::{job_of};

/// The bytes of a page.
const PAGE_BYTES = 4096lu;

/// The first cell of each job.
@group(1) @binding(1) var<storage, read> jobs: array<u32>;
/// The results of jobs, `JOB_RESULT` words each.
@group(1) @binding(2) var<storage, read_write> results: array<atomic<u32>>;
/// The values that workgroups have combined, `TAPE_FOLDS` for each.
@group(1) @binding(3) var<storage, read_write> partials: array<u64>;

/// The values of the invocations.
var<workgroup> shared_values: array<u64, JOB_INVOCATIONS>;

/// A job.
struct Job {
    /// Its number.
    number: u32,
    /// The number of workgroups.
    groups: u32,
    /// The number of instructions.
    length: u32,
    /// The number of iterations of a chunk.
    chunk: u32,
    /// The most iterations.
    most: u64,
    /// The number of steps of an iteration.
    steps: u64,
    /// The index of the first value in `partials`.
    partial: u32,
    /// Whether iterations have to be evaluated.
    evaluates: bool,
    /// The number of iterations that `probe` evaluates.
    probed: u32,
    /// The first cell of the instructions.
    code: u32,
    /// The first cell of loads, behind the instructions.
    loads: u32,
    /// The first cell of registers, behind the stores.
    registers: u32,
    /// The first cell of folds.
    folds: u32,
    /// The first cell of operations.
    operations: u32,
    /// The cell behind the last operation.
    end: u32,
}

/// Reads the header of a job, and makes its lane the current one.
fn open(number: u32) -> Job {
    let at = jobs[number];
    let first = cells[at];
    let second = cells[at + 1u];
    let counts = cells[at + 2u];
    let fourth = cells[at + 3u];
    let fifth = cells[at + 4u];
    let loads = at + JOB_HEADER + (first.z + 3u) / 4u;
    let first_store = loads + fifth.w;
    let registers = first_store + counts.x;
    let first_fold = registers + counts.y;
    let operations = first_fold + counts.z;
    lane = first.x;
    stores = vec2<u32>(first_store, registers);
    folds = first_fold;
    checked_page = 0lu;
    forget_pages();
    return Job(
        number, first.y, first.z, first.w, joined(second.x, second.y), joined(fourth.x, fourth.y), second.z,
        second.w == 1u, fifth.z, at + JOB_HEADER, loads, registers, first_fold, operations, operations + counts.w,
    );
}

/// Returns whether the lane may access the pages of a range of addresses, which the invocations of a workgroup check together.
fn is_range_permitted(at: u32, local: u32, stores_there: bool) -> bool {
    let range = cells[at];
    let end = joined(range.z, range.w);
    var page = (joined(range.x, range.y) & ~PAGE_MASK) + u64(local) * PAGE_BYTES;
    var is_permitted = true;
    while is_permitted && page < end {
        if stores_there {
            is_permitted = is_writable(page);
        } else {
            is_permitted = translate(WANT_READ, page) == STOP_NONE;
        }
        page += u64(PAGES_INVOCATIONS) * PAGE_BYTES;
    }
    return is_permitted;
}

/// Checks the pages of jobs whose iterations are all valid if the lane may access these pages. If it may not, iterations have to be
/// evaluated.
@compute @workgroup_size(PAGES_INVOCATIONS)
fn check(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = job_of(workgroup);
    if number >= parameters.jobs {
        return;
    }
    let job = open(number);
    if atomicLoad(&results[number * JOB_RESULT + 1u]) != 0u {
        return;
    }
    var is_permitted = true;
    for (var at = job.loads; is_permitted && at < stores.x; at += 1u) {
        is_permitted = is_range_permitted(at, local, false);
    }
    for (var at = stores.x; is_permitted && at < stores.y; at += 2u) {
        is_permitted = is_range_permitted(at, local, true);
    }
    if !is_permitted {
        atomicStore(&results[number * JOB_RESULT + 1u], 1u);
    }
}

/// Finds the first iteration of each job that is not valid.
@compute @workgroup_size(JOB_INVOCATIONS)
fn probe(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = job_of(workgroup);
    if number >= parameters.jobs {
        return;
    }
    let job = open(number);
    if workgroup.x >= job.groups || atomicLoad(&results[number * JOB_RESULT + 1u]) == 0u {
        return;
    }
    let stride = job.groups * JOB_INVOCATIONS * job.chunk;
    for (var first = (workgroup.x * JOB_INVOCATIONS + local) * job.chunk; first < job.probed; first += stride) {
        // Iterations after one that is not valid do not matter.
        let end = min(min(first + job.chunk, job.probed), atomicLoad(&results[number * JOB_RESULT]));
        for (var iteration = first; iteration < end; iteration += 1u) {
            if !evaluate(job.operations, job.end, u64(iteration), false) {
                atomicMin(&results[number * JOB_RESULT], iteration);
                break;
            }
        }
    }
}

/// Returns the number of iterations that `commit_even`, `commit_odd` and `finish` execute.
fn committed(job: Job) -> u64 {
    if atomicLoad(&results[job.number * JOB_RESULT + 3u]) != 0u {
        return 0lu;
    }
    if !job.evaluates {
        return job.most - 1lu;
    }
    let valid = atomicLoad(&results[job.number * JOB_RESULT]);
    return u64(max(valid, 1u) - 1u);
}

/// Returns the first page that a store writes in some iterations, and the number of pages. The store is two cells: the range of
/// addresses of all iterations, and the step with the number of bytes.
fn stored_pages(at: u32, most: u64, count: u64) -> vec2<u64> {
    let range = cells[at];
    let step_cell = cells[at + 1u];
    let step = joined(step_cell.x, step_cell.y);
    var begin = joined(range.x, range.y);
    let end = joined(range.z, range.w);
    let bytes = u64(step_cell.z);
    var last = begin + (count - 1lu) * step + bytes - 1lu;
    if (step >> 63u) == 1lu {
        // The first iteration is at the end.
        last = end - 1lu;
        begin = end - bytes + (count - 1lu) * step;
    }
    return vec2<u64>(begin >> 12u, (last >> 12u) - (begin >> 12u) + 1lu);
}

/// Returns whether the memory of the lane differs from an instruction of the job.
fn is_changed(job: Job, place: u32) -> bool {
    let address = cells[job.code - 1u];
    let words = cells[job.code + place / 4u];
    return has_other_word(joined(address.x, address.y) + u64(place) * 4lu, words[place % 4u]);
}

/// Gives the lane of each job the pages that its iterations store to, if there is room for all of them.
@compute @workgroup_size(PAGES_INVOCATIONS)
fn prepare(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = job_of(workgroup);
    let is_job = number < parameters.jobs;
    let job = open(min(number, parameters.jobs - 1u));
    if is_job && local < job.length && is_changed(job, local) {
        atomicStore(&results[number * JOB_RESULT + 3u], 1u);
    }
    begin_to_count(local);
    storageBarrier();
    workgroupBarrier();
    let count = committed(job);
    let is_needed = is_job && count > 0lu;
    for (var at = stores.x; is_needed && at < stores.y; at += 2u) {
        let pages = stored_pages(at, job.most, count);
        for (var i = local; i < u32(pages.y); i += PAGES_INVOCATIONS) {
            count_page(pages.x + u64(i));
        }
    }
    workgroupBarrier();
    if is_needed && local == 0u && !has_room((stores.y - stores.x) / 2u) {
        atomicStore(&results[number * JOB_RESULT + 3u], 1u);
    }
    storageBarrier();
    workgroupBarrier();
    let is_permitted = is_needed && committed(job) > 0lu;
    for (var at = stores.x; at < stores.y; at += 2u) {
        let pages = stored_pages(at, job.most, max(count, 1lu));
        for (var i = 0u; is_permitted && i < u32(pages.y); i += PAGES_INVOCATIONS) {
            let count = min(u32(pages.y) - i, PAGES_INVOCATIONS);
            own_pages(pages.x + u64(i), count, local, local < count);
        }
    }
}

/// Combines the values of the invocations. The result is that of the first one.
fn fold_workgroup(kind: u32, value: u64, local: u32) -> u64 {
    workgroupBarrier();
    shared_values[local] = value;
    workgroupBarrier();
    var result = value;
    for (var other = 1u; local == 0u && other < JOB_INVOCATIONS; other += 1u) {
        result = fold_values(kind, result, shared_values[other]);
    }
    return result;
}

/// Executes the chunks of a job that are even or odd.
fn commit(workgroup: vec3<u32>, local: u32, odd: u32) {
    let number = job_of(workgroup);
    let job = open(min(number, parameters.jobs - 1u));
    let is_job = number < parameters.jobs && job.evaluates && workgroup.x < job.groups;
    let fold_count = job.operations - job.folds;
    for (var i = 0u; i < fold_count; i += 1u) {
        folded[i] = fold_identity(cells[job.folds + i].y);
    }
    let count = u32(committed(job));
    let stride = job.groups * JOB_INVOCATIONS;
    let chunks = count / job.chunk + 1u;
    for (var chunk = 2u * (workgroup.x * JOB_INVOCATIONS + local) + odd; is_job && chunk < chunks; chunk += 2u * stride) {
        let end = min((chunk + 1u) * job.chunk, count);
        for (var iteration = chunk * job.chunk; iteration < end; iteration += 1u) {
            evaluate(job.operations, job.end, u64(iteration), true);
        }
    }
    for (var i = 0u; i < fold_count; i += 1u) {
        let value = fold_workgroup(cells[job.folds + i].y, folded[i], local);
        if is_job && local == 0u {
            partials[job.partial + (2u * workgroup.x + odd) * TAPE_FOLDS + i] = value;
        }
    }
}

/// Executes every second chunk of the jobs, beginning with the first.
@compute @workgroup_size(JOB_INVOCATIONS)
fn commit_even(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    commit(workgroup, local, 0u);
}

/// Executes the other chunks.
@compute @workgroup_size(JOB_INVOCATIONS)
fn commit_odd(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    commit(workgroup, local, 1u);
}

/// Sets the registers of the lanes.
@compute @workgroup_size(JOB_INVOCATIONS)
fn finish(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = job_of(workgroup);
    let is_job = number < parameters.jobs;
    let job = open(min(number, parameters.jobs - 1u));
    let count = committed(job);
    let is_needed = is_job && count > 0lu;
    for (var at = job.registers + local; is_needed && at < job.folds; at += JOB_INVOCATIONS) {
        let cell = cells[at];
        let value = get_state(cell.x) + joined(cell.z, cell.w) * count;
        set_state(cell.x, select(value & 0xfffffffflu, value, cell.y == 1u));
    }
    for (var i = 0u; i < job.operations - job.folds; i += 1u) {
        let fold = cells[job.folds + i];
        var value = fold_identity(fold.y);
        for (var partial = local; is_needed && partial < 2u * job.groups; partial += JOB_INVOCATIONS) {
            value = fold_values(fold.y, value, partials[job.partial + partial * TAPE_FOLDS + i]);
        }
        value = fold_workgroup(fold.y, value, local);
        if is_needed && local == 0u {
            value = fold_values(fold.y, fold_key(fold, get_state(fold.x)), value);
            if fold.y >= FOLD_LEAST {
                value = (value ^ (u64(fold.z) << 63u)) >> select(32u, 0u, fold.w == 1u);
            }
            set_state(fold.x, select(value & 0xfffffffflu, value, fold.w == 1u));
        }
    }
    if is_needed && local == 0u {
        set_state(COLUMN_STEPS, get_state(COLUMN_STEPS) + count * job.steps);
    }
    if is_job && local == 0u {
        atomicStore(&results[number * JOB_RESULT + 1u], u32(count));
        atomicStore(&results[number * JOB_RESULT + 2u], u32(count >> 32u));
    }
}
