fn main() {
    let a: Vec<String> = std::env::args().collect();
    for seed in a[1].parse::<u64>().unwrap()..=a[2].parse::<u64>().unwrap() {
        let t = std::time::Instant::now();
        let mut o = |p: &kvrm_train::Progress| {
            if p.step % 20000 == 0 || p.errors == 0 {
                eprintln!("{:?} {:.1}s", p, t.elapsed().as_secs_f32())
            }
        };
        match kvrm_train::train_small_dispatch(seed, &mut o) {
            Ok(r) => {
                eprintln!("OK {seed} {:?} {:.1}", r.progress, t.elapsed().as_secs_f32());
                std::fs::write(
                    "weights-raw/small.f32",
                    r.weights.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>(),
                )
                .unwrap();
                return;
            }
            Err(e) => eprintln!("{seed} {e}"),
        }
    }
}
