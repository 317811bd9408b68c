//! Hints: what may help against a stop.

use kvrm::Stop;
use kvrm::arm64::{Feature, Features, LaterFeature, Processor, decode, disassemble};

/// Returns a hint about a stop at `pc` of a machine with `features`, if there is one.
pub(crate) fn hint(stop: Stop, pc: u64, features: Features) -> Option<String> {
    match stop {
        Stop::Undefined { word } => undefined(word, pc, features),
        Stop::OutOfFrames => Some("raise --frames".to_owned()),
        _ => None,
    }
}

/// Returns a hint about an undefined word of a feature that the machine lacks.
fn undefined(word: u32, pc: u64, features: Features) -> Option<String> {
    let feature = decode(word).map_or(Feature::Base, |op| op.feature_of(word));
    if !features.has(feature) {
        let (text, name, option) = (disassemble(word, pc), feature.arm_name(), option_for(feature));
        return Some(format!("the word is `{text}` of {name}, which needs {option}"));
    }
    let LaterFeature { name, since, instructions, .. } = LaterFeature::of(word)?;
    Some(format!(
        "the word {word:#010x} is an instruction of {name}: {instructions}; {since} added it, KVRM does not have it, and no \
         option adds it; build the program with -march=armv8-a"
    ))
}

/// Returns the option that adds a feature, or the first processor that has it.
fn option_for(feature: Feature) -> String {
    let has = |processor: &Processor| processor.features().has(feature);
    if feature == Feature::Lse {
        "--lse".to_owned()
    } else if has(&Processor::CortexA53) {
        "--fp".to_owned()
    } else {
        let processor = Processor::ALL.into_iter().find(has).unwrap_or(Processor::Max);
        format!("--cpu {}", processor.name())
    }
}
