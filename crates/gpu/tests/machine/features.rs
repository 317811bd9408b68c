//! Features of the architecture that the GPU engine does not have.

use std::sync::Arc;

use kvrm_arm64::Features;
use kvrm_gpu::{Bounds, Dispatch, Error, GpuExecutor};
use kvrm_machine::{Image, Plan};

use crate::support::device;

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_machine_with_a_feature_that_only_the_reference_has_is_refused() {
    let of = |features: Features| {
        let images = [Arc::new(Image::new(&[], features).expect("an empty image fits"))];
        let plan = Plan { images: &images, lanes: 1, frames_max: 1 };
        GpuExecutor::with_bounds(device(), &plan, &Dispatch::TABLE, Bounds::NONE).map(drop)
    };
    assert_eq!(of(Features::GPU), Ok(()), "all that it has");
    for (features, feature) in [
        (Features { fp: true, ..Features::GPU }, "fp"),
        (Features { pmull: true, ..Features::ARMV8_0 }, "pmull"),
        (Features { sha256: true, ..Features::BASE }, "sha256"),
    ] {
        assert_eq!(of(features), Err(Error::NoFeature { feature }), "with {feature}");
    }
}
