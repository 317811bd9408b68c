//! Translated regions leave lanes in the state of the reference after the same number of steps.
//!
//! With the environment variable `KVRM_ROWS` all rows of instructions on SIMD registers are tested, not only some.

use std::collections::{BTreeMap, BTreeSet};
use std::{env, iter};

use kvrm_arm64::encoding::{ENCODINGS, Encoding};
use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::{Handler, MicroOp, SP};
use kvrm_arm64::operand::Operand;
use kvrm_arm64::semantics::system::FPSR_MASK;
use kvrm_arm64::sysreg::REGISTERS;
use kvrm_arm64::{
    Access as MemoryAccess, Cpu, Fault, FaultKind, Features, Instruction, Memory, Stop, decode, step,
};
use kvrm_gpu::Buffer;
use kvrm_gpu::pipeline::{self, Access, Shader};
use kvrm_shaders::interface::machine::MachineGroup;
use kvrm_shaders::kernel::Group as _;
use kvrm_shaders::layout::{COLUMN_FPCR, COLUMN_TPIDR, COLUMN_TPIDRRO, COLUMN_V, FRAME_WORDS};
use kvrm_shaders::link_source;
use kvrm_testkit::programs;
use kvrm_testkit::random::Random;
use kvrm_testkit::words;
use kvrm_translate::{Effects, Flow, Limits, Region, is_translatable, to_wgsl};

use crate::support::device;

/// The lanes of a test.
const LANES: usize = 64;
/// The address of programs that are not random.
const CODE: u64 = 0x1_0000;
/// The address of the two pages of data to which the pointers of random programs point.
const DATA: u64 = 0x3_0000;
/// The words of a lane: two frames of data, and one for its state.
const LANE_WORDS: usize = 3 * FRAME_WORDS as usize;
/// The index of the state of a lane, behind its data: registers, pc, flags, budget, entry, and permissions of the pages.
const STATE: usize = 2 * FRAME_WORDS as usize;
const PC: usize = STATE + 34;
const FLAGS: usize = STATE + 35;
const BUDGET: usize = STATE + 36;
const ENTRY: usize = STATE + 37;
const TRANSLATIONS: usize = STATE + 38;
/// The index of the columns of the lane.
const COLUMNS: usize = STATE + 64;
/// The machine has all features.
const FEATURES: Features = Features::ALL;

/// What the kernel imports, by module.
const IMPORTS: [(&str, &[&str]); 5] = [
    ("bindings", &["parameters", "state"]),
    ("frames", &["frame_handle", "frame_load", "frame_store"]),
    ("layout", &["COLUMNS"]),
    ("memory", &["TLB_SETS", "lane", "tlb"]),
    ("registers", &["x"]),
];
/// The kernel that runs lanes in a region.
const KERNEL: &str = "
@compute @workgroup_size(32)
fn run_lanes(@builtin(global_invocation_id) id: vec3<u32>) {
    let frame = 3u * id.x;
    let own = frame_handle(frame + 2u);
    lane = id.x;
    for (var i = 0u; i < 33u; i += 1u) {
        x[i] = frame_load(own, i);
    }
    for (var i = 0u; i < COLUMNS; i += 1u) {
        state[i * parameters.lanes + lane] = frame_load(own, 64u + i);
    }
    for (var i = 0u; i < 2u; i += 1u) {
        let translation = frame_load(own, 38u + i);
        let entry = vec2<u32>(u32(translation) | frame_handle(frame + i), u32(translation >> 32u));
        // The second page has been displaced.
        tlb[entry.y % TLB_SETS] = select(vec4<u32>(entry, 0u, 0u), vec4<u32>(0u, 0u, entry), i == 1u);
    }
    let budget = u32(frame_load(own, 36u));
    let left = run_region(u32(frame_load(own, 37u)), frame_load(own, 34u), u32(frame_load(own, 35u)), budget);
    for (var i = 0u; i < 33u; i += 1u) {
        frame_store(own, i, x[i]);
    }
    for (var i = 0u; i < COLUMNS; i += 1u) {
        frame_store(own, 64u + i, state[i * parameters.lanes + lane]);
    }
    frame_store(own, 34u, left.pc);
    frame_store(own, 35u, u64(left.flags));
    frame_store(own, 36u, u64(left.budget));
}
";

/// A program with few instructions that no region can have.
struct Program {
    pc: u64,
    words: Vec<u32>,
    cpu: Cpu,
}

impl Program {
    fn random(length: usize, random: &mut Random) -> Self {
        let vector = programs::with_features("region", FEATURES, length, 1000, random);
        let tame = |word: u32, random: &mut Random| {
            let is_kept = is_translatable(lower(word, FEATURES)) || random.below(16) == 0;
            if is_kept { word } else { programs::nop() }
        };
        let words = vector.code.iter().map(|word| tame(word.0, random)).collect();
        let mut cpu = Cpu::new(vector.pc.0, vector.init.sp.map_or(0, |sp| sp.0));
        for (register, value) in &vector.init.x {
            cpu.set_x(register.0, value.0);
        }
        Self { pc: vector.pc.0, words, cpu }
    }

    /// Returns a program of `words` in one page that begins with the registers of a random one, and with pointers to the
    /// data in X20 to X23.
    fn new(words: Vec<u32>, random: &mut Random) -> Self {
        let mut program = Self { pc: CODE, words, ..Self::random(1, random) };
        for register in 20..24 {
            program.cpu.set_x(register, DATA + 0x400 + 16 * random.below(0x180));
        }
        program
    }

    fn word(&self, pc: u64) -> Option<u32> {
        self.words.get(usize::try_from(pc.checked_sub(self.pc)? / 4).ok()?).copied()
    }

    fn fetch(&self, pc: u64) -> Option<MicroOp> {
        Some(lower(self.word(pc)?, FEATURES))
    }

    fn region(&self, random: &mut Random) -> Region {
        let entries = [self.pc, self.pc + 4 * random.below(self.words.len() as u64)];
        let limits = Limits { instructions: 60, pages: 2, distance: 20 };
        Region::find(&entries, &limits, |pc| self.fetch(pc).filter(|op| is_translatable(*op)))
    }
}

/// The data of a lane.
struct Data<'a> {
    program: &'a Program,
    bytes: Vec<u8>,
}

impl Data<'_> {
    fn bytes(&mut self, address: u64, count: usize, access: MemoryAccess) -> Result<&mut [u8], Stop> {
        let at = address.wrapping_sub(DATA) as usize;
        let fault = Fault { kind: FaultKind::Translation, access, address };
        let end = at.checked_add(count).ok_or(fault)?;
        Ok(self.bytes.get_mut(at..end).ok_or(fault)?)
    }
}

impl Memory for Data<'_> {
    fn fetch(&mut self, pc: u64) -> Result<Instruction, Stop> {
        let fault = Fault { kind: FaultKind::Translation, access: MemoryAccess::Execute, address: pc };
        Ok(Instruction::new(self.program.word(pc).ok_or(fault)?, FEATURES))
    }

    fn read<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Stop> {
        let bytes = self.bytes(address, N, MemoryAccess::Read)?;
        Ok(std::array::from_fn(|n| bytes[n]))
    }

    fn write<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Result<(), Stop> {
        self.bytes(address, N, MemoryAccess::Write)?.copy_from_slice(&bytes);
        Ok(())
    }

    fn check_write(&mut self, address: u64, bytes: u64) -> Result<(), Stop> {
        self.bytes(address, bytes as usize, MemoryAccess::Write).map(|_| ())
    }
}

/// Returns the words with which a lane enters a region.
fn lane(program: &Program, region: &Region, random: &mut Random) -> Vec<u64> {
    let mut words: Vec<u64> = (0..LANE_WORDS).map(|_| random.bits()).collect();
    for register in 0..31 {
        let value = program.cpu.x(register);
        // Pointers, and small indices.
        let is_pointer = (16..=28).contains(&register);
        words[STATE + register as usize] = match random.below(4) {
            _ if is_pointer => value,
            0 => value,
            1 => *random.pick(&[0, 1, 1 << 31, u32::MAX.into(), 1 << 63, u64::MAX]),
            _ => random.bits() >> random.below(64),
        };
    }
    let values = programs::with_features("values", FEATURES, 1, 1, random).init;
    for (register, value) in values.v {
        let column = COLUMNS + (COLUMN_V + 2 * register.0) as usize;
        words[column] = value.0 as u64;
        words[column + 1] = (value.0 >> 64) as u64;
    }
    let fpsr = random.bits() as u32 & FPSR_MASK;
    words[COLUMNS + COLUMN_FPCR as usize] =
        u64::from(values.fpcr.map_or(0, |fpcr| fpcr.0)) | u64::from(fpsr) << 32;
    words[STATE + 31] = 0;
    words[STATE + SP as usize] = program.cpu.sp;
    let entries: Vec<u64> =
        region.blocks.iter().filter(|block| block.is_entry).map(|block| block.pc).collect();
    let entry = random.below(entries.len() as u64) as usize;
    words[PC] = entries[entry];
    words[ENTRY] = entry as u64 + 1;
    words[FLAGS] = random.below(16);
    words[BUDGET] = *random.pick(&[5, 40, 300, 1000]) + random.below(20);
    for page in 0..2 {
        // Most pages may be read and written.
        let permissions = *random.pick(&[3, 3, 3, 1, 0]);
        words[TRANSLATIONS + page] = ((DATA >> 12) + page as u64) << 32 | permissions;
    }
    words
}

/// Returns the imports of the kernel that a translated region does not have.
fn missing_imports(translated: &str) -> String {
    let lines = translated.lines().filter(|line| line.starts_with("import "));
    let present: BTreeSet<&str> = lines.flat_map(|line| line.split(['{', '}', ',', ' '])).collect();
    let all = IMPORTS.iter().flat_map(|(module, items)| items.iter().map(move |item| (module, item)));
    all.filter(|(_, item)| !present.contains(**item))
        .map(|(module, item)| format!("import package::machine::{module}::{{{item}}};\n"))
        .collect()
}

/// Runs lanes in a region on the device. Returns their words.
fn run(region: &Region, lanes: &[u64]) -> Vec<u64> {
    let translated = to_wgsl(std::slice::from_ref(region)).text;
    let text = format!("{}{translated}{KERNEL}", missing_imports(&translated));
    let linked = link_source("tests::region", &text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let locate = |line| {
        let (path, line) = linked.locate(line).unwrap_or(("", 0));
        (path.to_owned(), line)
    };
    let shader =
        Shader::compile(device(), &linked.source, &locate).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut access = [Access::ReadWrite; MachineGroup::<()>::BINDINGS.len() + 1];
    access[0] = Access::Read;
    let layout = pipeline::storage_layout(device(), "regions", &access).expect("the layout is valid");
    let pipeline = shader.pipeline("run_lanes", &[&layout], &[]).expect("the shader is valid");
    let zeroed = |bytes| Buffer::zeroed(device(), "zeroed", bytes).expect("the buffer is small");
    let mut words = vec![0u32; 1024];
    // The number of lanes, no limit of loops, and one lane that shares it.
    [words[0], words[2], words[8]] = [LANES as u32, u32::MAX, 1];
    let parameters = Buffer::with_contents(device(), "parameters", &words).expect("the buffer is small");
    let state = zeroed(8 * FRAME_WORDS as u64 * LANES as u64);
    let unused: Vec<Buffer> = (2..access.len() - 1).map(|_| zeroed(16)).collect();
    let frames = Buffer::with_contents(device(), "frames", lanes).expect("the buffer is small");
    let buffers: Vec<&Buffer> = [&parameters, &state].into_iter().chain(&unused).chain([&frames]).collect();
    let group = pipeline::bind(device(), "regions", &layout, &buffers).expect("the buffers fit");
    device()
        .submit("regions", |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(LANES as u32 / 32, 1, 1);
        })
        .expect("the device works");
    let contents = device().download(&[(&frames, 0..frames.bytes())]).expect("the device works");
    bytemuck::pod_collect_to_vec(&contents[0])
}

/// Compares a lane that has left a region with the reference. Returns the number of its steps.
fn compare(program: &Program, region: &Region, before: &[u64], after: &[u64]) -> u64 {
    let steps = before[BUDGET].checked_sub(after[BUDGET]).expect("no lane exceeds its budget");
    let mut cpu = Cpu::new(before[PC], before[STATE + SP as usize]);
    for register in 0..31 {
        cpu.set_x(register, before[STATE + register as usize]);
    }
    cpu.nzcv = before[FLAGS] as u32;
    let column = |words: &[u64], column: u32| words[COLUMNS + column as usize];
    let vector = |words: &[u64], register: u32| {
        let [low, high] = [0, 1].map(|half| column(words, COLUMN_V + 2 * register + half));
        u128::from(high) << 64 | u128::from(low)
    };
    for register in 0..32 {
        cpu.v[register as usize] = vector(before, register);
    }
    cpu.fpcr = column(before, COLUMN_FPCR) as u32;
    cpu.fpsr = (column(before, COLUMN_FPCR) >> 32) as u32;
    cpu.tpidr_el0 = column(before, COLUMN_TPIDR);
    cpu.tpidrro_el0 = column(before, COLUMN_TPIDRRO);
    let bytes = before[..STATE].iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut data = Data { program, bytes };
    let mut has_jumped = false;
    for count in 0..steps {
        let pc = cpu.pc;
        step(&mut cpu, &mut data).unwrap_or_else(|stop| panic!("step {count} at {pc:#x}: {stop}"));
        has_jumped = cpu.pc != pc + 4;
    }
    assert_eq!(after[PC], cpu.pc, "the pc after {steps} steps from {:#x}", before[PC]);
    for register in 0..31 {
        assert_eq!(after[STATE + register as usize], cpu.x(register), "x{register} after {steps} steps");
    }
    assert_eq!(after[STATE + SP as usize], cpu.sp, "sp after {steps} steps");
    assert_eq!(after[FLAGS], u64::from(cpu.nzcv), "the flags after {steps} steps");
    for register in 0..32 {
        let (found, expected) = (vector(after, register), cpu.v[register as usize]);
        assert_eq!(found, expected, "v{register} ({found:#x}, {expected:#x}) after {steps} steps");
    }
    let control = u64::from(cpu.fpsr) << 32 | u64::from(cpu.fpcr);
    assert_eq!(column(after, COLUMN_FPCR), control, "fpcr and fpsr after {steps} steps");
    assert_eq!(column(after, COLUMN_TPIDR), cpu.tpidr_el0, "tpidr_el0 after {steps} steps");
    let words: Vec<u64> = bytemuck::pod_collect_to_vec(&data.bytes);
    assert!(after[..STATE] == words, "the data after {steps} steps from {:#x}", before[PC]);
    // Within a block only loads and stores leave the region. A branch to a register may lead there from elsewhere.
    let inside =
        |block: &&kvrm_translate::Block| !has_jumped && block.pc < cpu.pc && cpu.pc <= block.last_pc();
    if let Some(op) = region.blocks.iter().find(inside).and_then(|_| program.fetch(cpu.pc)) {
        let may_leave = accesses(op) && Flow::of(cpu.pc, op) == Flow::Next;
        assert!(may_leave, "{op:?} at {:#x} is no reason to leave", cpu.pc);
    }
    steps
}

/// Runs lanes in a region of a program, and compares each with the reference. Returns the number of steps of all.
fn check(program: &Program, region: &Region, random: &mut Random) -> u64 {
    let before: Vec<u64> = (0..LANES).flat_map(|_| lane(program, region, random)).collect();
    let after = run(region, &before);
    let lanes = before.chunks(LANE_WORDS).zip(after.chunks(LANE_WORDS));
    lanes.map(|(before, after)| compare(program, region, before, after)).sum()
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn lanes_leave_regions_in_the_state_of_the_reference() {
    let mut steps = 0;
    for seed in 0..4 {
        let random = &mut Random::new(seed);
        let program = Program::random(30, random);
        let region = program.region(random);
        steps += check(&program, &region, random);
    }
    assert!(steps > 5_000, "lanes have retired only {steps} steps");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn lanes_stay_in_a_region_at_branches_to_registers() {
    let random = &mut Random::new(0);
    let program = Program::new(programs::loop_with_cases(), random);
    let entries: Vec<u64> =
        iter::once(0).chain(programs::CASES).map(|instruction| program.pc + 4 * instruction).collect();
    let limits = Limits { instructions: 60, pages: 2, distance: 20 };
    let region = Region::find(&entries, &limits, |pc| program.fetch(pc));
    let before: Vec<u64> = (0..LANES).flat_map(|_| lane(&program, &region, random)).collect();
    let after = run(&region, &before);
    for (before, after) in before.chunks(LANE_WORDS).zip(after.chunks(LANE_WORDS)) {
        compare(&program, &region, before, after);
        let is_done = after[PC] == program.pc + 4 * 15;
        assert!(
            is_done || after[BUDGET] < 16,
            "a lane left at {:#x} with {} steps",
            after[PC],
            after[BUDGET]
        );
    }
}

/// Whether a micro-op is a load or a store.
fn accesses(op: MicroOp) -> bool {
    use Handler as H;
    [H::LOAD, H::STORE, H::LOAD_LITERAL].iter().any(|handler| op.handler() == *handler as u32)
        || (H::VECTOR_LOAD as u32..=H::VECTOR_STORE_STRUCTURES as u32).contains(&op.handler())
}

/// Whether a micro-op computes on SIMD registers.
fn computes_vectors(op: MicroOp) -> bool {
    (Handler::VECTOR_MOVE as u32..=Handler::VECTOR_CRYPTO as u32).contains(&op.handler())
}

/// The number of instructions of the programs below. Each writes another register, so no result hides another.
const RESULTS: usize = 28;

/// Returns `count` random words of each row that computes and is translated, on SIMD registers or not, each with
/// another destination.
fn computations(on_vectors: bool, count: usize, random: &mut Random) -> Vec<u32> {
    let mut handlers = BTreeSet::new();
    let mut all = Vec::new();
    for row in ENCODINGS.iter().cycle().take(count * ENCODINGS.len()) {
        let word = words::allocated(row, random);
        let op = lower(word, FEATURES);
        let is_wanted = !accesses(op) && computes_vectors(op) == on_vectors;
        if is_wanted && is_translatable(op) && Flow::of(0, op) == Flow::Next {
            handlers.insert(op.handler());
            let with_destination = word & !31 | (all.len() % RESULTS) as u32;
            let is_kept = decode(with_destination) == Some(row.op);
            all.push(if is_kept { with_destination } else { word });
        }
    }
    assert!(handlers.len() >= if on_vectors { 5 } else { 20 }, "handlers of computations: {handlers:?}");
    all
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn every_row_that_computes_is_translated() {
    let random = &mut Random::new(0);
    // And every condition, which few random words have: CSINC of zeros.
    let conditions = (0..16).map(|cond| 0x9a9f_07e0 | cond << 12 | cond);
    let mut all = computations(false, 2, random);
    all.extend(conditions);
    all.extend(system_registers());
    for words in all.chunks(RESULTS) {
        check_computations(words, random);
    }
}

/// Returns MRS and MSR of all registers that are translated. Few random words have them.
fn system_registers() -> Vec<u32> {
    let names = ["nzcv", "fpcr", "fpsr", "tpidr_el0", "tpidrro_el0"];
    let registers = names.map(|name| REGISTERS.iter().find(|register| register.name == name));
    let numbers = registers.map(|register| register.expect("the register is in the table").number << 5);
    let reads = numbers.into_iter().zip(0..).map(|(number, register)| 0xd530_0000 | number | register);
    let writes = numbers[..4].iter().zip(10..).map(|(number, register)| 0xd510_0000 | number | register);
    // The registers are read again behind the writes.
    let reads: Vec<u32> = reads.collect();
    let again = reads.iter().map(|word| word + 5);
    let all: Vec<u32> = reads.iter().copied().chain(writes).chain(again).collect();
    assert!(all.iter().all(|word| is_translatable(lower(*word, FEATURES))), "{all:x?}");
    all
}

fn check_computations(words: &[u32], random: &mut Random) {
    let program = Program::new(words.to_vec(), random);
    let region = program.region(random);
    let steps = check(&program, &region, random);
    assert!(steps > 10 * words.len() as u64, "lanes have retired only {steps} steps");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn every_row_that_computes_on_vectors_is_translated() {
    let random = &mut Random::new(0);
    // Compilers take long for these, so of the rows whose micro-ops differ in the word only, one random one is tested.
    let mut rows = BTreeMap::new();
    for word in computations(true, 1, random) {
        let op = lower(word, FEATURES);
        let same: &mut Vec<u32> = rows.entry((op.handler(), op.parameters)).or_default();
        same.push(word);
    }
    let mut all: Vec<u32> = rows.values().map(|words| *random.pick(words)).collect();
    assert!(all.len() > 200, "only {} rows", all.len());
    // All of them with the variable, else every third.
    if env::var_os("KVRM_ROWS").is_none() {
        all = all.into_iter().step_by(3).collect();
    }
    // Their conditions are in the word.
    let has_condition = |row: &&Encoding| ["fccmp", "fccmpe", "fcsel"].contains(&row.mnemonic);
    for row in ENCODINGS.iter().filter(has_condition) {
        all.extend((0..4).map(|_| words::allocated(row, random)));
    }
    for words in all.chunks(RESULTS) {
        let mut program = Vec::new();
        for &word in words {
            program.push(word);
            if Effects::of(lower(word, FEATURES)).sets_flags != 0 {
                program.push(0xd53b_4200 | (program.len() as u32 % 16)); // mrs, so that no flags are overwritten unseen
            }
        }
        check_computations(&program, random);
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn conditions_are_told_from_operands() {
    let random = &mut Random::new(0);
    // SUBS and ANDS of X29 and X30, and of W29 and W30, with the conditions that need only the operands.
    let subtractions = ([0xeb1e_03bf, 0x6b1e_03bf], [0, 1, 2, 3, 8, 9, 10, 11, 12, 13].as_slice());
    let logical = ([0xea1e_03bf, 0x6a1e_03bf], [0, 1, 4, 5, 10, 11, 12, 13].as_slice());
    for (setters, conditions) in [subtractions, logical] {
        let mut words = Vec::new();
        let mut destination = 0;
        for setter in setters {
            words.push(setter);
            for cond in conditions {
                words.push(0x9a9f_07e0 | cond << 12 | destination); // csinc of zeros
                destination += 1;
            }
        }
        let program = Program::new(words, random);
        let limits = Limits { instructions: 60, pages: 1, distance: 0 };
        let region = Region::find(&[program.pc], &limits, |pc| program.fetch(pc));
        let text = to_wgsl(std::slice::from_ref(&region)).text;
        assert_eq!(text.matches("pending_a = ").count(), 2, "both keep their operands:\n{text}");
        let steps = check(&program, &region, random);
        assert!(steps > 10 * program.words.len() as u64, "lanes have retired only {steps} steps");
    }
}

/// Returns a word of each row that loads or stores and is translated, with addresses that are mostly in the data.
fn transfers(random: &mut Random) -> Vec<u32> {
    let mut all = Vec::new();
    for row in ENCODINGS {
        let mut word = words::allocated(row, random);
        let op = lower(word, FEATURES);
        if !accesses(op) || !is_translatable(op) {
            continue;
        }
        let mut set = |bits: u32, low: u32, value: u64| word = word & !(bits << low) | (value as u32) << low;
        set(31, 0, random.below(16));
        if row.operands.contains(&Operand::Label19) {
            let pc = CODE + 4 * (all.len() % RESULTS) as u64;
            set(0x7_ffff, 5, (DATA + 4 * random.below(0x780) - pc) / 4);
        } else {
            set(31, 5, 20 + random.below(4)); // a pointer as the base
        }
        if row.operands.iter().any(|operand| matches!(operand, Operand::RegisterOffset(_))) {
            set(31, 16, 16 + random.below(4)); // an index
        }
        if row.operands.iter().any(|operand| matches!(operand, Operand::ScaledOffset(_))) {
            set(0xff, 14, 0); // a small offset
        }
        assert_eq!(decode(word), Some(row.op), "only registers and offsets have changed");
        all.push(word);
    }
    all
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn every_row_that_accesses_memory_is_translated() {
    let random = &mut Random::new(0);
    let all = transfers(random);
    assert!(all.len() > 60, "only {} rows", all.len());
    for words in all.chunks(RESULTS) {
        let program = Program::new(words.to_vec(), random);
        // Lanes enter at many instructions, so those behind an access that has to leave are executed, too.
        let entries: Vec<u64> = (0..words.len() as u64).step_by(3).map(|n| program.pc + 4 * n).collect();
        let limits = Limits { instructions: RESULTS, pages: 1, distance: RESULTS };
        let region = Region::find(&entries, &limits, |pc| program.fetch(pc));
        let steps = check(&program, &region, random);
        assert!(steps > LANES as u64, "lanes have retired only {steps} steps");
    }
}
