//! Tests of signals whose results a guest that also runs under QEMU could not compare exactly: frames, bad stacks,
//! exits.

use kvrm_machine::{Cpu, Features, Machine, Register, Stop};

use crate::support::{CODE, Caller, DATA, DATA_BYTES, program};

const KILL: u64 = 129;
const SIGALTSTACK: u64 = 132;
const SIGACTION: u64 = 134;
const SIGPROCMASK: u64 = 135;
const SIGRETURN: u64 = 139;
const SIGUSR1: u64 = 10;
const SIGSEGV: u64 = 11;
/// Passes `siginfo_t` and `ucontext` to the handler, too.
const SA_SIGINFO: u64 = 4;

/// The address of a handler. Its code does not matter before the lane is there.
const HANDLER: u64 = CODE + 0x100;

impl Caller {
    fn handle(&mut self, signal: u64, flags: u64) {
        self.write(DATA, &[HANDLER, flags, 0, 0].map(u64::to_le_bytes).concat());
        assert_eq!(self.call(SIGACTION, &[signal, DATA, 0, 8]), 0, "set a handler");
    }

    fn word(&mut self, address: u64) -> u64 {
        u64::from_le_bytes(self.read(address, 8).try_into().expect("8 bytes"))
    }

    fn cpu(&mut self) -> Cpu {
        self.machine.cpu(0).unwrap()
    }
}

/// Offsets in a signal frame, from `asm/sigcontext.h` and `asm/ucontext.h`.
const UCONTEXT: u64 = 128;
const REGISTERS: u64 = UCONTEXT + 184;
const SP: u64 = REGISTERS + 31 * 8;
const EXTENSIONS: u64 = UCONTEXT + 176 + 288;

#[test]
fn a_signal_frame_has_the_layout_of_linux() {
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
    assert_eq!(now.x(29), frame + 4688, "X29 is the address of the frame record");
    assert_eq!(
        [caller.word(now.x(29)), caller.word(now.x(29) + 8)],
        [1029, 1030],
        "the interrupted X29 and X30"
    );
    assert_eq!(caller.word(frame), SIGUSR1, "the number, and no error");
    assert_eq!(caller.word(frame + 16), 2, "the sender");
    assert_eq!(
        [caller.word(REGISTERS + frame), caller.word(REGISTERS + frame + 8 * 30)],
        [0, 1030],
        "X0, X30"
    );
    let state = [0, 8, 16].map(|at| caller.word(frame + SP + at));
    assert_eq!(state, [sp, CODE + 4, 0b1010 << 28], "stack pointer, program counter, flags");
    let extensions = [0, 8, 16 + 31 * 16, 24 + 31 * 16, 528].map(|at| caller.word(frame + EXTENSIONS + at));
    let fpsimd = 528 << 32 | 0x4650_8001;
    assert_eq!(extensions, [fpsimd, 1 << 56 | 16, 7, 3, 0], "the FPSIMD record, then the end of the list");
    // The trampoline calls `rt_sigreturn`, which restores everything.
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
    assert_eq!(caller.cpu().pc, CODE + 4, "the handler returns");
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
fn a_signal_frame_is_pushed_later_if_frames_have_run_out() {
    let mut caller = Caller::of(Machine::builder(program()).frames_max(2));
    caller.handle(SIGUSR1, 0);
    assert_eq!(
        caller.try_call(KILL, &[0, SIGUSR1]),
        Err(Stop::OutOfFrames),
        "the signal frame needs two more frames"
    );
    let steps = caller.cpu().steps;
    caller.machine.set_frames_max(4).unwrap();
    caller.machine.run(1).unwrap();
    assert_eq!((caller.cpu().pc, caller.cpu().steps), (HANDLER, steps), "the call has retired before");
    let frame = caller.cpu().sp;
    assert_eq!(caller.word(frame + UCONTEXT + 40), 0, "nothing was blocked before");
}

#[test]
fn an_invalid_signal_frame_ends_the_lane() {
    let good = || {
        let mut caller = Caller::new();
        caller.handle(SIGUSR1, SA_SIGINFO);
        caller.call(KILL, &[0, SIGUSR1]);
        let frame = caller.cpu().sp;
        (caller, frame)
    };
    let (mut caller, _) = good();
    assert!(caller.try_call(SIGRETURN, &[]).is_ok(), "a valid frame");
    // Another mode, no FPSIMD record, an FPSIMD record of another size, an unknown record.
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
    let Some(Stop::Fault(fault)) = machine.stop(0).unwrap() else { panic!("the lane stops with a fault") };
    assert_eq!(fault.address, 0x1238, "the address of the fault");
    // The same fault with a handler. The `svc` that sets the handler is at CODE + 8, because the load is at CODE.
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
    assert_eq!((cpu.x(0), cpu.pc), (0, CODE + 12), "the handler is set");
    cpu.pc = CODE;
    cpu.set_x(0, 0x1238);
    caller.machine.set_cpu(0, &cpu).unwrap();
    let report = caller.machine.run(0).unwrap();
    assert_eq!(report.steps, 0, "no step is retired");
    caller.machine.run(1).unwrap();
    let frame = caller.cpu().sp;
    assert_eq!(
        [caller.word(frame), caller.word(frame + 8), caller.word(frame + 16)],
        [11, 1, 0x1238],
        "MAPERR"
    );
    assert_eq!(caller.word(frame + REGISTERS - 8), 0x1238, "the address of the fault");
    let esr = [528, 536].map(|at| caller.word(frame + EXTENSIONS + at));
    assert_eq!(esr, [16 << 32 | 0x4553_5201, 0x9200_0007], "a data abort, a read, at level 3");
    assert_eq!(caller.word(frame + SP + 8), CODE, "the instruction has not retired");
}

#[test]
fn a_fault_in_a_handler_of_faults_stops_the_lane() {
    let mut caller = Caller::new();
    caller.handle(SIGSEGV, 0);
    // The handler consists of zeros, which are undefined, and SIGILL has no handler.
    let mut cpu = caller.cpu();
    cpu.pc = 0;
    caller.machine.set_cpu(0, &cpu).unwrap();
    caller.machine.resume(0).unwrap();
    caller.machine.run(100).unwrap();
    assert_eq!(caller.machine.stop(0).unwrap(), Some(Stop::Undefined { word: 0 }), "the stop of the handler");
    assert_eq!(caller.cpu().pc, HANDLER, "the lane is in the handler");
    // A handler that faults again and again ends when its frames have filled the stack.
    let mut caller = Caller::of(Machine::builder(program()).stack_bytes(1 << 20));
    caller.write(DATA, &[8, 0x4000_0000, 0, 0].map(u64::to_le_bytes).concat());
    assert_eq!(caller.call(SIGACTION, &[SIGSEGV, DATA, 0, 8]), 0, "a handler that is not mapped");
    let mut cpu = caller.cpu();
    cpu.pc = 0;
    caller.machine.set_cpu(0, &cpu).unwrap();
    caller.machine.resume(0).unwrap();
    caller.machine.run(1 << 40).unwrap();
    assert_eq!(caller.machine.stop(0).unwrap(), Some(Stop::Exit { code: 139 }), "the stack is full");
}

#[test]
fn pending_signals_are_limited() {
    let mut caller = Caller::new();
    caller.write(DATA, &u64::MAX.to_le_bytes());
    assert_eq!(caller.call(SIGPROCMASK, &[2, DATA, 0, 8]), 0, "block all signals");
    for _ in 0..3 {
        assert_eq!(caller.call(KILL, &[0, 15]), 0, "SIGTERM is pending once");
    }
    let sent = (0..2000).take_while(|_| caller.call(KILL, &[0, 40]) == 0).count();
    assert_eq!(sent, 1023, "1,024 signals are pending with that one");
    assert_eq!(caller.call(KILL, &[0, 41]), -11, "EAGAIN");
    assert_eq!(caller.try_call(KILL, &[0, 9]), Err(Stop::Exit { code: 137 }), "SIGKILL cannot be blocked");
}

#[test]
fn ignoring_a_signal_discards_it() {
    let mut caller = Caller::new();
    caller.write(DATA, &(1_u64 << (SIGUSR1 - 1)).to_le_bytes());
    assert_eq!(caller.call(SIGPROCMASK, &[0, DATA, 0, 8]), 0, "block the signal");
    assert_eq!(caller.call(KILL, &[0, SIGUSR1]), 0, "the signal is pending");
    caller.write(DATA, &[1_u64, 0, 0, u64::MAX].map(u64::to_le_bytes).concat());
    assert_eq!(caller.call(SIGACTION, &[SIGUSR1, DATA, 0, 8]), 0, "ignore the signal");
    assert_eq!(caller.call(136, &[DATA, 8]), 0, "rt_sigpending");
    assert_eq!(caller.word(DATA), 0, "no signal is pending");
    assert_eq!(caller.call(SIGACTION, &[SIGUSR1, 0, DATA, 8]), 0, "read the action");
    assert_eq!(caller.word(DATA + 24), !(1 << 8 | 1 << 18), "SIGKILL and SIGSTOP cannot be blocked");
}

#[test]
fn a_handler_disables_a_stack_with_autodisarm() {
    const SA_ONSTACK: u64 = 0x0800_0000;
    const SS_AUTODISARM: u64 = 1 << 31;
    let mut caller = Caller::of(Machine::builder(program()).stack_bytes(1 << 20));
    let (stack, sp) = (caller.cpu().sp - (1 << 16), caller.cpu().sp);
    caller.handle(SIGUSR1, SA_SIGINFO | SA_ONSTACK);
    caller.write(DATA, &[stack, SS_AUTODISARM, 1 << 13].map(u64::to_le_bytes).concat());
    assert_eq!(caller.call(SIGALTSTACK, &[DATA, 0]), 0, "set a signal stack");
    caller.call(KILL, &[0, SIGUSR1]);
    let frame = caller.cpu().sp;
    assert_eq!(frame, stack + (1 << 13) - 4704, "the handler runs on it");
    assert_eq!(caller.call(SIGALTSTACK, &[0, DATA]), 0, "read the signal stack");
    assert_eq!(caller.word(DATA + 8), 2, "the stack is disabled");
    caller.call(SIGRETURN, &[]);
    assert_eq!(caller.cpu().sp, sp, "back");
    assert_eq!(caller.call(SIGALTSTACK, &[0, DATA]), 0, "read the signal stack");
    assert_eq!([caller.word(DATA), caller.word(DATA + 8)], [stack, SS_AUTODISARM], "the stack is restored");
}

#[test]
fn a_reset_restores_signal_handlers() {
    let mut caller = Caller::new();
    caller.machine.snapshot().unwrap();
    caller.handle(SIGUSR1, 0);
    caller.write(DATA, &[DATA, 0, 1 << 13].map(u64::to_le_bytes).concat());
    assert_eq!(caller.call(SIGALTSTACK, &[DATA, 0]), 0, "set a signal stack");
    caller.machine.reset(&[0]).unwrap();
    assert_eq!(
        caller.try_call(KILL, &[0, SIGUSR1]),
        Err(Stop::Exit { code: 138 }),
        "the reset has removed the handler"
    );
    assert_eq!(caller.machine.registers(Register::Steps).unwrap(), [1], "one call");
}

#[test]
fn owners_of_asynchronous_files_get_a_signal_when_they_become_ready() {
    const SIGIO: u64 = 1 << 28;
    let mut caller = Caller::new();
    assert_eq!(caller.call(59, &[DATA, 0]), 0, "pipe2");
    caller.write(DATA + 16, &SIGIO.to_le_bytes());
    assert_eq!(caller.call(135, &[0, DATA + 16, 0, 8]), 0, "rt_sigprocmask blocks SIGIO");
    let pending = |caller: &mut Caller| {
        assert_eq!(caller.call(64, &[4, DATA, 1]), 1, "write");
        assert_eq!(caller.call(136, &[DATA + 32, 8]), 0, "rt_sigpending");
        u64::from_le_bytes(caller.read(DATA + 32, 8).try_into().expect("eight bytes"))
    };
    let own = caller.call(172, &[]);
    assert_eq!(caller.call(25, &[3, 8, own as u64]), 0, "F_SETOWN");
    assert_eq!(caller.call(25, &[3, 9]), own, "F_GETOWN");
    assert_eq!(caller.call(25, &[3, 8, 12_345]), -3, "F_SETOWN of no process");
    assert_eq!(pending(&mut caller), 0, "no signal without O_ASYNC");
    caller.write(DATA + 16, &1_u32.to_le_bytes());
    assert_eq!(caller.call(29, &[3, 0x5452, DATA + 16]), 0, "FIOASYNC");
    assert_eq!(caller.call(25, &[3, 3]), 0o20_000, "F_GETFL");
    assert_eq!(pending(&mut caller), SIGIO, "a signal");
}
