//! The places of frames in the pools, in machines whose frames move between the pools and the host.
//!
//! Page tables and chains have numbers of frames, which never change. Only the information about a frame says where its contents are.
//! So moving a frame changes nothing else, except that lanes have to forget its handle.

import package::machine::bindings::{counters, frame_info, parameters, places};
import package::machine::frames::{frame_handle};
import package::machine::layout::{COUNTER_PLACES, INFO_AWAY, INFO_PLACE, INFO_PLACE_BIT};

/// Whether frames move between the pools and the host.
const MOVES_FRAMES = true;
/// No place is free.
const NO_PLACE = 0xffffffffu;

/// The frame that `translate` has found.
var<private> found: u32;

/// Returns the handle of a frame that is in the pools.
fn handle_of(frame: u32) -> u32 {
    return frame_handle(frame ^ ((frame_info[frame].y & INFO_PLACE) >> INFO_PLACE_BIT));
}

/// Returns the handle of a frame that `translate` has found, and notes that it is used.
fn found_handle(frame: u32) -> u32 {
    found = frame;
    places[parameters.places + 2u * frame + 1u] = parameters.turn;
    return handle_of(frame);
}

/// Returns the number of the frame that `translate` has found, whose handle is `handle`.
fn found_number(handle: u32) -> u32 {
    return found;
}

/// Whether the contents of a frame are on the host.
fn is_away(frame: u32) -> bool {
    return (frame_info[frame].y & INFO_AWAY) != 0u;
}

/// Prepares a frame that no lane has had.
fn begin_frame(frame: u32) {
    frame_info[frame] = vec4<u32>(0u, INFO_AWAY, 0u, 0u);
}

/// Gives a frame of a lane, whose contents do not matter, a place. Returns the bits of the place for the information
/// about the frame, or `NO_PLACE`.
fn take_place(frame: u32, lane: u32) -> u32 {
    var place = frame_info[frame].y & INFO_PLACE;
    if is_away(frame) {
        let index = atomicAdd(&counters[COUNTER_PLACES], 1u);
        if index >= parameters.free_places {
            return NO_PLACE;
        }
        place = (places[(parameters.first_free + index) % parameters.places] ^ frame) << INFO_PLACE_BIT;
    }
    places[parameters.places + 2u * frame] = lane + 1u;
    places[parameters.places + 2u * frame + 1u] = parameters.turn;
    return place;
}
