//! The decoder: every 32-bit word is an [`Op`] or `None`.

use crate::encoding::{ENCODINGS, Encoding, Op};

/// Words are sorted into buckets by their top bits, which tell most encodings apart.
const BUCKET_BITS: u32 = 11;
const BUCKETS: usize = 1 << BUCKET_BITS;
const BUCKET_SHIFT: u32 = 32 - BUCKET_BITS;

/// Rows by bucket: bucket `b` holds `ROWS[STARTS[b]..STARTS[b + 1]]`, in table order.
static STARTS: [u16; BUCKETS + 1] = INDEX.0;
static ROWS: [u16; ROW_COUNT] = INDEX.1;

/// How many (bucket, row) pairs there are.
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
    assert!(ROW_COUNT < u16::MAX as usize, "bucket starts are 16-bit");
    // A counting sort: sizes, then starts, then rows. Only buckets that a row's free bits reach are visited.
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
        // After the first pass: sizes become starts. After the second: starts, now ends, move back by one.
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

/// Decodes a word. `None` is an UNDEFINED instruction.
///
/// Where diagrams overlap, the more specific row comes first in the table and wins; if such a row has the
/// word in a hole, the word is UNDEFINED and no later row is tried.
#[must_use]
pub fn decode(word: u32) -> Option<Op> {
    let bucket = (word >> BUCKET_SHIFT) as usize;
    let rows = &ROWS[STARTS[bucket] as usize..STARTS[bucket + 1] as usize];
    let encoding = rows.iter().map(|&row| ROW[row as usize]).find(|row| word & row.mask == row.value)?;
    let op = encoding.op;
    if encoding.has_holes && !op.encoding().matches(word) { None } else { Some(op) }
}

/// What the search reads of a row: 12 bytes instead of a hundred.
#[derive(Clone, Copy)]
struct Row {
    mask: u32,
    value: u32,
    op: Op,
    has_holes: bool,
}

static ROW: [Row; ENCODINGS.len()] = {
    let mut rows =
        [Row { mask: 0, value: 0, op: Op::UDF_only_perm_undef, has_holes: false }; ENCODINGS.len()];
    let mut i = 0;
    while i < ENCODINGS.len() {
        let Encoding { op, pattern, holes, .. } = &ENCODINGS[i];
        rows[i] = Row { mask: pattern.mask, value: pattern.value, op: *op, has_holes: !holes.is_empty() };
        i += 1;
    }
    rows
};
