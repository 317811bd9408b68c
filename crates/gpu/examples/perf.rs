//! Scratch: speed of mix by lanes.
use std::time::Instant;
use kvrm_gpu::{Device, GpuExecutor};
use kvrm_machine::*;
struct Gpu(Device);
impl Factory for Gpu {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        GpuExecutor::new(&self.0, plan).map(|e| Box::new(e) as _).map_err(|e| Error::Engine(Box::new(e)))
    }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let device = Device::open(None).unwrap();
    println!("{}", device.info());
    let seconds: f64 = args[2].parse().unwrap();
    for lanes in args[3..].iter().map(|a| a.parse::<usize>().unwrap()) {
        let program = match args[1].as_str() {
            // add x0,x0,#1 ; add x1,x1,#2 ; eor x2,x0,x1 ; b .-12
            "alu" => raw(&[0x9100_0400, 0x9100_0821, 0xca01_0002, 0x17ff_fffd]),
            // str x0,[sp,#-16]! ; ldr x1,[sp],#16 ; add x0,x1,#1 ; b .-12 : with sp in the stack
            "mem" => raw(&[0xf81f_0fe0, 0xf841_07e1, 0x9100_0420, 0x17ff_fffd]),
            // subs x0,x0,#1 ; b.ne .-4 ; b .-8
            "flags" => raw(&[0xf100_0400, 0x54ff_ffe1, 0x17ff_fffe]),
            file => Program::open(file).unwrap(),
        };
        let t = Instant::now();
        let iterations = std::env::var("ARGUMENT").unwrap_or("1000000000000".into());
        let mut m = Machine::builder(program).lanes(lanes).engine(Gpu(device.clone()))
            .arguments(|lane| vec![iterations.clone(), (lane + 1).to_string()]).build().unwrap();
        let built = t.elapsed();
        let warm = m.run(20_000).unwrap();
        let warm = m.run(100_000.max((3_000_000 / lanes) as u64)).unwrap();
        let rate = warm.steps_per_second() / lanes as f64;
        let mut speeds = Vec::new();
        let mut dispatches = 0;
        for _ in 0..3 {
            let r = m.run((rate * seconds) as u64 + 1000).unwrap();
            speeds.push(r.steps_per_second() / 1e6);
            dispatches = r.dispatches;
            if r.stops.len() != 1 || !r.stops.contains_key("budget") { println!("{:?}", r.stops); }
        }
        speeds.sort_by(f64::total_cmp);
        println!("{lanes:>8} lanes {:>12.1} MIPS (min {:.1} max {:.1}) {dispatches} dispatches, built in {built:?} frames {}", speeds[1], speeds[0], speeds[2], warm.frames);
    }
}

fn raw(words: &[u32]) -> Program {
    let code = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut p = Program::raw("raw", code, 0x1000, 0).unwrap();
    p.segments[0].permissions = Permissions::RX;
    p
}
