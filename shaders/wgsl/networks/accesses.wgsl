//! The kernel that computes the features of accesses to memory, which the memory oracle sees.

import package::machine::layout::{ACCESS_LOAD, ACCESS_PC_MASK};
import package::networks::layers::bindings::{batch, values};
import package::networks::layers::magnitudes::{distance_of, magnitudes};

/// The place of the features.
struct AccessLayer {
    /// The first vector of the features, a row for each access.
    output: u32,
    /// The distance between rows.
    output_stride: u32,
}

/// An access.
struct WindowAccess {
    /// The address minus the address of the access before, in two's complement.
    delta: u64,
    /// The number of bytes.
    size: u32,
    /// The lowest byte of the address of the instruction, and `ACCESS_LOAD` for a load.
    kind: u32,
}

/// The layer.
@group(1) @binding(0) var<uniform> access_layer: AccessLayer;
/// The accesses of all windows, window by window.
@group(1) @binding(1) var<storage, read> accesses: array<WindowAccess>;

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 32u;

/// ln(2) / 20.
const ACCESS_LOG_SCALE = 0.034657359;
/// The factor of deltas.
const ACCESS_DELTA_SCALE = 1e-6;

/// Writes the features of an access for each invocation: ten values, and two zeros.
///
/// Twin: `kvrm_models::inputs::access_features`.
@compute @workgroup_size(WORKGROUP_SIZE)
fn access_features(@builtin(global_invocation_id) invocation: vec3<u32>) {
    if invocation.x >= batch.tokens {
        return;
    }
    let access = accesses[invocation.x];
    let distance = distance_of(access.delta);
    let sign = select(1.0, -1.0, i64(access.delta) < 0li);
    let low = u32(distance & 7lu);
    let is_stride = low == 0u && distance >= 8lu && distance <= 64lu;
    let delta = sign * f32(distance) * ACCESS_DELTA_SCALE;
    let logarithm = magnitudes(access.delta, 0lu, 0lu, 0lu).x * ACCESS_LOG_SCALE;
    let size = f32(min(access.size, 8u)) / 8.0;
    let is_load = (access.kind & ACCESS_LOAD) != 0u;
    let pc = f32(access.kind & ACCESS_PC_MASK) / 255.0;
    let at = access_layer.output + invocation.x * access_layer.output_stride;
    values[at] = vec4<f32>(delta, logarithm, sign, f32(distance <= 8lu));
    values[at + 1u] = vec4<f32>(f32(is_stride), f32(low % 4u == 0u), f32(low == 0u), size);
    values[at + 2u] = vec4<f32>(f32(is_load), pc, 0.0, 0.0);
}
