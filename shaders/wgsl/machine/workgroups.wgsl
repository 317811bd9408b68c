//! The jobs of workgroups.

import package::machine::layout::{DISPATCH_ROW};

/// Returns the number of the job of a workgroup. Jobs are the last two dimensions, because one dimension has too few workgroups.
fn job_of(workgroup: vec3<u32>) -> u32 {
    return workgroup.y + workgroup.z * DISPATCH_ROW;
}
