fn main() {
    let a: Vec<String> = std::env::args().collect();
    let seed: u64 = a[2].parse().unwrap();
    let t = std::time::Instant::now();
    let mut o = |p: &kvrm_train::Progress| {
        if p.step % 500 == 0 || p.errors == 0 {
            eprintln!("{:?} {:.1}s", p, t.elapsed().as_secs_f32())
        }
    };
    let r = if a[1] == "dispatch" {
        kvrm_train::train_dispatch(seed, &mut o)
    } else {
        kvrm_train::train_decoder(seed, &mut o)
    };
    match r {
        Ok(r) => {
            eprintln!("OK {:?} {:.1}", r.progress, t.elapsed().as_secs_f32());
            std::fs::write(&a[3], r.weights.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>())
                .unwrap()
        }
        Err(e) => eprintln!("{e}"),
    }
}
