//! The block of memory through which host and program exchange actions and results: `guests/environments/environment.h`.

use std::ops::Range;

use kvrm_machine::{Machine, Picture, PictureFormat, Register};

use crate::error::Error;

/// The immediate of the SVC with which a program yields.
pub const YIELD: u16 = 0x4b56;

const MAGIC: [u8; 4] = *b"KVRM";
const VERSION: u32 = 1;
const ACTIONS_MAX: usize = 16;
const NAME_BYTES: usize = 24;

// Offsets of the parts of the block.
const FRAME: usize = 8;
const COUNT: usize = 40;
const ACTIONS: usize = 48;
const INPUT: usize = ACTIONS + ACTIONS_MAX * (NAME_BYTES + 8);
const OUTPUT: usize = INPUT + INPUT_BYTES;
const BYTES: usize = OUTPUT + OUTPUT_BYTES;

/// The bytes of the input.
pub(crate) const INPUT_BYTES: usize = 24 + 4 * ACTIONS_MAX;
/// The bytes of the output.
pub(crate) const OUTPUT_BYTES: usize = 16 + 8 * ACTIONS_MAX;

/// A component of an action: a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// The name.
    pub name: String,
    /// The least value.
    pub low: i32,
    /// The greatest value.
    pub high: i32,
}

/// What a program says of itself when it first yields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The address of the block.
    address: u64,
    /// The components of actions, in their order.
    pub components: Vec<Component>,
    /// The frame that the program draws, if it draws any.
    pub picture: Option<Picture>,
}

/// What the host writes before a lane goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Input {
    pub(crate) begins: bool,
    pub(crate) scenario: u32,
    pub(crate) seed: u64,
    pub(crate) ticks: u32,
    pub(crate) draws: bool,
    pub(crate) action: [i32; ACTIONS_MAX],
}

impl Input {
    pub(crate) fn append_to(&self, out: &mut Vec<u8>) {
        out.extend(u32::from(self.begins).to_le_bytes());
        out.extend(self.scenario.to_le_bytes());
        out.extend(self.seed.to_le_bytes());
        out.extend(self.ticks.to_le_bytes());
        out.extend(u32::from(self.draws).to_le_bytes());
        self.action.iter().for_each(|value| out.extend(value.to_le_bytes()));
    }
}

/// What a lane has written when it yields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Output {
    pub(crate) reward: f64,
    pub(crate) is_terminated: bool,
    pub(crate) is_truncated: bool,
    pub(crate) masks: [u64; ACTIONS_MAX],
}

impl Output {
    /// Reads the output from its [`OUTPUT_BYTES`] bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let mut masks = [0; ACTIONS_MAX];
        for (index, mask) in masks.iter_mut().enumerate() {
            *mask = double_word(bytes, 16 + 8 * index);
        }
        Self {
            reward: f64::from_bits(double_word(bytes, 0)),
            is_terminated: word(bytes, 8) != 0,
            is_truncated: word(bytes, 12) != 0,
            masks,
        }
    }
}

impl Interface {
    /// Reads the description of a lane that yields.
    pub(crate) fn read(machine: &mut Machine, lane: usize) -> Result<Self, Error> {
        let address = Register::X(0).of(&machine.cpu(lane)?);
        let mut bytes = [0; BYTES];
        machine.read(lane, address, &mut bytes)?;
        Self::parse(address, &bytes).map_err(|reason| Error::Interface { address, reason })
    }

    fn parse(address: u64, bytes: &[u8; BYTES]) -> Result<Self, String> {
        if bytes[..4] != MAGIC {
            return Err(format!("it begins with {:x?}; expected {MAGIC:x?}", &bytes[..4]));
        }
        match word(bytes, 4) {
            VERSION => {}
            version => return Err(format!("version {version}; expected {VERSION}")),
        }
        let count = word(bytes, COUNT) as usize;
        if count > ACTIONS_MAX {
            return Err(format!("{count} components of actions; expected at most {ACTIONS_MAX}"));
        }
        let component = |index: usize| {
            let at = ACTIONS + index * (NAME_BYTES + 8);
            let name = bytes[at..at + NAME_BYTES].split(|byte| *byte == 0).next().unwrap_or_default();
            let name =
                str::from_utf8(name).map_err(|_| format!("the name of component {index} is not UTF-8"))?;
            let [low, high] = [0, 4].map(|field| word(bytes, at + NAME_BYTES + field) as i32);
            if name.is_empty() || low > high {
                return Err(format!(
                    "component {index} is '{name}' from {low} to {high}; expected a name and a range"
                ));
            }
            Ok(Component { name: name.to_owned(), low, high })
        };
        let [format, width, height, stride] = [16, 20, 24, 28].map(|field| word(bytes, FRAME + field));
        let format = match format {
            0 => None,
            1 => Some(PictureFormat::Palette { address: double_word(bytes, FRAME + 8) }),
            2 => Some(PictureFormat::Xrgb),
            3 => Some(PictureFormat::Grey),
            other => return Err(format!("format {other} of frames; expected 0 to 3")),
        };
        let pixels = double_word(bytes, FRAME);
        Ok(Self {
            address,
            components: (0..count).map(component).collect::<Result<_, _>>()?,
            picture: format.map(|format| Picture { address: pixels, width, height, stride, format }),
        })
    }

    /// Returns the address of the input.
    pub(crate) const fn input(&self) -> u64 {
        self.address + INPUT as u64
    }

    /// Returns the address of the output.
    pub(crate) const fn output(&self) -> u64 {
        self.address + OUTPUT as u64
    }
}

fn field(bytes: &[u8], range: Range<usize>) -> u64 {
    bytes[range].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

fn word(bytes: &[u8], at: usize) -> u32 {
    field(bytes, at..at + 4) as u32
}

fn double_word(bytes: &[u8], at: usize) -> u64 {
    field(bytes, at..at + 8)
}
