//! Self-tests and diagnosis of the device.

use kvrm_gpu::device::{int64_test, loop_limit, width};
use kvrm_gpu::{Error, doctor};

use crate::support::device;

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn the_device_computes_with_64_bit_integers_as_the_host_does() {
    int64_test(device()).expect("all results are right");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn the_loop_limit_is_a_known_one() {
    let Some(limit) = loop_limit(device()).expect("the device works") else { return };
    assert!(limit.iterations >= 65_535, "{limit:?}: no known driver has so low a limit");
    let (_, subgroup) = device().info().subgroup_sizes;
    assert!(limit.sharers == 1 || limit.sharers == subgroup, "{limit:?} with subgroups of {subgroup}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn the_width_is_a_number_of_workgroups_that_can_be_dispatched() {
    let width = width(device()).expect("the device works");
    assert!(width.is_power_of_two() && width <= device().limits().workgroups, "{width}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_healthy_host_is_described_with_its_adapters() {
    let diagnosis = doctor::examine(None);
    let text = diagnosis.to_string();
    assert!(diagnosis.is_healthy(), "{text}");
    let index = diagnosis.chosen.as_ref().expect("the host is healthy").index;
    assert!(text.contains(&format!("* {index}: {}", device().info())), "the chosen one is marked: {text}");
    assert!(text.ends_with("KVRM can use a GPU."), "the verdict comes last: {text}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_diagnosis_for_an_unknown_name_has_the_error() {
    let diagnosis = doctor::examine(Some("no such adapter"));
    assert!(!diagnosis.is_healthy(), "no adapter was chosen");
    assert!(matches!(diagnosis.chosen, Err(Error::NoSuchAdapter { .. })), "{:?}", diagnosis.chosen);
    let text = diagnosis.to_string();
    assert!(text.contains("no such adapter"), "{text}");
    assert!(text.ends_with("KVRM can only use the CPU."), "the verdict comes last: {text}");
}
