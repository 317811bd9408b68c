// A loop whose end depends on data, so that no compiler can remove it.

struct Input {
    iterations: u32,
    seed: u32,
    // The loop ends early when the state has this value. The host passes a value that the state does not reach.
    end: u32,
}

struct Output {
    iterations: u32,
    state: u32,
}

@group(0) @binding(0) var<storage, read> input: Input;
@group(0) @binding(1) var<storage, read_write> output: Output;

override workgroup_size: u32;

@compute @workgroup_size(workgroup_size)
fn loop_test() {
    var state = input.seed;
    var i = 0u;
    while i < input.iterations {
        state = state * 1664525u + 1013904223u;
        i += 1u;
        if state == input.end {
            break;
        }
    }
    output = Output(i, state);
}
