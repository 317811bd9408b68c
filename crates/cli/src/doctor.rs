//! `kvrm doctor`.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use kvrm::gpu::doctor::{Diagnosis, examine};
use kvrm::gpu::{AdapterInfo, Error};
use serde_json::{Value, json};

use crate::engine::AdapterArgs;
use crate::output::Output;

/// Arguments of `kvrm doctor`.
#[derive(clap::Args)]
#[command(
    after_help = "The adapter that would be used is marked with * and tested. The exit status is 1 if no adapter \
                        can be used. KVRM still runs everything on the CPU then."
)]
pub(crate) struct Args {
    #[command(flatten)]
    adapter: AdapterArgs,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let diagnosis = examine(args.adapter.adapter.as_deref());
    let mut out = Output::new();
    if args.json {
        writeln!(out, "{}", to_json(&diagnosis))?;
    } else {
        writeln!(out, "{diagnosis}")?;
    }
    out.flush()?;
    Ok(ExitCode::from(u8::from(!diagnosis.is_healthy())))
}

fn to_json(diagnosis: &Diagnosis) -> Value {
    let failure = |result: Option<&Error>| result.map(ToString::to_string);
    let chosen = diagnosis.chosen.as_ref();
    let loop_limit = chosen.ok().and_then(|chosen| chosen.loop_limit.as_ref().ok().copied().flatten());
    json!({
        "usable": diagnosis.is_healthy(),
        "adapters": diagnosis.adapters.iter().enumerate().map(adapter).collect::<Vec<_>>(),
        "error": failure(chosen.err()),
        "chosen": chosen.ok().map(|chosen| json!({
            "index": chosen.index,
            "name": chosen.adapter.name,
            "int64_error": failure(chosen.int64.as_ref().err()),
            "loop_limit": loop_limit.map(|limit| limit.iterations),
            "loop_limit_sharers": loop_limit.map(|limit| limit.sharers),
            "loop_limit_error": failure(chosen.loop_limit.as_ref().err()),
        })),
        "advice": diagnosis.advice(),
    })
}

fn adapter((index, info): (usize, &AdapterInfo)) -> Value {
    let limits = &info.limits;
    json!({
        "index": index,
        "pci": (!info.bus.is_empty()).then_some(&info.bus),
        "name": info.name,
        "kind": info.kind.to_string(),
        "backend": info.backend,
        "driver": info.driver,
        "int64": info.has_int64,
        "timestamps": info.has_timestamps,
        "subgroups": info.has_subgroups,
        "buffer_arrays": info.has_buffer_arrays,
        "subgroup_sizes": [info.subgroup_sizes.0, info.subgroup_sizes.1],
        "limits": {
            "storage_bytes": limits.storage_bytes(),
            "buffer_bytes": limits.buffer_bytes,
            "storage_buffers": limits.storage_buffers,
            "workgroup_invocations": limits.workgroup_invocations,
            "workgroup_size": limits.workgroup_size,
            "workgroup_bytes": limits.workgroup_bytes,
            "workgroups": limits.workgroups,
        },
    })
}
