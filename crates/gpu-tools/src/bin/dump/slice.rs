//! Slices: the buffers before them.

use std::error::Error;
use std::fs;
use std::iter::repeat_n;
use std::path::PathBuf;

use kvrm_arm64::Features;
use kvrm_gpu::{Bounds, ClassSelection, Device, GpuExecutor, SliceDump};
use kvrm_machine::{Executor, Factory, Machine, Permissions, Plan, Program};
use serde_json::json;

use crate::kernel;

/// The arguments of `dump slice`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Guest: mix, render, sha256 or sieve as in `kvrm bench`; the file of a program; or `word:HEX` for a loop of 255 times
    /// the same instruction and a branch
    guest: String,
    /// Arguments of a program from a file
    arguments: Vec<String>,
    /// Number of lanes
    #[arg(long, default_value_t = 1)]
    lanes: usize,
    /// Number of steps of each lane before the slice
    #[arg(long, value_name = "STEPS")]
    before: Option<u64>,
    /// Number of steps of each lane in the slice
    #[arg(long, default_value_t = 10_000)]
    steps: u32,
    /// Number of lanes in a workgroup of the slice. May be repeated; each needs a kernel
    #[arg(long, value_name = "LANES", default_values_t = [1])]
    workgroup: Vec<u32>,
    /// Number of lanes in a workgroup from which on lanes execute several micro-ops in each step
    #[arg(long, value_name = "LANES", default_value_t = 16)]
    stages_min: u32,
    /// Largest number of frame pools
    #[arg(long, value_name = "POOLS", default_value_t = 1)]
    pools: usize,
    /// Folder of slices and kernels. The slice is written to slices/NAME, kernels to kernels/NAME
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Name of the slice; the default is GUEST-LANES
    #[arg(long)]
    name: Option<String>,
}

/// An engine whose executors have a binding for each frame pool, and can be asked for a slice.
struct DumpingEngine {
    device: Device,
    bounds: Bounds,
}

impl Factory for DumpingEngine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, kvrm_machine::Error> {
        let executor =
            GpuExecutor::with_bounds(&self.device, plan, &ClassSelection::TABLE, self.bounds.clone())?;
        Ok(Box::new(executor))
    }
}

/// Runs `dump slice`.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    // As in `kvrm bench`: the first argument, whether the second is a seed, and the steps before the measured part.
    let (size, has_seeds, begin) = match &*args.guest {
        "mix" => (Some("1000000000000"), true, 2_000),
        "render" => (Some("1000000000000"), true, 80_000),
        "sha256" => (Some("16384"), false, 400_000),
        "sieve" => (Some("300000"), false, 2_000),
        _ => (None, false, 0),
    };
    let program = match (args.guest.strip_prefix("word:"), kvrm_guests::elf(&args.guest)) {
        (Some(word), _) => repeated(u32::from_str_radix(word, 16)?)?,
        (None, Some(file)) if size.is_some() => Program::from_elf(&args.guest, file)?,
        _ => Program::open(&args.guest)?,
    };
    let device = Device::open(None)?;
    println!("{}", device.info());
    // Naga does not translate arrays of buffers to HLSL. The CUDA kernel would wait forever in a vote for lanes that have left the
    // loop.
    let bounds = Bounds {
        pools: Some(args.pools),
        buffer_arrays: false,
        subgroups: false,
        stages_min: Some(args.stages_min),
        ..Bounds::NONE
    };
    // A repeated instruction may be of any feature.
    let features = if args.guest.starts_with("word:") { Features::ALL } else { program.features() };
    let mut machine = Machine::builder(program)
        .features(features)
        .lanes(args.lanes)
        .engine(DumpingEngine { device, bounds })
        .arguments(|lane| {
            let seed = has_seeds.then(|| (lane + 1).to_string());
            let first = size.map(str::to_owned).into_iter().chain(seed);
            first.chain(args.arguments.iter().cloned()).collect()
        })
        .build()?;
    // Lanes lower the code that they reach, so that none of it is missing in the slice.
    let report = machine.run(args.before.unwrap_or(begin).max(1))?;
    if let Some((stop, lanes)) = report.stops.iter().find(|(stop, _)| **stop != "budget") {
        return Err(format!("{lanes} lanes have stopped before the slice: {stop}").into());
    }
    let name = args.name.clone().unwrap_or_else(|| {
        let stem = PathBuf::from(&args.guest);
        format!("{}-{}", stem.file_stem().unwrap_or_default().to_string_lossy().replace(':', "-"), args.lanes)
    });
    let folder = args.out.join("slices").join(&name);
    fs::create_dir_all(&folder)?;
    let mut kernels = Vec::new();
    let mut slice = None;
    for workgroup in &args.workgroup {
        let executor = machine.executor().and_then(|executor| executor.downcast_mut::<GpuExecutor>());
        let dump = executor.ok_or("the engine has no slices")?.dump_slice(args.steps, *workgroup)?;
        kernels.push(
            json!({ "name": write_kernel(args, &dump)?, "workgroup": workgroup, "module": dump.module }),
        );
        slice = Some(dump);
    }
    let dump = slice.ok_or("no workgroup was given")?;
    let mut buffers = Vec::new();
    for buffer in &dump.buffers {
        // Most buffers have much room left.
        let used = buffer.contents.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        fs::write(folder.join(format!("{}.bin", buffer.name)), &buffer.contents[..used])?;
        println!("{name}: {} has {} bytes, {used} used", buffer.name, buffer.contents.len());
        buffers.push(json!({
            "binding": buffer.binding, "name": buffer.name, "bytes": buffer.contents.len(), "used": used,
        }));
    }
    let description = json!({
        "name": name,
        "lanes": dump.lanes,
        "steps": dump.steps,
        "kernels": kernels,
        "buffers": buffers,
        "counters": {
            "steps": kvrm_shaders::layout::COUNTER_STEPS,
            "steps_high": kvrm_shaders::layout::COUNTER_STEPS_HIGH,
        },
    });
    fs::write(folder.join("slice.json"), serde_json::to_string_pretty(&description)?)?;
    Ok(())
}

/// Returns a program that repeats an instruction forever.
fn repeated(word: u32) -> Result<Program, kvrm_machine::Error> {
    const TIMES: u32 = 255;
    // b to the first instruction
    let back = 0x1400_0000 | 0u32.wrapping_sub(TIMES) & 0x03ff_ffff;
    let code: Vec<u8> = repeat_n(word, TIMES as usize).chain([back]).flat_map(u32::to_le_bytes).collect();
    let mut program = Program::raw("word", code, 0x1000, 0)?;
    program.segments[0].permissions = Permissions::RX;
    Ok(program)
}

/// Writes the kernel of a slice and returns its name.
fn write_kernel(args: &Args, dump: &SliceDump) -> Result<String, Box<dyn Error>> {
    let hlsl = kernel::to_hlsl(&dump.source, &dump.overrides, false)?;
    let name = kernel::name(dump.module, dump.workgroup, &hlsl);
    kernel::write(&args.out.join("kernels").join(&name), &dump.source, &hlsl)?;
    println!("kernel {name}");
    Ok(name)
}
