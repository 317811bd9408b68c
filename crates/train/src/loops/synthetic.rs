//! Synthetic loops: bodies in the styles of compilers, and real bodies with a changed instruction. Their labels are those of
//! the checker, never those that the generator meant.

use kvrm_arm64::{Class, decode};
use kvrm_models::inputs::{BODY_WORDS_MAX, REGISTERS};

use kvrm_learn::Random;

/// A generated loop with values of its registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The words.
    pub words: Vec<u32>,
    /// The values of x0 to x30 and the stack pointer.
    pub registers: [u64; REGISTERS],
}

/// The offset of exits, in words: behind every body.
pub(super) const OUT: u32 = 64;

const EQ: u32 = 0;
const NE: u32 = 1;

/// A body in the making.
struct Maker<'a> {
    random: &'a mut Random,
    /// Registers that are not used yet.
    free: Vec<u32>,
    registers: [u64; REGISTERS],
    words: Vec<u32>,
}

impl Maker<'_> {
    /// Returns a register that is not used yet.
    fn register(&mut self) -> u32 {
        let index = self.random.below(self.free.len());
        self.free.swap_remove(index)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.random.below(100) < percent
    }

    fn address(&mut self) -> u64 {
        match self.random.below(3) {
            0 => 0x40_0000 + (self.random.bits() & 0xf_fff8),
            1 => 0x7f_ff00_0000 + (self.random.bits() & 0xff_fff8),
            _ => self.random.magnitude(40) & !7,
        }
    }

    fn push(&mut self, word: u32) {
        self.words.push(word);
    }

    /// ADD or SUB of an immediate: `by` may be negative.
    fn step(&self, wide: u32, register: u32, by: i64, flags: u32) -> u32 {
        let sub = u32::from(by < 0);
        wide << 31
            | sub << 30
            | flags << 29
            | 0x1100_0000
            | (by.unsigned_abs() as u32 & 0xfff) << 10
            | (register * 0x21)
    }

    /// A load or a store of one register. `mode`: 0 offset, 1 post-index, 2 pre-index.
    fn access(&self, Transfer { size, is_load, t, n }: Transfer, mode: u32, offset: i64) -> u32 {
        let load = u32::from(is_load) << 22;
        let imm9 = (offset as u32 & 0x1ff) << 12;
        match mode {
            0 if offset >= 0 && offset % (1 << size) == 0 => {
                size << 30 | 0x3900_0000 | load | ((offset >> size) as u32 & 0xfff) << 10 | n << 5 | t
            }
            0 => size << 30 | 0x3800_0000 | load | imm9 | n << 5 | t,
            1 => size << 30 | 0x3800_0400 | load | imm9 | n << 5 | t,
            _ => size << 30 | 0x3800_0c00 | load | imm9 | n << 5 | t,
        }
    }

    /// A load or a store at a base plus an index, perhaps scaled.
    fn indexed(&self, Transfer { size, is_load, t, n }: Transfer, m: u32, scaled: u32) -> u32 {
        size << 30 | 0x3820_6800 | u32::from(is_load) << 22 | m << 16 | scaled << 12 | n << 5 | t
    }

    /// An instruction on registers that nothing else uses.
    fn filler(&mut self, d: u32, n: u32, m: u32) -> u32 {
        let wide = self.random.below(2) as u32;
        match self.random.below(7) {
            0 => wide << 31 | 0x0b00_0000 | m << 16 | n << 5 | d,
            1 => wide << 31 | 0x4b00_0000 | m << 16 | n << 5 | d,
            2 => wide << 31 | 0x0a00_0000 | (self.random.below(3) as u32) << 29 | m << 16 | n << 5 | d,
            3 => wide << 31 | 0x1b00_0000 | m << 16 | (self.random.below(31) as u32) << 10 | n << 5 | d,
            4 => {
                wide << 31
                    | 0x1100_0000
                    | (self.random.below(2) as u32) << 30
                    | (self.random.below(64) as u32) << 10
                    | n << 5
                    | d
            }
            5 => 0x5280_0000 | (self.random.below(256) as u32) << 5 | d,
            _ => 0x5300_1c00 | n << 5 | d, // uxtb
        }
    }

    fn fillers(&mut self, most: usize) {
        let count = self.random.below(most + 1);
        for _ in 0..count {
            let (d, n, m) = (self.register(), self.register(), self.register());
            // An accumulation, or a temporary.
            let n = if self.chance(40) { d } else { n };
            let word = self.filler(d, n, m);
            self.push(word);
            self.free.extend([n, m].into_iter().filter(|register| *register != d));
            if !self.free.contains(&d) {
                self.free.push(d);
            }
        }
    }

    fn branch(&self, cond: u32, words: i32) -> u32 {
        0x5400_0000 | (words as u32 & 0x7_ffff) << 5 | cond
    }

    /// CBZ or CBNZ.
    fn zero(&self, wide: u32, not: u32, t: u32, words: i32) -> u32 {
        wide << 31 | 0x3400_0000 | not << 24 | (words as u32 & 0x7_ffff) << 5 | t
    }

    /// CMP of registers or with an immediate.
    fn compare(&self, wide: u32, n: u32, with: Compared) -> u32 {
        match with {
            Compared::Register(m) => wide << 31 | 0x6b00_001f | m << 16 | n << 5,
            Compared::Immediate(imm) => wide << 31 | 0x7100_001f | (imm & 0xfff) << 10 | n << 5,
        }
    }

    /// Ends the body with a branch back to the first word.
    fn back(&mut self, cond: Option<u32>) {
        let words = -(self.words.len() as i32);
        let word = match cond {
            Some(cond) => self.branch(cond, words),
            None => 0x1400_0000 | words as u32 & 0x03ff_ffff,
        };
        self.push(word);
    }

    /// Adds a counter that decides an exit: its update, its comparison, and the branch back or an exit at the front. `moved` is
    /// a register that moves by a step already.
    fn counted(&mut self, moved: Option<(u32, i64)>) {
        let trips = self.random.magnitude(21);
        let wide = u32::from(moved.is_some() || self.chance(60));
        let is_front = self.chance(25);
        let (counter, by) = moved.unwrap_or_else(|| {
            let counter = self.register();
            let by = 1 << [0, 0, 0, 0, 1, 2, 3][self.random.below(7)];
            (counter, if self.random.below(2) == 0 { by } else { -by })
        });
        let span = (by as u64).wrapping_mul(trips);
        let style = self.random.below(if moved.is_some() { 2 } else { 5 });
        let value = |value: u64| if wide == 1 { value } else { value & 0xffff_ffff };
        match style {
            // Down to zero: SUBS and a condition, or SUB and CBNZ.
            2 | 3 if by < 0 => {
                self.registers[counter as usize] = span.wrapping_neg();
                if is_front {
                    let exit = self.zero(wide, 0, counter, OUT as i32);
                    self.words.insert(0, exit);
                    let update = self.step(wide, counter, by, 0);
                    self.push(update);
                    self.back(None);
                } else if style == 2 {
                    let update = self.step(wide, counter, by, 1);
                    self.push(update);
                    if self.chance(30) {
                        let n = self.register();
                        let other = self.step(1, n, 1, 0);
                        self.push(other);
                    }
                    let cond = [NE, NE, NE, 12, 5][self.random.below(5)];
                    self.back(Some(cond));
                } else {
                    let update = self.step(wide, counter, by, 0);
                    self.push(update);
                    let words = -(self.words.len() as i32);
                    let end = self.zero(wide, 1, counter, words);
                    self.push(end);
                }
            }
            // To a register or an immediate.
            _ => {
                let start = match (moved, by > 0) {
                    (Some(_), _) => self.registers[counter as usize],
                    (None, true) => [0, 0, 1, self.random.bits() & 0xff][self.random.below(4)],
                    (None, false) => span.wrapping_neg() + (self.random.bits() & 0xff),
                };
                let end = start.wrapping_add(span);
                self.registers[counter as usize] = value(start);
                let with = if end < 4096 && self.chance(60) {
                    Compared::Immediate(end as u32)
                } else {
                    let limit = self.register();
                    self.registers[limit as usize] = value(end);
                    Compared::Register(limit)
                };
                let swapped = matches!(with, Compared::Register(_)) && self.chance(30);
                let compare = match (with, swapped) {
                    (Compared::Register(limit), true) => {
                        self.compare(wide, limit, Compared::Register(counter))
                    }
                    (with, _) => self.compare(wide, counter, with),
                };
                // While the counter has not reached the limit: NE, or less than it as signed or unsigned numbers.
                let less = match (by > 0, swapped) {
                    (true, false) | (false, true) => [3, 11],
                    (true, true) | (false, false) => [8, 12],
                };
                let cond = if self.chance(55) { NE } else { less[self.random.below(2)] };
                if is_front {
                    let exit = self.branch(cond ^ 1, OUT as i32);
                    self.words.splice(0..0, [compare, exit]);
                }
                if moved.is_none() {
                    let update = self.step(wide, counter, by, 0);
                    self.push(update);
                }
                if is_front {
                    self.back(None);
                } else {
                    self.push(compare);
                    self.back(Some(cond));
                }
            }
        }
    }

    fn count(&mut self) {
        self.fillers(7);
        if self.chance(40) {
            // Accesses that are neither fills nor copies.
            let (t, n) = (self.register(), self.register());
            self.registers[n as usize] = self.address();
            let (size, is_load) = (self.random.below(4) as u32, self.chance(60));
            let mode = self.random.below(3) as u32;
            let word = self.access(transfer(size, is_load, t, n), mode, 1 << size);
            self.push(word);
            self.fillers(3);
        }
        self.counted(None);
    }

    /// Fills and copies, also with a change in between.
    fn stream(&mut self) {
        let size = self.random.below(4) as u32;
        let bytes = 1_i64 << size;
        let (to, from, value) = (self.register(), self.register(), self.register());
        self.registers[to as usize] = self.address();
        self.registers[from as usize] = self.address();
        self.registers[value as usize] =
            [0, self.random.bits() & 0xff, self.random.bits()][self.random.below(3)];
        let copies = self.chance(55);
        let value = if !copies && self.chance(35) { 31 } else { value };
        let times = 1 + i64::from(self.chance(25)) + 2 * i64::from(self.chance(8));
        let stride = if self.chance(15) { 1 + self.random.below(6) as i64 } else { 1 };
        let down = self.chance(15);
        let by = if down { -bytes * times * stride } else { bytes * times * stride };
        let change = copies && self.chance(15);
        match self.random.below(3) {
            // By an index.
            0 if times == 1 => {
                let index = self.register();
                let scaled = u32::from(size > 0 && self.chance(70));
                if copies {
                    let load = self.indexed(transfer(size, true, value, from), index, scaled);
                    self.push(load);
                }
                if change {
                    let word = self.filler(value, value, value);
                    self.push(word);
                }
                let store = self.indexed(transfer(size, false, value, to), index, scaled);
                self.push(store);
                let unit = if scaled == 1 { 1 } else { bytes } * stride;
                let by = if down { -unit } else { unit };
                let update = self.step(1, index, by, 0);
                self.push(update);
                if self.chance(50) {
                    self.registers[index as usize] = self.random.bits() & 0x3f;
                }
                self.counted(Some((index, by)));
            }
            // By pointers with write-back.
            1 if by.abs() < 256 && times == 1 => {
                let mode = 1 + u32::from(self.chance(25));
                if copies {
                    let load = self.access(transfer(size, true, value, from), mode, by);
                    self.push(load);
                }
                if change {
                    let word = self.filler(value, value, value);
                    self.push(word);
                }
                let store = self.access(transfer(size, false, value, to), mode, by);
                self.push(store);
                let moved = if copies && self.chance(50) { from } else { to };
                let moved = self.chance(60).then_some((moved, by));
                self.counted(moved);
            }
            // By pointers that are added to.
            _ => {
                for place in 0..times {
                    let other = if place > 0 && copies { self.register() } else { value };
                    if copies {
                        let load = self.access(transfer(size, true, other, from), 0, place * bytes);
                        self.push(load);
                    }
                    let store = self.access(transfer(size, false, other, to), 0, place * bytes);
                    self.push(store);
                }
                let update = self.step(1, to, by, 0);
                self.push(update);
                if copies {
                    let update = self.step(1, from, by, 0);
                    self.push(update);
                }
                let moved = self.chance(60).then_some((to, by));
                self.counted(moved);
            }
        }
    }

    fn search(&mut self) {
        let size = self.random.below(4) as u32;
        let wide = u32::from(size == 3);
        let bytes = 1_i64 << size;
        let (at, value) = (self.register(), self.register());
        self.registers[at as usize] = self.address();
        let by = if self.chance(15) { -bytes } else { bytes };
        let two = self.chance(25);
        let moves = self.chance(85);
        let indexed = self.chance(30);
        let index = self.register();
        let mode = if indexed { 0 } else { self.random.below(3) as u32 };
        let load = |maker: &mut Self, t: u32, at: u32| {
            let word = if indexed {
                maker.indexed(transfer(size, true, t, at), index, u32::from(size > 0))
            } else if mode > 0 && moves {
                maker.access(transfer(size, true, t, at), mode, by)
            } else {
                maker.access(transfer(size, true, t, at), 0, 0)
            };
            maker.push(word);
        };
        load(self, value, at);
        let mut other = None;
        if two {
            let (base, t) = (self.register(), self.register());
            self.registers[base as usize] = self.address();
            load(self, t, base);
            other = Some((base, t));
        }
        if moves && indexed {
            let update = self.step(1, index, by.signum(), 0);
            self.push(update);
        } else if moves && mode == 0 {
            let update = self.step(1, at, by, 0);
            self.push(update);
            if let Some((base, _)) = other {
                let update = self.step(1, base, by, 0);
                self.push(update);
            }
        }
        let exits_in_front = self.chance(40);
        let compare = match other {
            Some((_, t)) => Some(self.compare(wide, value, Compared::Register(t))),
            None if self.chance(45) => None,
            None if self.chance(50) => {
                let imm = self.random.below(256) as u32;
                Some(self.compare(wide, value, Compared::Immediate(imm)))
            }
            None => {
                let key = self.register();
                self.registers[key as usize] = self.random.bits() & 0xff;
                Some(self.compare(wide, value, Compared::Register(key)))
            }
        };
        let cond = [NE, NE, EQ, 8, 3][self.random.below(5)];
        match (exits_in_front, compare) {
            (true, Some(compare)) => {
                let exit = self.branch(cond ^ 1, OUT as i32);
                self.push(compare);
                self.push(exit);
                self.counted(None);
            }
            (true, None) => {
                let exit = self.zero(wide, 0, value, OUT as i32);
                self.push(exit);
                self.counted(None);
            }
            (false, Some(compare)) => {
                self.push(compare);
                self.back(Some(cond));
            }
            (false, None) => {
                let words = -(self.words.len() as i32);
                let end = self.zero(wide, 1, value, words);
                self.push(end);
            }
        }
    }

    fn poll(&mut self) {
        let size = self.random.below(4) as u32;
        let wide = u32::from(size == 3);
        let (at, value) = (self.register(), self.register());
        self.registers[at as usize] = self.address();
        let offset = (self.random.below(8) as i64) << size;
        let load = self.access(transfer(size, true, value, at), 0, offset);
        self.push(load);
        if self.chance(15) {
            let (at, value) = (self.register(), self.register());
            self.registers[at as usize] = self.address();
            let load = self.access(transfer(size, true, value, at), 0, 0);
            self.push(load);
        }
        if self.chance(10) {
            self.push(0xd503_203f); // yield
        }
        let bounded = self.chance(55);
        let cond = [NE, EQ, 8, 3, 4, 5][self.random.below(6)];
        match self.random.below(4) {
            // A bit: TBZ or TBNZ.
            0 => {
                let bit = self.random.below(8 << size) as u32;
                let not = u32::from(self.chance(50)) << 24;
                let test = bit >> 5 << 31 | 0x3600_0000 | not | (bit & 31) << 19 | value;
                if bounded {
                    self.push(test | OUT << 5);
                    self.counted(None);
                } else {
                    let words = -(self.words.len() as i32) as u32 & 0x3fff;
                    self.push(test | words << 5);
                }
            }
            1 => {
                let not = u32::from(self.chance(50));
                if bounded {
                    let exit = self.zero(wide, not, value, OUT as i32);
                    self.push(exit);
                    self.counted(None);
                } else {
                    let words = -(self.words.len() as i32);
                    let end = self.zero(wide, not, value, words);
                    self.push(end);
                }
            }
            style => {
                let test = if style == 2 {
                    let imm = self.random.below(256) as u32;
                    self.compare(wide, value, Compared::Immediate(imm))
                } else if self.chance(50) {
                    let key = self.register();
                    self.registers[key as usize] = self.random.bits() & 0xff;
                    self.compare(wide, value, Compared::Register(key))
                } else {
                    // TST of a bit.
                    let bit = self.random.below(if wide == 1 { 64 } else { 32 }) as u32;
                    let rotation = (if wide == 1 { 64 } else { 32 } - bit) % if wide == 1 { 64 } else { 32 };
                    wide << 31 | wide << 22 | 0x7200_001f | rotation << 16 | value << 5
                };
                self.push(test);
                if bounded {
                    let exit = self.branch(cond, OUT as i32);
                    self.push(exit);
                    self.counted(None);
                } else {
                    self.back(Some(cond));
                }
            }
        }
    }

    fn bubble(&mut self) {
        let size = self.random.below(4) as u32;
        let wide = u32::from(size == 3);
        let bytes = 1_i64 << size;
        let (at, a, b) = (self.register(), self.register(), self.register());
        self.registers[at as usize] = self.address();
        let down = self.chance(25);
        let low = if self.chance(50) { 0 } else { -bytes };
        let pair = size >= 2 && self.chance(35);
        let ldp = |load: u32, t: u32, t2: u32| {
            wide << 31
                | 0x2900_0000
                | load << 22
                | ((low >> size) as u32 & 0x7f) << 15
                | t2 << 10
                | at << 5
                | t
        };
        let update = self.step(1, at, if down { -bytes } else { bytes }, 0);
        // The update of the pointer may come first, and so may the end of a rotated loop.
        let is_first = self.chance(40);
        if is_first {
            self.push(update);
        }
        if pair {
            self.push(ldp(1, a, b));
        } else {
            let loads = [
                self.access(transfer(size, true, a, at), 0, low),
                self.access(transfer(size, true, b, at), 0, low + bytes),
            ];
            let order = self.random.below(2);
            self.push(loads[order]);
            self.push(loads[1 - order]);
        }
        let (x, y) = if self.chance(50) { (a, b) } else { (b, a) };
        let compare = self.compare(wide, x, Compared::Register(y));
        self.push(compare);
        let branch = self.words.len();
        self.push(0);
        // Mostly a swap, sometimes only nearly one.
        let (first, second) = if self.chance(88) { (b, a) } else { (a, b) };
        if pair && self.chance(70) {
            self.push(ldp(0, first, second));
        } else {
            let stores = [
                self.access(transfer(size, false, first, at), 0, low),
                self.access(transfer(size, false, second, at), 0, low + bytes),
            ];
            let order = self.random.below(2);
            self.push(stores[order]);
            self.push(stores[1 - order]);
        }
        match self.random.below(4) {
            0 => {
                let flag = self.register();
                self.push(0x5280_0020 | flag); // mov wN, #1
            }
            1 => {
                let swaps = self.register();
                let count = self.step(1, swaps, 1, 0);
                self.push(count);
            }
            _ => {}
        }
        let conds = [13, 9, 10, 2, 11, 3, 12, 8];
        let cond = conds[self.random.below(8)];
        if is_first && self.chance(60) {
            // The branch goes on at the head; the exit is in front.
            self.words[branch] = self.branch(cond, -(branch as i32));
            let limit = self.register();
            self.registers[limit as usize] =
                self.registers[at as usize].wrapping_add(bytes as u64 * self.random.magnitude(12));
            let compare = self.compare(1, at, Compared::Register(limit));
            let exit = self.branch(EQ, OUT as i32);
            self.words.splice(1..1, [compare, exit]);
            self.words[branch + 2] = self.branch(cond, -(branch as i32 + 2));
            self.back(None);
            return;
        }
        self.words[branch] = self.branch(cond, (self.words.len() - branch) as i32);
        if !is_first {
            self.push(update);
        }
        let length = self.words.len();
        let moved = self.chance(50).then_some((at, if down { -bytes } else { bytes }));
        self.counted(moved);
        // An exit that was put in front moves the words.
        if self.words.len() > length && self.words[branch] >> 24 != 0x54 {
            self.words.truncate(length);
            self.back(Some(NE));
        }
    }
}

/// The register of an access and its base.
#[derive(Clone, Copy)]
struct Transfer {
    /// The binary logarithm of the number of bytes.
    size: u32,
    is_load: bool,
    t: u32,
    n: u32,
}

const fn transfer(size: u32, is_load: bool, t: u32, n: u32) -> Transfer {
    Transfer { size, is_load, t, n }
}

#[derive(Clone, Copy)]
enum Compared {
    Register(u32),
    Immediate(u32),
}

/// Returns a loop in the style of a compiler: it counts, fills, copies, searches, waits or sorts, or does nearly so.
#[must_use]
pub fn synthetic(random: &mut Random) -> Generated {
    loop {
        let mut registers = std::array::from_fn(|_| match random.below(4) {
            0 => 0,
            1 => random.bits() & 0xff,
            2 => 0x40_0000 + (random.bits() & 0xf_ffff),
            _ => random.bits() >> random.below(64),
        });
        registers[31] = 0x7f_ffff_0000 + (random.bits() & 0xfff0);
        let kind = random.below(10);
        let mut maker = Maker { random, free: (0..29).collect(), registers, words: Vec::new() };
        match kind {
            0..=2 => maker.count(),
            3..=5 => maker.stream(),
            6 | 7 => maker.search(),
            8 => maker.poll(),
            _ => maker.bubble(),
        }
        if maker.words.len() <= BODY_WORDS_MAX {
            return Generated { words: maker.words, registers: maker.registers };
        }
    }
}

/// Returns a body with one instruction replaced, removed, inserted or exchanged with its neighbour, or `None` if the change
/// cannot be made. Other instructions come from `others`.
#[must_use]
pub fn mutated(words: &[u32], others: &[u32], random: &mut Random) -> Option<Vec<u32>> {
    let last = words.len() - 1;
    let is_branch = |word: u32| decode(word).is_some_and(|op| op.class() == Class::Branch);
    let place = random.below(last.max(1));
    if last == 0 || is_branch(words[place]) {
        return None;
    }
    let other = others[random.below(others.len())];
    let mut changed = words.to_vec();
    let kind = random.below(4);
    // The offsets of inner branches would have to change too.
    let is_straight = !words[..last].iter().any(|word| is_branch(*word));
    match kind {
        0 if is_straight => {
            changed.remove(place);
        }
        1 if is_straight && words.len() < BODY_WORDS_MAX => changed.insert(place, other),
        2 if place + 1 < last && !is_branch(words[place + 1]) => changed.swap(place, place + 1),
        3 => changed[place] = other,
        _ => return None,
    }
    let words = -(changed.len() as i64 - 1) as u32;
    let back = changed.last_mut()?;
    *back = match *back >> 24 & 0x7f {
        0x36 | 0x37 => *back & !0x0007_ffe0 | (words & 0x3fff) << 5,
        _ if *back >> 26 == 5 => 5 << 26 | words & 0x03ff_ffff,
        _ => *back & !0x00ff_ffe0 | (words & 0x7_ffff) << 5,
    };
    Some(changed)
}
