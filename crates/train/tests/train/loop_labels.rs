//! Labels of loops that are assembled for the purpose, and labels against what programs do.

use kvrm_arm64::asm::{
    Arg, Assembler, Label, Mode, Register, SP, W1, W2, W3, W4, WZR, X0, X1, X2, X3, X5, X6, XZR, at,
};
use kvrm_machine::{Machine, Program, Stop};
use kvrm_models::inputs::{BODY_WORDS_MAX, REGISTERS};
use kvrm_models::{LoopKind, LoopPattern};
use kvrm_train::Random;
use kvrm_train::loops::{
    Analysis, LogEngine, LoopLog, Renaming, canonical, estimate, mutated, relative, synthetic,
};

/// Returns the words of a body that ends with its branch back. `out` is behind it.
fn body(write: impl Fn(&mut Assembler, Label, Label)) -> Vec<u32> {
    let mut a = Assembler::new(0);
    let (head, out) = (a.label(), a.label());
    a.bind(head);
    write(&mut a, head, out);
    a.bind(out);
    a.finish().expect("the instructions exist")
}

/// CMP, which the instruction table has under another name.
trait Compare {
    fn cmp(&mut self, n: Register, with: impl Into<Arg>) -> &mut Self;
}

impl Compare for Assembler {
    fn cmp(&mut self, n: Register, with: impl Into<Arg>) -> &mut Self {
        let zero = if n.wide { XZR } else { WZR };
        self.emit("subs", &[zero.into(), n.into(), with.into()])
    }
}

const fn post(base: Register, offset: i64) -> Arg {
    Arg::Address(base, Mode::Post(offset))
}

const fn index(base: Register, register: Register) -> Arg {
    Arg::Address(base, Mode::Index { register, extend: 3, scaled: true })
}

fn labels(words: &[u32]) -> (LoopKind, Option<usize>, LoopPattern) {
    // Small numbers, so that words are words.
    let registers = std::array::from_fn(|register| 1000 + 16 * register as u64);
    let labels = Analysis::new(words).labels(&registers);
    (labels.kind, labels.counter, labels.pattern)
}

/// A writer of a body, and its labels.
type Case = (&'static str, fn(&mut Assembler, Label, Label), LoopKind, Option<usize>, LoopPattern);

#[rustfmt::skip] // A case is easier to read in one piece.
const CASES: &[Case] = {
    use LoopKind::{Countdown, CountUp, MemoryFill, None as No};
    use LoopPattern::{BubbleSort, Memcpy, Memset, Polling, Strlen, Unknown};
    &[
        ("a countdown by subs", |a, head, _| { a.add(X1, X1, X0).subs(X0, X0, 1).b_cond("ne", head); },
            Countdown, Some(0), Unknown),
        ("a countdown by cbnz", |a, head, _| { a.sub(X3, X3, 2).cbnz(X3, head); },
            Countdown, Some(3), Unknown),
        ("a count up of words to a register", |a, head, _| { a.add(W1, W1, 1).cmp(W1, W2).b_cond("lt", head); },
            CountUp, Some(1), Unknown),
        ("a count up whose exit is in front", |a, head, out| { a.cmp(X1, X2).b_cond("cs", out).add(X1, X1, 4).b(head); },
            CountUp, Some(1), Unknown),
        ("the stack pointer counts", |a, head, _| { a.add(SP, SP, 16).cmp(SP, Arg::Extended(X1, 3, 0)).b_cond("ne", head); },
            CountUp, Some(31), Unknown),
        ("no exit moves", |a, head, _| { a.cbnz(X3, head); }, No, None, Unknown),
        ("no exit at all", |a, head, _| { a.add(X1, X1, 1).b(head); }, No, None, Unknown),
        ("a call", |a, head, out| { a.bl(out).subs(X0, X0, 1).b_cond("ne", head); }, No, None, Unknown),
        ("a counter that is multiplied", |a, head, _| { a.add(X0, X0, X0).cbnz(X0, head); }, No, None, Unknown),
        ("a list", |a, head, _| { a.ldr(X0, at(X0, 8)).cbnz(X0, head); }, No, None, Unknown),
        ("a fill by index", |a, head, _| { a.str(W2, index(X1, X0)).subs(X0, X0, 1).b_cond("ne", head); },
            MemoryFill, Some(0), Memset),
        ("a fill with pairs", |a, head, _| { a.stp(X2, X2, post(X1, 16)).cmp(X1, X3).b_cond("cc", head); },
            MemoryFill, Some(1), Memset),
        ("numbers in order are no fill", |a, head, _| { a.str(X0, post(X1, 8)).subs(X0, X0, 1).b_cond("ne", head); },
            Countdown, Some(0), Unknown),
        ("stores to one place are no fill", |a, head, _| { a.str(X2, at(X1, 0)).subs(X0, X0, 1).b_cond("ne", head); },
            Countdown, Some(0), Unknown),
        ("a copy", |a, head, _| { a.ldrb(W3, post(X1, 1)).strb(W3, post(X2, 1)).subs(X0, X0, 1).b_cond("ne", head); },
            Countdown, Some(0), Memcpy),
        ("a copy of pairs", |a, head, _| { a.ldp(X5, X6, post(X1, 16)).stp(X5, X6, post(X2, 16)).subs(X0, X0, 16).b_cond("gt", head); },
            Countdown, Some(0), Memcpy),
        ("a change is no copy", |a, head, _| { a.ldrb(W3, post(X1, 1)).add(W3, W3, 1).strb(W3, post(X2, 1)).subs(X0, X0, 1).b_cond("ne", head); },
            Countdown, Some(0), Unknown),
        ("a reversal is no copy", |a, head, _| { a.ldrb(W3, post(X1, 1)).strb(W3, post(X2, -1)).subs(X0, X0, 1).b_cond("ne", head); },
            Countdown, Some(0), Unknown),
        ("two copies at once", |a, head, _| {
            a.ldr(X3, at(X1, 8)).str(X3, at(X2, 8)).ldr(X3, post(X1, 16)).str(X3, post(X2, 16)).subs(X0, X0, 1).b_cond("ne", head);
        }, Countdown, Some(0), Memcpy),
        ("an exchange is no copy", |a, head, _| {
            a.ldr(X3, at(X1, 0)).ldr(X5, at(X2, 0)).str(X5, post(X1, 8)).str(X3, post(X2, 8)).subs(X0, X0, 1).b_cond("ne", head);
        }, Countdown, Some(0), Unknown),
        ("a copy up to a zero is no copy", |a, head, _| { a.ldrb(W3, post(X1, 1)).strb(W3, post(X2, 1)).cbnz(W3, head); },
            No, None, Unknown),
        ("a search for zero", |a, head, _| { a.ldrb(W3, post(X1, 1)).cbnz(W3, head); }, No, None, Strlen),
        ("a search with an end", |a, head, out| { a.ldrb(W3, post(X1, 1)).cbz(W3, out).subs(X0, X0, 1).b_cond("ne", head); },
            No, None, Strlen),
        ("a comparison", |a, head, out| { a.ldrb(W3, post(X1, 1)).ldrb(W4, post(X2, 1)).cbz(W3, out).cmp(W3, W4).b_cond("eq", head); },
            No, None, Strlen),
        ("a sum up to a zero is no search", |a, head, _| { a.ldr(X3, post(X1, 8)).add(X2, X2, X3).cbnz(X3, head); },
            No, None, Unknown),
        ("polling", |a, head, _| { a.ldr(W3, at(X1, 4)).cbz(W3, head); }, No, None, Polling),
        ("polling with an end", |a, head, out| { a.ldr(W3, at(X1, 4)).cbnz(W3, out).subs(X0, X0, 1).b_cond("ne", head); },
            No, None, Polling),
        ("polling by way of a pointer", |a, head, _| { a.ldr(X3, at(SP, 8)).ldr(W3, at(X3, 0)).cbz(W3, head); },
            No, None, Polling),
        ("polling with a store is none", |a, head, _| { a.str(X2, at(X1, 8)).ldr(W3, at(X1, 4)).cbz(W3, head); },
            No, None, Unknown),
        ("a delay loads nothing", |a, head, _| { a.nop().subs(X0, X0, 1).b_cond("ne", head); }, Countdown, Some(0), Unknown),
        ("a pass of a bubble sort", |a, head, _| {
            let skip = a.label();
            a.ldp(W3, W4, at(X1, 0)).cmp(W3, W4).b_cond("le", skip);
            a.stp(W4, W3, at(X1, 0)).bind(skip).add(X1, X1, 4).subs(X0, X0, 1).b_cond("ne", head);
        }, No, None, BubbleSort),
        ("a pass whose branch goes on at the head", |a, head, out| {
            a.add(X1, X1, 8).cmp(X1, X2).b_cond("eq", out);
            a.ldr(X3, at(X1, 0)).emit("ldur", &[X5.into(), at(X1, -8)]).cmp(X3, X5).b_cond("ge", head);
            a.str(X5, at(X1, 0)).emit("stur", &[X3.into(), at(X1, -8)]).b(head);
        }, No, None, BubbleSort),
        ("stores where they were are no pass", |a, head, _| {
            let skip = a.label();
            a.ldp(W3, W4, at(X1, 0)).cmp(W3, W4).b_cond("le", skip);
            a.stp(W3, W4, at(X1, 0)).bind(skip).add(X1, X1, 4).subs(X0, X0, 1).b_cond("ne", head);
        }, No, None, Unknown),
        ("a swap without a comparison of the two is no pass", |a, head, _| {
            let skip = a.label();
            a.ldp(W3, W4, at(X1, 0)).cmp(W3, W2).b_cond("le", skip);
            a.stp(W4, W3, at(X1, 0)).bind(skip).add(X1, X1, 4).subs(X0, X0, 1).b_cond("ne", head);
        }, No, None, Unknown),
    ]
};

#[test]
fn labels_are_those_of_the_definitions() {
    for (text, write, kind, counter, pattern) in CASES {
        assert_eq!(labels(&body(write)), (*kind, *counter, *pattern), "{text}");
    }
}

#[test]
fn labels_do_not_depend_on_the_names_of_registers() {
    let mut random = Random::new(3);
    for (text, write, kind, counter, pattern) in CASES {
        let words = body(write);
        for _ in 0..40 {
            let renaming = Renaming::random(&mut random);
            let renamed = renaming.words(&words).expect("no pairs of registers that follow each other");
            let expected = (*kind, counter.map(|counter| renaming.of(counter)), *pattern);
            assert_eq!(labels(&renamed), expected, "{text} as {renamed:08x?}");
            assert_eq!(canonical(&renamed), canonical(&words), "{text} as {renamed:08x?}");
        }
    }
}

/// Runs a body from its first word, and returns the number of iterations, if it leaves within 10,000 steps and no access stops
/// it.
fn run(words: &[u32], registers: &[u64; REGISTERS]) -> Option<u64> {
    const CODE: u64 = 0x1000;
    // The program enters the loop twice, because a loop is known from its first branch back on. Exits lead to stops.
    let stop = 0xd440_0000; // hlt #0
    let mut code = words.to_vec();
    code.resize(words.len() + 100, stop);
    let log = LoopLog::default();
    let program = Program::from_code(CODE, &code).ok()?;
    let mut machine = Machine::builder(program).engine(LogEngine(log.clone())).build().ok()?;
    let mut cpu = machine.cpu(0).ok()?;
    (0..31).for_each(|register| cpu.set_x(register, registers[register as usize]));
    cpu.sp = registers[31];
    machine.set_cpu(0, &cpu).ok()?;
    machine.run(10_000).ok()?;
    let has_left = machine.stop(0).ok()? == Some(Stop::Halt { imm: 0 });
    let records = log.finish("", "");
    let entry = records.iter().find(|record| record.head == CODE && record.words == words);
    // A loop that never goes back has one iteration; a log begins with the second one.
    let iterations = entry.map_or(1, |record| record.entries[0].iterations + 1);
    has_left.then_some(iterations)
}

#[test]
fn proved_iterations_of_synthetic_loops_are_those_of_runs() {
    let mut random = Random::new(5);
    let (mut compared, mut bodies) = (0, [0; 6]);
    for _ in 0..6_000 {
        let generated = synthetic(&mut random);
        assert!((2..=BODY_WORDS_MAX).contains(&generated.words.len()), "{generated:x?}");
        let analysis = Analysis::new(&generated.words);
        bodies[analysis.pattern() as usize] += 1;
        let proved = analysis.labels(&generated.registers).proved_iterations;
        let Some(proved) = proved.filter(|proved| *proved < 500) else { continue };
        // Loops with accesses stop where nothing is mapped.
        if let Some(ran) = run(&generated.words, &generated.registers) {
            assert!(ran >= proved, "{ran} iterations where {proved} are proved: {generated:08x?}");
            compared += u32::from(ran == proved);
            let of = estimate(&generated.words, &generated.registers);
            assert!(of.step > 0, "a counter has a step: {generated:08x?}");
        }
    }
    assert!(compared > 300, "only {compared} loops left as proved");
    assert!(bodies.iter().all(|count| *count > 100), "each pattern is made: {bodies:?}");
}

#[test]
fn changed_bodies_are_loops() {
    let mut random = Random::new(9);
    let others: Vec<u32> = CASES.iter().flat_map(|case| body(case.1)).collect();
    let mut changed = 0;
    for _ in 0..3_000 {
        let generated = synthetic(&mut random);
        let Some(words) = mutated(&generated.words, &others, &mut random) else { continue };
        changed += 1;
        let offset = relative(&words).last().copied();
        assert_eq!(
            offset,
            words.last().copied(),
            "the branch back leads to a word of the body: {words:08x?}"
        );
        assert!(words.len().abs_diff(generated.words.len()) <= 1, "one instruction is different");
    }
    assert!(changed > 1_000, "{changed} bodies could be changed");
}
