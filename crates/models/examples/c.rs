fn main() {
    let a: Vec<String> = std::env::args().collect();
    let b = std::fs::read(&a[2]).unwrap();
    let w: Vec<f32> = b.chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect();
    let t = std::time::Instant::now();
    let c = if a[1] == "dispatch" {
        kvrm_models::certify_dispatch(&kvrm_models::DispatchNetwork::from_flat(&w).unwrap(), None, &|_| ())
    } else {
        kvrm_models::certify_decoder(&kvrm_models::DecoderNetwork::from_flat(&w).unwrap(), None, &|_| ())
    };
    println!("{c}{:.1}s", t.elapsed().as_secs_f32());
}
