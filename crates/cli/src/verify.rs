//! `kvrm verify`.

mod comparison;
mod loops;
mod memory_oracle;
mod networks;
mod random;

use std::fmt::{self, Display, Formatter};
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum as _;
use indicatif::ProgressBar;
use kvrm::GpuEngine;
use kvrm::gpu::Device;
use kvrm::gpu::networks::{DeviceNetwork, SweepResult};
use kvrm::models::{
    Architecture, Certificate, DecoderNetwork, DispatchNetwork, MANIFEST, Manifest, Tuple, TupleNetwork,
    Weights, certify_decoder, certify_dispatch, decoder_labels, dispatch_labels,
};
use serde_json::{Value, json};

use self::comparison::Comparison;
use crate::engine::AdapterArgs;
use crate::output::Output;

/// Arguments of `kvrm verify`.
#[derive(clap::Args)]
#[command(
    after_help = "A certificate proves that the network gives the right answer for each of the 2^32 words, that no two \
                  answers are equally likely, that its arithmetic gives the same bits on every device, and that the \
                  weights are those of the manifest. If one of these is false, the exit status is 1, and the first \
                  wrong word is printed.\n\n\
                  There is no certificate of the networks that look at loops and of the memory oracle: their answers are \
                  guesses. `loops --device` and `memory-oracle --device` compare the answers of host and device for many \
                  bodies or windows. If an output differs by more than 1e-5, or an answer whose margin is larger, the exit \
                  status is 1."
)]
pub(crate) struct Args {
    /// The network to verify.
    #[arg(default_value = "dispatch")]
    network: Network,
    /// The weights of the network: a .safetensors file. If a manifest in the same folder lists the file, the weights are
    /// also compared with the manifest. The default is the weights that come with KVRM. `loops` has three networks and
    /// takes a file for each. Networks that are compared and have no trained weights get random ones.
    #[arg(long, value_name = "FILE")]
    weights: Vec<PathBuf>,
    /// Evaluate the networks of `loops` on the bodies of a file that `cargo xtask loops held-out` has written.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["bodies", "words"])]
    file: Option<PathBuf>,
    /// The number of bodies on which the networks of `loops` are evaluated [default: 256].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    bodies: Option<u32>,
    /// The number of words of each body of `loops` [default: all lengths, mostly short ones].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=32))]
    words: Option<u32>,
    /// The number of windows of accesses on which the memory oracle is evaluated [default: 1024].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    windows: Option<u32>,
    /// The number of accesses of each window [default: all lengths, mostly the longest].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    accesses: Option<u32>,
    /// The seed of bodies, windows and random weights [default: 1].
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Also evaluate the network on a GPU. For dispatch and decoder this is for each of the 2^32 words, for which a
    /// software driver takes very long.
    #[arg(long)]
    device: bool,
    #[command(flatten)]
    adapter: AdapterArgs,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// The networks that can be verified.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Network {
    /// The dispatch network, which names the class of a word.
    Dispatch,
    /// The decoder network, which names the category of a word.
    Decoder,
    /// The networks that look at loops: loop detector, pattern recogniser and iteration predictor.
    Loops,
    /// The memory oracle, which predicts accesses to memory.
    MemoryOracle,
}

impl Network {
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    check_options(args)?;
    match args.network {
        Network::Dispatch => dispatch(args),
        Network::Decoder => decoder(args),
        Network::Loops => loops(args),
        Network::MemoryOracle => memory_oracle(args),
    }
}

/// Refuses options that are for other networks.
fn check_options(args: &Args) -> Result<()> {
    use Network::{Loops, MemoryOracle};
    let options: [(&str, bool, &[Network]); 6] = [
        ("--file", args.file.is_some(), &[Loops]),
        ("--bodies", args.bodies.is_some(), &[Loops]),
        ("--words", args.words.is_some(), &[Loops]),
        ("--windows", args.windows.is_some(), &[MemoryOracle]),
        ("--accesses", args.accesses.is_some(), &[MemoryOracle]),
        ("--seed", args.seed.is_some(), &[Loops, MemoryOracle]),
    ];
    for (option, is_given, networks) in options {
        if is_given && !networks.contains(&args.network) {
            let commands: Vec<_> =
                networks.iter().map(|network| format!("`kvrm verify {}`", network.name())).collect();
            bail!("{option} is for {}, not for {}", commands.join(" and "), args.network.name());
        }
    }
    Ok(())
}

/// Opens the device on which networks are evaluated, if the arguments ask for one.
fn open_device(args: &Args) -> Result<Option<Device>> {
    if !args.device && args.adapter.adapter.is_none() {
        return Ok(None);
    }
    Ok(Some(GpuEngine::open(args.adapter.adapter.as_deref())?.device().clone()))
}

/// Compares the networks that look at loops on host and device.
fn loops(args: &Args) -> Result<ExitCode> {
    let options = loops::Options {
        weights: &args.weights,
        file: args.file.as_deref(),
        bodies: args.bodies.unwrap_or(256) as usize,
        words: args.words.map(|words| words as usize),
        seed: args.seed.unwrap_or(1),
    };
    report(args, &loops::compare(&options, open_device(args)?.as_ref())?)
}

/// Compares the memory oracle on host and device.
fn memory_oracle(args: &Args) -> Result<ExitCode> {
    let options = memory_oracle::Options {
        weights: &args.weights,
        windows: args.windows.unwrap_or(1024) as usize,
        accesses: args.accesses.map(|accesses| accesses as usize),
        seed: args.seed.unwrap_or(1),
    };
    report(args, &memory_oracle::compare(&options, open_device(args)?.as_ref())?)
}

/// Prints a comparison.
fn report(args: &Args, comparison: &Comparison) -> Result<ExitCode> {
    let mut out = Output::new();
    if args.json {
        writeln!(out, "{}", comparison.to_json())?;
    } else {
        write!(out, "{comparison}")?;
    }
    out.flush()?;
    Ok(ExitCode::from(u8::from(!comparison.holds())))
}

/// A certificate of a network, and the result of its evaluation on a device.
type Certified = (Certificate, Option<OnDevice>);

/// Certifies the dispatch network.
fn dispatch(args: &Args) -> Result<ExitCode> {
    certify(args, Architecture::Dispatch, |flat, expected, device, bar| {
        let network = DispatchNetwork::from_flat(flat)?;
        let certificate = certify_dispatch(&network, expected, &progress(bar));
        let on_device = device.map(|device| on_device(device, &network, &dispatch_labels(), bar));
        Ok((certificate, on_device.transpose()?))
    })
}

/// Certifies the decoder network.
fn decoder(args: &Args) -> Result<ExitCode> {
    certify(args, Architecture::Decoder, |flat, expected, device, bar| {
        let network = DecoderNetwork::from_flat(flat)?;
        let certificate = certify_decoder(&network, expected, &progress(bar));
        let on_device = device.map(|device| on_device(device, &network, &decoder_labels(), bar));
        Ok((certificate, on_device.transpose()?))
    })
}

/// Returns a function that shows the progress of a sweep, which reports it after each of the 256 top bytes of a word.
fn progress(bar: &ProgressBar) -> impl Fn(u32) + Sync + '_ {
    |done| bar.set_position(done.into())
}

/// Certifies a network with a function of its weights, the SHA-256 that they should have, and the device.
fn certify(
    args: &Args,
    architecture: Architecture,
    certify: impl FnOnce(&[f32], Option<&str>, Option<&Device>, &ProgressBar) -> Result<Certified>,
) -> Result<ExitCode> {
    let (weights, expected) = load(args, architecture)?;
    let device = open_device(args)?;
    let bar = ProgressBar::new(256);
    let (certificate, on_device) = certify(weights.values(), expected.as_deref(), device.as_ref(), &bar)?;
    bar.finish_and_clear();
    let mut out = Output::new();
    if args.json {
        let mut json = serde_json::to_value(&certificate)?;
        if let Some(result) = &on_device {
            json["device"] = result.to_json();
        }
        writeln!(out, "{json}")?;
    } else {
        write!(out, "{certificate}")?;
        if let Some(result) = &on_device {
            write!(out, "{result}")?;
        }
    }
    out.flush()?;
    let holds = certificate.holds() && on_device.as_ref().is_none_or(OnDevice::agrees);
    Ok(ExitCode::from(u8::from(!holds)))
}

/// The result of evaluating a network on a device.
struct OnDevice {
    name: String,
    /// The number of tuples whose logits differ from those of the host in at least one bit.
    different: usize,
    /// The result of the sweep over all words.
    found: SweepResult,
}

fn on_device<const H: usize, const C: usize>(
    device: &Device,
    network: &TupleNetwork<H, C>,
    labels: &[u8],
    bar: &ProgressBar,
) -> Result<OnDevice> {
    let on_device = DeviceNetwork::new(device, network, labels)?;
    let differ = |(tuple, logits): &(u32, [f32; C])| {
        logits.map(f32::to_bits) != network.logits(Tuple::new(*tuple)).map(f32::to_bits)
    };
    let different = (0..).zip(on_device.logits()?).filter(differ).count();
    let found = on_device.sweep(0..1 << 32, &mut |found| {
        bar.set_position(found.words >> 24);
        ControlFlow::Continue(())
    })?;
    Ok(OnDevice { name: device.info().to_string(), different, found })
}

impl OnDevice {
    fn agrees(&self) -> bool {
        self.different == 0 && self.found == SweepResult { words: 1 << 32, wrong: 0, first_wrong: None }
    }

    fn to_json(&self) -> Value {
        let SweepResult { words, wrong, first_wrong } = self.found;
        json!({
            "name": self.name,
            "tuples_different": self.different,
            "words": words,
            "words_wrong": wrong,
            "first_wrong": first_wrong,
            "agrees": self.agrees(),
        })
    }
}

impl Display for OnDevice {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let SweepResult { words, wrong, first_wrong } = self.found;
        writeln!(f, "device                  {}", self.name)?;
        writeln!(f, "logits on the device    {} tuples differ from the host", self.different)?;
        write!(f, "words on the device     {words}, {wrong} wrong")?;
        if let Some(word) = first_wrong {
            write!(f, ", the first {word:#010x}")?;
        }
        writeln!(
            f,
            "\nverdict on the device   {}",
            if self.agrees() { "agrees with the host" } else { "differs from the host" }
        )
    }
}

/// Returns the weights, and the SHA-256 of their flat form if a manifest states it.
fn load(args: &Args, wanted: Architecture) -> Result<(Weights, Option<String>)> {
    if let [_, second, ..] = args.weights.as_slice() {
        bail!("{}: expected one file of weights for {wanted}, found a second one", second.display());
    }
    let Some(path) = args.weights.first() else {
        let (weights, digest) =
            Weights::builtin(wanted)?.context("this build of KVRM has no such weights; give --weights")?;
        return Ok((weights, Some(digest)));
    };
    let weights = Weights::load(path)?;
    if weights.architecture() != wanted {
        let (wanted, found) = (wanted.name(), weights.architecture().name());
        bail!("{}: expected a {wanted} network, found a {found} network", path.display());
    }
    let manifest = path.with_file_name(MANIFEST);
    if !manifest.exists() {
        return Ok((weights, None));
    }
    let manifest = Manifest::load(&manifest)?;
    let entry = path.file_name().and_then(|name| manifest.entry(name.to_str()?));
    Ok((weights, entry.and_then(|entry| entry.weights_sha256.clone())))
}
