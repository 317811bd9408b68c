//! The order of stages where lanes do not vote: always the same.

import package::machine::stages::{arithmetic_stage, branch_stage, other_stage};

/// Executes some micro-ops of the lane. Sets `leaves` if `leave_page` has to follow.
///
/// Needs the variables that `begin_slice` declares.
fragment execute_stages {
    var leaves = false;
    insert arithmetic_stage;
    insert other_stage;
    insert arithmetic_stage;
    insert arithmetic_stage;
    insert branch_stage;
}
