//! Every module becomes SPIR-V, Metal and HLSL code.

use kvrm_shaders::{
    CHOICE, CHOICE_BY_DOMAIN, CHOICE_BY_STEP, CHOICE_BY_WORD, DISPATCH, DISPATCH_IN_SUBGROUPS, FRAMES,
    LINUX_CALLS, MODULES, SIMD_UNITS, SMALL_DISPATCH, SYNAPSES, WITHOUT, link,
};
use naga::back::pipeline_constants::process_overrides;
use naga::back::{PipelineConstants, hlsl, msl, spv};

use crate::support::{Checked, all, is_kernel, name};

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
fn every_kernel_is_translated_in_every_variant() {
    let mut translated = 0;
    for (path, text) in MODULES.iter().filter(|(_, text)| is_kernel(text)) {
        for (bindings, frames) in &FRAMES[1..] {
            let linked = link(&name(path), &[(FRAMES[0].1, frames)]).expect("variants declare the same");
            let uses_frames = linked.modules().any(|module| module.contains("frames"));
            assert_eq!(linked.source.contains("pool_1:"), uses_frames, "{path} with {bindings} bindings");
            translate(&format!("{path} with frames in {bindings} bindings"), &Checked::new(linked));
            translated += 1;
        }
        assert!(text.contains("@compute"), "{path} is a kernel");
    }
    assert!(translated >= 4 * (FRAMES.len() - 1), "there are kernels");
}

#[test]
fn every_kernel_with_a_network_is_translated_in_every_variant() {
    let mut translated = 0;
    for (path, _) in MODULES.iter().filter(|(_, text)| is_kernel(text)) {
        for choice in [CHOICE_BY_WORD, CHOICE_BY_DOMAIN, CHOICE_BY_STEP] {
            for network in [DISPATCH, DISPATCH_IN_SUBGROUPS, SMALL_DISPATCH] {
                let substitutions = [&[(CHOICE, choice)][..], network].concat();
                let linked = link(&name(path), &substitutions).expect("variants declare the same");
                let substituted = |module: &str| {
                    substitutions.iter().any(|(_, to)| module == format!("{}.wgsl", to.replace("::", "/")))
                };
                if linked.modules().any(substituted) {
                    translate(&format!("{path} with {substitutions:?}"), &Checked::new(linked));
                    translated += 1;
                }
            }
        }
    }
    assert!(translated >= 20, "{translated} variants");
}

#[test]
fn every_kernel_with_a_unit_for_simd_registers_is_translated() {
    let mut translated = 0;
    for (path, _) in MODULES.iter().filter(|(_, text)| is_kernel(text)) {
        for (level, unit) in SIMD_UNITS.iter().enumerate().skip(1) {
            let linked = link(&name(path), unit).expect("units declare the same");
            if linked.modules().any(|module| name(module) == unit[0].1) {
                let level = format!("const SIMD_LEVEL = {level}u;");
                assert!(linked.source.contains(&level), "{unit:?} has the level that its place says");
                translate(&format!("{path} with {unit:?}"), &Checked::new(linked));
                translated += 1;
            }
        }
    }
    assert!(translated >= 4 * (SIMD_UNITS.len() - 1), "there are interpreters");
}

#[test]
fn every_kernel_that_serves_system_calls_is_translated() {
    let mut translated = 0;
    for (path, _) in MODULES.iter().filter(|(_, text)| is_kernel(text)) {
        let substitutions = [LINUX_CALLS, SIMD_UNITS[SIMD_UNITS.len() - 1]].concat();
        let linked = link(&name(path), &substitutions).expect("both declare the same");
        if linked.modules().any(|module| name(module) == LINUX_CALLS[0].1) {
            translate(&format!("{path} with {LINUX_CALLS:?}"), &Checked::new(linked));
            translated += 1;
        }
    }
    assert!(translated >= 4, "{translated} interpreters");
}

#[test]
fn every_kernel_of_the_burst_engine_is_translated_in_every_variant() {
    let mut translated = 0;
    for (path, _) in MODULES.iter().filter(|(path, text)| path.starts_with("spiking/") && is_kernel(text)) {
        for (bindings, synapses) in SYNAPSES {
            for without in [&WITHOUT[..], &WITHOUT[..1], &WITHOUT[1..]] {
                let substitutions = [&[(SYNAPSES[0].1, *synapses)], without].concat();
                let linked = link(&name(path), &substitutions).expect("variants declare the same");
                translate(&format!("{path} for {bindings} bindings, {without:?}"), &Checked::new(linked));
                translated += 1;
            }
        }
    }
    assert!(translated >= 4 * 3 * SYNAPSES.len(), "there are kernels");
}

#[test]
fn kernels_are_modules_with_entry_points() {
    for (path, checked) in all() {
        let text = MODULES.iter().find(|(known, _)| *known == path).expect("it is in the table").1;
        // An entry point is never imported, so one in the source is the module's own.
        assert_eq!(is_kernel(text), !checked.module.entry_points.is_empty(), "of {path}");
    }
}
