//! The jobs of the kernels that execute iterations of loops at once.

/// The cells of all jobs.
@group(1) @binding(0) var<storage, read> cells: array<vec4<u32>>;
