use kvrm_arm64::*; use kvrm_testkit::*;
fn main(){
  let mut r=random::Random::new(1); let mut out=Vec::new(); let mut txt=String::new();
  for e in encoding::ENCODINGS { for _ in 0..400 { let w=words::allocated(e,&mut r); let pc=out.len() as u64; out.extend_from_slice(&w.to_le_bytes()); txt+=&format!("{:08x} {}\n",w,disassemble(w,pc)); } }
  std::fs::write("/tmp/arm/words.bin",out).unwrap(); std::fs::write("/tmp/arm/ours.txt",txt).unwrap();
}
