//! The order of stages that the lanes of a subgroup choose by votes.
//!
//! All lanes of a subgroup wait while some of them go through a stage. So most stages are skipped until many lanes take
//! part, and the others wait for the next turn, in which there may be more of them.
//!
//! A vote counts the lanes that are active at that place. No result depends on which these are. In each turn, at least one
//! lane retires a micro-op or leaves: one in the first stage, or else those of the kind that wins the first vote.

import package::machine::micro_op::{
    HANDLER_ADD, HANDLER_BRANCH, HANDLER_BRANCH_REGISTER, HANDLER_EOR, get_handler,
};
import package::machine::stages::{arithmetic_stage, branch_stage, other_stage};

/// Returns the number of lanes of the subgroup for which `wants` is true.
fn votes(wants: bool) -> u32 {
    let counts = countOneBits(subgroupBallot(wants));
    return counts.x + counts.y + counts.z + counts.w;
}

/// Executes some micro-ops of the lane. Sets `leaves` if `leave_page` has to follow.
///
/// Needs the variables that `begin_slice` declares.
fragment execute_stages {
    var leaves = false;
    let lanes_here = votes(true);
    insert arithmetic_stage;
    let others = votes(!leaves && get_handler(op.x) - HANDLER_ADD > HANDLER_BRANCH_REGISTER - HANDLER_ADD);
    let branches = votes(!leaves && get_handler(op.x) - HANDLER_BRANCH <= HANDLER_BRANCH_REGISTER - HANDLER_BRANCH);
    if others >= branches {
        insert other_stage;
    }
    // On an H200, three of eight and one of four were the best of the fractions that were measured.
    if 8u * votes(!leaves && get_handler(op.x) - HANDLER_ADD <= HANDLER_EOR - HANDLER_ADD) >= 3u * lanes_here {
        insert arithmetic_stage;
    }
    if others < branches
        || 4u * votes(!leaves && get_handler(op.x) - HANDLER_BRANCH <= HANDLER_BRANCH_REGISTER - HANDLER_BRANCH)
            >= lanes_here {
        insert branch_stage;
    }
}
