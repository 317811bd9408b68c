//! The decoder: maps each 32-bit word to an [`Op`], or to `None` if it is UNDEFINED.

use crate::Features;
use crate::encoding::{ENCODINGS, Encoding, Op};

/// The number of top bits that select the bucket of a word. Most encodings differ in them.
const BUCKET_BITS: u32 = 11;
const BUCKETS: usize = 1 << BUCKET_BITS;
const BUCKET_SHIFT: u32 = 32 - BUCKET_BITS;

/// The start of each bucket in [`ROWS`]: bucket `b` holds `ROWS[STARTS[b]..STARTS[b + 1]]`.
static STARTS: [u16; BUCKETS + 1] = INDEX.0;
/// Row numbers by bucket, in table order within a bucket.
static ROWS: [u16; ROW_COUNT] = INDEX.1;

/// The number of (bucket, row) pairs.
const ROW_COUNT: usize = {
    let (mut count, mut row) = (0, 0);
    while row < ENCODINGS.len() {
        let fixed = (ENCODINGS[row].pattern.mask >> BUCKET_SHIFT).count_ones();
        count += 1 << (BUCKET_BITS - fixed);
        row += 1;
    }
    count
};

#[expect(clippy::cast_possible_truncation, reason = "rows and pairs number a few thousand")]
const INDEX: ([u16; BUCKETS + 1], [u16; ROW_COUNT]) = {
    assert!(ROW_COUNT < u16::MAX as usize, "bucket starts must fit into 16 bits");
    // A counting sort: sizes, then starts, then rows. Each row visits only the buckets that its free bits reach.
    let mut starts = [0u16; BUCKETS + 1];
    let mut rows = [0u16; ROW_COUNT];
    let mut pass = 0;
    while pass < 2 {
        let mut row = 0;
        while row < ENCODINGS.len() {
            let free = !ENCODINGS[row].pattern.mask >> BUCKET_SHIFT;
            let fixed = ENCODINGS[row].pattern.value >> BUCKET_SHIFT;
            // Steps through all subsets of `free`, the empty one last.
            let mut subset = free;
            loop {
                let bucket = (fixed | subset) as usize;
                if pass == 0 {
                    starts[bucket + 1] += 1;
                } else {
                    rows[starts[bucket] as usize] = row as u16;
                    starts[bucket] += 1;
                }
                if subset == 0 {
                    break;
                }
                subset = (subset - 1) & free;
            }
            row += 1;
        }
        // After the first pass, sizes become starts. The second pass turns starts into ends, so they move back by one.
        let mut bucket = BUCKETS;
        while pass == 1 && bucket > 0 {
            starts[bucket] = starts[bucket - 1];
            bucket -= 1;
        }
        if pass == 1 {
            starts[0] = 0;
        }
        let mut bucket = 0;
        while pass == 0 && bucket < BUCKETS {
            starts[bucket + 1] += starts[bucket];
            bucket += 1;
        }
        pass += 1;
    }
    (starts, rows)
};

/// Decodes a word. Returns `None` for an UNDEFINED instruction.
///
/// Where diagrams overlap, the more specific row comes first in the table and wins. If the word is in a hole of that
/// row, it is UNDEFINED, and no later row is tried.
///
/// ```
/// use kvrm_arm64::{Op, decode};
///
/// assert_eq!(decode(0x8b02_0c20), Some(Op::ADD_64_addsub_shift));
/// assert_eq!(decode(0xffff_ffff), None);
/// ```
#[must_use]
pub fn decode(word: u32) -> Option<Op> {
    let bucket = (word >> BUCKET_SHIFT) as usize;
    let rows = &ROWS[STARTS[bucket] as usize..STARTS[bucket + 1] as usize];
    let encoding =
        rows.iter().map(|&row| SEARCH_ROWS[row as usize]).find(|row| word & row.mask == row.value)?;
    let op = encoding.op;
    if encoding.has_holes && !op.encoding().matches(word) { None } else { Some(op) }
}

/// Decodes a word for a machine that has `features`. Words of other features are UNDEFINED, except hints, which are NOPs.
///
/// ```
/// use kvrm_arm64::{Features, Op, decode_for};
///
/// let paciasp = 0xd503_233f;
/// assert_eq!(decode_for(paciasp, Features::ALL), Some(Op::PACIASP_HI_hints));
/// assert_eq!(decode_for(paciasp, Features::BASE), Some(Op::HINT_HM_hints));
/// let pacia = 0xdac1_0020;
/// assert_eq!(decode_for(pacia, Features::BASE), None);
/// ```
#[must_use]
pub fn decode_for(word: u32, features: Features) -> Option<Op> {
    let op = decode(word)?;
    if features.has(op.feature_of(word)) {
        Some(op)
    } else if Op::HINT_HM_hints.encoding().pattern.matches(word) {
        Some(Op::HINT_HM_hints)
    } else {
        None
    }
}

/// The part of a row that the search reads: 12 bytes instead of a hundred.
#[derive(Clone, Copy)]
struct SearchRow {
    mask: u32,
    value: u32,
    op: Op,
    has_holes: bool,
}

static SEARCH_ROWS: [SearchRow; ENCODINGS.len()] = {
    let mut rows =
        [SearchRow { mask: 0, value: 0, op: Op::UDF_only_perm_undef, has_holes: false }; ENCODINGS.len()];
    let mut i = 0;
    while i < ENCODINGS.len() {
        let Encoding { op, pattern, holes, .. } = &ENCODINGS[i];
        rows[i] =
            SearchRow { mask: pattern.mask, value: pattern.value, op: *op, has_holes: !holes.is_empty() };
        i += 1;
    }
    rows
};
