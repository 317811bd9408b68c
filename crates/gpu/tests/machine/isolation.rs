//! Isolation of lanes: a hostile lane does not affect its neighbours.

use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_arm64::asm::{Assembler, X0, X1, X2, X3, X4, X5, at};
use kvrm_machine::{Executor, Factory, Image, Plan};

use crate::support::{CODE, Gpu, Lane, PAGE, lanes, raw};

/// The number of lanes. One in seven can be hostile, so each has neighbours in its workgroup and in others.
const LANES: usize = 150;

/// Returns the image of the lanes, and the address of the hostile code in it. That overwrites all memory, and its own
/// code at last.
fn image() -> (Arc<Image>, u64) {
    let mut hostile = 0;
    let image = raw(|a: &mut Assembler| {
        // The well-behaved code adds to words in several pages, its own code included, and sums them up, several times.
        let (again, inner) = (a.label(), a.label());
        a.bind(again);
        a.mov(X1, (CODE + PAGE) as i64).mov(X2, 12);
        a.bind(inner);
        a.ldr(X3, at(X1, 0)).add(X3, X3, X0).str(X3, at(X1, 0)).add(X4, X4, X3);
        a.add(X1, X1, 0x808).subs(X2, X2, 1).b_cond("ne", inner);
        a.sub(X0, X0, 1).cbnz(X0, again).hlt(1);

        hostile = a.here();
        let words = a.label();
        // The hostile code writes from the last page of memory down to itself.
        a.mov(X5, -1).mov(X1, (CODE + 16 * PAGE) as i64);
        a.bind(words);
        a.sub(X1, X1, 8).str(X5, at(X1, 0)).b(words);
    });
    (image, hostile)
}

fn run(hostile: bool) -> Vec<Lane> {
    let (image, evil) = image();
    let mut executor: Box<dyn Executor> = Gpu
        .executor(&Plan { images: &[image], lanes: LANES, frames_max: 16, calls: None, loops: None })
        .expect("the lanes fit");
    for lane in 0..LANES {
        let mut cpu = executor.cpu(lane).expect("the GPU works");
        cpu.pc = if hostile && lane % 7 == 3 { evil } else { CODE };
        cpu.set_x(0, 3 + lane as u64 % 5);
        executor.set_cpu(lane, &cpu).expect("the GPU works");
    }
    executor.run(&[30_000; LANES], &mut |_| ControlFlow::Continue(())).expect("the GPU works");
    lanes(&mut *executor)
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_hostile_lane_changes_no_other() {
    let (quiet, loud) = (run(false), run(true));
    for (lane, (quiet, loud)) in quiet.iter().zip(&loud).enumerate() {
        if lane % 7 == 3 {
            assert_eq!(loud.private_pages.len(), 16, "lane {lane} has written all of its pages");
        } else {
            assert_eq!(quiet, loud, "lane {lane} without and with hostile neighbours");
        }
    }
}
