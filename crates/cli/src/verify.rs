//! `kvrm verify`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use indicatif::ProgressBar;
use kvrm::models::{
    Architecture, Certificate, DecoderNetwork, DispatchNetwork, MANIFEST, Manifest, Weights, certify_decoder,
    certify_dispatch,
};

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
    // The sweep takes a top byte at a time.
    let bar = ProgressBar::new(256);
    let progress = |done: u32| bar.set_position(done.into());
    let certificate: Certificate = match args.network {
        Network::Dispatch => {
            certify_dispatch(&DispatchNetwork::from_flat(weights.values())?, expected.as_deref(), &progress)
        }
        Network::Decoder => {
            certify_decoder(&DecoderNetwork::from_flat(weights.values())?, expected.as_deref(), &progress)
        }
    };
    bar.finish_and_clear();
    let mut out = Output::new();
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&certificate)?)?;
    } else {
        write!(out, "{certificate}")?;
    }
    out.flush()?;
    Ok(ExitCode::from(u8::from(!certificate.holds())))
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
