//! The forms of registers, stops and features in a saved machine. `kvrm-arm64` has no dependencies, so it has no forms of
//! serde itself.

use kvrm_arm64::{Access, Fault, FaultKind, Features, Monitor};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The form of the features of a machine: a number with a bit for each.
pub(crate) struct FeaturesForm;

impl FeaturesForm {
    pub(crate) fn serialize<S: Serializer>(features: &Features, serializer: S) -> Result<S::Ok, S::Error> {
        features.bits().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Features, D::Error> {
        let bits = u64::deserialize(deserializer)?;
        let features = Features::from_bits(bits);
        if features.bits() == bits {
            Ok(features)
        } else {
            Err(D::Error::custom(format!("{bits:#x} names features that this version of KVRM does not have")))
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Monitor")]
struct MonitorForm {
    address: u64,
    bytes: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "FaultKind")]
enum FaultKindForm {
    Translation,
    Permission,
    Alignment,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Access")]
enum AccessForm {
    Read,
    Write,
    Execute,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Fault")]
struct FaultForm {
    #[serde(with = "FaultKindForm")]
    kind: FaultKind,
    #[serde(with = "AccessForm")]
    access: Access,
    address: u64,
}

/// The form of the registers of a lane.
pub(crate) mod cpu {
    use kvrm_arm64::{Cpu, Monitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::MonitorForm;

    #[derive(Serialize, Deserialize)]
    struct Form {
        /// X0 to X30.
        x: [u64; 31],
        sp: u64,
        pc: u64,
        nzcv: u8,
        pstate: u32,
        v: [u128; 32],
        fpcr: u32,
        fpsr: u32,
        tpidr_el0: u64,
        tpidrro_el0: u64,
        keys: u64,
        monitor: Option<MonitorIn>,
        steps: u64,
    }

    #[derive(Serialize, Deserialize)]
    struct MonitorIn(#[serde(with = "MonitorForm")] Monitor);

    pub(crate) fn serialize<S: Serializer>(cpu: &Cpu, serializer: S) -> Result<S::Ok, S::Error> {
        let form = Form {
            x: std::array::from_fn(|n| cpu.x(n as u32)),
            sp: cpu.sp,
            pc: cpu.pc,
            nzcv: cpu.nzcv as u8,
            pstate: cpu.pstate,
            v: cpu.v,
            fpcr: cpu.fpcr,
            fpsr: cpu.fpsr,
            tpidr_el0: cpu.tpidr_el0,
            tpidrro_el0: cpu.tpidrro_el0,
            keys: cpu.keys,
            monitor: cpu.monitor.map(MonitorIn),
            steps: cpu.steps,
        };
        form.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cpu, D::Error> {
        let Form { x, sp, pc, nzcv, pstate, v, fpcr, fpsr, tpidr_el0, tpidrro_el0, keys, monitor, steps } =
            Form::deserialize(deserializer)?;
        let mut cpu = Cpu::new(pc, sp);
        (0..).zip(x).for_each(|(n, value)| cpu.set_x(n, value));
        (cpu.nzcv, cpu.v, cpu.fpcr, cpu.fpsr) = (u32::from(nzcv % 16), v, fpcr, fpsr);
        (cpu.tpidr_el0, cpu.tpidrro_el0, cpu.steps) = (tpidr_el0, tpidrro_el0, steps);
        (cpu.pstate, cpu.keys) = (pstate, keys);
        cpu.monitor = monitor.map(|MonitorIn(monitor)| monitor);
        Ok(cpu)
    }
}

/// The form of a stop.
pub(crate) mod stop {
    use kvrm_arm64::{Access, Fault, Stop};
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{AccessForm, FaultForm};

    #[derive(Serialize, Deserialize)]
    enum Form {
        Exit(i32),
        Halt(u16),
        Breakpoint(u16),
        Syscall(u16),
        Undefined(u32),
        Fault(#[serde(with = "FaultForm")] Fault),
        Budget,
        OutOfFrames,
        Deadlock,
        HardwareBreakpoint,
        Watchpoint(#[serde(with = "AccessForm")] Access, u64),
        SystemCall(u32),
    }

    pub(crate) fn serialize<S: Serializer>(stop: &Stop, serializer: S) -> Result<S::Ok, S::Error> {
        let form = match *stop {
            Stop::Exit { code } => Form::Exit(code),
            Stop::Halt { imm } => Form::Halt(imm),
            Stop::Breakpoint { imm } => Form::Breakpoint(imm),
            Stop::Syscall { imm } => Form::Syscall(imm),
            Stop::Undefined { word } => Form::Undefined(word),
            Stop::Fault(fault) => Form::Fault(fault),
            Stop::Budget => Form::Budget,
            Stop::OutOfFrames => Form::OutOfFrames,
            Stop::Deadlock => Form::Deadlock,
            Stop::HardwareBreakpoint => Form::HardwareBreakpoint,
            Stop::Watchpoint { access, address } => Form::Watchpoint(access, address),
            Stop::SystemCall { number } => Form::SystemCall(number),
            _ => return Err(S::Error::custom(format!("the stop {:?} has no form", stop.name()))),
        };
        form.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Stop, D::Error> {
        Ok(match Form::deserialize(deserializer)? {
            Form::Exit(code) => Stop::Exit { code },
            Form::Halt(imm) => Stop::Halt { imm },
            Form::Breakpoint(imm) => Stop::Breakpoint { imm },
            Form::Syscall(imm) => Stop::Syscall { imm },
            Form::Undefined(word) => Stop::Undefined { word },
            Form::Fault(fault) => Stop::Fault(fault),
            Form::Budget => Stop::Budget,
            Form::OutOfFrames => Stop::OutOfFrames,
            Form::Deadlock => Stop::Deadlock,
            Form::HardwareBreakpoint => Stop::HardwareBreakpoint,
            Form::Watchpoint(access, address) => Stop::Watchpoint { access, address },
            Form::SystemCall(number) => Stop::SystemCall { number },
        })
    }
}

/// The form of a stop that a lane may not have.
pub(crate) mod optional_stop {
    use kvrm_arm64::Stop;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct StopIn(#[serde(with = "super::stop")] Stop);

    #[expect(clippy::ref_option, reason = "serde passes the field like this")]
    pub(crate) fn serialize<S: Serializer>(stop: &Option<Stop>, serializer: S) -> Result<S::Ok, S::Error> {
        stop.map(StopIn).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Stop>, D::Error> {
        Ok(Option::<StopIn>::deserialize(deserializer)?.map(|StopIn(stop)| stop))
    }
}

#[cfg(test)]
mod tests {
    use kvrm_arm64::{Access, Cpu, Fault, FaultKind, Features, Monitor, Stop};
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct All {
        #[serde(with = "super::cpu")]
        cpu: Cpu,
        #[serde(with = "super::FeaturesForm")]
        features: Features,
        #[serde(with = "super::optional_stop")]
        stop: Option<Stop>,
    }

    #[test]
    fn registers_stops_and_features_are_read_as_they_were_written() {
        let mut cpu = Cpu::new(1, 2);
        (0..31).for_each(|n| cpu.set_x(n, u64::from(n) << 40));
        cpu.v = std::array::from_fn(|n| u128::MAX - n as u128);
        (cpu.nzcv, cpu.fpcr, cpu.fpsr, cpu.tpidr_el0, cpu.tpidrro_el0, cpu.steps) = (11, 3, 4, 5, 6, 7);
        (cpu.pstate, cpu.keys) = (1 << 24, 1 << 60);
        cpu.monitor = Some(Monitor { address: 8, bytes: 16 });
        let features = Features { aes: true, sha1: true, ..Features::GENERAL };
        let kinds = [FaultKind::Translation, FaultKind::Permission, FaultKind::Alignment];
        let accesses = [Access::Read, Access::Write, Access::Execute];
        let faults = kinds.into_iter().flat_map(|kind| {
            accesses.map(move |access| Stop::Fault(Fault { kind, access, address: 1 << 47 }))
        });
        let stops = [
            Stop::Exit { code: -5 },
            Stop::Halt { imm: 0xffff },
            Stop::Breakpoint { imm: 1 },
            Stop::Syscall { imm: 2 },
            Stop::Undefined { word: 3 },
            Stop::Budget,
            Stop::OutOfFrames,
            Stop::Deadlock,
            Stop::HardwareBreakpoint,
            Stop::SystemCall { number: u32::MAX },
        ];
        let watched = accesses.map(|access| Stop::Watchpoint { access, address: 9 });
        let stops: Vec<Stop> = faults.chain(stops).chain(watched).collect();
        let names = stops.iter().map(Stop::name).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(names.len(), Stop::NAMES.len(), "all kinds of stops");
        for stop in stops.into_iter().map(Some).chain([None]) {
            let all = All { cpu: cpu.clone(), features, stop };
            let written = postcard::to_stdvec(&all).expect("it has a form");
            assert_eq!(postcard::from_bytes::<All>(&written).expect("it can be read"), all, "{stop:?}");
        }
    }
}
