//! x
use kvrm_machine::*;
fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    let program = Program::open(&a[0]).unwrap();
    let args: Vec<String> = a[1..].to_vec();
    let mut m = Machine::builder(program).arguments(move |_| args.clone()).build().unwrap();
    let r = m.run(u64::MAX).unwrap();
    println!("{} {:?} {} {}", a[0], m.stop(0).unwrap(), r.steps, String::from_utf8_lossy(m.output(0, Stream::Output).unwrap()));
}
