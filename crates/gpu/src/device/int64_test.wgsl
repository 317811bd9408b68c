// What 64-bit integers give, in every operation that the engine uses.

struct Operands {
    a: u64,
    b: u64,
}

struct Results {
    added: u64,
    subtracted: u64,
    multiplied: u64,
    shifted_left: u64,
    shifted_right: u64,
    shifted_right_signed: u64,
    divided: u64,
    remainder: u64,
    divided_signed: u64,
    // Bit 0: less, 1: less when signed, 2: equal.
    compared: u64,
    negated: u64,
    words: u64,
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
    result.added = a + b;
    result.subtracted = a - b;
    result.multiplied = a * b;
    result.shifted_left = a << amount;
    result.shifted_right = a >> amount;
    result.shifted_right_signed = bitcast<u64>(signed_a >> amount);
    if b != 0 {
        result.divided = a / b;
        result.remainder = a % b;
        result.divided_signed = bitcast<u64>(signed_a / signed_b);
    }
    result.compared = select(0lu, 1lu, a < b) | select(0lu, 2lu, signed_a < signed_b) | select(0lu, 4lu, a == b);
    result.negated = ~a;
    result.words = (u64(u32(a)) << 32u) | u64(u32(a >> 32u));
    results[i] = result;
}
