//! Advisors decide which loops the checker looks at, and when.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use kvrm_machine::{
    CounterClaim, LoopAdvice, LoopAdvisor, LoopCandidate, LoopClaim, LoopEntry, LoopOpinion, Loops, Machine,
    Program, Register,
};

/// The iterations of each loop.
const ITERATIONS: u64 = 1 << 20;

/// Two countdowns of x0 with the same words, and then one of x1.
fn program() -> Program {
    let words = [
        0xd2a0_0200, // movz x0, #16, lsl #16
        0xf100_0400, // subs x0, x0, #1
        0x54ff_ffe1, // b.ne
        0xd2a0_0200,
        0xf100_0400,
        0x54ff_ffe1,
        0xd2a0_0201, // movz x1, #16, lsl #16
        0xd100_0421, // sub x1, x1, #1
        0xb5ff_ffe1, // cbnz x1
        0xd440_0000, // hlt #0
    ];
    Program::from_code(0x1000, &words).expect("the code fits")
}

/// Returns the program in some lanes after its run.
fn run(loops: &Loops, lanes: usize) -> Machine {
    let mut machine =
        Machine::builder(program()).lanes(lanes).loops(loops.clone()).build().expect("the program fits");
    machine.run(u64::MAX).expect("it works");
    let steps = machine.registers(Register::Steps).expect("there are lanes");
    assert_eq!(steps, vec![3 * 2 * ITERATIONS + 3; lanes], "as stepped");
    machine
}

/// Proposes all loops, and claims that x0 goes up. It counts the bodies.
#[derive(Debug, Default)]
struct Counting(Arc<AtomicUsize>);

impl LoopAdvisor for Counting {
    fn advise(&self, candidates: &[LoopCandidate<'_>]) -> Vec<LoopAdvice> {
        self.0.fetch_add(candidates.len(), Ordering::Relaxed);
        let claim = LoopClaim::new(None, None, Some(CounterClaim { register: 0, rises: Some(true) }));
        let opinion = LoopOpinion::new("test".into(), "x0 goes up".into(), Some(1.0)).with_claim(claim);
        candidates.iter().map(|_| LoopAdvice::new(true, vec![opinion.clone()])).collect()
    }
}

#[test]
fn each_body_is_asked_about_once() {
    let bodies = Arc::<AtomicUsize>::default();
    let loops = Loops::advised_at_once("counting", Counting(Arc::clone(&bodies)));
    run(&loops, 1);
    let report = loops.report();
    assert_eq!((bodies.load(Ordering::Relaxed), report.advised), (2, 2), "two loops have the same words");
    assert_eq!((report.candidates, report.proposed, report.proved, report.waiting), (3, 3, 3, 0));
    assert_eq!(report.disagreed, 3, "no loop counts x0 up");
    assert!(report.credited_steps > 5 * ITERATIONS, "{report}");
    assert!(report.first_seconds.is_some_and(|seconds| seconds > 0.0), "{report}");
    assert!(loops.hot().iter().all(|of| of.disagrees && of.opinions.len() == 1));
}

/// Answers when it is told to.
#[derive(Debug)]
struct Waiting {
    /// The numbers of candidates that it was asked about.
    asked: Mutex<Sender<usize>>,
    go: Mutex<Receiver<()>>,
}

impl LoopAdvisor for Waiting {
    fn advise(&self, candidates: &[LoopCandidate<'_>]) -> Vec<LoopAdvice> {
        self.asked.lock().unwrap().send(candidates.len()).unwrap();
        // An error means that the test is over.
        let _: Result<(), _> = self.go.lock().unwrap().recv();
        vec![LoopAdvice::new(true, Vec::new()); candidates.len()]
    }
}

#[test]
fn lanes_go_on_until_there_is_advice() {
    let (asked, questions) = channel();
    let (answer, go) = channel();
    let loops = Loops::advised("waiting", Waiting { asked: Mutex::new(asked), go: Mutex::new(go) });
    drop(run(&loops, 3));
    assert_eq!(questions.recv(), Ok(1), "the first body");
    let report = loops.report();
    assert_eq!((report.candidates, report.waiting, report.proposed), (3, 3, 0), "{report}");
    assert_eq!(report.credited_steps, 0, "all lanes stepped to their ends");

    answer.send(()).unwrap();
    assert_eq!(questions.recv(), Ok(1), "the second body");
    answer.send(()).unwrap();
    while loops.report().advised < 2 {
        std::thread::yield_now();
    }
    drop(run(&loops, 3));
    let report = loops.report();
    assert_eq!((report.candidates, report.waiting, report.proved), (3, 0, 3), "{report}");
    assert!(report.credited_steps > 5 * ITERATIONS, "{report}");
    assert_eq!(report.advised, 2, "no body is asked about again");
}

/// Proposes all loops, and remembers the entries of which it hears: their heads, distances, steps and iterations.
#[derive(Debug, Default)]
struct Hearing(Mutex<Vec<[u64; 4]>>);

impl LoopAdvisor for Hearing {
    fn advise(&self, candidates: &[LoopCandidate<'_>]) -> Vec<LoopAdvice> {
        vec![LoopAdvice::new(true, Vec::new()); candidates.len()]
    }

    fn hears(&self) -> bool {
        true
    }

    fn hear(&self, entry: &LoopEntry<'_>) {
        assert_eq!(entry.words.len(), 2, "each loop has two words");
        let LoopEntry { head, distance, step, iterations, .. } = *entry;
        self.0.lock().unwrap().push([head, distance, step, iterations]);
    }
}

#[test]
fn an_advisor_hears_of_the_loops_of_one_lane() {
    let advisor = Arc::<Hearing>::default();
    let loops = Loops::advised_at_once("hearing", Arc::clone(&advisor));
    let first = run(&loops, 3);
    let heard = advisor.0.lock().unwrap().clone();
    let heads: Vec<u64> = heard.iter().map(|entry| entry[0]).collect();
    assert!([0x1004, 0x1010, 0x101c].iter().all(|head| heads.contains(head)), "{heads:x?}");
    assert!(heads.is_sorted(), "those of one lane: {heads:x?}");
    for [_, distance, step, iterations] in &heard {
        assert!(*iterations <= ITERATIONS && *step == 1, "{heard:?}");
        assert!(distance.abs_diff(*iterations) <= 1, "a countdown by one: {heard:?}");
    }

    let second = run(&loops, 1);
    assert_eq!(advisor.0.lock().unwrap().len(), heard.len(), "another machine has the listener");
    drop((first, second));
    run(&loops, 1);
    assert!(advisor.0.lock().unwrap().len() > heard.len(), "until that is gone");
}

/// Proposes nothing, with fewer answers than questions. It tells when it is dropped.
#[derive(Debug)]
struct Silent(Arc<AtomicUsize>);

impl LoopAdvisor for Silent {
    fn advise(&self, _: &[LoopCandidate<'_>]) -> Vec<LoopAdvice> {
        Vec::new()
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn the_thread_ends_with_the_last_clone() {
    let dropped = Arc::<AtomicUsize>::default();
    let loops = Loops::advised("silent", Silent(Arc::clone(&dropped)));
    let machine = run(&loops, 2);
    drop(loops);
    assert_eq!(dropped.load(Ordering::Relaxed), 0, "the machine has a clone");
    drop(machine);
    assert_eq!(dropped.load(Ordering::Relaxed), 1, "the thread has ended, so nobody uses the advisor");
}

#[test]
fn no_advice_is_no_proposal() {
    let loops = Loops::advised_at_once("silent", Silent(Arc::default()));
    run(&loops, 1);
    let report = loops.report();
    assert_eq!((report.candidates, report.proposed, report.credited_steps), (3, 0, 0), "{report}");
    assert!(loops.hot().iter().all(|of| of.verdict == "not proposed"), "{:?}", loops.hot());
}
