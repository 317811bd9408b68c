//! Measures how soon lanes at the same instruction part again: the number of different instructions that lanes of a
//! group are at, after groups were made of lanes at equal ones.
//!
//! ```console
//! cargo run --release --package kvrm-gpu-tools --bin parting -- target/programs/sqlite --stdin FILE
//! cargo run --release --package kvrm-gpu-tools --bin parting -- guests/bin/render.elf 1000000000 {lane}
//! ```

#![expect(clippy::print_stdout, reason = "it is a program")]

use std::collections::HashSet;
use std::error::Error;
use std::path::PathBuf;

use clap::Parser as _;
use kvrm_gpu::Engine;
use kvrm_machine::{Machine, Program, Register};

/// The numbers of steps after which groups are looked at.
const TIMES: [u64; 9] = [0, 1, 4, 16, 64, 256, 1024, 4096, 16384];

/// Measures how soon lanes at the same instruction part again.
#[derive(clap::Parser)]
struct Args {
    /// The program.
    program: PathBuf,
    /// The arguments of the program, in which {lane} is replaced with the number of the lane.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
    /// The file with the standard input, in which {lane} is replaced, too.
    #[arg(long)]
    stdin: Option<PathBuf>,
    /// The number of lanes.
    #[arg(long, default_value_t = 1024)]
    lanes: usize,
    /// The number of lanes in a group: those that share a workgroup.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    group: u32,
    /// The number of steps of each lane before the first groups are made.
    #[arg(long, default_value_t = 2_000_000)]
    start: u64,
    /// The number of times that groups are made.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Args { program, arguments, stdin, lanes, group, start, rounds } = Args::parse();
    let group = group as usize;
    let input = stdin.map(std::fs::read_to_string).transpose()?;
    let with_lane = |text: &str, lane: usize| text.replace("{lane}", &lane.to_string());
    let mut machine = Machine::builder(Program::open(&program)?)
        .lanes(lanes)
        .engine(Engine::Jit)
        .output_max(0)
        .arguments(move |lane| arguments.iter().map(|text| with_lane(text, lane)).collect())
        .input(move |lane| input.as_ref().map_or(Vec::new(), |text| with_lane(text, lane).into_bytes()))
        .build()?;
    machine.run(start)?;
    // The sums over rounds, for each of the times: groups in the order of lanes, those made at time 0, and new ones.
    let mut sums = [[0.0; 3]; TIMES.len()];
    for _ in 0..rounds {
        let as_numbered: Vec<usize> = (0..lanes).collect();
        let grouped = sorted(&machine.registers(Register::Pc)?);
        let mut now = 0;
        for (time, sums) in TIMES.into_iter().zip(&mut sums) {
            machine.run(time - now)?;
            now = time;
            let pcs = machine.registers(Register::Pc)?;
            for (sum, order) in sums.iter_mut().zip([&as_numbered, &grouped, &sorted(&pcs)]) {
                *sum += instructions(&pcs, order, group);
            }
        }
    }
    println!("different instructions in a group of {group} lanes, mean of {rounds} rounds of {lanes} lanes");
    println!("{:>8} {:>12} {:>12} {:>12}", "steps", "by number", "grouped", "anew");
    for (time, sums) in TIMES.into_iter().zip(sums) {
        let [numbered, grouped, anew] = sums.map(|sum| sum / f64::from(rounds));
        println!("{time:>8} {numbered:>12.2} {grouped:>12.2} {anew:>12.2}");
    }
    Ok(())
}

/// Returns the lanes in the order of their program counters.
fn sorted(pcs: &[u64]) -> Vec<usize> {
    let mut lanes: Vec<usize> = (0..pcs.len()).collect();
    lanes.sort_by_key(|lane| pcs[*lane]);
    lanes
}

/// Returns how many different program counters the lanes of a group have, on average.
fn instructions(pcs: &[u64], order: &[usize], group: usize) -> f64 {
    let groups = order.chunks(group);
    let number = groups.len() as f64;
    let distinct = |lanes: &[usize]| lanes.iter().map(|lane| pcs[*lane]).collect::<HashSet<_>>().len();
    groups.map(distinct).sum::<usize>() as f64 / number
}
