//! Scratch: guests on both engines.
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
    let guest = &args[1];
    let lanes: usize = args[2].parse().unwrap();
    let arguments: Vec<String> = args[3..].to_vec();
    let t = Instant::now();
    let device = Device::open(None).unwrap();
    println!("{} opened {:?}", device.info(), t.elapsed());
    let program = Program::open(guest).unwrap();
    let build = |gpu: bool| {
        let b = Machine::builder(program.clone()).lanes(lanes).arguments(|_| arguments.clone());
        if gpu { b.engine(Gpu(device.clone())).build().unwrap() } else { b.build().unwrap() }
    };
    if let Ok(n) = std::env::var("LOCKSTEP") {
        let chunk: u64 = n.parse().unwrap();
        let (mut gpu, mut cpu) = (build(true), build(false));
        loop {
            let before = cpu.cpu(0).unwrap();
            gpu.run(chunk).unwrap();
            let r = cpu.run(chunk).unwrap();
            let (a, b) = (gpu.cpu(0).unwrap(), cpu.cpu(0).unwrap());
            if a != b || gpu.stop(0).unwrap() != cpu.stop(0).unwrap() {
                println!("before {before:?}\ngpu {:?} {a:?}\ncpu {:?} {b:?}", gpu.stop(0), cpu.stop(0));
                let mut w = [0; 4];
                cpu.read_memory(0, before.pc, &mut w).unwrap();
                println!("{}", kvrm_arm64::disassemble(u32::from_le_bytes(w), before.pc));
                return;
            }
            if r.stops.get("budget").is_none() { return }
        }
    }
    let t = Instant::now();
    let mut gpu = build(true);
    println!("built {:?}", t.elapsed());
    let report = gpu.run(u64::MAX).unwrap();
    println!("{report}");
    let mut cpu = build(false);
    println!("{}", cpu.run(u64::MAX).unwrap());
    for lane in 0..lanes.min(64) {
        let (a, b) = (gpu.cpu(lane).unwrap(), cpu.cpu(lane).unwrap());
        assert_eq!(a, b, "lane {lane}");
        assert_eq!(gpu.stop(lane).unwrap(), cpu.stop(lane).unwrap());
        assert_eq!(gpu.output(lane, Stream::Output).unwrap(), cpu.output(lane, Stream::Output).unwrap());
        assert_eq!(gpu.dirty_pages(lane).unwrap(), cpu.dirty_pages(lane).unwrap());
    }
    println!("{}", String::from_utf8_lossy(gpu.output(0, Stream::Output).unwrap()));
}
