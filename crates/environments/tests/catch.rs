//! Environments of the guest `catch`, on the reference, compared with a model of the game.

use kvrm_environments::{Batch, Builder, Environments, Error, Variable, VariableType};
use kvrm_machine::{Access, Fault, FaultKind, Machine, Permissions, Program, Stop, ViewFormat};
use proptest::prelude::*;

const COLUMNS: i64 = 16;
const ROWS: i64 = 12;
const CELL: usize = 4;

fn machine() -> Machine {
    let program = Program::from_elf("catch", kvrm_guests::CATCH).expect("the guest is a program");
    Machine::builder(program).arguments(|_| vec!["0".into()]).build().expect("the machine is built")
}

#[test]
fn the_guest_catches_every_ball_when_it_plays_itself() {
    let program = Program::from_elf("catch", kvrm_guests::CATCH).expect("the guest is a program");
    let mut machine = Machine::builder(program).build().expect("the machine is built");
    machine.run(u64::MAX).expect("it runs");
    assert_eq!(machine.stop(0).expect("the lane exists"), Some(Stop::Exit { code: 0 }), "its check succeeds");
}

/// Returns the variables: the ball's column and row, and the paddle's column.
fn variables() -> [Variable; 3] {
    ["catch_ball_x", "catch_ball_y", "catch_paddle_x"].map(|name| Variable::named(name, VariableType::I32))
}

fn builder<'a>() -> Builder<'a> {
    Environments::builder(machine()).format(ViewFormat::Index).variables(variables())
}

/// Returns the frame that shows a ball and a paddle.
fn frame(ball: (i64, i64), paddle: i64) -> Vec<u8> {
    let cell = |x: i64, y: i64| match (x, y) {
        at if at == ball => 1,
        (x, y) if y == ROWS - 1 && (x - paddle).abs() <= 1 => 2,
        _ => 0,
    };
    let (rows, columns) = (ROWS as usize * CELL, COLUMNS as usize * CELL);
    let pixels = (0..rows).flat_map(|y| (0..columns).map(move |x| (x / CELL, y / CELL)));
    pixels.map(|(x, y)| cell(x as i64, y as i64)).collect()
}

/// What a model knows of a lane.
#[derive(Clone, Copy, Debug, Default)]
struct Model {
    ball: (i64, i64),
    paddle: i64,
    /// The ball's drift, known from the first tick in which it falls on.
    drift: Option<i64>,
}

impl Model {
    /// Returns the reward and whether the episode ends, of one tick. `ball_x` is where the ball is afterwards.
    fn tick(&mut self, action: &[i32], ball_x: i64) -> (f64, bool) {
        self.paddle = (self.paddle + i64::from(action[0])).clamp(1, COLUMNS - 2);
        if action[1] == 1 {
            assert_eq!(ball_x, self.ball.0, "a ball that waits stays");
            return (0.0, false);
        }
        let drift = ball_x - self.ball.0;
        if let Some(known) = self.drift {
            let at_wall = !(0..COLUMNS).contains(&(self.ball.0 + known));
            assert_eq!(drift, if at_wall { -known } else { known }, "the drift changes at walls only");
        }
        self.drift = Some(drift);
        self.ball = (ball_x, self.ball.1 + 1);
        if self.ball.1 < ROWS - 1 {
            return (0.0, false);
        }
        (if (ball_x - self.paddle).abs() <= 1 { 1.0 } else { -1.0 }, true)
    }
}

/// Checks that a lane's observation, mask and variables are those of the model.
fn check_shown(batch: &Batch<'_>, index: usize, model: &Model) {
    let size = batch.observations.len() / batch.lanes.len();
    assert_eq!(batch.observations[index * size..][..size], frame(model.ball, model.paddle), "the frame");
    assert_eq!(
        batch.variables[index * 3..][..3],
        [model.ball.0, model.ball.1, model.paddle],
        "the variables"
    );
    let left = u64::from(model.paddle > 1);
    let right = u64::from(model.paddle < COLUMNS - 2);
    assert_eq!(batch.masks[index * 2..][..2], [left | 2 | right << 2, 3], "the masks");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn steps_are_those_of_the_game(
        lanes in 1_usize..6,
        seed: u64,
        actions in prop::collection::vec((-1..=1, 0..=1), 40 * 6),
    ) {
        let mut environments = builder().lanes(lanes).seed(seed).build().expect("catch is an environment");
        let mut models = vec![Model::default(); lanes];
        let mut has_ended = vec![true; lanes];
        for step in actions.chunks_exact(6) {
            let actions: Vec<i32> = step[..lanes].iter().flat_map(|&(move_by, waits)| [move_by, waits]).collect();
            let batch = environments.step(&actions).expect("lanes take a step");
            prop_assert_eq!(batch.lanes.len(), lanes);
            for (lane, model) in models.iter_mut().enumerate() {
                let ball_x = batch.variables[3 * lane];
                let (reward, ends) = if has_ended[lane] {
                    *model = Model { ball: (ball_x, 0), paddle: COLUMNS / 2, drift: None };
                    (0.0, false)
                } else {
                    model.tick(&actions[2 * lane..], ball_x)
                };
                prop_assert_eq!(batch.rewards[lane], reward);
                prop_assert_eq!((batch.terminations[lane], batch.truncations[lane]), (ends, false));
                prop_assert_eq!(batch.stops[lane], None);
                check_shown(&batch, lane, model);
                has_ended[lane] = ends;
            }
        }
    }

    #[test]
    fn results_do_not_depend_on_when_they_are_received(seed: u64, wanted in 1_usize..5) {
        const STEPS: usize = 30;
        let lanes = 5;
        let action = |lane: usize, step: usize| [((lane * 7 + step * 5) % 3) as i32 - 1, i32::from(step % 4 == lane % 4)];
        let new = || builder().lanes(lanes).seed(seed).build().expect("catch is an environment");
        let mut expected = vec![Vec::new(); lanes];
        let mut environments = new();
        for step in 0..STEPS {
            let actions: Vec<i32> = (0..lanes).flat_map(|lane| action(lane, step)).collect();
            let batch = environments.step(&actions).expect("lanes take a step");
            for (lane, expected) in expected.iter_mut().enumerate() {
                expected.push((batch.rewards[lane].to_bits(), batch.terminations[lane], batch.variables[3 * lane]));
            }
        }
        let mut environments = new();
        let mut taken = vec![0; lanes];
        let mut waiting: Vec<usize> = (0..lanes).collect();
        while taken.iter().any(|steps| *steps < STEPS) {
            let actions: Vec<i32> = waiting.iter().flat_map(|&lane| action(lane, taken[lane])).collect();
            environments.send(&waiting, &actions).expect("lanes get actions");
            let busy = taken.iter().filter(|steps| **steps < STEPS).count();
            let batch = environments.receive(wanted.min(busy)).expect("lanes take steps");
            prop_assert!(batch.lanes.len() >= wanted.min(busy));
            waiting.clear();
            for (index, &lane) in batch.lanes.iter().enumerate() {
                let (reward, ball) = (batch.rewards[index].to_bits(), batch.variables[3 * index]);
                prop_assert_eq!((reward, batch.terminations[index], ball), expected[lane][taken[lane]]);
                taken[lane] += 1;
                if taken[lane] < STEPS {
                    waiting.push(lane);
                }
            }
        }
    }
}

#[test]
fn episodes_depend_on_seed_lane_and_number_alone() {
    let first_balls = |lanes: usize, seed: u64| {
        let mut environments = builder().lanes(lanes).seed(seed).build().expect("catch is an environment");
        let balls = |batch: Batch<'_>| batch.variables.iter().step_by(3).copied().collect::<Vec<_>>();
        let episodes: Vec<_> =
            (0..4).map(|_| balls(environments.reset(..).expect("episodes begin"))).collect();
        episodes
    };
    let (few, many) = (first_balls(2, 3), first_balls(40, 3));
    for (few, many) in few.iter().zip(&many) {
        assert_eq!(few[..], many[..2], "lanes of more lanes are the same");
        assert!(many.iter().any(|ball| *ball != many[0]), "and lanes differ: {many:?}");
    }
    assert_ne!(many[0], many[1], "episodes differ");
    assert_ne!(many, first_balls(40, 4), "seeds differ");
}

#[test]
fn given_seeds_and_scenarios_are_those_of_the_lanes() {
    let mut environments = builder().lanes(3).build().expect("catch is an environment");
    let batch = environments.reset_with(&[2, 0, 1], &[5, 5, 6], &[1, 2, 1]).expect("episodes begin");
    assert_eq!(batch.lanes, [0, 1, 2], "results are in the order of lanes");
    let balls: Vec<i64> = batch.variables.iter().step_by(3).copied().collect();
    assert_eq!(balls[2], balls[0], "lanes 2 and 0 have the same seed");
    let mut ends = vec![Vec::new(); 3];
    for step in 1..=22 {
        let batch = environments.step(&[0; 6]).expect("lanes take a step");
        ends.iter_mut()
            .zip(batch.terminations)
            .filter(|(_, ends)| **ends)
            .for_each(|(lane, _)| lane.push(step));
    }
    assert_eq!(
        ends,
        [vec![22], vec![11], vec![11]],
        "two balls of eleven ticks in lane 0; one, and a new episode"
    );
}

#[test]
fn a_step_has_as_many_ticks_as_wanted() {
    let mut environments = builder().ticks(4).build().expect("catch is an environment");
    environments.reset(..).expect("an episode begins");
    let rows = [4, 8, 11].map(|_| {
        let batch = environments.step(&[0, 0]).expect("the lane takes a step");
        (batch.variables[1], batch.terminations[0])
    });
    assert_eq!(rows, [(4, false), (8, false), (11, true)]);
}

#[test]
fn ticks_and_observations_can_change_between_steps() {
    let mut environments = builder().build().expect("catch is an environment");
    environments.reset(..).expect("an episode begins");
    environments.set_ticks(3);
    environments.set_observing(false);
    let batch = environments.step(&[0, 0]).expect("the lane takes a step");
    assert_eq!((batch.observations, batch.variables[1]), (&[][..], 3));
    environments.set_ticks(1);
    environments.set_observing(true);
    let batch = environments.step(&[0, 0]).expect("the lane takes a step");
    assert_eq!((batch.observations.len(), batch.variables[1]), (64 * 48, 4));
}

#[test]
fn observations_are_cropped_scaled_and_converted() {
    let whole =
        |environments: &mut Environments| environments.reset(..).expect("begins").observations.to_vec();
    let mut indices = builder().build().expect("catch is an environment");
    assert_eq!(indices.shape(), [48, 64, 1]);
    let indices = whole(&mut indices);
    let palette = [[0x10, 0x20, 0x30], [0xff, 0xc0, 0x40], [0x40, 0xff, 0x80]];
    let mut rgb =
        builder().format(ViewFormat::Rgb).downscale(2).crop(8..64, 0..48).build().expect("it is possible");
    assert_eq!(rgb.shape(), [12, 14, 3], "a pixel for each cell without the first two columns");
    let cells: Vec<u8> = (0..12)
        .flat_map(|y| (2..16).map(move |x| (x, y)))
        .flat_map(|(x, y)| palette[usize::from(indices[y * CELL * 64 + x * CELL])])
        .collect();
    assert_eq!(whole(&mut rgb), cells);
    let mut none = builder().without_observations().build().expect("it is possible");
    assert_eq!((none.shape(), whole(&mut none)), ([0; 3], vec![]));
    let refused = builder().downscale(5).build().expect_err("48 rows are not whole squares of 32");
    assert!(refused.to_string().contains("not a multiple of 32"), "{refused}");
}

#[test]
fn episodes_are_cut_off_after_their_steps() {
    let mut environments = builder().episode_steps(3).build().expect("catch is an environment");
    let ends: Vec<bool> =
        (0..9).map(|_| environments.step(&[0, 1]).expect("the lane takes a step").truncations[0]).collect();
    assert_eq!(
        ends,
        [false, false, false, true, false, false, false, true, false],
        "a beginning and three steps"
    );
    let mut endless = builder().endless().build().expect("catch is an environment");
    endless.reset(..).expect("an episode begins");
    let ends = (1..=22).filter(|_| endless.step(&[0, 0]).expect("a step").terminations[0]);
    assert_eq!(ends.collect::<Vec<_>>(), [11, 22], "ends are reported, and the program goes on");
}

#[test]
fn lanes_that_fail_are_truncated_and_begin_again() {
    let mut environments = builder().lanes(3).build().expect("catch is an environment");
    environments.reset(..).expect("episodes begin");
    let mut cpu = environments.machine_mut().cpu(1).expect("the lane exists");
    cpu.pc = 0x40;
    environments.machine_mut().set_cpu(1, &cpu).expect("the lane exists");
    let batch = environments.step(&[0; 6]).expect("lanes take a step");
    let fault = Fault { kind: FaultKind::Translation, access: Access::Execute, address: 0x40 };
    assert_eq!(batch.stops, [None, Some(Stop::Fault(fault)), None]);
    assert_eq!((batch.truncations, batch.terminations), (&[false, true, false][..], &[false; 3][..]));
    let batch = environments.step(&[0; 6]).expect("lanes take a step");
    assert_eq!((batch.stops, batch.truncations), (&[None; 3][..], &[false; 3][..]));
    assert_eq!(batch.variables[4], 0, "the ball of lane 1 is at the top");
}

#[test]
fn a_step_that_takes_too_long_is_cut_off_at_its_budget() {
    let mut environments = builder().lanes(2).budget(20_000).build().expect("catch is an environment");
    environments.reset(..).expect("episodes begin in less");
    let mut cpu = environments.machine_mut().cpu(0).expect("the lane exists");
    let (address, steps) = (cpu.pc, cpu.steps);
    environments
        .machine_mut()
        .write(0, address, &0x1400_0000_u32.to_le_bytes())
        .expect("code is written: b .");
    let batch = environments.step(&[0; 4]).expect("lanes take a step");
    assert_eq!((batch.stops, batch.truncations), (&[Some(Stop::Budget), None][..], &[true, false][..]));
    cpu = environments.machine_mut().cpu(0).expect("the lane exists");
    assert_eq!(cpu.steps, steps + 20_000);
    let batch = environments.step(&[0; 4]).expect("lane 0 begins an episode, with the old code");
    assert_eq!(batch.stops, [None; 2]);
}

#[test]
fn wrong_use_is_refused() {
    let error = |result: Result<Environments, Error>| result.expect_err("it is refused").to_string();
    let text = error(builder().components(["move", "jump"]).build());
    assert_eq!(text, "no component 'jump' of actions: expected one of move, wait");
    let text = error(builder().variables([Variable::named("none", VariableType::U8)]).build());
    assert_eq!(text, "no variable 'none' of 1 bytes: the program has no such symbol");
    let text = error(builder().variables([Variable::named("catch_ball_x", VariableType::I64)]).build());
    assert_eq!(text, "no variable 'catch_ball_x' of 8 bytes: it has 4 bytes");

    let mut environments = builder().lanes(3).components(["wait"]).build().expect("catch is an environment");
    let text = environments.step(&[0, 0]).expect_err("an action is missing").to_string();
    assert_eq!(text, "2 numbers for the actions of 3 lanes: expected 1 for each lane");
    let text = environments.step(&[0, 2, 0]).expect_err("it is out of range").to_string();
    assert_eq!(text, "the action of lane 1 has wait = 2: expected 0 to 1");
    let text = environments.reset_with(.., &[1, 2], &[]).expect_err("a seed is missing").to_string();
    assert_eq!(text, "2 seeds for 3 lanes: expected one for each");
    let text = environments.receive(1).expect_err("no lane takes a step").to_string();
    assert_eq!(text, "cannot receive 1 lanes: expected at most 0, which take a step");
    let text = environments.send(&[1, 1], &[0, 0]).expect_err("a lane is given twice").to_string();
    assert_eq!(text, "lane 1 is given twice");
    environments.send(&[1], &[0]).expect("lane 1 gets an action");
    let text = environments.step(&[0; 3]).expect_err("lane 1 takes a step").to_string();
    assert_eq!(text, "lane 1 is still taking a step: expected to receive its results first");
    let batch = environments.receive(1).expect("lane 1 has taken its step");
    assert_eq!(batch.lanes, [1]);
}

#[test]
fn observations_are_written_to_memory_of_the_caller() {
    let lanes = 4;
    let new = || builder().lanes(lanes).build().expect("catch is an environment");
    let (mut ours, mut theirs) = (new(), new());
    let bytes = ours.shape().iter().product::<usize>();
    let mut out = vec![9; lanes * bytes];
    for step in 0..30 {
        let actions = [step % 3 - 1, 0].repeat(lanes);
        let batch = ours.step_into(&actions, &mut out).expect("lanes take a step");
        let expected = theirs.step(&actions).expect("lanes take a step");
        assert!(batch.observations == expected.observations, "step {step}");
        assert_eq!(batch.variables, expected.variables, "step {step}");
    }
    for environments in [&mut ours, &mut theirs] {
        environments.send(&[1, 3], &[0; 4]).expect("lanes get actions");
    }
    let batch = ours.receive_into(2, &mut out).expect("lanes take a step");
    let expected = theirs.receive(2).expect("lanes take a step");
    assert!(batch.observations == expected.observations, "of two lanes");
    assert_eq!(batch.observations.len(), 2 * bytes, "of two lanes");

    let text = ours.step_into(&[0; 8], &mut out[1..]).expect_err("there is no room").to_string();
    assert_eq!(text, "room for 12287 bytes, but the observations of 4 lanes have 3072 bytes each");
    let text = ours.receive_into(0, &mut []).expect_err("there is no room").to_string();
    assert_eq!(text, "room for 0 bytes, but the observations of 4 lanes have 3072 bytes each");
    ours.step_into(&[0; 8], &mut out).expect("no lane has taken a step");
}

#[test]
fn programs_that_are_no_environments_are_refused() {
    let error = |program: Program| {
        let machine = Machine::builder(program).build().expect("the machine is built");
        Environments::builder(machine).build().expect_err("it is refused").to_string()
    };
    let exits = Program::from_elf("sieve", kvrm_guests::elf("sieve").expect("it exists")).expect("a program");
    let text = error(exits);
    assert!(text.ends_with("but it stopped: exit with status 0"), "{text}");

    // movz x0, #0x2000; svc #0x4b56
    let yields = |block: &[u8]| {
        let program = Program::builder().code(0x1000, &[0xd284_0000, 0xd409_6ac1]);
        program
            .zeros(0x2000, 792, Permissions::RW)
            .data(0x2000, block, Permissions::RW)
            .build()
            .expect("a program")
    };
    let mut block = [0; 792];
    let text = error(yields(&block));
    assert!(text.contains("at 0x2000: it begins with [0, 0, 0, 0]; expected"), "{text}");
    block[..8].copy_from_slice(b"KVRM\x02\0\0\0");
    assert!(error(yields(&block)).ends_with("version 2; expected 1"));
    block[4] = 1;
    block[24] = 9;
    assert!(error(yields(&block)).ends_with("format 9 of frames; expected 0 to 3"));
    block[24] = 0;
    block[40] = 17;
    assert!(error(yields(&block)).ends_with("17 components of actions; expected at most 16"));
    block[40] = 1;
    assert!(error(yields(&block)).ends_with("component 0 is '' from 0 to 0; expected a name and a range"));
}
