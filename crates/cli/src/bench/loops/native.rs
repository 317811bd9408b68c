//! Bare loops as code of the host: how fast they are at best.

/// What a loop works on.
pub(super) struct Memory<'a> {
    pub(super) source: &'a [u8],
    pub(super) table: &'a [u8],
    /// The bytes to write, with more behind them.
    pub(super) target: &'a mut [u8],
    pub(super) iterations: u64,
    /// The number of pixels of a column or row of drawings, of which the iterations are a multiple.
    pub(super) pixels: u64,
}

/// A loop. Returns a register, so that it cannot be left out.
pub(super) type Native = fn(Memory<'_>) -> u64;

pub(super) fn fill(memory: Memory<'_>) -> u64 {
    memory.target[..memory.iterations as usize].fill(0);
    0
}

pub(super) fn copy(memory: Memory<'_>) -> u64 {
    memory.target[..memory.source.len()].copy_from_slice(memory.source);
    0
}

pub(super) fn length(memory: Memory<'_>) -> u64 {
    memory.source.iter().position(|byte| *byte == 0).unwrap_or(0) as u64
}

pub(super) fn sum(memory: Memory<'_>) -> u64 {
    words(memory.source).map(u64::from).sum()
}

pub(super) fn maximum(memory: Memory<'_>) -> u64 {
    words(memory.source).map(|word| word as i32).fold(0, i32::max) as u64
}

pub(super) fn pass(memory: Memory<'_>) -> u64 {
    let elements = &mut memory.target.as_chunks_mut::<4>().0[..=memory.iterations as usize];
    let mut greatest = i32::from_le_bytes(elements[0]);
    for place in 0..elements.len() - 1 {
        let next = i32::from_le_bytes(elements[place + 1]);
        elements[place] = greatest.min(next).to_le_bytes();
        greatest = greatest.max(next);
    }
    *elements.last_mut().unwrap_or(&mut [0; 4]) = greatest.to_le_bytes();
    0
}

pub(super) fn gather(memory: Memory<'_>) -> u64 {
    // With a table of a known length, no index is checked.
    let Some((table, _)) = memory.table.split_first_chunk::<256>() else { return 0 };
    for (target, source) in memory.target.iter_mut().zip(memory.source) {
        *target = table[usize::from(*source)];
    }
    0
}

pub(super) fn progression(memory: Memory<'_>) -> u64 {
    let places = &mut memory.target.as_chunks_mut::<8>().0[..memory.iterations as usize];
    places.iter_mut().zip((0_u64..).step_by(3)).for_each(|(place, number)| *place = number.to_le_bytes());
    0
}

/// Returns the words of bytes.
fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word))
}
