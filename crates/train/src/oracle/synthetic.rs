//! Synthetic streams of page accesses.

use kvrm_prefetch::{PageAccess, RecordedAccess};

use crate::Random;

/// The largest number of streams that are interleaved.
const STREAMS: usize = 4;

/// Returns a stream of about as many accesses, made of strides, loops, walks and random accesses.
#[must_use]
pub fn synthetic_stream(random: &mut Random, accesses: usize) -> Vec<RecordedAccess> {
    let mut stream = Vec::with_capacity(accesses);
    let mut walkers: Vec<Walker> = (0..=random.below(STREAMS)).map(|_| Walker::new(random)).collect();
    // In turns, or by chance.
    let is_regular = random.below(3) > 0;
    let noise = [0, 0, 2, 10][random.below(4)];
    let burst = 1 + [0, 0, 1, 7][random.below(4)];
    let mut turn = 0;
    while stream.len() < accesses {
        let place = if is_regular { turn % walkers.len() } else { random.below(walkers.len()) };
        turn += 1;
        for _ in 0..=random.below(burst) {
            let recorded = walkers[place].next(random);
            if random.below(100) < noise {
                // An access is missing, because its page is there, or another one is between.
                if random.below(2) == 0 {
                    continue;
                }
                let page = recorded.access.page.wrapping_add(random.below(200) as u64).wrapping_sub(100);
                stream.push(RecordedAccess { access: PageAccess { page, ..recorded.access }, ..recorded });
            }
            stream.push(recorded);
        }
        if random.below(2000) == 0 {
            walkers[place] = Walker::new(random);
        }
    }
    stream
}

/// Makes the accesses of one loop.
struct Walker {
    kind: Kind,
    access: PageAccess,
    /// The first page.
    base: u64,
    /// The number of accesses so far.
    count: u64,
    is_pointed_to: bool,
}

enum Kind {
    /// Steps of the same length, from the first page again after a number of them.
    Stride { step: i64, length: u64 },
    /// Rows of a matrix: so many steps, then a jump to the next row.
    Rows { step: i64, length: u64, jump: i64 },
    /// The same steps again and again.
    Steps(Vec<i64>),
    /// The same pages in the same order again and again.
    Pages(Vec<u64>),
    /// Random pages.
    Random { pages: usize },
    /// Random steps forwards.
    Forwards { step: usize },
}

impl Walker {
    fn new(random: &mut Random) -> Self {
        let sign = if random.below(3) == 0 { -1 } else { 1 };
        let step = sign * random.magnitude(7).cast_signed();
        let length = 2 + random.magnitude(10);
        let kind = match random.below(10) {
            0..=2 => Kind::Stride { step: sign, length: 16 * length },
            3..=4 => Kind::Stride { step, length },
            5 => {
                // The next row begins about where this one did.
                let back = -step * (length as i64 - 1);
                Kind::Rows {
                    step,
                    length,
                    jump: if random.below(2) == 0 { back + sign } else { step + 3 * sign },
                }
            }
            6 => {
                let steps = 2 + random.below(5);
                Kind::Steps((0..steps).map(|_| random.below(24) as i64 - 8).collect())
            }
            7 => {
                // Nodes that were allocated one after the other, and linked with some disorder.
                let (count, disorder) = (4 + random.below(200), random.below(30) as u64);
                let mut pages: Vec<u64> = (0..count as u64).collect();
                pages.sort_by_cached_key(|page| page + random.bits() % (disorder + 1));
                Kind::Pages(pages)
            }
            8 => Kind::Random { pages: 2 + random.magnitude(11) as usize },
            _ => Kind::Forwards { step: 2 + random.below(8) },
        };
        let access = PageAccess {
            page: 0,
            size: 1 << random.below(5),
            load: random.below(3) > 0,
            pc: 4 * random.below(1 << 20) as u64,
            step: 0,
        };
        Self {
            kind,
            access,
            base: 1 << 20 | random.bits() >> 40,
            count: 0,
            is_pointed_to: random.below(4) == 0,
        }
    }

    fn next(&mut self, random: &mut Random) -> RecordedAccess {
        let count = self.count;
        self.count += 1;
        let last = self.access.page;
        self.access.page = match &self.kind {
            _ if count == 0 => self.base,
            Kind::Stride { step, length } => self.base.wrapping_add_signed(step * (count % length) as i64),
            Kind::Rows { length, jump, .. } if count.is_multiple_of(*length) => {
                last.wrapping_add_signed(*jump)
            }
            Kind::Rows { step, .. } => last.wrapping_add_signed(*step),
            Kind::Steps(steps) => last.wrapping_add_signed(steps[count as usize % steps.len()]),
            Kind::Pages(pages) => self.base + pages[count as usize % pages.len()],
            Kind::Random { pages } => self.base + random.below(*pages) as u64,
            Kind::Forwards { step } => last + random.below(*step) as u64,
        };
        RecordedAccess {
            access: self.access,
            is_written: !self.access.load,
            is_pointed_to: self.is_pointed_to,
        }
    }
}
