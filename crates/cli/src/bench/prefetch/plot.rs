//! A plot of one run with each prefetcher.

use anyhow::{Context as _, Result};
use kvrm::{Machine, Stop};

use crate::picture::{Corner, Figure, Marks, Picture};

/// The number of parts of a run. After each, waits are counted.
const PARTS: u64 = 200;

/// A curve with a name: the number of waits of a lane so far, over its steps in millions.
pub(super) type Curve = (&'static str, Vec<(f64, f64)>);

/// Runs a machine whose lanes take so many steps, and returns the points of its curve.
pub(super) fn waits(machine: &mut Machine, steps: u64) -> Result<Vec<(f64, f64)>> {
    let (mut points, mut waits) = (vec![(0.0, 0.0)], 0);
    let part = steps.div_ceil(PARTS);
    for number in 1..=PARTS {
        let report = machine.run(part)?;
        waits += report.frame_moves.context("the engine does not count moves of frames")?.waits;
        let end = part * number;
        points.push((end as f64 / 1e6, waits as f64 / machine.lanes() as f64));
        if machine.stops()?.iter().all(|stop| !matches!(stop, None | Some(Stop::Budget))) {
            break;
        }
    }
    Ok(points)
}

/// Draws curves.
pub(super) fn draw(picture: &Picture, title: String, curves: Vec<Curve>) -> Result<()> {
    let ends = curves.iter().filter_map(|(_, points)| points.last().copied());
    let (x, y) = ends.fold((0.0_f64, 1.0_f64), |(x, y), (steps, waits)| (x.max(steps), y.max(waits)));
    Figure {
        title,
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
