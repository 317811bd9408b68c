//! Every module becomes SPIR-V, Metal and HLSL code.

use kvrm_shaders::MODULES;
use naga::back::pipeline_constants::process_overrides;
use naga::back::{PipelineConstants, hlsl, msl, spv};

use crate::support::{Checked, all, is_kernel};

/// Translates to every language, for what wgpu asks of a device with 64-bit integers.
fn translate(path: &str, checked: &Checked) {
    let (module, info) =
        process_overrides(&checked.module, &checked.info, None, &PipelineConstants::default())
            .unwrap_or_else(|error| panic!("{path}: an override has no value: {error}"));

    let options = spv::Options { lang_version: (1, 3), ..spv::Options::default() };
    let words = spv::write_vec(&module, &info, &options, None)
        .unwrap_or_else(|error| panic!("{path} is not translated to SPIR-V: {error}"));
    assert!(!words.is_empty(), "{path}: SPIR-V has at least a header");

    let options =
        msl::Options { lang_version: (2, 4), fake_missing_bindings: true, ..msl::Options::default() };
    let (_, translation) = msl::write_string(&module, &info, &options, &msl::PipelineOptions::default())
        .unwrap_or_else(|error| panic!("{path} is not translated to Metal: {error}"));
    for name in translation.entry_point_names {
        name.unwrap_or_else(|error| panic!("{path}: an entry point is not translated to Metal: {error}"));
    }

    let options = hlsl::Options {
        shader_model: hlsl::ShaderModel::V6_0,
        fake_missing_bindings: true,
        ..hlsl::Options::default()
    };
    let mut direct = String::new();
    let translation = hlsl::Writer::new(&mut direct, &options, &hlsl::PipelineOptions::default())
        .write(&module, &info, None)
        .unwrap_or_else(|error| panic!("{path} is not translated to HLSL: {error}"));
    for name in translation.entry_point_names {
        name.unwrap_or_else(|error| panic!("{path}: an entry point is not translated to HLSL: {error}"));
    }
}

#[test]
fn every_module_is_translated() {
    for (path, checked) in all() {
        translate(path, &checked);
    }
}

#[test]
fn kernels_are_modules_with_entry_points() {
    for (path, checked) in all() {
        let text = MODULES.iter().find(|(known, _)| *known == path).expect("it is in the table").1;
        // An entry point is never imported, so one in the source is the module's own.
        assert_eq!(is_kernel(text), !checked.module.entry_points.is_empty(), "of {path}");
    }
}
