//! The default limit of the frames of a lane.

use crate::pages::PAGE_SHIFT;

/// The default number of frames that all lanes together may own: 8 GiB. Each lane gets an equal share, so that no lane
/// depends on how many frames others take.
const FRAMES_MAX: usize = 8 << (30 - PAGE_SHIFT);
/// The smallest default share of a lane, in frames.
const FRAMES_MIN: usize = 16;

/// Returns the number of frames that each of `lanes` lanes may own, if the caller has not set another.
pub(super) fn default_frames_max(lanes: usize) -> usize {
    (FRAMES_MAX / lanes).max(FRAMES_MIN)
}
