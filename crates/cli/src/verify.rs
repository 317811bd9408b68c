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
    after_help = "A certificate proves that the network gives the right answer for each of the 2^32 words, that no two \
                  answers are equally likely, that its arithmetic gives the same bits on every device, and that the \
                  weights are those of the manifest. If one of these is false, the exit status is 1, and the first \
                  wrong word is printed."
)]
pub(crate) struct Args {
    /// The network to verify.
    #[arg(default_value = "dispatch")]
    network: Network,
    /// The weights of the network: a .safetensors file. If a manifest in the same folder lists the file, the weights are
    /// also compared with the manifest. The default is the weights that come with KVRM.
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Also evaluate the network on a GPU, for each of the 2^32 words. A software driver takes very long for that.
    #[arg(long)]
    device: bool,
    #[command(flatten)]
    adapter: AdapterArgs,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// The networks that can be verified.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Network {
    /// The dispatch network, which names the class of a word.
    Dispatch,
    /// The decoder network, which names the category of a word.
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
    // The sweep reports progress after each of the 256 top bytes of a word.
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
fn load(args: &Args) -> Result<(Weights, Option<String>)> {
    let wanted = args.network.architecture();
    let Some(path) = &args.weights else {
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
