//! Passes of a bubble sort: each iteration compares two neighbours in memory, and exchanges them if they are in the wrong order.
//!
//! So the greater one moves on with the iterations. It is compared with the next element, which no earlier iteration has changed,
//! so the greatest element so far is the only value that is carried over from one iteration to the next.

use alloc::vec;
use alloc::vec::Vec;

use kvrm_arm64::micro_op::{MicroOp, REGISTERS, SINK, ZERO};

use crate::atom::{Atom, Loaded};
use crate::body::{Access, Body, Decision};
use crate::flags::{Condition, Flags};
use crate::memory::{Memory, read};
use crate::motion::{Loop, Motion, Start, is_fold};
use crate::obstacle::Obstacle;
use crate::plan::{Moving, Stream, as_loaded};
use crate::term::Term;
use crate::trips::first_iteration;

/// The largest number of bytes of elements that are compared before the exchanged ones are stored. At most a page, so that no page
/// without an exchange is stored to.
const BLOCK_BYTES: usize = 4096;

/// The number of elements that are compared with the greatest one together.
const CHUNK: usize = 64;

/// A loop that is a pass of a bubble sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// An iteration that does not exchange, and one that does.
    keeps: Loop,
    exchanges: Loop,
    /// The address of the first of both neighbours.
    address: Term,
    order: Order,
    /// The registers that change with each exchange.
    counts: Vec<(u32, Counted)>,
}

/// How an exchange changes a register that other iterations neither read nor change.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Counted {
    /// A number is added to it, and the sum truncated to 32 bits unless it is `wide`.
    Step { step: Term, wide: bool },
    /// It becomes this value.
    Value(Term),
}

/// The order of neighbours: they are exchanged if the key of the first one is greater than that of the second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The number of bytes of an element.
    pub size: u64,
    /// How elements are extended, as in [`Loaded`].
    pub extend: u32,
    /// Whether the key is a signed number of 64 bits, or the low word as a signed number of 32 bits: the extended element,
    pub wide: bool,
    /// with these bits inverted.
    pub inverted: u64,
    /// Whether neighbours whose keys are equal are exchanged, too.
    pub exchanges_equal: bool,
}

/// A change of a register by exchanges that does not depend on elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The register of micro-ops.
    pub register: u32,
    /// The number that is added for each exchange, or that the register becomes if the first iteration has the last exchange.
    pub number: u64,
    /// The difference of this number from one iteration to the next.
    pub step: u64,
    /// Whether the number is added.
    pub adds: bool,
    /// Whether the register has 64 bits.
    pub wide: bool,
}

/// Iterations of a pass that are certain to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassPlan {
    /// The number of iterations that are certain to stay in the loop.
    pub most: u64,
    /// The first of both neighbours in the iterations, which are loaded and may be stored.
    pub neighbours: Stream,
    registers: Vec<Moving>,
}

impl PassPlan {
    /// Returns the registers that change by a step in each iteration: register, step, and whether it has 64 bits.
    pub fn steps(&self) -> impl Iterator<Item = (u32, u64, bool)> {
        self.registers.iter().map(|moving| (moving.register, moving.step, moving.wide))
    }
}

/// The result of executed iterations of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassResult {
    /// The number of iterations.
    pub iterations: u64,
    /// The number of instructions in them.
    pub steps: u64,
}

impl Pass {
    /// Finds the pass whose branch back is at `end`, if the loop is one, with iterations that begin at `entry`, or at the target of the
    /// branch. `fetch` returns the micro-op at an address.
    pub fn find(end: u64, entry: Option<u64>, mut fetch: impl FnMut(u64) -> Option<MicroOp>) -> Option<Self> {
        let (keeps, decision) = Body::find_path(end, entry, true, &mut fetch).ok()?;
        let (exchanges, same) = Body::find_path(end, entry, false, &mut fetch).ok()?;
        let (loads, stores) = exchanges.accesses.split_at_checked(keeps.accesses.len())?;
        let is_understood = decision == same && !keeps.reads_flags && !exchanges.reads_flags;
        let are_before = loads.iter().all(|load| load.stores.is_empty() && load.place < decision.place);
        if !is_understood || !are_before || loads != keeps.accesses {
            return None;
        }
        let (address, neighbours) = neighbours(loads)?;
        let order = order(&keeps, &decision, neighbours)?;
        if !is_exchange(&exchanges, stores, &address, neighbours) {
            return None;
        }
        let (keeps, exchanges) = (Loop::of(keeps), Loop::of(exchanges));
        let mut counts = Vec::new();
        for register in (0..REGISTERS).filter(|register| ![ZERO, SINK].contains(register)) {
            counts.extend(counted(&keeps, &exchanges, register)?.map(|counted| (register, counted)));
        }
        let pass = Self { keeps, exchanges, address, order, counts };
        pass.knows_values(neighbours).then_some(pass)
    }

    /// Returns the loop as if all iterations exchanged. They execute all instructions from the first one to the branch back.
    #[must_use]
    pub const fn exchanging(&self) -> &Loop {
        &self.exchanges
    }

    /// Returns when neighbours are exchanged.
    #[must_use]
    pub const fn order(&self) -> Order {
        self.order
    }

    /// Returns the numbers of instructions of an iteration without and with an exchange.
    #[must_use]
    pub fn lengths(&self) -> [u64; 2] {
        [&self.keeps, &self.exchanges].map(|path| path.body().ops.len() as u64)
    }

    /// Returns how exchanges in the iterations of a plan change registers, if none of that depends on elements.
    #[must_use]
    pub fn counts(&self, plan: &PassPlan, registers: &[u64]) -> Option<Vec<Count>> {
        let start = Start::new(&self.exchanges, registers);
        let count = |(register, counted): &(u32, Counted)| {
            let register = *register;
            Some(match counted {
                Counted::Step { step, wide } => {
                    Count { register, number: step.as_constant()?, step: 0, adds: true, wide: *wide }
                }
                Counted::Value(value) => {
                    let values =
                        start.progression(value, true).filter(|values| values.length >= plan.most)?;
                    Count { register, number: values.start, step: values.step, adds: false, wide: true }
                }
            })
        };
        self.counts.iter().map(count).collect()
    }

    /// Returns whether all values that registers get by exchanges are functions of values that are known then.
    fn knows_values(&self, neighbours: [Loaded; 2]) -> bool {
        self.counts.iter().all(|(_, counted)| {
            let (Counted::Value(term) | Counted::Step { step: term, .. }) = counted;
            !self.exchanges.body().atoms.any(term, &mut |atom| match atom {
                Atom::Entry(register) => self.counts.iter().any(|(counted, _)| counted == register),
                Atom::Loaded(loaded) => !neighbours.contains(loaded),
                Atom::Unknown(_) | Atom::Trips | Atom::Result(..) | Atom::Select { .. } => true,
                Atom::Low(_) | Atom::Signed(_) => false,
            })
        })
    }

    /// Plans iterations that have at most `steps` instructions together with one more, which is stepped, if the registers of micro-ops
    /// are `registers` now.
    ///
    /// # Errors
    /// Nothing is gained, or the neighbours are not next to those of the iteration before.
    pub fn plan(&self, registers: &[u64], steps: u64) -> Result<PassPlan, Obstacle> {
        let paths = [&self.keeps, &self.exchanges].map(|path| (path, Start::new(path, registers)));
        let (_, start) = &paths[0];
        let address = start.progression(&self.address, true).ok_or(Obstacle::Address(0))?;
        if address.step != self.order.size {
            return Err(Obstacle::Address(0));
        }
        let neighbours = Stream {
            address: address.start,
            step: address.step as i64,
            bytes: 2 * self.order.size,
            unit: 2 * self.order.size,
            sources: Vec::new(),
        };
        // Both paths leave the loop after the same number of iterations.
        let [ends, others] = paths.each_ref().map(|(path, start)| {
            let exits = path.body().exits.iter();
            exits.map(|exit| first_iteration(start, &exit.condition)).collect::<Option<Vec<_>>>()
        });
        if ends != others {
            return Err(Obstacle::Value);
        }
        let ends = ends.ok_or(Obstacle::Value)?;
        let [_, longest] = self.lengths();
        let most = ends.into_iter().fold(steps / longest, u64::min);
        let most = most.min(address.length).min(neighbours.iterations_within(0, u64::MAX));
        if most < 2 {
            return Err(Obstacle::TooShort);
        }
        let mut moving = Vec::new();
        for register in 0..REGISTERS {
            let steps = paths.each_ref().map(|(path, start)| match path.motion(register) {
                Motion::Wide(step) => start.progression(step, true).map(|step| (step.start, true)),
                Motion::Narrow(step) => start.progression(step, false).map(|step| (step.start, false)),
                _ => None,
            });
            match steps {
                [Some((step, wide)), Some(other)] if (step, wide) == other => {
                    moving.push(Moving { register, start: registers[register as usize], step, wide });
                }
                [None, _] => {}
                _ => return Err(Obstacle::Register(register)),
            }
        }
        Ok(PassPlan { most, neighbours, registers: moving })
    }

    /// Executes the iterations of a plan. One more is certain to follow and has to be stepped. `registers` are those of micro-ops.
    ///
    /// All bytes of the neighbours in [`PassPlan::most`] iterations must be permitted. None of them may be an instruction of the
    /// loop.
    pub fn execute(&self, plan: &PassPlan, registers: &mut [u64], memory: &mut impl Memory) -> PassResult {
        let iterations = plan.most - 1;
        let exchanges = match (self.order.size, self.order.wide) {
            (1, false) => self.compare::<1, i32>(plan, memory),
            (1, true) => self.compare::<1, i64>(plan, memory),
            (2, false) => self.compare::<2, i32>(plan, memory),
            (2, true) => self.compare::<2, i64>(plan, memory),
            (4, false) => self.compare::<4, i32>(plan, memory),
            (4, true) => self.compare::<4, i64>(plan, memory),
            _ => self.compare::<8, i64>(plan, memory),
        };
        if exchanges.count > 0 {
            self.count(&exchanges, plan, registers);
        }
        for moving in &plan.registers {
            registers[moving.register as usize] = moving.after(iterations);
        }
        let [short, long] = self.lengths();
        let steps = (iterations - exchanges.count) * short + exchanges.count * long;
        PassResult { iterations, steps }
    }

    /// Changes the registers that exchanges change, which are those before the first iteration.
    fn count(&self, exchanges: &Exchanges, plan: &PassPlan, registers: &mut [u64]) {
        let mut then = registers.to_vec();
        for moving in plan.registers.iter().filter(|_| exchanges.last > 0) {
            then[moving.register as usize] = moving.after(exchanges.last);
        }
        for (register, counted) in &self.counts {
            let place = &mut registers[*register as usize];
            *place = match counted {
                Counted::Step { step, wide } => {
                    let sum =
                        place.wrapping_add(self.value(step, &then, exchanges).wrapping_mul(exchanges.count));
                    if *wide { sum } else { sum & u64::from(u32::MAX) }
                }
                Counted::Value(value) => self.value(value, &then, exchanges),
            };
        }
    }

    /// Returns the value of a term of the last exchange, before which the registers are `registers`.
    fn value(&self, term: &Term, registers: &[u64], exchanges: &Exchanges) -> u64 {
        let body = self.exchanges.body();
        let word = |inner: &Term| self.value(inner, registers, exchanges);
        let parts = term.parts().iter().map(|(id, factor)| {
            let value = match body.atoms.atom(*id) {
                Atom::Entry(register) => registers[*register as usize],
                Atom::Low(inner) => word(inner) & u64::from(u32::MAX),
                Atom::Signed(inner) => i64::from(word(inner) as i32) as u64,
                Atom::Loaded(loaded) => {
                    let is_first = !loaded.is_second && body.accesses[loaded.access].address == self.address;
                    loaded.extended(exchanges.neighbours[usize::from(!is_first)])
                }
                // `knows_values` has made sure that there are none.
                Atom::Result(..) | Atom::Select { .. } | Atom::Unknown(_) | Atom::Trips => 0,
            };
            value.wrapping_mul(*factor)
        });
        parts.fold(term.addend(), u64::wrapping_add)
    }

    /// Compares and exchanges the neighbours of the iterations, whose elements have `SIZE` bytes.
    fn compare<const SIZE: usize, K: Key>(&self, plan: &PassPlan, memory: &mut impl Memory) -> Exchanges {
        let mut elements = vec![[0; SIZE]; BLOCK_BYTES / SIZE + 1];
        let mut exchanges = Exchanges::default();
        read(memory, plan.neighbours.address, &mut elements[0]);
        let mut greatest: K = self.order.key(elements[0]);
        let mut done = 0;
        while done < plan.most - 1 {
            let count = (plan.most - 1 - done).min((BLOCK_BYTES / SIZE) as u64);
            // The place in front of these elements is that of the first neighbour of the first iteration.
            let block = &mut elements[..=count as usize];
            read(memory, plan.neighbours.at(done + 1), block[1..].as_flattened_mut());
            let of_block = if self.order.exchanges_equal {
                self.order.exchange(block, &mut greatest, |first, second| first >= second)
            } else {
                self.order.exchange(block, &mut greatest, |first, second| first > second)
            };
            if of_block.count > 0 {
                exchanges.count += of_block.count;
                exchanges.last = done + of_block.last as u64;
                exchanges.neighbours = [of_block.last + 1, of_block.last].map(|place| number(block[place]));
                // Only exchanges store, and pages without one stay as they are.
                let stored = block[of_block.first..of_block.last + 2].as_flattened();
                memory.write(plan.neighbours.at(done + of_block.first as u64), stored);
            }
            done += count;
        }
        exchanges
    }
}

/// The exchanges of some iterations.
#[derive(Clone, Copy, Debug, Default)]
struct Exchanges {
    count: u64,
    /// The last iteration with one, and the neighbours before it.
    last: u64,
    neighbours: [u64; 2],
}

/// The exchanges of a block: their number, and the first and the last iteration with one.
#[derive(Clone, Copy, Debug)]
struct BlockExchanges {
    count: u64,
    first: usize,
    last: usize,
}

/// A key: a signed number, for which processors have vectors.
trait Key: Copy + Ord {
    /// Returns the low bits of a number.
    fn from_bits(bits: u64) -> Self;
    /// Returns a number with these low bits.
    fn bits(self) -> u64;
}

impl Key for i32 {
    fn from_bits(bits: u64) -> Self {
        bits as Self
    }
    fn bits(self) -> u64 {
        self as u64
    }
}

impl Key for i64 {
    fn from_bits(bits: u64) -> Self {
        bits as Self
    }
    fn bits(self) -> u64 {
        self as u64
    }
}

impl Order {
    /// Returns the key of an element.
    fn key<const SIZE: usize, K: Key>(&self, element: [u8; SIZE]) -> K {
        let loaded = Loaded { access: 0, is_second: false, size: SIZE as u64, extend: self.extend };
        K::from_bits(loaded.extended(number(element)) ^ self.inverted)
    }

    /// Returns the element with a key.
    fn element<const SIZE: usize, K: Key>(&self, key: K) -> [u8; SIZE] {
        let bytes = (key.bits() ^ self.inverted).to_le_bytes();
        core::array::from_fn(|place| bytes[place])
    }

    /// Returns the greatest key of some elements, at least one.
    fn greatest<const SIZE: usize, K: Key>(&self, elements: &[[u8; SIZE]]) -> K {
        let first = self.key(elements[0]);
        if self.extend == 0 {
            // Compilers make vectors of this.
            let keys = elements.iter().map(|element| K::from_bits(number(*element) ^ self.inverted));
            keys.fold(first, |greatest, key| if key > greatest { key } else { greatest })
        } else {
            elements.iter().map(|element| self.key(*element)).fold(first, K::max)
        }
    }

    /// Compares and exchanges the elements from the second one on with the greatest so far, which is where the first one is.
    fn exchange<const SIZE: usize, K: Key>(
        &self,
        elements: &mut [[u8; SIZE]],
        greatest: &mut K,
        is_exchanged: impl Fn(K, K) -> bool,
    ) -> BlockExchanges {
        let mut of_block = BlockExchanges { count: 0, first: usize::MAX, last: 0 };
        let iterations = elements.len() - 1;
        for begin in (0..iterations).step_by(CHUNK) {
            let chunk = &mut elements[begin..=iterations.min(begin + CHUNK)];
            // Most elements are less than the greatest one before them.
            if is_exchanged(*greatest, self.greatest(&chunk[1..])) {
                chunk.copy_within(1.., 0);
                of_block.count += chunk.len() as u64 - 1;
                of_block.first = of_block.first.min(begin);
                of_block.last = begin + chunk.len() - 2;
                continue;
            }
            for place in 0..chunk.len() - 1 {
                let next = self.key(chunk[place + 1]);
                // Without branches, which could not be predicted.
                let exchanges = is_exchanged(*greatest, next);
                chunk[place] = self.element(if exchanges { next } else { *greatest });
                *greatest = if exchanges { *greatest } else { next };
                of_block.count += u64::from(exchanges);
                of_block.first = of_block.first.min(if exchanges { begin + place } else { usize::MAX });
                of_block.last = if exchanges { begin + place } else { of_block.last };
            }
        }
        elements[iterations] = self.element(*greatest);
        of_block
    }
}

/// Returns the number that bytes are, the lowest byte first.
fn number<const SIZE: usize>(bytes: [u8; SIZE]) -> u64 {
    let mut all = [0; 8];
    all[..SIZE].copy_from_slice(&bytes);
    u64::from_le_bytes(all)
}

/// Returns the address of the first of two neighbours that are loaded, and the values of both.
fn neighbours(loads: &[Access]) -> Option<(Term, [Loaded; 2])> {
    if loads.iter().any(|load| load.is_aligned) {
        return None;
    }
    match loads {
        [pair] if pair.is_pair => Some((pair.address.clone(), [pair.loaded(0, false), pair.loaded(0, true)])),
        [one, other]
            if !one.is_pair && !other.is_pair && (one.size, one.extend) == (other.size, other.extend) =>
        {
            let (one_value, other_value) = (one.loaded(0, false), other.loaded(1, false));
            let distance = other.address.minus(&one.address).as_constant()?;
            if distance == one.size {
                Some((one.address.clone(), [one_value, other_value]))
            } else if distance == one.size.wrapping_neg() {
                Some((other.address.clone(), [other_value, one_value]))
            } else {
                None
            }
        }
        _ => None,
    }
}

/// Returns when an iteration exchanges neighbours, if that depends on which of them is greater.
fn order(keeps: &Body, decision: &Decision, [first, second]: [Loaded; 2]) -> Option<Order> {
    let Condition::Flags { cond, flags: Flags::Difference { x, y, wide } } = &decision.condition else {
        return None;
    };
    let operands = (as_loaded(keeps, x)?, as_loaded(keeps, y)?);
    let is_in_order = if operands == (first, second) {
        true
    } else if operands == (second, first) {
        false
    } else {
        return None;
    };
    // They are kept if x is at least y, greater, at most, or less.
    let (keeps_greater, keeps_equal, is_signed) = match cond {
        2 => (true, true, false),
        3 => (false, false, false),
        8 => (true, false, false),
        9 => (false, true, false),
        10 => (true, true, true),
        11 => (false, false, true),
        12 => (true, false, true),
        13 => (false, true, true),
        _ => return None,
    };
    if !wide && first.size == 8 {
        return None;
    }
    let sign = match (is_signed, wide) {
        (true, _) => 0,
        (false, true) => 1 << 63,
        (false, false) => 1 << 31,
    };
    // All bits are inverted if a first element that is greater is kept.
    let all = if keeps_greater == is_in_order { u64::MAX } else { 0 };
    Some(Order {
        size: first.size,
        // The low word of a word is the same, however it is extended.
        extend: if first.size == 4 && !wide { 0 } else { first.extend },
        wide: *wide,
        inverted: sign ^ all,
        exchanges_equal: !keeps_equal,
    })
}

/// Returns whether stores exchange the neighbours at an address.
fn is_exchange(exchanges: &Body, stores: &[Access], address: &Term, [first, second]: [Loaded; 2]) -> bool {
    let behind = address.plus(&Term::constant(first.size));
    let mut stored = Vec::new();
    for store in stores {
        let mut at = store.address.clone();
        for value in &store.stores {
            stored.push((at.clone(), as_loaded(exchanges, value)));
            at = at.plus(&Term::constant(store.size));
        }
        if store.size != first.size || store.is_aligned || store.stores.is_empty() {
            return false;
        }
    }
    let both = [(address.clone(), Some(second)), (behind, Some(first))];
    stored.len() == 2 && both.iter().all(|one| stored.contains(one))
}

/// Returns how exchanges change a register, if they do. Returns `None` if it changes in a way that is not understood.
fn counted(keeps: &Loop, exchanges: &Loop, register: u32) -> Option<Option<Counted>> {
    let is_untouched = !keeps.body().is_read[register as usize];
    let is_alone = |step| is_fold(exchanges.body(), exchanges.motions(), register, step);
    match (keeps.motion(register), exchanges.motion(register)) {
        (Motion::Invariant, Motion::Invariant)
        | (Motion::Temporary, Motion::Temporary)
        | (Motion::Wide(_), Motion::Wide(_))
        | (Motion::Narrow(_), Motion::Narrow(_)) => Some(None),
        (Motion::Invariant, Motion::Wide(step)) if is_untouched && is_alone(step) => {
            Some(Some(Counted::Step { step: step.clone(), wide: true }))
        }
        (Motion::Invariant, Motion::Narrow(step)) if is_untouched && is_alone(step) => {
            Some(Some(Counted::Step { step: step.clone(), wide: false }))
        }
        (Motion::Invariant, Motion::Temporary) if is_untouched => {
            Some(Some(Counted::Value(exchanges.body().after[register as usize].clone())))
        }
        _ => None,
    }
}
