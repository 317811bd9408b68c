//! Kernels: linked WGSL, and its translation to HLSL.

use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

use kvrm_shaders::{FAMILIES, Substitution, link_modules};
use naga::back::pipeline_constants::process_overrides;
use naga::back::{PipelineConstants, hlsl};
use naga::front::wgsl::{Frontend, Options};
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// The arguments of `dump kernel`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of the modules, which are read when the program runs
    #[arg(long, value_name = "FOLDER", default_value = "shaders/wgsl")]
    shaders: PathBuf,
    /// Module with the entry point
    #[arg(long, value_name = "NAME", default_value = "machine::interpreter_few")]
    module: String,
    /// Variant of a family, such as SimdUnit=Integers. May be repeated
    #[arg(long, value_name = "FAMILY=VARIANT")]
    variant: Vec<String>,
    /// File with WGSL that is linked already, such as that of another version. The options above are ignored then
    #[arg(long, value_name = "FILE")]
    linked: Option<PathBuf>,
    /// Number of lanes in a workgroup
    #[arg(long, value_name = "LANES", default_value_t = 1)]
    workgroup: u32,
    /// Binary logarithm of the number of words of a frame pool, for several pools
    #[arg(long, value_name = "LOG2", default_value_t = 28)]
    pool_shift: u32,
    /// Add naga's loop bounds, which kernels of the engine do not have
    #[arg(long)]
    loop_bounds: bool,
    /// Folder to write to
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Write to a folder there with the name that slices have for the kernel
    #[arg(long)]
    named: bool,
}

/// Runs `dump kernel`.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let source = match &args.linked {
        Some(file) => fs::read_to_string(file)?,
        None => link(args)?,
    };
    let mut overrides =
        vec![("WORKGROUP_SIZE", args.workgroup.into()), ("POOL_SHIFT", args.pool_shift.into())];
    overrides.retain(|(name, _)| source.contains(&format!("\noverride {name}:")));
    let hlsl = to_hlsl(&source, &overrides, args.loop_bounds)?;
    let folder = match args.named {
        true => args.out.join(name(&args.module, args.workgroup, &hlsl)),
        false => args.out.clone(),
    };
    write(&folder, &source, &hlsl)?;
    println!("{}", folder.display());
    Ok(())
}

/// Links the module that the arguments name, in its variant.
fn link(args: &Args) -> Result<String, Box<dyn Error>> {
    let mut modules = Vec::new();
    read_modules(&args.shaders, "", &mut modules)?;
    modules.sort();
    let modules: Vec<(&str, &str)> = modules.iter().map(|(path, text)| (&**path, &**text)).collect();
    let mut substitutions = Vec::new();
    for variant in &args.variant {
        substitutions.extend_from_slice(find_variant(variant)?);
    }
    Ok(link_modules(&modules, &args.module, &substitutions)?.source)
}

/// Reads all modules below a folder, with their paths there.
fn read_modules(folder: &Path, prefix: &str, modules: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            read_modules(&entry.path(), &format!("{name}/"), modules)?;
        } else if Path::new(&name).extension().is_some_and(|extension| extension == "wgsl") {
            modules.push((name, fs::read_to_string(entry.path())?));
        }
    }
    Ok(())
}

/// Returns the substitutions of a variant that is given as `FAMILY=VARIANT`.
fn find_variant(text: &str) -> Result<&'static [Substitution], String> {
    let wrong = || format!("--variant '{text}': expected a family and a variant, such as SimdUnit=Integers");
    let (family, variant) = text.split_once('=').ok_or_else(wrong)?;
    let family = FAMILIES.iter().find(|of| of.name == family).ok_or_else(wrong)?;
    let (_, substitutions) = family.variants.iter().find(|(name, _)| *name == variant).ok_or_else(wrong)?;
    Ok(substitutions)
}

/// Translates linked WGSL to HLSL, with the checks that the engine asks for on Vulkan. Buffers have the numbers of their
/// bindings.
pub(crate) fn to_hlsl(
    source: &str,
    overrides: &[(&'static str, f64)],
    loop_bounds: bool,
) -> Result<String, Box<dyn Error>> {
    let capabilities = Capabilities::SHADER_INT64;
    let module = Frontend::new_with_options(Options { capabilities, ..Options::new() })
        .parse(source)
        .map_err(|error| error.emit_to_string(source))?;
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .map_err(|error| error.emit_to_string(source))?;
    let constants: PipelineConstants =
        overrides.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let (module, info) = process_overrides(&module, &info, None, &constants)?;
    let bindings = module.global_variables.iter().filter_map(|(_, variable)| variable.binding);
    let options = hlsl::Options {
        shader_model: hlsl::ShaderModel::V6_0,
        fake_missing_bindings: false,
        force_loop_bounding: loop_bounds,
        binding_map: bindings
            .map(|binding| {
                let space = u8::try_from(binding.group).unwrap_or(u8::MAX);
                (binding, hlsl::BindTarget { space, register: binding.binding, ..Default::default() })
            })
            .collect(),
        ..hlsl::Options::default()
    };
    let mut text = String::new();
    hlsl::Writer::new(&mut text, &options, &hlsl::PipelineOptions::default()).write(&module, &info, None)?;
    Ok(text)
}

/// Writes WGSL and HLSL of a kernel to a folder.
pub(crate) fn write(folder: &Path, wgsl: &str, hlsl: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("linked.wgsl"), wgsl)?;
    fs::write(folder.join("kernel.hlsl"), hlsl)
}

/// Returns a name that differs between kernels.
pub(crate) fn name(module: &str, workgroup: u32, hlsl: &str) -> String {
    let mut hasher = DefaultHasher::new();
    hlsl.hash(&mut hasher);
    let kind = module.rsplit(':').next().unwrap_or_default();
    let pools = hlsl.lines().filter(|line| line.starts_with("RWByteAddressBuffer pool_")).count();
    format!("{kind}-{workgroup}-pools{pools}-{:08x}", hasher.finish() as u32)
}
