//! Signals where no guest that QEMU runs too can be exact: frames, bad stacks, what lanes end with.

use kvrm_machine::{Cpu, Features, Machine, Register, Stop};

use crate::support::{CODE, Caller, DATA, DATA_BYTES, program};

const KILL: u64 = 129;
const SIGALTSTACK: u64 = 132;
const SIGACTION: u64 = 134;
const SIGPROCMASK: u64 = 135;
const SIGRETURN: u64 = 139;
const SIGUSR1: u64 = 10;
const SIGSEGV: u64 = 11;
/// What is told of the signal, too.
const SA_SIGINFO: u64 = 4;

/// A handler, which nobody looks at before it is there.
const HANDLER: u64 = CODE + 0x100;

impl Caller {
    fn handle(&mut self, signal: u64, flags: u64) {
        self.write(DATA, &[HANDLER, flags, 0, 0].map(u64::to_le_bytes).concat());
        assert_eq!(self.call(SIGACTION, &[signal, DATA, 0, 8]), 0, "a handler");
    }

    fn word(&mut self, address: u64) -> u64 {
        u64::from_le_bytes(self.read(address, 8).try_into().expect("8 bytes"))
    }

    fn cpu(&mut self) -> Cpu {
        self.machine.cpu(0).unwrap()
    }
}

/// Where things are in a frame, as `asm/sigcontext.h` and `asm/ucontext.h` have it.
const UCONTEXT: u64 = 128;
const REGISTERS: u64 = UCONTEXT + 184;
const SP: u64 = REGISTERS + 31 * 8;
const EXTENSIONS: u64 = UCONTEXT + 176 + 288;

#[test]
fn a_frame_is_what_linux_pushes() {
    let mut caller = Caller::new();
    caller.handle(SIGUSR1, SA_SIGINFO);
    let mut cpu = caller.cpu();
    (8..31).for_each(|n| cpu.set_x(n, 1000 + u64::from(n)));
    cpu.v[31] = 3 << 64 | 7;
    (cpu.fpcr, cpu.fpsr, cpu.nzcv) = (1 << 24, 16, 0b1010);
    caller.machine.set_cpu(0, &cpu).unwrap();
    let sp = cpu.sp;
    assert_eq!(caller.call(KILL, &[0, SIGUSR1]), SIGUSR1 as i64, "X0 is the number");
    let (now, frame) = (caller.cpu(), caller.cpu().sp);
    assert_eq!(
        (now.pc, now.x(1), now.x(2)),
        (HANDLER, frame, frame + UCONTEXT),
        "the handler and its arguments"
    );
    assert_eq!((frame % 16, sp - frame), (0, 4688 + 16), "128 + 4560 bytes, and a record of X29 and X30");
    assert_eq!(now.x(29), frame + 4688, "where that is");
    assert_eq!([caller.word(now.x(29)), caller.word(now.x(29) + 8)], [1029, 1030], "what is in it");
    assert_eq!(caller.word(frame), SIGUSR1, "the number, and no error");
    assert_eq!(caller.word(frame + 16), 1, "who has sent it");
    assert_eq!(
        [caller.word(REGISTERS + frame), caller.word(REGISTERS + frame + 8 * 30)],
        [0, 1030],
        "X0, X30"
    );
    let state = [0, 8, 16].map(|at| caller.word(frame + SP + at));
    assert_eq!(state, [sp, CODE + 4, 0b1010 << 28], "stack pointer, program counter, flags");
    let extensions = [0, 8, 16 + 31 * 16, 24 + 31 * 16, 528].map(|at| caller.word(frame + EXTENSIONS + at));
    let fpsimd = 528 << 32 | 0x4650_8001;
    assert_eq!(extensions, [fpsimd, 1 << 56 | 16, 7, 3, 0], "the vectors, and nothing behind them");
    // The trampoline takes it all back.
    let mut cpu = Cpu::new(now.x(30), frame);
    cpu.steps = now.steps;
    caller.machine.set_cpu(0, &cpu).unwrap();
    caller.machine.resume(0).unwrap();
    caller.machine.run(2).unwrap();
    let back = caller.cpu();
    assert_eq!(
        (back.pc, back.sp, back.x(0), back.x(30), back.nzcv),
        (CODE + 4, sp, 0, 1030, 0b1010),
        "registers"
    );
    assert_eq!((back.v[31], back.fpcr, back.fpsr), (3 << 64 | 7, 1 << 24, 16), "vectors");
}

#[test]
fn without_floating_point_a_frame_has_no_vectors() {
    let mut caller = Caller::of(Machine::builder(program()).features(Features::ARMV8_0));
    caller.handle(SIGUSR1, SA_SIGINFO);
    caller.call(KILL, &[0, SIGUSR1]);
    let frame = caller.cpu().sp;
    assert_eq!(caller.word(frame + EXTENSIONS), 0, "nothing");
    let mut cpu = caller.cpu();
    cpu.pc = cpu.x(30);
    caller.machine.set_cpu(0, &cpu).unwrap();
    caller.machine.run(2).unwrap();
    assert_eq!(caller.cpu().pc, CODE + 4, "and it returns");
}

#[test]
fn a_handler_without_a_stack_ends_the_lane() {
    for sp in [0, 8, DATA + 16, u64::MAX, 1 << 47, CODE + 0x1000] {
        let mut caller = Caller::new();
        caller.handle(SIGUSR1, 0);
        let mut cpu = caller.cpu();
        cpu.sp = sp;
        caller.machine.set_cpu(0, &cpu).unwrap();
        let stop = caller.try_call(KILL, &[0, SIGUSR1]);
        assert_eq!(stop, Err(Stop::Exit { code: 139 }), "with the stack pointer at {sp:#x}");
    }
}

#[test]
fn a_frame_that_lacks_page_frames_is_pushed_later() {
    let mut caller = Caller::of(Machine::builder(program()).frames_max(2));
    caller.handle(SIGUSR1, 0);
    assert_eq!(caller.try_call(KILL, &[0, SIGUSR1]), Err(Stop::OutOfFrames), "the stack takes two more");
    let steps = caller.cpu().steps;
    caller.machine.set_frames_max(4).unwrap();
    caller.machine.run(1).unwrap();
    assert_eq!((caller.cpu().pc, caller.cpu().steps), (HANDLER, steps + 1), "once");
    let frame = caller.cpu().sp;
    assert_eq!(caller.word(frame + UCONTEXT + 40), 0, "nothing was blocked before");
}

#[test]
fn what_is_no_frame_ends_the_lane() {
    let good = || {
        let mut caller = Caller::new();
        caller.handle(SIGUSR1, SA_SIGINFO);
        caller.call(KILL, &[0, SIGUSR1]);
        let frame = caller.cpu().sp;
        (caller, frame)
    };
    let (mut caller, _) = good();
    assert!(caller.try_call(SIGRETURN, &[]).is_ok(), "a good one");
    // Another mode, no vectors, vectors of another size, something unknown.
    let pstate = SP + 16;
    let changes =
        [(pstate, 5), (EXTENSIONS, 0), (EXTENSIONS, 0x4650_8001 | 8 << 32), (EXTENSIONS, 77 | 16 << 32)];
    for (at, word) in changes {
        let (mut caller, frame) = good();
        caller.write(frame + at, &u64::to_le_bytes(word));
        let stop = caller.try_call(SIGRETURN, &[]);
        assert_eq!(stop, Err(Stop::Exit { code: 139 }), "{word:#x} at {at:#x}");
    }
    for sp in [1, DATA + 8, 1 << 47, DATA + DATA_BYTES - 16] {
        let (mut caller, _) = good();
        let mut cpu = caller.cpu();
        cpu.sp = sp;
        caller.machine.set_cpu(0, &cpu).unwrap();
        assert_eq!(caller.try_call(SIGRETURN, &[]), Err(Stop::Exit { code: 139 }), "at {sp:#x}");
    }
}

#[test]
fn a_fault_is_a_signal_if_it_is_handled_and_a_stop_otherwise() {
    // ldr x0, [x0]
    let mut program = program();
    program.segments[0].data[..4].copy_from_slice(&0xf940_0000_u32.to_le_bytes());
    let faulting = || {
        let mut machine = Machine::builder(program.clone()).build().unwrap();
        let mut cpu = machine.cpu(0).unwrap();
        cpu.set_x(0, 0x1238);
        machine.set_cpu(0, &cpu).unwrap();
        machine
    };
    let mut machine = faulting();
    machine.run(10).unwrap();
    let Some(Stop::Fault(fault)) = machine.stop(0).unwrap() else { panic!("it faults") };
    assert_eq!(fault.address, 0x1238, "where it does");
    // The same with a handler: the code is at another place, as the call is made there.
    let mut caller = Caller { machine: faulting() };
    let call = 0xd400_0001_u32.to_le_bytes();
    caller.write(CODE + 8, &call);
    caller.write(DATA, &[HANDLER, SA_SIGINFO, 0, 0].map(u64::to_le_bytes).concat());
    let mut cpu = caller.cpu();
    cpu.pc = CODE + 8;
    for (n, value) in [(0, SIGSEGV), (1, DATA), (2, 0), (3, 8), (8, SIGACTION)] {
        cpu.set_x(n, value);
    }
    caller.machine.set_cpu(0, &cpu).unwrap();
    caller.machine.run(1).unwrap();
    let mut cpu = caller.cpu();
    assert_eq!((cpu.x(0), cpu.pc), (0, CODE + 12), "there is a handler");
    cpu.pc = CODE;
    cpu.set_x(0, 0x1238);
    caller.machine.set_cpu(0, &cpu).unwrap();
    let report = caller.machine.run(0).unwrap();
    assert_eq!(report.steps, 0, "nothing yet");
    caller.machine.run(1).unwrap();
    let frame = caller.cpu().sp;
    assert_eq!(
        [caller.word(frame), caller.word(frame + 8), caller.word(frame + 16)],
        [11, 1, 0x1238],
        "MAPERR"
    );
    assert_eq!(caller.word(frame + REGISTERS - 8), 0x1238, "the address again");
    let esr = [528, 536].map(|at| caller.word(frame + EXTENSIONS + at));
    assert_eq!(esr, [16 << 32 | 0x4553_5201, 0x9200_0007], "a data abort, a read, at level 3");
    assert_eq!(caller.word(frame + SP + 8), CODE, "the instruction has not retired");
}

#[test]
fn a_fault_in_a_handler_of_faults_stops_the_lane() {
    let mut caller = Caller::new();
    caller.handle(SIGSEGV, 0);
    // The handler is zeros, which are undefined, and nobody handles that.
    let mut cpu = caller.cpu();
    cpu.pc = 0;
    caller.machine.set_cpu(0, &cpu).unwrap();
    caller.machine.resume(0).unwrap();
    caller.machine.run(100).unwrap();
    assert_eq!(caller.machine.stop(0).unwrap(), Some(Stop::Undefined { word: 0 }), "in the handler");
    assert_eq!(caller.cpu().pc, HANDLER, "where it is");
    // One that handles itself for ever ends when the stack does, in the time of its frames.
    let mut caller = Caller::of(Machine::builder(program()).stack_bytes(1 << 20));
    caller.write(DATA, &[8, 0x4000_0000, 0, 0].map(u64::to_le_bytes).concat());
    assert_eq!(caller.call(SIGACTION, &[SIGSEGV, DATA, 0, 8]), 0, "a handler that is not mapped");
    let mut cpu = caller.cpu();
    cpu.pc = 0;
    caller.machine.set_cpu(0, &cpu).unwrap();
    caller.machine.resume(0).unwrap();
    caller.machine.run(1 << 40).unwrap();
    assert_eq!(caller.machine.stop(0).unwrap(), Some(Stop::Exit { code: 139 }), "no stack is left");
}

#[test]
fn signals_wait_in_a_queue_that_ends() {
    let mut caller = Caller::new();
    caller.write(DATA, &u64::MAX.to_le_bytes());
    assert_eq!(caller.call(SIGPROCMASK, &[2, DATA, 0, 8]), 0, "all are blocked");
    for _ in 0..3 {
        assert_eq!(caller.call(KILL, &[0, 15]), 0, "one waits");
    }
    let sent = (0..2000).take_while(|_| caller.call(KILL, &[0, 40]) == 0).count();
    assert_eq!(sent, 1023, "with that one as many as may");
    assert_eq!(caller.call(KILL, &[0, 41]), -11, "EAGAIN");
    assert_eq!(caller.try_call(KILL, &[0, 9]), Err(Stop::Exit { code: 137 }), "but this cannot wait");
}

#[test]
fn what_is_ignored_does_not_wait_any_more() {
    let mut caller = Caller::new();
    caller.write(DATA, &(1_u64 << (SIGUSR1 - 1)).to_le_bytes());
    assert_eq!(caller.call(SIGPROCMASK, &[0, DATA, 0, 8]), 0, "it is blocked");
    assert_eq!(caller.call(KILL, &[0, SIGUSR1]), 0, "it waits");
    caller.write(DATA, &[1_u64, 0, 0, u64::MAX].map(u64::to_le_bytes).concat());
    assert_eq!(caller.call(SIGACTION, &[SIGUSR1, DATA, 0, 8]), 0, "it is ignored");
    assert_eq!(caller.call(136, &[DATA, 8]), 0, "rt_sigpending");
    assert_eq!(caller.word(DATA), 0, "it is gone");
    assert_eq!(caller.call(SIGACTION, &[SIGUSR1, 0, DATA, 8]), 0, "what is done with it");
    assert_eq!(caller.word(DATA + 24), !(1 << 8 | 1 << 18), "nobody blocks SIGKILL and SIGSTOP");
}

#[test]
fn a_stack_may_be_forgotten_when_a_handler_begins() {
    const SA_ONSTACK: u64 = 0x0800_0000;
    const SS_AUTODISARM: u64 = 1 << 31;
    let mut caller = Caller::of(Machine::builder(program()).stack_bytes(1 << 20));
    let (stack, sp) = (caller.cpu().sp - (1 << 16), caller.cpu().sp);
    caller.handle(SIGUSR1, SA_SIGINFO | SA_ONSTACK);
    caller.write(DATA, &[stack, SS_AUTODISARM, 1 << 13].map(u64::to_le_bytes).concat());
    assert_eq!(caller.call(SIGALTSTACK, &[DATA, 0]), 0, "a stack");
    caller.call(KILL, &[0, SIGUSR1]);
    let frame = caller.cpu().sp;
    assert_eq!(frame, stack + (1 << 13) - 4704, "the handler runs on it");
    assert_eq!(caller.call(SIGALTSTACK, &[0, DATA]), 0, "what is it now");
    assert_eq!(caller.word(DATA + 8), 2, "there is none");
    caller.call(SIGRETURN, &[]);
    assert_eq!(caller.cpu().sp, sp, "back");
    assert_eq!(caller.call(SIGALTSTACK, &[0, DATA]), 0, "what is it now");
    assert_eq!([caller.word(DATA), caller.word(DATA + 8)], [stack, SS_AUTODISARM], "it is there again");
}

#[test]
fn a_reset_takes_handlers_back() {
    let mut caller = Caller::new();
    caller.machine.snapshot().unwrap();
    caller.handle(SIGUSR1, 0);
    caller.write(DATA, &[DATA, 0, 1 << 13].map(u64::to_le_bytes).concat());
    assert_eq!(caller.call(SIGALTSTACK, &[DATA, 0]), 0, "and a stack");
    caller.machine.reset(&[0]).unwrap();
    assert_eq!(caller.try_call(KILL, &[0, SIGUSR1]), Err(Stop::Exit { code: 138 }), "there is no handler");
    assert_eq!(caller.machine.registers(Register::Steps).unwrap(), [1], "one call");
}
