// Every invocation of a workgroup runs the same loop, one after the other. If a driver counts the iterations of several
// invocations together, only the first of these runs its loop to the end.

struct Input {
    iterations: u32,
    seed: u32,
    // The loop ends early when the state has this value. The host passes a value that the state does not reach.
    end: u32,
}

@group(0) @binding(0) var<storage, read> input: Input;
// The number of iterations of each invocation, and its state after them.
@group(0) @binding(1) var<storage, read_write> output: array<vec2<u32>>;

override workgroup_size: u32;

@compute @workgroup_size(workgroup_size)
fn loop_sharing_test(@builtin(local_invocation_index) local: u32) {
    var state = input.seed;
    var i = 0u;
    for (var turn = 0u; turn < workgroup_size; turn += 1u) {
        if turn == local {
            while i < input.iterations {
                state = state * 1664525u + 1013904223u;
                i += 1u;
                if state == input.end {
                    break;
                }
            }
        }
    }
    output[local] = vec2<u32>(i, state);
}
