//! `kvrm verify`.

use std::fmt::{self, Display, Formatter};
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use indicatif::ProgressBar;
use kvrm::GpuEngine;
use kvrm::gpu::Device;
use kvrm::gpu::networks::{DeviceNetwork, SweepResult};
use kvrm::models::{
    Architecture, DecoderNetwork, DispatchNetwork, MANIFEST, Manifest, Tuple, TupleNetwork, Weights,
    certify_decoder, certify_dispatch, decoder_labels, dispatch_labels,
};
use serde_json::{Value, json};

use crate::engine::AdapterArgs;
use crate::output::Output;

/// Arguments of `kvrm verify`.
#[derive(clap::Args)]
#[command(
    after_help = "A certificate says that the network gives the right answer for each of the 2^32 words, that no two \
                  answers are equally likely, that its arithmetic gives the same bits on every device, and that the \
                  weights are those the manifest states. The exit status is 1 if that is not so; the first wrong word \
                  is named then."
)]
pub(crate) struct Args {
    /// Which network.
    #[arg(default_value = "dispatch")]
    network: Network,
    /// Other weights than those that come with KVRM: a .safetensors file. A manifest beside it that lists the file
    /// says what they should be.
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Also evaluate the network on a GPU, on each of the 2^32 words; software takes very long for that.
    #[arg(long)]
    device: bool,
    #[command(flatten)]
    adapter: AdapterArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Network {
    /// The class of every word, by which its kernel is chosen.
    Dispatch,
    /// The category of every word.
    Decoder,
}

impl Network {
    const fn architecture(self) -> Architecture {
        match self {
            Self::Dispatch => Architecture::Dispatch,
            Self::Decoder => Architecture::Decoder,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let (weights, expected) = load(args)?;
    let (flat, expected) = (weights.values(), expected.as_deref());
    let device = match args.device || args.adapter.adapter.is_some() {
        true => Some(GpuEngine::open(args.adapter.adapter.as_deref())?.device().clone()),
        false => None,
    };
    // The sweep takes a top byte at a time.
    let bar = ProgressBar::new(256);
    let progress = |done: u32| bar.set_position(done.into());
    let (certificate, on_device) = match args.network {
        Network::Dispatch => {
            let network = DispatchNetwork::from_flat(flat)?;
            let certificate = certify_dispatch(&network, expected, &progress);
            (
                certificate,
                device.map(|device| on_device(&device, &network, &dispatch_labels(), &bar)).transpose()?,
            )
        }
        Network::Decoder => {
            let network = DecoderNetwork::from_flat(flat)?;
            let certificate = certify_decoder(&network, expected, &progress);
            (
                certificate,
                device.map(|device| on_device(&device, &network, &decoder_labels(), &bar)).transpose()?,
            )
        }
    };
    bar.finish_and_clear();
    let mut out = Output::new();
    if args.json {
        let mut json = serde_json::to_value(&certificate)?;
        if let Some(there) = &on_device {
            json["device"] = there.to_json();
        }
        writeln!(out, "{json}")?;
    } else {
        write!(out, "{certificate}")?;
        if let Some(there) = &on_device {
            write!(out, "{there}")?;
        }
    }
    out.flush()?;
    let holds = certificate.holds() && on_device.is_none_or(|there| there.agrees());
    Ok(ExitCode::from(u8::from(!holds)))
}

/// What a device makes of a network.
struct OnDevice {
    name: String,
    /// Tuples whose logits are other bits than the host's.
    different: usize,
    found: SweepResult,
}

fn on_device<const H: usize, const C: usize>(
    device: &Device,
    network: &TupleNetwork<H, C>,
    labels: &[u8],
    bar: &ProgressBar,
) -> Result<OnDevice> {
    let there = DeviceNetwork::new(device, network, labels)?;
    let differ = |(tuple, logits): &(u32, [f32; C])| {
        logits.map(f32::to_bits) != network.logits(Tuple::new(*tuple)).map(f32::to_bits)
    };
    let different = (0..).zip(there.logits()?).filter(differ).count();
    let found = there.sweep(0..1 << 32, &mut |found| {
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
        writeln!(f, "logits on the device    {} tuples have others", self.different)?;
        write!(f, "words on the device     {words}, {wrong} wrong")?;
        if let Some(word) = first_wrong {
            write!(f, ", the first {word:#010x}")?;
        }
        writeln!(f, "\nverdict on the device   {}", if self.agrees() { "the same" } else { "not the same" })
    }
}

/// The weights, and the sha256 of their flat form where a manifest states it.
fn load(args: &Args) -> Result<(Weights, Option<String>)> {
    let wanted = args.network.architecture();
    let Some(path) = &args.weights else {
        let (weights, digest) = Weights::builtin(wanted)?.context("no such weights come with KVRM")?;
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
