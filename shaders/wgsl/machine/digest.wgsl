//! The kernel that computes digests of the micro-ops of blocks of consecutive words, one workgroup per block. With it a
//! test compares the lowering of all 2^32 words with the twin.

import package::machine::bindings::{parameters};
import package::machine::decode_table::{lower};
import package::machine::layout::{DISPATCH_ROW, PAGE_OPS};

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;
/// The factor of the hash: an odd number without a pattern, 2^64 divided by the golden ratio.
const DIGEST_FACTOR = 0x9e3779b97f4a7c15lu;

/// The numbers of the blocks. The number of a word is 1,024 times that of its block, plus its index in the block.
@group(1) @binding(1) var<storage, read> digest_blocks: array<u32>;
/// The digest of each block: the sums of the low and of the high words of the hashes of its words.
@group(1) @binding(2) var<storage, read_write> digests: array<vec2<u32>>;

/// The sum of the low words of the hashes of a block.
var<workgroup> low_sum: atomic<u32>;
/// The sum of the high words of the hashes of a block.
var<workgroup> high_sum: atomic<u32>;

/// Returns a hash, continued with one more word.
fn with_word(digest: u64, word: u32) -> u64 {
    let product = (digest ^ u64(word)) * DIGEST_FACTOR;
    return product ^ (product >> 32u);
}

/// Computes the digests of the listed blocks. Twin: `kvrm_gpu::lowering::digest`.
@compute @workgroup_size(WORKGROUP_SIZE)
fn digest(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let job = workgroup.y * DISPATCH_ROW + workgroup.x;
    if job < parameters.jobs {
        var low_part = 0u;
        var high_part = 0u;
        for (var index = local; index < PAGE_OPS; index += WORKGROUP_SIZE) {
            let word = digest_blocks[job] * PAGE_OPS + index;
            let op = lower(word, parameters.features);
            var of_word = with_word(with_word(u64(word), op.control), op.parameters);
            of_word = with_word(with_word(of_word, u32(op.imm)), u32(op.imm >> 32u));
            low_part += u32(of_word);
            high_part += u32(of_word >> 32u);
        }
        atomicAdd(&low_sum, low_part);
        atomicAdd(&high_sum, high_part);
    }
    workgroupBarrier();
    if job < parameters.jobs && local == 0u {
        digests[job] = vec2<u32>(atomicLoad(&low_sum), atomicLoad(&high_sum));
    }
}
