//! Which adapter is opened, and with what.

use kvrm_gpu::{Device, Error, adapter};

use crate::support::device;

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn an_adapter_can_be_asked_for_by_part_of_its_name() {
    let info = device().info();
    let part: String = info.name.to_uppercase().chars().take(6).collect();
    let adapters = adapter::adapters();
    let chosen = adapter::choose(&adapters, Some(&part)).expect("its own name finds it");
    assert!(chosen.info.name.to_uppercase().contains(&part), "{} for {part}", chosen.info);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_name_that_no_adapter_has_is_refused_with_those_there_are() {
    let error = Device::open(Some("no such adapter")).expect_err("none is called that");
    let Error::NoSuchAdapter { wanted, there } = &error else { panic!("another error: {error}") };
    assert_eq!(wanted, "no such adapter", "what was asked for");
    assert!(there.contains(&device().info().to_string()), "the one there is among {there:?}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_device_has_what_its_adapter_has() {
    let info = device().info();
    assert_eq!(*device().limits(), info.limits, "nothing is lost in opening it");
    assert!(info.has_int64, "no other is opened");
    let mut expected = wgpu::Features::SHADER_INT64;
    expected.set(wgpu::Features::TIMESTAMP_QUERY, info.has_timestamps);
    expected.set(wgpu::Features::SUBGROUP, info.has_subgroups);
    // This one is for buffers, not for shaders.
    let features = device().raw().features() - wgpu::Features::MAPPABLE_PRIMARY_BUFFERS;
    assert_eq!(features, expected, "exactly what shaders are tested for");
}
