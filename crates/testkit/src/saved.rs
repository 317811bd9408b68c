//! Saved machines, compared with the machines that were saved.

use kvrm_machine::{Factory, Machine, Stream};

use crate::forks::{read, run};
use crate::random::Random;

/// Runs a machine for up to `steps` steps at a time, saves it in between, and loads it on `engine`. Asserts that the loaded
/// machine does what the saved one does, for `end` more steps in the end, and that it is saved as the same bytes.
///
/// # Panics
/// A loaded machine differs, or an engine fails.
pub fn check(
    machine: &mut Machine,
    [steps, end]: [u64; 2],
    engine: impl Factory + Copy,
    random: &mut Random,
) {
    let works = "the engine works";
    run(machine, random.below(steps + 1), random.below(2) == 0);
    for round in 0..3 {
        let saved = save(machine);
        let mut loaded = Machine::load(&saved[..], engine, None).expect("it was saved");
        assert_same(machine, &mut loaded, &format!("right after round {round}"));
        // Frames of pages that are not mapped any more are not saved, so only the second time all bytes are the same.
        let again = save(&mut loaded);
        let mut second = Machine::load(&again[..], engine, None).expect("it was saved");
        assert!(save(&mut second) == again, "saved again as other bytes, in round {round}");
        let budget = if round == 2 { end } else { random.below(steps + 1) };
        let resumes = random.below(2) == 0;
        loaded.snapshot().expect(works);
        for machine in [&mut *machine, &mut loaded] {
            run(machine, budget, resumes);
        }
        assert_same(machine, &mut loaded, &format!("{budget} steps after round {round}"));
        loaded.reset(..).expect(works);
        run(&mut loaded, budget, resumes);
        assert_same(machine, &mut loaded, &format!("{budget} steps after a reset in round {round}"));
    }
}

fn save(machine: &mut Machine) -> Vec<u8> {
    let mut bytes = Vec::new();
    machine.save(&mut bytes).expect("the machine has no files of the host");
    bytes
}

fn assert_same(machine: &mut Machine, loaded: &mut Machine, when: &str) {
    let works = "the engine works";
    assert_eq!(loaded.audit().expect(works), [], "violations {when}");
    assert_eq!(loaded.lanes(), machine.lanes(), "lanes {when}");
    for lane in 0..machine.lanes() {
        let what = format!("lane {lane} of the loaded machine on the left, {when}");
        let state =
            |machine: &mut Machine| (machine.stop(lane).expect(works), machine.cpu(lane).expect(works));
        assert_eq!(state(loaded), state(machine), "{what}");
        let pages = machine.private_pages(lane).expect(works);
        for page in loaded.private_pages(lane).expect(works) {
            assert!(pages.contains(&page), "page {page:#x} is written in the saved machine, too: {what}");
        }
        for page in pages {
            assert!(read(loaded, lane, page) == read(machine, lane, page), "page {page:#x}: {what}");
        }
        for stream in [Stream::Output, Stream::Error] {
            let output = |machine: &Machine| machine.output(lane, stream).expect("the lane exists").to_vec();
            assert_eq!(output(loaded), output(machine), "{stream:?}: {what}");
        }
    }
}
