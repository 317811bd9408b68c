//! Hooks: random programs and whole guests stop at the same steps on both engines, and where an oracle that looks at every byte
//! of every access says.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::Handler;
use kvrm_arm64::{Instruction, Memory, step};
use kvrm_gpu::{ClassSelection, SelectionMode};
use kvrm_machine::vectors::Vector;
use kvrm_machine::{
    Access, AddressSpace, Builder, Cpu, Executor, Factory, Features, HookKind, Hooks, Image, Machine, Plan,
    ReferenceEngine, Stop,
};
use kvrm_testkit::guests::{LINUX_GUESTS, guest, linux_guest};
use kvrm_testkit::programs;
use kvrm_testkit::random::Random;

use crate::class_selection::{NetworkGpu, SPREADS};
use crate::programs::{PROGRAMS, programs_to_test};
use crate::support::{Gpu, Lane, ONE_LANE_WORKGROUPS, STAGES, assert_same_machines, lanes};

/// The number of programs that run at once, with the same hooks.
const LANES: usize = 192;
/// The number of frames of a lane.
const FRAMES: usize = 16;

/// Hooks as plain ranges, in the order in which they were made.
#[derive(Clone, Debug, Default)]
struct PlainHooks(Vec<(HookKind, Range<u64>)>);

impl PlainHooks {
    fn hooks(&self) -> Hooks {
        self.0.iter().fold(Hooks::new(), |hooks, (kind, range)| match kind {
            HookKind::Read => hooks.watch_reads(range.clone()),
            HookKind::Write => hooks.watch_writes(range.clone()),
            HookKind::Execute => hooks.breakpoints(range.clone()),
            HookKind::Call => unreachable!("executors do not filter calls by themselves"),
        })
    }

    /// Returns the first hooked byte, found byte by byte.
    fn find(&self, kind: HookKind, address: u64, bytes: u64) -> Option<u64> {
        let is_hooked = |byte: &u64| self.0.iter().any(|(of, range)| *of == kind && range.contains(byte));
        (0..bytes).map(|offset| address.wrapping_add(offset)).find(is_hooked)
    }
}

/// A memory that stops at hooks and records accesses. It does not use the hooks of the address space.
struct Watched<'a> {
    space: AddressSpace,
    hooks: &'a PlainHooks,
    accesses: Vec<(HookKind, u64, u64)>,
}

impl Watched<'_> {
    fn check(&mut self, kind: HookKind, access: Access, address: u64, bytes: u64) -> Result<(), Stop> {
        self.space.page_map().check(address, bytes, access, Some(access))?;
        self.accesses.push((kind, address, bytes));
        match self.hooks.find(kind, address, bytes) {
            Some(_) if kind == HookKind::Execute => Err(Stop::HardwareBreakpoint),
            Some(address) => Err(Stop::Watchpoint { access, address }),
            None => Ok(()),
        }
    }
}

impl Memory for Watched<'_> {
    fn fetch(&mut self, pc: u64) -> Result<Instruction, Stop> {
        let fetched = self.space.fetch(pc)?;
        self.check(HookKind::Execute, Access::Execute, pc, 4)?;
        Ok(fetched)
    }

    fn read<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Stop> {
        self.check(HookKind::Read, Access::Read, address, N as u64)?;
        self.space.read(address)
    }

    fn write<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Result<(), Stop> {
        self.check(HookKind::Write, Access::Write, address, N as u64)?;
        self.space.write(address, bytes)
    }

    fn check_write(&mut self, address: u64, bytes: u64) -> Result<(), Stop> {
        self.space.check_write(address, bytes)
    }
}

fn image(program: &Vector) -> Arc<Image> {
    Arc::new(Image::new(&program.segments(), program.machine_features()).expect("programs fit"))
}

/// Runs a program step by step until it stops; returns its stop, its registers and its accesses.
fn oracle(program: &Vector, hooks: &PlainHooks) -> (Stop, Cpu, Vec<(HookKind, u64, u64)>) {
    let mut memory =
        Watched { space: AddressSpace::new(image(program), FRAMES), hooks, accesses: Vec::new() };
    let mut cpu = program.cpu();
    while cpu.steps < program.steps {
        if let Err(stop) = step(&mut cpu, &mut memory) {
            return (stop, cpu, memory.accesses);
        }
    }
    (Stop::Budget, cpu, memory.accesses)
}

/// Returns random hooks near bytes that the programs access.
fn random_hooks(programs: &[Vector], random: &mut Random) -> PlainHooks {
    // Programs execute much more than they load and store, so breakpoints leave little for watchpoints.
    let kinds: &[HookKind] = match random.below(3) {
        0 => &[HookKind::Read, HookKind::Write, HookKind::Execute],
        1 => &[HookKind::Read],
        _ => &[HookKind::Write],
    };
    let mut hooks = PlainHooks::default();
    for _ in 0..4 + random.below(16) {
        let (_, _, accesses) = oracle(random.pick(programs), &PlainHooks::default());
        let kind = *random.pick(kinds);
        let accesses: Vec<_> = accesses.into_iter().filter(|access| access.0 == kind).collect();
        if accesses.is_empty() {
            continue;
        }
        let (_, address, bytes) = *random.pick(&accesses);
        let start = (address + random.below(bytes + 8)).saturating_sub(4);
        let length = match random.below(8) {
            0 => 4096,
            1 => random.below(9000),
            _ => 1 + random.below(8),
        };
        hooks.0.push((kind, start..start + length));
    }
    hooks
}

/// An executor with a program in each lane.
fn executor(engine: &dyn Factory, programs: &[Vector]) -> Box<dyn Executor> {
    let images: Vec<Arc<Image>> = programs.iter().map(image).collect();
    let plan = Plan { images: &images, lanes: images.len(), frames_max: FRAMES, calls: None, loops: None };
    let mut executor = engine.executor(&plan).expect("the lanes fit");
    for (lane, program) in programs.iter().enumerate() {
        executor.set_cpu(lane, &program.cpu()).expect("the engine works");
    }
    executor
}

/// Sets hooks, lets lanes go on that were stopped by others, and runs all lanes.
fn run(executor: &mut dyn Executor, programs: &[Vector], hooks: &Hooks) -> Vec<Lane> {
    executor.set_hooks(hooks).expect("the engine works");
    for lane in 0..programs.len() {
        let stop = executor.stop(lane).expect("the engine works");
        if matches!(stop, Some(Stop::HardwareBreakpoint | Stop::Watchpoint { .. })) {
            executor.set_stop(lane, None).expect("the engine works");
        }
    }
    let limits: Vec<u64> = programs.iter().map(|program| program.steps).collect();
    executor.run(&limits, &mut |_| ControlFlow::Continue(())).expect("the engine works");
    lanes(executor)
}

/// Compares the stops of random programs at random hooks; returns how many lanes stopped at breakpoints, at loads and at
/// stores.
fn compare(engine: &dyn Factory, features: Features, seed: u64) -> [usize; 3] {
    let random = &mut Random::new(seed);
    let mut programs: Vec<Vector> = (0..LANES)
        .map(|lane| programs::with_features(&format!("{seed} {lane}"), features, 96, 300, random))
        .collect();
    // Hooks do not depend on arithmetic, and software drivers take long to compile interpreters that have all of it.
    for word in programs.iter_mut().flat_map(|program| &mut program.code) {
        if lower(word.0, features).control as u8 >= Handler::VECTOR_FLOAT as u8 {
            word.0 = programs::nop();
        }
    }
    let (mut gpu, mut reference) = (executor(engine, &programs), executor(&ReferenceEngine, &programs));
    let mut counts = [0; 3];
    // The first hooks meet lanes before their first step, and the next ones where the ones before have stopped them.
    for round in 0..3 {
        let hooks = random_hooks(&programs, random);
        let expected = run(&mut *reference, &programs, &hooks.hooks());
        let seen = run(&mut *gpu, &programs, &hooks.hooks());
        for (lane, (seen, expected)) in seen.iter().zip(&expected).enumerate() {
            assert_eq!(
                seen, expected,
                "seed {seed}, round {round}, lane {lane}, {hooks:x?}: the GPU on the left"
            );
            match expected.stop {
                Some(Stop::HardwareBreakpoint) => counts[0] += 1,
                Some(Stop::Watchpoint { access: Access::Read, .. }) => counts[1] += 1,
                Some(Stop::Watchpoint { .. }) => counts[2] += 1,
                _ => {}
            }
            if round == 0 {
                let (stop, cpu, _) = oracle(&programs[lane], &hooks);
                assert_eq!(
                    (expected.stop, &expected.cpu),
                    (Some(stop), &cpu),
                    "seed {seed}, lane {lane}, {hooks:x?}: the reference on the left, the oracle on the right"
                );
            }
        }
    }
    counts
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn random_programs_stop_at_random_hooks_as_the_oracle_says() {
    let network =
        NetworkGpu { selection: ClassSelection::new(SelectionMode::Network), bounds: SPREADS[0].clone() };
    let mut engines = vec![
        (&Gpu as &dyn Factory, Features::GENERAL),
        (&Gpu, Features::ALL),
        (&ONE_LANE_WORKGROUPS, Features::GENERAL),
        (&STAGES, Features::GENERAL),
    ];
    // Software drivers take long to compile more interpreters.
    if programs_to_test() > PROGRAMS {
        engines
            .extend([(&network as &dyn Factory, Features::GENERAL), (&ONE_LANE_WORKGROUPS, Features::ALL)]);
    }
    let rounds = 1 + u64::from(programs_to_test()) / 4096;
    let mut counts = [0; 3];
    for (number, (engine, features)) in (0..).zip(engines) {
        for seed in rounds * number..rounds * (number + 1) {
            let now = compare(engine, features, seed);
            (0..3).for_each(|kind| counts[kind] += now[kind]);
        }
    }
    assert!(counts.iter().all(|count| *count > 200), "breakpoints, loads and stores: {counts:?}");
}

/// A stop at a hook: the lane, its number of steps, its pc and the stop.
type Hit = (usize, u64, u64, Stop);

/// Runs a machine with hooks to its end and resumes lanes at every hook. Returns the stops at hooks.
fn run_to_end(machine: &mut Machine) -> Vec<Hit> {
    let mut hits = Vec::new();
    loop {
        machine.run(u64::MAX).expect("the engine works");
        for (lane, stop) in machine.stops().expect("the engine works").into_iter().enumerate() {
            if let Some(
                stop @ (Stop::HardwareBreakpoint | Stop::Watchpoint { .. } | Stop::SystemCall { .. }),
            ) = stop
            {
                let cpu = machine.cpu(lane).expect("the lane exists");
                hits.push((lane, cpu.steps, cpu.pc, stop));
            }
        }
        if machine.resume_hooked().expect("the engine works") == 0 {
            return hits;
        }
    }
}

/// Runs a guest with hooks on both engines, and without.
fn compare_guest(name: &str, builder: &dyn Fn() -> Builder<'static>, hooks: &Hooks) {
    let build = |builder: Builder<'static>| builder.build().expect("the guest fits");
    let mut gpu = build(builder().engine(Gpu).hooks(hooks.clone()));
    let mut reference = build(builder().hooks(hooks.clone()));
    let mut plain = build(builder());
    let (seen, expected) = (run_to_end(&mut gpu), run_to_end(&mut reference));
    assert!(
        seen == expected,
        "{name} hits the same hooks: {} on the GPU, {} on the reference",
        seen.len(),
        expected.len()
    );
    for stop in ["hardware-breakpoint", "watchpoint", "system-call"] {
        assert!(expected.iter().any(|(.., hit)| hit.name() == stop), "{name} hits a {stop}");
    }
    assert_same_machines(&mut gpu, &mut reference, name);
    plain.run(u64::MAX).expect("the reference works");
    assert_same_machines(&mut reference, &mut plain, name);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn guests_with_hooks_end_as_without_them() {
    for (name, arguments) in [("quicksort", ["40"]), ("decimal", ["12"])] {
        let builder = || {
            Machine::builder(guest(name)).lanes(3).arguments(move |_| arguments.map(str::to_owned).to_vec())
        };
        let machine = builder().build().expect("the guest fits");
        let (entry, stack) = (machine.program().entry, machine.layout().stack.end);
        let hooks = Hooks::new()
            .breakpoint(entry + 8)
            .watch_writes(stack - 16..stack)
            .watch_reads(stack - 64..stack - 60);
        compare_guest(name, &builder, &hooks.all_system_calls());
    }
    for (name, arguments) in LINUX_GUESTS.iter().filter(|(name, _)| matches!(*name, "files" | "process")) {
        let builder = || {
            Machine::builder(linux_guest(name))
                .lanes(3)
                .arguments(|_| arguments.iter().map(|&word| word.to_owned()).collect())
        };
        let machine = builder().build().expect("the guest fits");
        let (entry, stack) = (machine.program().entry, machine.layout().stack.end);
        let hooks = Hooks::new().breakpoint(entry + 8).watch(stack - 0x200..stack - 0x180);
        compare_guest(name, &builder, &hooks.all_system_calls());
    }
}
