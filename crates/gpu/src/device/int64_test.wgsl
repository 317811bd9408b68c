// Applies every operation on 64-bit integers that the engine uses to pairs of operands.

struct Operands {
    a: u64,
    b: u64,
}

struct Results {
    sum: u64,
    difference: u64,
    product: u64,
    shifted_left: u64,
    shifted_right: u64,
    signed_shifted_right: u64,
    quotient: u64,
    remainder: u64,
    signed_quotient: u64,
    // Bit 0: less, 1: less when signed, 2: equal.
    comparisons: u64,
    complement: u64,
    swapped_words: u64,
}

@group(0) @binding(0) var<storage, read> operands: array<Operands>;
@group(0) @binding(1) var<storage, read_write> results: array<Results>;

override workgroup_size: u32;

@compute @workgroup_size(workgroup_size)
fn int64_test(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    if i >= arrayLength(&operands) {
        return;
    }
    let a = operands[i].a;
    let b = operands[i].b;
    let signed_a = bitcast<i64>(a);
    let signed_b = bitcast<i64>(b);
    let amount = u32(b & 63);

    var result: Results;
    result.sum = a + b;
    result.difference = a - b;
    result.product = a * b;
    result.shifted_left = a << amount;
    result.shifted_right = a >> amount;
    result.signed_shifted_right = bitcast<u64>(signed_a >> amount);
    if b != 0 {
        result.quotient = a / b;
        result.remainder = a % b;
        result.signed_quotient = bitcast<u64>(signed_a / signed_b);
    }
    result.comparisons = select(0lu, 1lu, a < b) | select(0lu, 2lu, signed_a < signed_b) | select(0lu, 4lu, a == b);
    result.complement = ~a;
    result.swapped_words = (u64(u32(a)) << 32u) | u64(u32(a >> 32u));
    results[i] = result;
}
