//! A digest of states, by which runs with different drivers can be compared by eye.

use kvrm_testkit::lanes::Lane;

/// A digest of words by FNV-1a, which is fast and the same on every host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest(pub(crate) u64);

impl Digest {
    pub(crate) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) const fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x100_0000_01b3);
        // The product carries bits only upwards, so this mixes high bits into low ones.
        self.0 ^= self.0 >> 32;
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            self.word(chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)));
        }
    }

    /// Adds the visible state of a lane, and its console output.
    pub(crate) fn lane(&mut self, lane: &Lane, written: &[Vec<u8>; 2]) {
        let Lane { stop, cpu, private_pages, memory } = lane;
        self.bytes(format!("{stop:?}").as_bytes());
        (0..31).for_each(|n| self.word(cpu.x(n)));
        [cpu.sp, cpu.pc, cpu.tpidr_el0, cpu.steps].iter().for_each(|word| self.word(*word));
        [cpu.nzcv, cpu.fpcr, cpu.fpsr].iter().for_each(|word| self.word((*word).into()));
        for v in cpu.v {
            self.word(v as u64);
            self.word((v >> 64) as u64);
        }
        private_pages.iter().for_each(|page| self.word(*page));
        memory.iter().chain(written).for_each(|bytes| self.bytes(bytes));
    }
}
