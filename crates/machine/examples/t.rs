use kvrm_machine::*;
fn main() {
    for p in std::env::args().skip(1) {
        let program = Program::open(&p).unwrap();
        let mut m = Machine::builder(program).build().unwrap();
        let r = m.run(u64::MAX).unwrap();
        println!("{p} {:?} {} steps {:.1} MIPS {}", m.stop(0).unwrap(), r.steps, r.steps_per_second()/1e6, String::from_utf8_lossy(m.output(0, Stream::Output).unwrap()));
    }
}
