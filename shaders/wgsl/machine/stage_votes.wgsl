//! The order of stages where the lanes of a subgroup vote.
//!
//! All lanes of a subgroup wait while some of them execute a stage. So a stage after the first one is skipped if few lanes
//! would take part. Those lanes wait for the next turn, in which more lanes may need the same stage.
//!
//! A vote counts the lanes of the subgroup that are active at this point. Results do not depend on it. Each turn makes
//! progress: lanes retire a micro-op in the first stage, or, if none needs it, in the stage that most lanes need.

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
    // On an H200, thresholds of a half and three eighths are slower in 65,536 lanes: mix 5 %, render 2 %.
    if 8u * votes(!leaves && get_handler(op.x) - HANDLER_ADD <= HANDLER_EOR - HANDLER_ADD) >= 3u * lanes_here {
        insert arithmetic_stage;
    }
    if others < branches
        || 4u * votes(!leaves && get_handler(op.x) - HANDLER_BRANCH <= HANDLER_BRANCH_REGISTER - HANDLER_BRANCH)
            >= lanes_here {
        insert branch_stage;
    }
}
