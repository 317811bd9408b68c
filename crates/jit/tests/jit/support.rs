//! The sizes of regions, and comparisons of machines.

use kvrm_jit::JitEngine;
use kvrm_machine::{Builder, Machine};
use kvrm_testkit::lanes::{self, LaneWithOutputs};

/// Translates everything at once, in regions of different sizes.
pub(crate) const SIZES: [usize; 3] = [1, 7, 256];

/// Compares the end of a machine on the JIT with that on the reference, and returns the lanes.
pub(crate) fn compare_machines(
    builder: &dyn Fn() -> Builder<'static>,
    engine: JitEngine,
    what: &str,
) -> Vec<LaneWithOutputs> {
    let mut jit = builder().engine(engine).build().expect("the guest fits");
    let mut reference = builder().build().expect("the guest fits");
    let expected = reference.run(u64::MAX).expect("the reference works");
    let report = jit.run(u64::MAX).expect("the JIT works");
    assert_eq!((report.steps, &report.stops), (expected.steps, &expected.stops), "reports of {what}");
    assert_eq!((report.services, report.frames), (expected.services, expected.frames), "reports of {what}");
    assert_same_machines(&mut jit, &mut reference, what)
}

/// Asserts that all lanes of two machines and their output are equal, and returns them.
pub(crate) fn assert_same_machines(
    jit: &mut Machine,
    reference: &mut Machine,
    what: &str,
) -> Vec<LaneWithOutputs> {
    assert_eq!(jit.audit().expect("the JIT works"), [], "violations after {what}");
    let seen = lanes::of_machine(jit).expect("the JIT works");
    let expected = lanes::of_machine(reference).expect("the reference works");
    for (number, (seen, expected)) in seen.iter().zip(&expected).enumerate() {
        assert_eq!(seen, expected, "{what}, lane {number}: the JIT on the left, the reference on the right");
    }
    expected
}
