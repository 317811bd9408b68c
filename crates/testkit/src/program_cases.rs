//! A strategy for random programs, which shrink to the few instructions and registers that a failure needs.

use std::fmt;

use kvrm_arm64::operand::Operand;
use kvrm_arm64::{Class, Features, decode, disassemble};
use kvrm_machine::vectors::{Bytes, Hex, Vector};
use proptest::num::u64::BinarySearch;
use proptest::prelude::*;
use proptest::strategy::{NewTree, ValueTree};
use proptest::test_runner::TestRunner;

use crate::programs;
use crate::random::Random;
use crate::simplest::{Shrinking, Simplest};

/// A random program with its initial state, as a test vector without outputs. `Debug` shows the disassembly.
#[derive(Clone)]
pub struct ProgramCase(pub Vector);

impl fmt::Debug for ProgramCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Vector { name, pc, code, steps, code_writable, features, init, .. } = &self.0;
        let writable = if *code_writable { "writable" } else { "read-only" };
        writeln!(f, "{name}: {steps} steps, {writable} code, features {features:?}")?;
        for (word, pc) in code.iter().zip((pc.0..).step_by(4)) {
            writeln!(f, "    {pc:#10x}  {:08x}  {}", word.0, disassemble(word.0, pc))?;
        }
        let numbers = init.x.iter().map(|(number, value)| (format!("x{}", number.0), u128::from(value.0)));
        let numbers = numbers.chain(init.v.iter().map(|(number, value)| (format!("v{}", number.0), value.0)));
        let others = [
            ("sp", init.sp.map(|sp| sp.0)),
            ("nzcv", init.nzcv.map(|nzcv| nzcv.0.into())),
            ("fpcr", init.fpcr.map(|fpcr| fpcr.0.into())),
        ];
        let others = others.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
        for (name, value) in numbers.chain(others) {
            writeln!(f, "    {name} = {value:#x}")?;
        }
        for Bytes { at, bytes } in &init.mem {
            writeln!(f, "    {:#x}: {bytes:02x?}", at.0)?;
        }
        Ok(())
    }
}

/// Returns a strategy for programs of up to `length` instructions with a budget of up to `steps` steps, for machines
/// with `features`. A program that fails shrinks to fewer instructions, simpler registers and less memory.
pub fn program_cases(features: Features, length: usize, steps: u64) -> impl Strategy<Value = ProgramCase> {
    ProgramCases { features, length, steps }
}

/// The strategy for random programs.
#[derive(Clone, Debug)]
struct ProgramCases {
    features: Features,
    length: usize,
    steps: u64,
}

impl Strategy for ProgramCases {
    type Tree = ProgramTree;
    type Value = ProgramCase;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let seed = any::<u64>().new_tree(runner)?.current();
        let (name, mut random) = (format!("program {seed:016x}"), Random::new(seed));
        let program = programs::with_features(&name, self.features, self.length, self.steps, &mut random);
        Ok(ProgramTree { program, parts: None })
    }
}

/// A random program and the state of its shrinking.
struct ProgramTree {
    program: Vector,
    /// The parts of the program. They are made when the program is first simplified, because most programs never fail.
    parts: Option<Parts>,
}

/// A program whose parts shrink.
type Parts = Box<dyn ValueTree<Value = Vector>>;

impl ValueTree for ProgramTree {
    type Value = ProgramCase;

    fn current(&self) -> ProgramCase {
        ProgramCase(self.parts.as_ref().map_or_else(|| self.program.clone(), |parts| parts.current()))
    }

    fn simplify(&mut self) -> bool {
        self.parts.get_or_insert_with(|| parts(&self.program)).simplify()
    }

    fn complicate(&mut self) -> bool {
        self.parts.as_mut().is_some_and(|parts| parts.complicate())
    }
}

/// How much of an instruction is left, simplest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rest {
    /// Nothing: the instructions after it move.
    Removed,
    /// A NOP in its place.
    Nop,
    /// The instruction.
    Whole,
}

/// Takes a program apart. The parts shrink in turn: the instructions; the state; the instructions again, because some
/// were needed only to jump over others that have been removed since; and the budget. The budget is last because an
/// instruction can be removed only if there are steps for what is executed instead.
fn parts(program: &Vector) -> Parts {
    let budget = Shrinking(BinarySearch::new(program.steps));
    let code = || vec![Shrinking(Simplest::new([Rest::Removed, Rest::Nop], Rest::Whole)); program.code.len()];
    let init = &program.init;
    let general = init.x.iter().map(|(&number, &Hex(value))| {
        let simpler = [0, 1, value & 0xff, value & u64::from(u32::MAX)];
        Shrinking(Simplest::new(simpler.map(|value| (number, Hex(value))), (number, Hex(value))))
    });
    let vectors = init.v.iter().map(|(&number, &Hex(value))| {
        let simpler = [0, 1, value & u128::from(u32::MAX), value & u128::from(u64::MAX)];
        Shrinking(Simplest::new(simpler.map(|value| (number, Hex(value))), (number, Hex(value))))
    });
    let flags = |value: Option<Hex<u32>>| Shrinking(Simplest::new([None], value));
    let memory = |piece: &Bytes| {
        let zero = Bytes { at: piece.at, bytes: vec![0] };
        Shrinking(Simplest::new([None, Some(zero)], Some(piece.clone())))
    };
    let memory: Vec<_> = init.mem.iter().map(memory).collect();
    let writable = Shrinking(Simplest::new([false], program.code_writable));
    let (general, vectors): (Vec<_>, Vec<_>) = (general.collect(), vectors.collect());
    let state = (general, vectors, flags(init.nzcv), flags(init.fpcr), memory);
    let parts = (code(), state, writable, code(), budget);
    let program = program.clone();
    let together = parts.prop_map(move |(code, state, code_writable, code_again, steps)| {
        let mut program = Vector { steps, code_writable, ..program.clone() };
        let rests = code.into_iter().zip(code_again).map(|(first, second)| first.min(second));
        program.code = remaining(&program.code, &rests.collect::<Vec<_>>());
        let (x, v, nzcv, fpcr, memory) = state;
        program.init.x = x.into_iter().filter(|(_, value)| value.0 != 0).collect();
        program.init.v = v.into_iter().filter(|(_, value)| value.0 != 0).collect();
        (program.init.nzcv, program.init.fpcr) = (nzcv, fpcr);
        program.init.mem = memory.into_iter().flatten().collect();
        program
    });
    // No randomness is left in the parts.
    together.boxed().new_tree(&mut TestRunner::deterministic()).expect("no part is rejected")
}

/// Returns the remaining words of a program, at least one. Branches lead to the instructions that they led to before.
fn remaining(code: &[Hex<u32>], rests: &[Rest]) -> Vec<Hex<u32>> {
    let index = |old: usize| rests[..old].iter().filter(|rest| **rest != Rest::Removed).count() as i64;
    let retarget = |old: usize, Hex(word): Hex<u32>| {
        let row = decode(word).map(|op| op.encoding()).filter(|row| row.class == Class::Branch);
        let label = row.and_then(|row| row.operands.iter().find_map(|operand| label(*operand)));
        let Some((low, bits)) = label else { return Hex(word) };
        let distance = i64::from((word >> low << (32 - bits)).cast_signed() >> (32 - bits));
        let target = usize::try_from(old as i64 + distance).ok().filter(|target| *target <= code.len());
        let Some(target) = target else { return Hex(word) };
        let mask = (u32::MAX >> (32 - bits)) << low;
        Hex(word & !mask | ((index(target) - index(old)) as u32) << low & mask)
    };
    let nop = Hex(programs::nop());
    let words = code.iter().zip(rests).enumerate().filter_map(|(old, (word, rest))| match rest {
        Rest::Removed => None,
        Rest::Nop => Some(nop),
        Rest::Whole => Some(retarget(old, *word)),
    });
    let words: Vec<_> = words.collect();
    if words.is_empty() { vec![nop] } else { words }
}

/// Returns the position of the lowest bit and the number of bits of the distance to a label.
fn label(operand: Operand) -> Option<(u32, u32)> {
    match operand {
        Operand::Label14 => Some((5, 14)),
        Operand::Label19 => Some((5, 19)),
        Operand::Label26 => Some((0, 26)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_keep_their_targets_when_instructions_are_removed() {
        let nop = programs::nop();
        // A branch to the last word, one back to the first word, and one far out of the program.
        let code = [nop, 0x5400_0060, nop, 0x17ff_fffd, nop, 0x1400_0400].map(Hex);
        let (none, whole) = (Rest::Removed, Rest::Whole);
        let texts = |rests: [Rest; 6]| {
            let words = remaining(&code, &rests).into_iter().zip((0..).step_by(4));
            words.map(|(word, pc)| disassemble(word.0, pc).to_string()).collect::<Vec<_>>()
        };
        let all = ["nop", "b.eq 0x10", "nop", "b 0x0", "nop", "b 0x1014"];
        assert_eq!(texts([whole; 6]), all, "nothing is removed");
        let some = texts([whole, whole, none, whole, none, whole]);
        assert_eq!(
            some,
            ["nop", "b.eq 0xc", "b 0x0", "b 0x100c"],
            "the word after a removed target is the target"
        );
        assert_eq!(texts([none; 6]), ["nop"], "a program has at least one word");
    }

    #[test]
    fn the_parts_of_a_program_are_the_program() {
        let cases = program_cases(Features::ALL, 96, 300);
        let mut runner = TestRunner::deterministic();
        for _ in 0..20 {
            let mut tree = cases.new_tree(&mut runner).expect("nothing is rejected");
            let start =
                |ProgramCase(program): ProgramCase| (program.cpu(), program.segments(), program.steps);
            let whole = start(tree.current());
            assert!(tree.simplify() && start(tree.current()) != whole, "the first instruction is removed");
            while start(tree.current()) != whole {
                assert!(tree.complicate(), "the attempt is undone");
            }
        }
    }
}
