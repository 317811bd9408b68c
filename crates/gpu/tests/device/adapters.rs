//! The choice of an adapter, and the features and limits that it is opened with.

use kvrm_gpu::{Device, Error, adapter};

use crate::support::device;

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn an_adapter_can_be_asked_for_by_part_of_its_name() {
    let info = device().info();
    let part: String = info.name.to_uppercase().chars().take(6).collect();
    let adapters = adapter::adapters();
    let chosen = adapter::choose(&adapters, Some(&part)).expect("an adapter has this name");
    assert!(chosen.info.name.to_uppercase().contains(&part), "{} for {part}", chosen.info);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn an_unknown_name_is_an_error_with_the_available_adapters() {
    let error = Device::open(Some("no such adapter")).expect_err("no adapter has this name");
    let Error::NoSuchAdapter { wanted, available } = &error else { panic!("another error: {error}") };
    assert_eq!(wanted, "no such adapter", "the name asked for");
    assert!(available.contains(&device().info().to_string()), "the adapter is listed in {available:?}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_device_has_the_limits_and_features_of_its_adapter() {
    let info = device().info();
    assert_eq!(*device().limits(), info.limits, "the device has all limits of the adapter");
    assert!(info.has_int64, "adapters without 64-bit integers are not opened");
    let mut expected = wgpu::Features::SHADER_INT64;
    expected.set(wgpu::Features::TIMESTAMP_QUERY, info.has_timestamps);
    expected.set(wgpu::Features::SUBGROUP, info.has_subgroups);
    if info.has_buffer_arrays {
        expected |= wgpu::Features::BUFFER_BINDING_ARRAY
            | wgpu::Features::STORAGE_RESOURCE_BINDING_ARRAY
            | wgpu::Features::SAMPLED_TEXTURE_AND_STORAGE_BUFFER_ARRAY_NON_UNIFORM_INDEXING;
    }
    // This feature is for buffers, not for shaders.
    let features = device().raw().features() - wgpu::Features::MAPPABLE_PRIMARY_BUFFERS;
    assert_eq!(features, expected, "exactly the features that shaders are tested for");
}
