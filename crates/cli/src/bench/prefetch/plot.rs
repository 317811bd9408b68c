//! A plot of one run with each prefetcher.

use anyhow::{Context as _, Result};
use kvrm::prefetch::Policy;
use kvrm::{GpuEngine, Stop};

use super::Args;
use super::workload::Workload;
use crate::picture::{Corner, Figure, Marks, Picture};

/// The number of parts of a run. After each, waits are counted.
const PARTS: u64 = 200;

/// Runs a program with each prefetcher, with a part of its memory: the places on the GPU, and the frames that it needs. Draws the number
/// of waits over the steps of a lane.
pub(super) fn draw(
    args: &Args,
    gpu: &GpuEngine,
    picture: &Picture,
    policies: &[Policy],
    (workload, part, places, needed): (&Workload, u32, u32, u32),
) -> Result<()> {
    let mut curves = Vec::new();
    for &policy in policies {
        let mut machine = args.machine(gpu, workload, Some((places, needed)), policy)?;
        let (mut points, mut waits) = (vec![(0.0, 0.0)], 0);
        for number in 1..=PARTS {
            let end = args.steps / PARTS * number;
            let report = machine.run(args.steps / PARTS)?;
            waits += report.frame_moves.context("the engine does not count moves of frames")?.waits;
            points.push((end as f64 / 1e6, waits as f64 / args.lanes as f64));
            let stops = machine.stops()?;
            if stops.iter().all(|stop| !matches!(stop, None | Some(Stop::Budget))) {
                break;
            }
        }
        curves.push((policy.name(), points));
    }
    let ends = curves.iter().filter_map(|(_, points): &(_, Vec<(f64, f64)>)| points.last().copied());
    let (x, y) = ends.fold((0.0_f64, 1.0_f64), |(x, y), (steps, waits)| (x.max(steps), y.max(waits)));
    Figure {
        title: format!("{} with 1/{part} of its memory", workload.name),
        x: 0.0..x,
        x_label: "million steps of a lane",
        y: 0.0..1.05 * y,
        y_label: "waits of a lane, so far",
        marks: Marks::Line,
        key: Corner::UpperLeft,
        curves,
    }
    .write(picture)
}
