//! Forks of a lane, compared with the lane itself.

use kvrm_machine::{Error, Factory, Fork, Machine, PAGE_BYTES, Stop, Stream};

use crate::random::Random;

/// The number of lanes of a fork.
const LANES: usize = 3;

/// A lane and machines that were forked from it. The lane and all lanes of the last fork do the same.
struct Family<'a> {
    machine: &'a mut Machine,
    lane: usize,
    fork: Machine,
    /// The bytes that the lane had written to both streams when it was forked.
    written: [usize; 2],
}

/// Runs `lane` of a machine for up to `steps` steps at a time, and forks it in between: onto `engine`, or onto the engine of
/// the machine. Asserts that all lanes of the forks, and of forks of these forks, do what the lane does, for `end` more steps
/// in the end.
///
/// # Panics
/// A fork differs from the lane, or an engine fails.
pub fn check<E: Factory + Copy>(
    machine: &mut Machine,
    lane: usize,
    [steps, end]: [u64; 2],
    engine: Option<E>,
    random: &mut Random,
) {
    let works = "the engine works";
    if random.below(2) == 0 {
        machine.snapshot().expect(works);
    }
    run(machine, random.below(steps + 1), random.below(2) == 0);
    let options = || {
        let fork = Fork::new(LANES);
        if let Some(engine) = engine { fork.engine(engine) } else { fork }
    };
    let fork = machine.fork_with(lane, options()).expect("the lanes fit");
    let mut family = Family { written: written(machine, lane), machine, lane, fork };
    for generation in 0..3 {
        family.assert_same(&format!("right after fork {generation}"));
        family.fork.snapshot().expect(works);
        let (budget, resumes) = (random.below(steps + 1), random.below(2) == 0);
        run(family.machine, budget, resumes);
        run(&mut family.fork, budget, resumes);
        family.assert_same(&format!("{budget} steps after fork {generation}"));
        family.fork.reset(..).expect(works);
        run(&mut family.fork, budget, resumes);
        family.assert_same(&format!("{budget} steps after a reset of fork {generation}"));
        let parent = random.below(LANES as u64) as usize;
        family.fork = family.fork.fork_with(parent, options()).expect("the lanes fit");
        family.written = written(family.machine, lane);
    }
    for machine in [&mut *family.machine, &mut family.fork] {
        run(machine, 0, true);
        run(machine, end, true);
    }
    family.assert_same("at the end");
}

/// Runs a machine, and then perhaps resumes the lanes that hooks have stopped.
pub(crate) fn run(machine: &mut Machine, budget: u64, resumes: bool) {
    machine.run(budget).expect("the engine works");
    if resumes {
        machine.resume_hooked().expect("the engine works");
    }
}

/// The number of bytes of each stream that a machine keeps unless it is built for more.
const OUTPUT_MAX: usize = 1 << 20;

/// Returns the number of bytes that a lane has written to each stream.
fn written(machine: &Machine, lane: usize) -> [usize; 2] {
    [Stream::Output, Stream::Error].map(|stream| machine.output(lane, stream).expect("the lane exists").len())
}

impl Family<'_> {
    fn assert_same(&mut self, when: &str) {
        let Self { machine, lane, fork, written } = self;
        let works = "the engine works";
        assert_eq!(fork.audit().expect(works), [], "violations {when}");
        let pages = machine.private_pages(*lane).expect(works);
        let (stop, cpu) = (machine.stop(*lane).expect(works), machine.cpu(*lane).expect(works));
        for number in 0..fork.lanes() {
            let what = format!("lane {number} of the fork on the left, {when}");
            let now = (fork.stop(number).expect(works), fork.cpu(number).expect(works));
            assert_eq!(now, (stop, cpu.clone()), "{what}");
            for page in fork.private_pages(number).expect(works) {
                assert!(pages.contains(&page), "page {page:#x} is written by the lane, too: {what}");
            }
            for &page in &pages {
                let seen = read(fork, number, page);
                assert!(seen == read(machine, *lane, page), "page {page:#x}: {what}");
            }
            for (stream, before) in [Stream::Output, Stream::Error].into_iter().zip(*written) {
                let all = machine.output(*lane, stream).expect(works);
                let (own, kept) = (fork.output(number, stream).expect(works), &all[before..]);
                // Both keep the same number of bytes at most, and the lane had written some before the fork.
                let is_full = own.len() + before > all.len() && all.len() >= OUTPUT_MAX;
                let own = if is_full { &own[..kept.len()] } else { own };
                assert!(own == kept, "{stream:?}, {} bytes and {}: {what}", own.len(), kept.len());
            }
        }
    }
}

/// Returns the bytes of a page, or the stop of an access if the page is not mapped.
pub(crate) fn read(machine: &mut Machine, lane: usize, page: u64) -> Result<Vec<u8>, Stop> {
    let mut bytes = vec![0; PAGE_BYTES];
    match machine.read(lane, page, &mut bytes) {
        Ok(()) => Ok(bytes),
        Err(Error::Memory { stop, .. }) => Err(stop),
        Err(error) => panic!("the engine fails: {error}"),
    }
}
