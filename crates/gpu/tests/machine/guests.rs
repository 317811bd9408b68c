//! All guests on both engines.

use kvrm_machine::{Builder, Factory, Machine, Stop};
use kvrm_testkit::guests::{GUESTS, guest};

use crate::support::{Gpu, ONE_LANE_WORKGROUPS, STAGES, VOTES, assert_same_machines};

/// Returns the arguments of a lane: sizes and seeds, and some that are not valid.
fn arguments(size: &str, lane: usize) -> Vec<String> {
    let words: &[&str] = match lane {
        0 => &[size],
        1 => &[size, "7"],
        2 => &["1", "18446744073709551615"],
        3 => &["2", "0x5eed"],
        4 => &["17", "3"],
        5 => &["x"],
        6 => &["10", "1", "1"],
        _ => &["3"],
    };
    words.iter().map(|&word| word.to_owned()).collect()
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn every_guest_ends_as_on_the_reference() {
    end_as_on_the_reference(&Gpu);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn every_guest_whose_lanes_are_alone_ends_as_on_the_reference() {
    end_as_on_the_reference(&ONE_LANE_WORKGROUPS);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn every_guest_in_wide_workgroups_ends_as_on_the_reference() {
    end_as_on_the_reference(&STAGES);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn every_guest_whose_lanes_vote_ends_as_on_the_reference() {
    end_as_on_the_reference(&VOTES);
}

fn end_as_on_the_reference(engine: &'static (impl Factory + Clone)) {
    for (name, size) in GUESTS {
        let builder = || -> Builder<'static> {
            Machine::builder(guest(name)).lanes(8).arguments(|lane| arguments(size, lane))
        };
        let mut gpu = builder().engine(engine.clone()).build().expect("the guest fits");
        let mut reference = builder().build().expect("the guest fits");
        let expected = reference.run(u64::MAX).expect("the reference works");
        let report = gpu.run(u64::MAX).expect("the GPU works");
        assert_eq!((report.steps, &report.stops), (expected.steps, &expected.stops), "reports of {name}");
        assert_eq!(
            (report.services, report.frames),
            (expected.services, expected.frames),
            "reports of {name}"
        );
        assert!(report.dispatches > 0, "the guest ran on the GPU");
        let lanes = assert_same_machines(&mut gpu, &mut reference, name);
        let (lane, output) = &lanes[0];
        assert_eq!(lane.stop, Some(Stop::Exit { code: 0 }), "{name} finds its results correct");
        assert!(output.ends_with(" ok\n"), "{name} says so: {output}");
        assert_eq!(lanes[5].0.stop, Some(Stop::Exit { code: 2 }), "{name} refuses its arguments");
    }
}
