// Workgroups of one invocation each, which runs a chain of dependent operations.

struct Input {
    iterations: u32,
    seed: u32,
}

@group(0) @binding(0) var<storage, read> input: Input;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

override workgroup_size: u32;

@compute @workgroup_size(workgroup_size)
fn width_test(@builtin(workgroup_id) workgroup: vec3<u32>) {
    var state = input.seed + workgroup.x;
    for (var i = 0u; i < input.iterations; i += 1u) {
        state = state * 1664525u + 1013904223u;
    }
    output[workgroup.x] = state;
}
