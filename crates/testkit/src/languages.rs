//! The validation of shaders by naga, and their translation to the languages of all backends of wgpu.

use naga::Module;
use naga::back::pipeline_constants::process_overrides;
use naga::back::{PipelineConstants, hlsl, msl, spv};
use naga::front::wgsl::{Frontend, Options};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

/// Parses and validates the source of a shader with 64-bit integers, which may have subgroup operations and arrays of
/// storage buffers.
///
/// # Panics
///
/// Naga refuses it. The message names the shader.
#[must_use]
pub fn validate(what: &str, source: &str) -> (Module, ModuleInfo) {
    let capabilities = Capabilities::SHADER_INT64
        | Capabilities::SUBGROUP
        | Capabilities::STORAGE_BUFFER_BINDING_ARRAY
        | Capabilities::STORAGE_BUFFER_BINDING_ARRAY_NON_UNIFORM_INDEXING;
    let module = Frontend::new_with_options(Options { capabilities, ..Options::new() })
        .parse(source)
        .unwrap_or_else(|error| panic!("{what}: {}", error.emit_to_string(source)));
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .unwrap_or_else(|error| panic!("{what}: {}", error.emit_to_string(source)));
    (module, info)
}

/// Translates a module to every language, in the versions that wgpu requires for 64-bit integers. Modules with arrays of
/// storage buffers are for Vulkan only: naga does not translate them to HLSL.
///
/// # Panics
///
/// Naga refuses a translation. The message names the shader.
pub fn translate(what: &str, module: &Module, info: &ModuleInfo) {
    let (module, info) = process_overrides(module, info, None, &PipelineConstants::default())
        .unwrap_or_else(|error| panic!("{what}: an override has no value: {error}"));

    let options = spv::Options { lang_version: (1, 3), ..spv::Options::default() };
    let words = spv::write_vec(&module, &info, &options, None)
        .unwrap_or_else(|error| panic!("{what} is not translated to SPIR-V: {error}"));
    assert!(!words.is_empty(), "{what}: SPIR-V has at least a header");

    let is_array = |ty: &naga::Type| matches!(ty.inner, naga::TypeInner::BindingArray { .. });
    if module.types.iter().any(|(_, ty)| is_array(ty)) {
        return;
    }
    let options =
        msl::Options { lang_version: (2, 4), fake_missing_bindings: true, ..msl::Options::default() };
    let (_, translation) = msl::write_string(&module, &info, &options, &msl::PipelineOptions::default())
        .unwrap_or_else(|error| panic!("{what} is not translated to Metal: {error}"));
    for name in translation.entry_point_names {
        name.unwrap_or_else(|error| panic!("{what}: an entry point is not translated to Metal: {error}"));
    }

    let options = hlsl::Options {
        shader_model: hlsl::ShaderModel::V6_0,
        fake_missing_bindings: true,
        ..hlsl::Options::default()
    };
    let mut direct = String::new();
    let translation = hlsl::Writer::new(&mut direct, &options, &hlsl::PipelineOptions::default())
        .write(&module, &info, None)
        .unwrap_or_else(|error| panic!("{what} is not translated to HLSL: {error}"));
    for name in translation.entry_point_names {
        name.unwrap_or_else(|error| panic!("{what}: an entry point is not translated to HLSL: {error}"));
    }
}
