//! `cargo xtask records time`: measures and records the duration of a command.

use std::fs;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use kvrm_records::{Figure, Kind, MeasuredRow, RecordArgs, Value};

use super::adapter::gpu_adapter;
use super::paths::PROGRAM;

/// Arguments of `cargo xtask records time`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    record: RecordArgs,
    /// A parameter of the record, with which tables select it. May be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, Value)>,
    /// The number of guest steps that the command executes; adds millions of steps per second to the record.
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// The number of runs of the command.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Record the GPU that commands use, the one that `kvrm doctor` chooses.
    #[arg(long)]
    gpu: bool,
    /// The command and its arguments.
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// Parses a parameter. Its value is a number if it parses as one, else text.
fn parameter(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
    Ok((name.to_owned(), number.map_or_else(|| value.into(), Value::Number)))
}

pub(super) fn run(args: &Args) -> Result<()> {
    let mut log = args.record.open(PROGRAM)?;
    let adapter = args.gpu.then(gpu_adapter).transpose()?;
    let (program, arguments) = args.command.split_first().context("there is no command")?;
    let (mut seconds, mut cpu_seconds) = (Vec::new(), Vec::new());
    for _ in 0..args.repetitions {
        let (begin, cpu_begin) = (Instant::now(), cpu_of_children());
        let status = Command::new(program).args(arguments).status();
        let status = status.with_context(|| format!("cannot run {program}"))?;
        ensure!(status.success(), "{program} failed: {status}");
        seconds.push(begin.elapsed().as_secs_f64());
        cpu_seconds.extend(cpu_of_children().zip(cpu_begin).map(|(end, begin)| end - begin));
    }
    let figures = figures(&seconds, &cpu_seconds, args.steps);
    for (name, Figure { unit, min, median, max, .. }) in &figures {
        println!(
            "{name}: {median:.3} {unit} ({:.3} to {:.3})",
            min.unwrap_or(*median),
            max.unwrap_or(*median)
        );
    }
    if let Some(log) = &mut log {
        let parameters = args.parameters.iter().map(|(name, value)| (&**name, value.clone())).collect();
        log.append(MeasuredRow {
            kind: Kind::Timed,
            adapter,
            parameters,
            figures: figures.into_iter().collect(),
        })?;
    }
    Ok(())
}

/// Returns the CPU time in seconds of all processes that this process and its children have waited for. Only Linux
/// reports it (proc(5), `cutime` and `cstime` of `/proc/self/stat`).
fn cpu_of_children() -> Option<f64> {
    cpu_of_stat(&fs::read_to_string("/proc/self/stat").ok()?)
}

fn cpu_of_stat(stat: &str) -> Option<f64> {
    /// Clock ticks per second (`USER_HZ`), the same on all architectures of Linux.
    const TICKS: f64 = 100.0;
    // Names may contain spaces and brackets. The first field after the name has number 3.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
    Some((field(16)? + field(17)?) / TICKS)
}

/// Returns the figures of all repetitions.
fn figures(seconds: &[f64], cpu_seconds: &[f64], steps: Option<u64>) -> Vec<(&'static str, Figure)> {
    let mut figures = vec![("seconds", Figure::of("s", seconds))];
    if !cpu_seconds.is_empty() {
        figures.push(("cpu_seconds", Figure::of("s", cpu_seconds)));
    }
    if let Some(steps) = steps {
        let mips: Vec<f64> = seconds.iter().map(|seconds| steps as f64 / seconds / 1e6).collect();
        figures.push(("mips", Figure::of("MIPS", &mips)));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbers_if_they_look_like_one() {
        assert_eq!(parameter("processes=16"), Ok(("processes".to_owned(), 16_u64.into())), "a number");
        assert_eq!(parameter("guest=mix"), Ok(("guest".to_owned(), "mix".into())), "text");
        assert_eq!(parameter("a=inf"), Ok(("a".to_owned(), "inf".into())), "no number that JSON has");
        assert!(parameter("guest").is_err(), "no value");
    }

    #[test]
    fn steps_give_the_speed() {
        let figures = figures(&[2.0, 1.0, 4.0], &[], Some(8_000_000));
        assert_eq!(figures[1].1, Figure::of("MIPS", &[4.0, 8.0, 2.0]), "by repetition");
    }

    #[test]
    fn cpu_time_is_that_of_children() {
        let stat = "4711 (a) b) S 1 1 1 0 -1 0 0 0 0 0 7 8 250 50 20 0 1 0 9 0 0";
        assert_eq!(cpu_of_stat(stat), Some(3.0), "300 ticks");
        assert_eq!(cpu_of_stat("4711 (x) S 1"), None, "too few fields");
    }
}
