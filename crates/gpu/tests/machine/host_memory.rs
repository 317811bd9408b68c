//! What the host reads and writes of lanes' memory, beside the reference.

use kvrm_arm64::Access;
use kvrm_arm64::asm::{X0, X1, at};
use kvrm_machine::{Permissions, Register, Stop};
use kvrm_testkit::random::Random;

use crate::support::{Both, CODE, DATA, PAGE, assemble, image, raw, segment};

/// Pages that may be read, written, executed, all, or none; holes between some; and the last page there is.
fn mixed(lanes: usize) -> Both {
    let bytes: Vec<u8> = (0..2 * PAGE).map(|i| (i * 7 / 8) as u8).collect();
    let none = Permissions { read: false, write: false, execute: false };
    let write = Permissions { read: false, write: true, execute: false };
    let code = assemble(|a| {
        a.ldr(X0, at(X1, 0)).add(X0, X0, 1).str(X0, at(X1, 0)).hlt(0);
    });
    let image = image(&[
        segment(CODE, PAGE, code, Permissions::RX),
        segment(DATA, 3 * PAGE, bytes.clone(), Permissions::RW),
        segment(DATA + 3 * PAGE, PAGE, bytes[..100].to_vec(), Permissions::R),
        segment(DATA + 4 * PAGE, PAGE, Vec::new(), write),
        segment(DATA + 5 * PAGE, PAGE, Vec::new(), none),
        segment(DATA + 7 * PAGE, PAGE, Vec::new(), Permissions::RWX),
        segment(0xffff_ffff_f000, PAGE, vec![1, 2, 3], Permissions::RW),
    ]);
    let mut both = Both::new(&[image], lanes, 6);
    for lane in 0..lanes {
        both.change(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(1, DATA + 8 * lane as u64);
        });
    }
    both
}

/// Addresses around the borders of [`mixed`].
fn address(random: &mut Random) -> u64 {
    let base = match random.below(16) {
        0 => CODE,
        1 => 0xffff_ffff_f000,
        2 => 1 << 48,
        3 => u64::MAX - 20,
        4 => 0,
        _ => DATA + PAGE * random.below(9),
    };
    base.wrapping_add(random.below(64)).wrapping_sub(32)
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn reads_and_writes_anywhere_of_any_length() {
    let lanes = 5;
    let mut both = mixed(lanes);
    let mut random = Random::new(9);
    let accesses = [None, None, Some(Access::Read), Some(Access::Write), Some(Access::Execute)];
    for round in 0..600 {
        let (lane, address) = (random.below(lanes as u64) as usize, address(&mut random));
        let bytes = match random.below(4) {
            0 => random.below(3 * PAGE),
            1 => PAGE,
            _ => random.below(40),
        } as usize;
        let access = *random.pick(&accesses);
        match random.below(8) {
            0..=2 => {
                let data: Vec<u8> = (0..bytes).map(|_| random.bits() as u8).collect();
                let what = format!("round {round}: {bytes} bytes written at {address:#x} as {access:?}");
                let _ = both.each(&what, |executor| executor.write_memory(lane, address, &data, access));
            }
            3..=5 => {
                let what = format!("round {round}: {bytes} bytes read at {address:#x} as {access:?}");
                both.each(&what, |executor| {
                    let mut out = vec![0; bytes];
                    let result = executor.read_memory(lane, address, &mut out, access)?;
                    // What a read that fails leaves in the buffer means nothing.
                    Ok(result.map(|()| out))
                })
                .ok();
            }
            6 => {
                let what = format!("round {round}: {bytes} bytes of all lanes at {address:#x}");
                both.each(&what, |executor| {
                    let mut out = vec![9];
                    let result = executor.read_memory_of_all(address, bytes, &mut out)?;
                    Ok(result.map(|()| out))
                })
                .ok();
            }
            _ => {
                both.each("a prefetch", |executor| {
                    executor.prefetch(&[(lane, address, bytes), (0, DATA, 10), (1, 0, 5)])
                });
            }
        }
        if round % 100 == 99 {
            both.run(round / 100);
            both.same(&format!("after round {round}"));
        }
    }
    both.each("frames", |executor| executor.frames_used());
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn writes_that_have_no_frames_write_nothing() {
    let mut both = mixed(2);
    for (address, bytes) in
        [(DATA, 3 * PAGE), (DATA + 3 * PAGE, 2 * PAGE), (DATA + 5 * PAGE, PAGE), (CODE, 4)]
    {
        let data = vec![0xee; bytes as usize];
        let _ = both.each("a write", |executor| executor.write_memory(0, address, &data, None));
    }
    let refused = both.each("a write", |executor| executor.write_memory(0, DATA + 7 * PAGE, &[1], None));
    assert_eq!(refused, Err(Stop::OutOfFrames), "six pages are written");
    let again = both.each("a write", |executor| executor.write_memory(0, DATA + 1, &[1], None));
    assert_eq!(again, Ok(()), "what is written can be written again");
    let lanes = both.same("at the end");
    assert_eq!((lanes[0].dirty.len(), lanes[1].dirty.len()), (6, 0), "pages of lane 0 only");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn guests_see_what_the_host_writes_and_the_host_what_they_write() {
    let mut both = mixed(3);
    for lane in 0..3 {
        let number = 1000 * lane as u64;
        let at = DATA + 8 * lane as u64;
        let write = |executor: &mut dyn kvrm_machine::Executor| {
            executor.write_memory(lane, at, &number.to_le_bytes(), None)
        };
        both.each("a write", write).expect("it is mapped");
    }
    both.run(10);
    both.same("after a run");
    for lane in 0..3 {
        let bytes = both.each("a read", |executor| {
            let mut out = [0; 8];
            executor.read_memory(lane, DATA + 8 * lane as u64, &mut out, None)?.expect("it is mapped");
            Ok(u64::from_le_bytes(out))
        });
        assert_eq!(bytes, 1000 * lane as u64 + 1, "one more than the host wrote");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn code_that_the_host_writes_is_what_runs() {
    let image = raw(|a| {
        a.add(X0, X0, 1).add(X0, X0, 1).hlt(0);
    });
    let mut both = Both::new(&[image], 3, 16);
    let code = assemble(|a| {
        a.add(X0, X0, 0x10).add(X0, X0, 0x20).hlt(7);
    });
    // Over code that never ran, code that ran, and part of an instruction; a whole program in a page of data.
    for (round, (at, bytes, pc)) in [
        (CODE + 4, &code[4..8], CODE),
        (CODE, &code[..4], CODE),
        (CODE + 1, &code[1..3], CODE),
        (CODE + 8, &code[8..], CODE),
        (CODE + 5 * PAGE - 8, &code[..], CODE + 5 * PAGE - 8),
        (CODE + 5 * PAGE - 8, &code[..], CODE + 5 * PAGE - 8),
    ]
    .into_iter()
    .enumerate()
    {
        both.each("a write", |executor| executor.write_memory(1, at, bytes, None)).expect("it is mapped");
        for lane in 0..3 {
            both.change(lane, |cpu| cpu.pc = if lane == 2 { CODE } else { pc });
            both.each("a stop", |executor| executor.set_stop(lane, None));
        }
        both.run(3);
        both.same(&format!("in round {round}"));
    }
    let x0 = both.each("the register", |executor| Ok(executor.cpu(1)?.x(0)));
    assert!(x0 >= 0x10, "new code ran: {x0:#x}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn registers_of_all_lanes_are_those_of_each() {
    let mut both = mixed(70);
    for lane in 0..70 {
        both.change(lane, |cpu| {
            let n = lane as u64;
            cpu.sp = n << 40;
            cpu.nzcv = lane as u32 % 16;
            (cpu.fpcr, cpu.fpsr) = (0x0100_0000, 0x0800_0000 | lane as u32);
            (cpu.tpidr_el0, cpu.tpidrro_el0, cpu.steps) = (!n, n, n * n);
            cpu.set_x(30, n << 60 | n);
        });
    }
    use Register::{Fpcr, Fpsr, Nzcv, Pc, Sp, Steps, TpidrEl0, X};
    for register in [X(0), X(1), X(30), X(31), Sp, Pc, Nzcv, Fpcr, Fpsr, TpidrEl0, Steps] {
        both.each(&format!("{register:?}"), |executor| {
            let mut out = vec![5];
            executor.registers(register, &mut out)?;
            Ok(out)
        });
    }
    both.same("after all");
}
