//! The rows of the measurements: printed as a table or as JSON, and recorded.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write as _;

use anyhow::Result;
use kvrm_records::{Figure, Kind, Log, MeasuredRow};
use serde_json::json;

use super::game::{GameArgs, Picture};
use super::measure::{Measured, Repetition};
use crate::engine::OpenEngine;
use crate::output::{Output, note};

/// Where rows go, and what they have in common.
pub(super) struct Rows<'a> {
    pub(super) out: Output,
    pub(super) log: Option<Log>,
    pub(super) is_json: bool,
    pub(super) engine: &'a OpenEngine,
    pub(super) game: &'a GameArgs,
    /// The share of the lanes that are waited for.
    pub(super) share: f64,
}

impl Rows<'_> {
    /// Prints the head of the table.
    pub(super) fn head(&mut self) -> Result<()> {
        if !self.is_json {
            writeln!(
                self.out,
                "{:>8} {:>8} {:>12} {:>12} {:>14} {:>10} {:>8} {:>12} {:>10}",
                "picture",
                "lanes",
                "steps/s",
                "tics/s",
                "k instr/step",
                "MIPS",
                "pages",
                "% translated",
                "% at once"
            )?;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Prints and records a measurement at once, so that nothing is lost if the next one fails.
    pub(super) fn add(&mut self, picture: Picture, lanes: usize, measured: &Measured) -> Result<()> {
        let median = measured.median();
        let tics = f64::from(self.game.tics);
        if self.is_json {
            let line = self.json(picture, lanes, measured);
            writeln!(self.out, "{line}")?;
        } else {
            let percent =
                |share: Option<f64>| share.map_or_else(String::new, |of| format!("{:.1}", 100.0 * of));
            writeln!(
                self.out,
                "{:>8} {lanes:>8} {:>12.1} {:>12.1} {:>14.1} {:>10.1} {:>8.1} {:>12} {:>10}",
                picture.name(),
                median.rate(),
                median.rate() * tics,
                median.instructions_a_step() / 1e3,
                median.mips(),
                measured.pages,
                percent(measured.translated),
                percent(measured.at_once),
            )?;
            if let Some(translation) = &measured.translation {
                note(translation);
            }
        }
        self.out.flush()?;
        let row = MeasuredRow {
            kind: Kind::Environments,
            adapter: self.engine.recorded_adapter(),
            parameters: [
                ("blocks", u32::from(self.game.blocks).into()),
                ("engine", self.engine.name().into()),
                ("lanes", (lanes as u64).into()),
                ("loops", self.engine.loop_mode().into_owned().into()),
                ("picture", picture.name().into()),
                ("share", self.share.into()),
                ("tics_a_step", self.game.tics.into()),
                ("translate", self.translate().into()),
            ]
            .into(),
            figures: figures(measured, tics),
        };
        if let Some(log) = &mut self.log {
            log.append(row)?;
        }
        Ok(())
    }

    fn json(&self, picture: Picture, lanes: usize, measured: &Measured) -> serde_json::Value {
        let median = measured.median();
        let all: Vec<f64> = measured.all.iter().map(Repetition::rate).collect();
        let loops: Cow<'_, str> = self.engine.loop_mode();
        json!({
            "engine": self.engine.name(), "device": self.engine.device(), "fallback": self.engine.fallback,
            "translate": self.translate(), "loops": loops, "picture": picture.name(), "lanes": lanes,
            "blocks": self.game.blocks, "tics_a_step": self.game.tics, "share": self.share,
            "steps_a_second": median.rate(), "tics_a_second": median.rate() * f64::from(self.game.tics),
            "instructions_a_step": median.instructions_a_step(), "mips": median.mips(),
            "pages_a_lane": measured.pages, "translated": measured.translated, "at_once": measured.at_once,
            "steps": median.steps, "seconds": median.seconds, "repetitions": all.len(),
            "all_steps_a_second": all, "translation": measured.translation,
        })
    }

    /// Returns when code is translated to shaders. On the CPU it never is.
    const fn translate(&self) -> &'static str {
        if self.engine.is_gpu() { self.engine.translation.name() } else { "off" }
    }
}

/// Returns the figures of all repetitions of a measurement, whose steps have so many tics.
fn figures(measured: &Measured, tics: f64) -> BTreeMap<&'static str, Figure> {
    let of = |unit, value: &dyn Fn(&Repetition) -> f64| {
        Figure::of(unit, &measured.all.iter().map(value).collect::<Vec<_>>())
    };
    let share = |name, share: Option<f64>| share.map(|share| (name, Figure::once("%", 100.0 * share)));
    let always = [
        ("instructions_a_step", of("instructions", &Repetition::instructions_a_step)),
        ("mips", of("MIPS", &Repetition::mips)),
        ("pages_a_lane", Figure::once("pages", measured.pages)),
        ("steps_a_second", of("steps/s", &Repetition::rate)),
        ("tics_a_second", of("tics/s", &|repetition| repetition.rate() * tics)),
    ];
    let shares = [share("translated", measured.translated), share("at_once", measured.at_once)];
    always.into_iter().chain(shares.into_iter().flatten()).collect()
}
