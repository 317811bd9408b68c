//! Scratch.
use kvrm_arm64::{Features, encoding::ENCODINGS, lowering::lower, disassemble};
use kvrm_gpu::{Device, Lowering};
fn main() {
    let device = Device::open(None).unwrap();
    let mut seed = 1u64;
    let mut random = || { seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17; seed as u32 };
    let mut words: Vec<u32> = vec![0x54000081];
    for e in ENCODINGS { for _ in 0..100 { words.push(random() & !e.pattern.mask | e.pattern.value); } }
    for _ in 0..50000 { words.push(random()); }
    let t = std::time::Instant::now();
    let mut l = Lowering::new(&device, words.len().div_ceil(1024), Features::ALL).unwrap();
    println!("{:?}", t.elapsed());
    let t = std::time::Instant::now();
    let got = l.lower(&words).unwrap();
    println!("{} words {:?}", words.len(), t.elapsed());
    let mut bad = 0;
    for (w, op) in words.iter().zip(got) {
        let want = lower(*w, Features::ALL);
        if want != op { bad += 1; if bad < 12 { println!("{w:08x} {} : want {want:x?} got {op:x?}", disassemble(*w, 0)); } }
    }
    println!("{bad} bad");
}
