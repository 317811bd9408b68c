//! The places of frames in the pools: each frame has the place with its number. In machines whose frames move, `moving_places` takes
//! the place of this module.

import package::machine::frames::{frame_handle, frame_number};

/// Whether frames move between the pools and the host.
const MOVES_FRAMES = false;
/// No place is free.
const NO_PLACE = 0xffffffffu;

/// Returns the handle of a frame.
fn handle_of(frame: u32) -> u32 {
    return frame_handle(frame);
}

/// Returns the handle of a frame that `translate` has found.
fn found_handle(frame: u32) -> u32 {
    return frame_handle(frame);
}

/// Returns the number of the frame that `translate` has found, whose handle is `handle`.
fn found_number(handle: u32) -> u32 {
    return frame_number(handle);
}

/// Whether the contents of a frame are on the host.
fn is_away(frame: u32) -> bool {
    return false;
}

/// Prepares a frame that no lane has had.
fn begin_frame(frame: u32) {}

/// Gives a frame of a lane, whose contents do not matter, a place. Returns the bits of the place for the information
/// about the frame, or `NO_PLACE`.
fn take_place(frame: u32, lane: u32) -> u32 {
    return 0u;
}
