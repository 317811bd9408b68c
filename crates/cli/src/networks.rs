//! `kvrm networks`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use indicatif::ProgressBar;
use kvrm::Networks;
use kvrm::networks::{Network, ProofState, Source};
use serde_json::{Value, json};

use crate::output::Output;

/// Arguments of `kvrm networks`.
#[derive(clap::Args)]
#[command(
    after_help = "The bytes are those of the weights on a GPU: two for each weight, and four where classes and categories \
                  have to be exact. The multiply-adds are those of one evaluation; networks that see the words of a loop or \
                  accesses to memory are evaluated on the longest sequence, of 32. JSON has the numbers for other lengths: \
                  fixed + length * token + length * length * pair.\n\n\
                  Dispatch and decoder can be proved right on all 2^32 words. `kvrm verify` prints their certificates. The \
                  answers of the other networks are checked one by one, so no weights can make a result wrong. If a proof \
                  fails, the exit status is 1."
)]
pub(crate) struct Args {
    /// Weights that replace those that come with KVRM: a .safetensors file, or a folder with such files. A later one replaces an
    /// earlier one of the same network.
    #[arg(long, value_name = "FILE_OR_FOLDER")]
    weights: Vec<PathBuf>,
    /// Prove the networks that can be proved, which evaluates each of them on all 2^32 words.
    #[arg(long)]
    prove: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let mut networks = Networks::builtin()?;
    for path in &args.weights {
        networks.load(path).with_context(|| format!("--weights '{}'", path.display()))?;
    }
    let mut is_proved = true;
    if args.prove {
        // The top bytes that are done, of all networks that can be proved.
        let provable = networks.iter().filter(|network| *network.proof() == ProofState::Unproved).count();
        let bar = ProgressBar::new(256 * provable as u64);
        is_proved = networks.prove(&|_, _| bar.inc(1))?;
        bar.finish_and_clear();
    }
    let mut out = Output::new();
    if args.json {
        writeln!(out, "{}", to_json(&networks))?;
    } else {
        write_table(&mut out, &networks)?;
    }
    out.flush()?;
    Ok(ExitCode::from(u8::from(!is_proved)))
}

/// Writes a line for each network, and one with their sums.
fn write_table(out: &mut impl Write, networks: &Networks) -> Result<()> {
    let sources = networks.iter().map(|network| network.source().to_string().chars().count());
    let width = sources.max().unwrap_or(0).max("source".len());
    let head = ["network", "parameters", "bytes", "multiply-adds", "source"];
    writeln!(
        out,
        "{:<19} {:>10} {:>10} {:>13}  {:<width$}  proof",
        head[0], head[1], head[2], head[3], head[4]
    )?;
    for network in networks.iter() {
        let (name, parameters, bytes) =
            (network.architecture(), network.parameters(), network.device_bytes());
        let (cost, source) = (network.cost().longest(), network.source().to_string());
        let proof = network.proof();
        writeln!(out, "{name:<19} {parameters:>10} {bytes:>10} {cost:>13}  {source:<width$}  {proof}")?;
    }
    writeln!(out, "{:<19} {:>10} {:>10}", "total", networks.parameters(), networks.device_bytes())?;
    Ok(())
}

fn to_json(networks: &Networks) -> Value {
    json!({
        "networks": networks.iter().map(network).collect::<Vec<_>>(),
        "parameters": networks.parameters(),
        "device_bytes": networks.device_bytes(),
    })
}

fn network(network: Network<'_>) -> Value {
    let cost = network.cost();
    let (source, file) = match network.source() {
        Source::File(path) => ("file", Some(path.display().to_string())),
        Source::BuiltIn => ("built-in", None),
        _ => ("memory", None),
    };
    json!({
        "network": network.architecture().name(),
        "source": source,
        "file": file,
        "sha256": network.sha256(),
        "parameters": network.parameters(),
        "device_bytes": network.device_bytes(),
        "multiply_adds": {
            "fixed": cost.fixed,
            "token": cost.token,
            "pair": cost.pair,
            "tokens": cost.tokens.map(|tokens| tokens.name),
            "tokens_max": cost.tokens.map(|tokens| tokens.max),
            "longest": cost.longest(),
        },
        "proof": network.proof().name(),
        "proof_detail": network.proof().detail(),
    })
}
