//! `cargo xtask train`: makes the weights of the networks that choose kernels.
//!
//! The same seed gives the same file, bit for bit, on every host.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use kvrm_models::sha256_of;
use kvrm_train::{NotExact, Progress, Trained, train_decoder, train_dispatch, train_small_dispatch};

use crate::root;

/// Arguments of `cargo xtask train`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Which network.
    network: Network,
    /// Where the weights go, as little-endian f32 in flat order [default: target/NETWORK.f32].
    #[arg(long)]
    out: Option<PathBuf>,
    /// The only seed to try [default: 1, 2, and so on to 8, until one gives an exact network].
    #[arg(long)]
    seed: Option<u64>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Network {
    /// 10,279 weights: the class of every word.
    Dispatch,
    /// 135 weights: the class as far as the top byte tells it.
    SmallDispatch,
    /// 10,799 weights: the category of every word.
    Decoder,
}

impl Network {
    const fn name(self) -> &'static str {
        match self {
            Self::Dispatch => "dispatch",
            Self::SmallDispatch => "small-dispatch",
            Self::Decoder => "decoder",
        }
    }

    fn train(self, seed: u64, observer: &mut dyn FnMut(&Progress)) -> Result<Trained, NotExact> {
        match self {
            Self::Dispatch => train_dispatch(seed, observer),
            Self::SmallDispatch => train_small_dispatch(seed, observer),
            Self::Decoder => train_decoder(seed, observer),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let seeds = args.seed.map_or(1..=8, |seed| seed..=seed);
    for seed in seeds {
        let start = Instant::now();
        match try_seed(args.network, seed) {
            Ok(trained) => return write(args, seed, &trained, start.elapsed().as_secs_f64()),
            Err(error) => println!("seed {seed}: {error}"),
        }
    }
    bail!("no seed gave an exact {} network", args.network.name());
}

fn try_seed(network: Network, seed: u64) -> Result<Trained, NotExact> {
    let bar = ProgressBar::no_length();
    if let Ok(style) = ProgressStyle::with_template("{bar:30} step {pos}/{len}, {eta} left at most: {msg}") {
        bar.set_style(style);
    }
    let trained = network.train(seed, &mut |progress| {
        bar.set_length(u64::from(progress.steps));
        bar.set_position(u64::from(progress.step));
        let Progress { errors, margin, loss, .. } = progress;
        bar.set_message(format!("{errors} errors, margin {margin:.2}, loss {loss:.4}"));
    });
    bar.finish_and_clear();
    trained
}

fn write(args: &Args, seed: u64, trained: &Trained, seconds: f64) -> Result<()> {
    let name = args.network.name();
    let out = args.out.clone().unwrap_or_else(|| root().join("target").join(format!("{name}.f32")));
    let bytes: Vec<u8> = trained.weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
    fs::write(&out, bytes).with_context(|| format!("cannot write {}", out.display()))?;
    let Progress { step, margin, .. } = trained.progress;
    println!("seed {seed}, {step} steps, {seconds:.0} s, least margin {margin}");
    println!("{}  {}", sha256_of(&trained.weights), out.display());
    Ok(())
}
