//! Environments: lanes that take steps and begin episodes.

use std::ops::ControlFlow;

use kvrm_machine::{LaneSet, Machine, Register, Stop, View};

use crate::batch::{Batch, Results};
use crate::error::Error;
use crate::interface::{Component, INPUT_BYTES, Input, Interface, OUTPUT_BYTES, Output, YIELD};
use crate::options::Options;
use crate::variable::Places;

/// A program in many lanes, each of which takes steps for an agent.
///
/// A lane takes a step for an action, and gives an observation, a reward, and whether its episode has ended. Then the next
/// step of this lane begins another episode: its action is ignored, its reward is 0, and its observation is the first of
/// the episode. (Gymnasium calls this `AutoresetMode.NEXT_STEP`.)
///
/// The results of a lane depend on the program, on the seed, on the number of the lane and on its actions; neither on the
/// engine, nor on other lanes, nor on when results are received.
#[derive(Debug)]
pub struct Environments {
    machine: Machine,
    exchange: Exchange,
    components: Vec<Component>,
    is_observing: bool,
    options: Options,
    lanes: Vec<Lane>,
    /// The number of instructions at which each lane is stopped.
    limits: Vec<u64>,
    results: Results,
    observations: Vec<u8>,
}

/// What host and program exchange.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) interface: Interface,
    /// The components that actions have, by their numbers.
    pub(crate) selected: Vec<usize>,
    pub(crate) view: Option<View>,
    pub(crate) places: Places,
}

impl Exchange {
    fn components(&self) -> Vec<Component> {
        self.selected.iter().map(|number| self.interface.components[*number].clone()).collect()
    }
}

/// The episode of a lane.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// The number of episodes that have begun.
    episodes: u64,
    /// The steps of the present one.
    steps: u32,
    /// Whether there is no present one.
    has_ended: bool,
    /// Whether the lane takes a step whose results were not received.
    is_busy: bool,
}

/// Returns the seed of an episode: different for all episodes of all lanes, without a pattern.
fn episode_seed(seed: u64, lane: usize, episode: u64) -> u64 {
    // The finalizer of SplitMix64.
    let mix = |value: u64| {
        let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    };
    mix(mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)).wrapping_add(lane as u64) ^ episode.rotate_left(32))
}

impl Environments {
    pub(crate) fn new(options: Options, machine: Machine, exchange: Exchange) -> Self {
        let lanes = machine.lanes();
        Self {
            components: exchange.components(),
            exchange,
            is_observing: true,
            options,
            lanes: vec![Lane { has_ended: true, ..Lane::default() }; lanes],
            limits: vec![0; lanes],
            results: Results::default(),
            observations: Vec::new(),
            machine,
        }
    }

    /// Returns the number of lanes.
    #[must_use]
    pub const fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// Returns the components of actions, in their order.
    #[must_use]
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Returns the shape of the observation of a lane: rows, columns, channels. It is all zeros if there are no
    /// observations.
    #[must_use]
    pub fn shape(&self) -> [usize; 3] {
        self.exchange
            .view
            .map_or([0; 3], |view| [view.height() as usize, view.width() as usize, view.format().channels()])
    }

    /// Changes how many units of its time the program advances in a step, from the next step of each lane on.
    pub const fn set_ticks(&mut self, ticks: u32) {
        self.options.ticks = ticks;
    }

    /// Sets whether steps have observations, if there are any: without, the program is told not to draw.
    pub const fn set_observing(&mut self, is_observing: bool) {
        self.is_observing = is_observing;
    }

    /// Returns the machine that runs the lanes.
    #[must_use]
    pub const fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns the machine, to read and write memory of lanes between steps.
    pub const fn machine_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// Begins an episode in some lanes, or in all (`..`), with seeds that follow from the seed of the environments.
    ///
    /// # Errors
    /// - [`Error::Busy`]: a lane takes a step.
    /// - There are no such lanes, or the engine fails.
    pub fn reset<'a>(&mut self, lanes: impl Into<LaneSet<'a>>) -> Result<Batch<'_>, Error> {
        self.reset_with(lanes, &[], &[])
    }

    /// Begins an episode in some lanes, with a seed and a scenario for each of them. Without seeds, they follow from the
    /// seed of the environments; without scenarios, it is theirs.
    ///
    /// # Errors
    /// - [`Error::Episodes`]: there is not one seed, or one scenario, for each lane.
    /// - The errors of [`Environments::reset`].
    pub fn reset_with<'a>(
        &mut self,
        lanes: impl Into<LaneSet<'a>>,
        seeds: &[u64],
        scenarios: &[u32],
    ) -> Result<Batch<'_>, Error> {
        let lanes = self.machine.lane_numbers(lanes)?;
        for (name, values) in [("seeds", seeds.len()), ("scenarios", scenarios.len())] {
            if values != 0 && values != lanes.len() {
                return Err(Error::Episodes { name, values, lanes: lanes.len() });
            }
        }
        self.check_idle(&lanes)?;
        let mut inputs = Vec::with_capacity(lanes.len() * INPUT_BYTES);
        for (index, &lane) in lanes.iter().enumerate() {
            let mut input = self.first_input(lane);
            input.seed = seeds.get(index).copied().unwrap_or(input.seed);
            input.scenario = scenarios.get(index).copied().unwrap_or(input.scenario);
            input.append_to(&mut inputs);
        }
        self.machine.reset(&lanes[..])?;
        self.begin(&lanes, &inputs)?;
        let mut lanes = lanes.into_owned();
        lanes.sort_unstable();
        self.receive_all(&lanes, None)
    }

    /// Takes a step in each lane. `actions` has the components of the action of lane 0, then those of lane 1, and so on.
    ///
    /// # Errors
    /// - [`Error::Actions`] and [`Error::Range`]: there are not as many numbers, or one is out of its range. No lane takes a
    ///   step.
    /// - [`Error::Busy`]: a lane still takes a step.
    /// - The engine fails.
    pub fn step(&mut self, actions: &[i32]) -> Result<Batch<'_>, Error> {
        self.send(.., actions)?;
        let all: Vec<usize> = (0..self.lanes.len()).collect();
        self.receive_all(&all, None)
    }

    /// Takes a step as [`Environments::step`] does, and writes the observations to `out`, where the batch has them. So they can go
    /// into memory that something else owns, such as an array of another language, without a copy.
    ///
    /// # Errors
    /// - [`Error::Room`]: `out` has not as many bytes as the observations of all lanes. No lane takes a step.
    /// - The errors of [`Environments::step`].
    pub fn step_into<'a>(&'a mut self, actions: &[i32], out: &'a mut [u8]) -> Result<Batch<'a>, Error> {
        self.check_room(self.lanes.len(), out)?;
        self.send(.., actions)?;
        let all: Vec<usize> = (0..self.lanes.len()).collect();
        self.receive_all(&all, Some(out))
    }

    /// Gives some lanes actions, with which they begin to take a step. [`Environments::receive`] runs them.
    ///
    /// # Errors
    /// The errors of [`Environments::step`]; there are no such lanes.
    pub fn send<'a>(&mut self, lanes: impl Into<LaneSet<'a>>, actions: &[i32]) -> Result<(), Error> {
        let lanes = self.machine.lane_numbers(lanes)?;
        let count = self.exchange.selected.len();
        if actions.len() != lanes.len() * count {
            return Err(Error::Actions { values: actions.len(), lanes: lanes.len(), components: count });
        }
        self.check_idle(&lanes)?;
        let action = |index: usize| &actions[index * count..][..count];
        for (index, &lane) in lanes.iter().enumerate() {
            for (Component { name, low, high }, &value) in self.components.iter().zip(action(index)) {
                if !(*low..=*high).contains(&value) {
                    let (name, low, high) = (name.clone(), *low, *high);
                    return Err(Error::Range { lane, name, value, low, high });
                }
            }
        }
        let mut inputs = Vec::with_capacity(lanes.len() * INPUT_BYTES);
        let mut ended = Vec::new();
        for (index, &lane) in lanes.iter().enumerate() {
            if self.lanes[lane].has_ended {
                self.first_input(lane).append_to(&mut inputs);
                ended.push(lane);
                continue;
            }
            let mut input = Input { ticks: self.options.ticks, draws: self.draws(), ..Input::default() };
            for (&number, &value) in self.exchange.selected.iter().zip(action(index)) {
                input.action[number] = value;
            }
            input.append_to(&mut inputs);
        }
        self.machine.reset(&ended[..])?;
        self.begin(&lanes, &inputs)
    }

    /// Runs the lanes that take a step until at least `wanted` of them have done it. Returns the results of all that have.
    ///
    /// With it, no lane waits for one whose steps take longer: send those that were received their next actions, and
    /// receive again. `receive(1)` waits for any lane.
    ///
    /// # Errors
    /// - [`Error::Receive`]: so many lanes do not take a step.
    /// - The engine fails.
    pub fn receive(&mut self, wanted: usize) -> Result<Batch<'_>, Error> {
        self.receive_some(wanted, None)
    }

    /// Receives lanes as [`Environments::receive`] does, and writes their observations to the beginning of `out`, where the batch
    /// has them.
    ///
    /// # Errors
    /// - [`Error::Room`]: `out` has not as many bytes as the observations of all lanes. No lane runs.
    /// - The errors of [`Environments::receive`].
    pub fn receive_into<'a>(&'a mut self, wanted: usize, out: &'a mut [u8]) -> Result<Batch<'a>, Error> {
        self.check_room(self.lanes.len(), out)?;
        self.receive_some(wanted, Some(out))
    }

    fn receive_some<'a>(&'a mut self, wanted: usize, out: Option<&'a mut [u8]>) -> Result<Batch<'a>, Error> {
        let is_busy = |lane: &Lane| lane.is_busy;
        let busy = self.lanes.iter().filter(|lane| is_busy(lane)).count();
        if wanted > busy {
            return Err(Error::Receive { wanted, busy });
        }
        let running_max = (busy - wanted) as u64;
        let observe = |progress: &kvrm_machine::RunProgress| {
            if progress.running <= running_max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        self.machine.run_to(&self.limits, observe)?;
        let (stops, retired) = self.stops()?;
        let done = |lane: &usize| {
            let has_stopped = match stops[*lane] {
                Some(Stop::Budget) => retired[*lane] >= self.limits[*lane],
                stop => stop.is_some(),
            };
            self.lanes[*lane].is_busy && has_stopped
        };
        let lanes: Vec<usize> = (0..self.lanes.len()).filter(done).collect();
        self.finish(&lanes, &stops, &retired, out)
    }

    /// Runs `lanes` until all of them have taken their step.
    fn receive_all<'a>(&'a mut self, lanes: &[usize], out: Option<&'a mut [u8]>) -> Result<Batch<'a>, Error> {
        self.machine.run_to(&self.limits, |_| ControlFlow::Continue(()))?;
        let (stops, retired) = self.stops()?;
        self.finish(lanes, &stops, &retired, out)
    }

    /// Checks that `out` has the size of the observations of some lanes.
    fn check_room(&self, lanes: usize, out: &[u8]) -> Result<(), Error> {
        let bytes = self.observed().map_or(0, |view| view.bytes());
        if out.len() == lanes * bytes { Ok(()) } else { Err(Error::Room { room: out.len(), lanes, bytes }) }
    }

    /// Returns the view that steps observe, if they do.
    fn observed(&self) -> Option<View> {
        self.exchange.view.filter(|_| self.is_observing)
    }

    /// Returns the stop of each lane, and the number of instructions that it has retired.
    fn stops(&mut self) -> Result<(Vec<Option<Stop>>, Vec<u64>), Error> {
        Ok((self.machine.stops()?, self.machine.registers(Register::Steps)?))
    }

    /// Whether programs draw.
    fn draws(&self) -> bool {
        self.is_observing && self.exchange.view.is_some()
    }

    /// Checks that no lane takes a step, and that none is given twice.
    fn check_idle(&self, lanes: &[usize]) -> Result<(), Error> {
        let mut is_given = vec![false; self.lanes.len()];
        for &lane in lanes {
            if self.lanes[lane].is_busy {
                return Err(Error::Busy { lane });
            }
            if std::mem::replace(&mut is_given[lane], true) {
                return Err(Error::Twice { lane });
            }
        }
        Ok(())
    }

    /// Notes that a lane begins an episode. Returns the input for it.
    fn first_input(&mut self, lane: usize) -> Input {
        let Lane { episodes, steps, has_ended, .. } = &mut self.lanes[lane];
        let seed = episode_seed(self.options.seed, lane, *episodes);
        *episodes += 1;
        (*steps, *has_ended) = (0, false);
        let draws = self.draws();
        Input { begins: true, scenario: self.options.scenario, seed, draws, ..Input::default() }
    }

    /// Lets lanes go on with their inputs.
    fn begin(&mut self, lanes: &[usize], inputs: &[u8]) -> Result<(), Error> {
        self.machine.write_rows(lanes, self.exchange.interface.input(), inputs)?;
        self.machine.resume(lanes)?;
        let steps = self.machine.registers(Register::Steps)?;
        for &lane in lanes {
            self.lanes[lane].is_busy = true;
            self.limits[lane] = steps[lane].saturating_add(self.options.budget);
        }
        Ok(())
    }

    /// Reads the results of lanes that have stopped. Their observations go to the beginning of `out`, if there is one.
    fn finish<'a>(
        &'a mut self,
        lanes: &[usize],
        stops: &[Option<Stop>],
        retired: &[u64],
        out: Option<&'a mut [u8]>,
    ) -> Result<Batch<'a>, Error> {
        let outputs = self.machine.read_rows(lanes, self.exchange.interface.output(), OUTPUT_BYTES)?;
        let ranges = self.exchange.places.ranges.iter();
        let ranges: Vec<(usize, Vec<u8>)> = ranges
            .map(|&(address, bytes)| Ok((bytes, self.machine.read_rows(lanes, address, bytes)?)))
            .collect::<Result<_, Error>>()?;
        let results = &mut self.results;
        results.clear();
        results.lanes.clear();
        results.lanes.extend(lanes);
        for (index, &number) in lanes.iter().enumerate() {
            let output = Output::from_bytes(&outputs[index * OUTPUT_BYTES..][..OUTPUT_BYTES]);
            let stop = stops[number].filter(|stop| *stop != Stop::Syscall { imm: YIELD });
            let lane = &mut self.lanes[number];
            lane.is_busy = false;
            lane.steps = lane.steps.saturating_add(1);
            let has_yielded = stop.is_none();
            let is_terminated = has_yielded && output.is_terminated;
            // The yield that begins an episode is no step of it.
            let is_truncated = !has_yielded || output.is_truncated || lane.steps > self.options.steps_max;
            lane.has_ended = !self.options.is_endless && (is_terminated || is_truncated);
            results.rewards.push(if has_yielded { output.reward } else { 0.0 });
            results.terminations.push(is_terminated);
            results.truncations.push(is_truncated);
            results.stops.push(stop);
            results
                .instructions
                .push(self.options.budget - self.limits[number].saturating_sub(retired[number]));
            results.masks.extend(self.exchange.selected.iter().map(|component| output.masks[*component]));
            let rows: Vec<&[u8]> =
                ranges.iter().map(|(bytes, all)| &all[index * bytes..][..*bytes]).collect();
            results.variables.extend(self.exchange.places.values(&rows));
        }
        let view = self.observed();
        let bytes = view.map_or(0, |view| lanes.len() * view.bytes());
        let observations = match out {
            Some(out) => &mut out[..bytes],
            None => {
                self.observations.resize(bytes, 0);
                &mut self.observations[..]
            }
        };
        if let Some(view) = view {
            self.machine.read_views_into(lanes, &view, observations)?;
        }
        Ok(self.results.batch(observations))
    }
}
