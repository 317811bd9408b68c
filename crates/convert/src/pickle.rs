//! A reader of Python's pickle format, for the part of it that PyTorch uses for tensors.
//!
//! A pickle is a program for a stack machine, and some of its instructions call functions. This reader never calls
//! anything: it knows a handful of function names, builds plain data for each, and refuses all other names. Objects are
//! in one list and refer to each other by number, so that neither deep nesting nor cycles need recursion.

use std::collections::HashMap;

use kvrm_models::{Dtype, Error};

/// The largest number of instructions: far more than the state dict of any network of KVRM needs. The limit bounds
/// memory, too: an instruction makes an object of a few words at most, besides bytes that it copies from the file.
const MAX_OPCODES: usize = 1 << 20;

/// The type of the values of a storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Float(Dtype),
    /// Any other type: the name of the storage class, and the size of a value in bytes.
    Other(&'static str, usize),
}

impl Kind {
    /// Returns the size of a value in bytes.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Float(dtype) => dtype.bytes(),
            Self::Other(_, bytes) => bytes,
        }
    }
}

/// The Python names that a pickle may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Global {
    OrderedDict,
    RebuildTensor,
    RebuildParameter,
    Size,
    Storage(Kind),
}

impl Global {
    fn find(module: &str, name: &str) -> Option<Self> {
        let other = |name, bytes| Some(Self::Storage(Kind::Other(name, bytes)));
        let float = |dtype| Some(Self::Storage(Kind::Float(dtype)));
        match (module, name) {
            ("collections", "OrderedDict") => Some(Self::OrderedDict),
            ("torch._utils", "_rebuild_tensor_v2" | "_rebuild_tensor") => Some(Self::RebuildTensor),
            ("torch._utils", "_rebuild_parameter") => Some(Self::RebuildParameter),
            ("torch", "Size") => Some(Self::Size),
            ("torch" | "torch.cuda", "FloatStorage") => float(Dtype::F32),
            ("torch" | "torch.cuda", "HalfStorage") => float(Dtype::F16),
            ("torch" | "torch.cuda", "BFloat16Storage") => float(Dtype::Bf16),
            ("torch" | "torch.cuda", "DoubleStorage") => float(Dtype::F64),
            ("torch" | "torch.cuda", "LongStorage") => other("LongStorage", 8),
            ("torch" | "torch.cuda", "IntStorage") => other("IntStorage", 4),
            ("torch" | "torch.cuda", "ShortStorage") => other("ShortStorage", 2),
            ("torch" | "torch.cuda", "CharStorage") => other("CharStorage", 1),
            ("torch" | "torch.cuda", "ByteStorage") => other("ByteStorage", 1),
            ("torch" | "torch.cuda", "BoolStorage") => other("BoolStorage", 1),
            _ => None,
        }
    }
}

/// A value on the stack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// The index of an object.
    Object(usize),
}

/// A tensor that refers to a storage. Its fields are unchecked: [`crate::state_dict`] checks them, because messages
/// need the tensor's name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tensor {
    pub(crate) storage: Storage,
    pub(crate) offset: i64,
    pub(crate) dims: Vec<i64>,
    pub(crate) strides: Vec<i64>,
}

/// A reference to a storage: values outside of the pickle.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Storage {
    pub(crate) kind: Kind,
    pub(crate) key: String,
    /// The number of values.
    pub(crate) len: i64,
}

/// A value that is too large for [`Value`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Object {
    Text(String),
    /// Bytes, or an integer of more than 64 bits.
    Bytes(Vec<u8>),
    Tuple(Vec<Value>),
    List(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    Storage(Storage),
    /// Boxed, because a tensor is much larger than the other variants and most objects are not tensors.
    Tensor(Box<Tensor>),
    Global(GlobalName),
}

/// A [`Global`], opaque outside of this file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GlobalName(Global);

/// The result of running a pickle: its objects and the value at the top of the stack.
#[derive(Debug)]
pub(crate) struct Pickle {
    objects: Vec<Object>,
    pub(crate) root: Value,
    /// The length of the pickle in bytes.
    pub(crate) bytes: usize,
}

impl Pickle {
    pub(crate) fn object(&self, value: Value) -> Option<&Object> {
        match value {
            Value::Object(number) => self.objects.get(number),
            _ => None,
        }
    }

    /// Returns the size in bytes of a value in each storage, by the storage's key.
    pub(crate) fn storage_sizes(&self) -> HashMap<&str, usize> {
        let storages = self.objects.iter().filter_map(|object| match object {
            Object::Storage(storage) => Some((storage.key.as_str(), storage.kind.bytes())),
            _ => None,
        });
        storages.collect()
    }

    pub(crate) fn text(&self, value: Value) -> Option<&str> {
        match self.object(value)? {
            Object::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Reads the pickle at the beginning of `bytes`. `file` is the name used in messages.
pub(crate) fn read(file: &str, bytes: &[u8]) -> Result<Pickle, Error> {
    let mut machine = Machine {
        file,
        bytes,
        at: 0,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
        objects: Vec::new(),
    };
    for _ in 0..MAX_OPCODES {
        let opcode = machine.byte()?;
        if opcode == b'.' {
            let root = machine.pop()?;
            return Ok(Pickle { objects: machine.objects, root, bytes: machine.at });
        }
        machine.step(opcode)?;
    }
    Err(machine.wrong(&format!("at most {MAX_OPCODES} instructions in the pickle"), "more"))
}

/// The stack machine that runs a pickle.
struct Machine<'a> {
    file: &'a str,
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Value>,
    /// The heights of the stack at which marks were set.
    marks: Vec<usize>,
    memo: HashMap<u32, Value>,
    objects: Vec<Object>,
}

impl<'a> Machine<'a> {
    fn wrong(&self, expected: &str, found: impl std::fmt::Display) -> Error {
        Error::file(self.file, expected, format!("{found} before byte {} of the pickle", self.at))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let rest = &self.bytes[self.at..];
        let Some(taken) = rest.get(..len) else {
            let found = format!("the end, {} bytes away,", rest.len());
            return Err(self.wrong(&format!("{len} more bytes of the pickle"), found));
        };
        self.at += len;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn byte(&mut self) -> Result<u8, Error> {
        Ok(self.array::<1>()?[0])
    }

    fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn length(&mut self) -> Result<usize, Error> {
        Ok(usize::try_from(self.u32()?).unwrap_or(usize::MAX))
    }

    /// Reads up to the end of the line.
    fn line(&mut self) -> Result<&'a str, Error> {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().take(256).position(|byte| *byte == b'\n');
        let end =
            end.ok_or_else(|| self.wrong("a name that ends with a line feed", "no line feed in 256 bytes"))?;
        let line = self.take(end + 1)?;
        self.utf8(&line[..end])
    }

    fn utf8(&self, bytes: &'a [u8]) -> Result<&'a str, Error> {
        std::str::from_utf8(bytes).map_err(|error| self.wrong("text in UTF-8", error))
    }

    fn text(&mut self, len: usize) -> Result<(), Error> {
        let bytes = self.take(len)?;
        let text = self.utf8(bytes)?.to_owned();
        self.push_object(Object::Text(text));
        Ok(())
    }

    fn raw(&mut self, len: usize) -> Result<(), Error> {
        let bytes = self.take(len)?.to_vec();
        self.push_object(Object::Bytes(bytes));
        Ok(())
    }

    fn push_object(&mut self, object: Object) {
        self.stack.push(Value::Object(self.objects.len()));
        self.objects.push(object);
    }

    /// Pops the topmost value, which must be above the last mark.
    fn pop(&mut self) -> Result<Value, Error> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return Err(self.wrong("a value on the pickle's stack", "none"));
        }
        self.stack.pop().ok_or_else(|| self.wrong("a value on the pickle's stack", "none"))
    }

    fn top(&mut self) -> Result<Value, Error> {
        let value = self.pop()?;
        self.stack.push(value);
        Ok(value)
    }

    /// Pops the last mark and returns the values above it.
    fn pop_mark(&mut self) -> Result<Vec<Value>, Error> {
        let mark = self.marks.pop().ok_or_else(|| self.wrong("a mark on the pickle's stack", "none"))?;
        Ok(self.stack.split_off(mark.min(self.stack.len())))
    }

    fn pop_tuple(&mut self, len: usize) -> Result<(), Error> {
        let mut values = Vec::with_capacity(len);
        for _ in 0..len {
            values.push(self.pop()?);
        }
        values.reverse();
        self.push_object(Object::Tuple(values));
        Ok(())
    }

    fn object(&self, value: Value) -> Option<&Object> {
        match value {
            Value::Object(number) => self.objects.get(number),
            _ => None,
        }
    }

    fn append(&mut self, values: Vec<Value>) -> Result<(), Error> {
        let target = self.top()?;
        if let Value::Object(number) = target
            && let Some(Object::List(list)) = self.objects.get_mut(number)
        {
            list.extend(values);
            return Ok(());
        }
        Err(self.wrong("a list to append to", "something else"))
    }

    fn set_items(&mut self, values: &[Value]) -> Result<(), Error> {
        let target = self.top()?;
        if let Value::Object(number) = target
            && let Some(Object::Dict(dict)) = self.objects.get_mut(number)
        {
            let (pairs, rest) = values.as_chunks::<2>();
            if rest.is_empty() {
                dict.extend(pairs.iter().map(|[key, value]| (*key, *value)));
                return Ok(());
            }
        }
        Err(self.wrong("a dict, and keys with values", "something else"))
    }

    fn global(&mut self, module: &str, name: &str) -> Result<(), Error> {
        let Some(global) = Global::find(module, name) else {
            let expected = "only names that PyTorch uses for tensors";
            return Err(self.wrong(expected, format!("the global `{module}.{name}`")));
        };
        self.push_object(Object::Global(GlobalName(global)));
        Ok(())
    }

    fn memoize(&mut self, number: u32) -> Result<(), Error> {
        let value = self.top()?;
        self.memo.insert(number, value);
        Ok(())
    }

    fn recall(&mut self, number: u32) -> Result<(), Error> {
        let value = self.memo.get(&number).copied();
        let value = value.ok_or_else(|| self.wrong("a memo that was set", format!("number {number}")))?;
        self.stack.push(value);
        Ok(())
    }

    fn step(&mut self, opcode: u8) -> Result<(), Error> {
        match opcode {
            0x80 => {
                let version = self.byte()?;
                if !(2..=5).contains(&version) {
                    return Err(self.wrong("a pickle of protocol 2 to 5", format!("protocol {version}")));
                }
            }
            // Frames only help readers of streams.
            0x95 => drop(self.take(8)?),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_mark()?),
            b'N' => self.stack.push(Value::None),
            0x88 => self.stack.push(Value::Bool(true)),
            0x89 => self.stack.push(Value::Bool(false)),
            b'J' => {
                let number = i32::from_le_bytes(self.array()?);
                self.stack.push(Value::Int(number.into()));
            }
            b'K' => {
                let number = self.byte()?;
                self.stack.push(Value::Int(number.into()));
            }
            b'M' => {
                let number = u16::from_le_bytes(self.array()?);
                self.stack.push(Value::Int(number.into()));
            }
            0x8a => self.long()?,
            b'G' => {
                let number = f64::from_be_bytes(self.array()?);
                self.stack.push(Value::Float(number));
            }
            b'X' => {
                let length = self.length()?;
                self.text(length)?;
            }
            0x8c => {
                let length = self.byte()?;
                self.text(length.into())?;
            }
            b'T' | b'B' => {
                let length = self.length()?;
                self.raw(length)?;
            }
            // Python 2 wrote its names as byte strings.
            b'U' => {
                let length = self.byte()?;
                self.text(length.into())?;
            }
            b'C' => {
                let length = self.byte()?;
                self.raw(length.into())?;
            }
            b')' => self.push_object(Object::Tuple(Vec::new())),
            b't' => {
                let values = self.pop_mark()?;
                self.push_object(Object::Tuple(values));
            }
            0x85 => self.pop_tuple(1)?,
            0x86 => self.pop_tuple(2)?,
            0x87 => self.pop_tuple(3)?,
            b']' => self.push_object(Object::List(Vec::new())),
            b'a' => {
                let value = self.pop()?;
                self.append(vec![value])?;
            }
            b'e' => {
                let values = self.pop_mark()?;
                self.append(values)?;
            }
            b'}' => self.push_object(Object::Dict(Vec::new())),
            b's' => {
                let value = self.pop()?;
                let key = self.pop()?;
                self.set_items(&[key, value])?;
            }
            b'u' => {
                let values = self.pop_mark()?;
                self.set_items(&values)?;
            }
            b'h' => {
                let number = self.byte()?;
                self.recall(number.into())?;
            }
            b'j' => {
                let number = self.u32()?;
                self.recall(number)?;
            }
            b'q' => {
                let number = self.byte()?;
                self.memoize(number.into())?;
            }
            b'r' => {
                let number = self.u32()?;
                self.memoize(number)?;
            }
            0x94 => {
                let number = u32::try_from(self.memo.len()).unwrap_or(u32::MAX);
                self.memoize(number)?;
            }
            b'c' => {
                let module = self.line()?;
                let name = self.line()?;
                self.global(module, name)?;
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let (Some(Object::Text(module)), Some(Object::Text(name))) =
                    (self.object(module), self.object(name))
                else {
                    return Err(self.wrong("the name of a global", "something else"));
                };
                let (module, name) = (module.clone(), name.clone());
                self.global(&module, &name)?;
            }
            b'R' => self.reduce()?,
            b'b' => self.build()?,
            b'Q' => self.storage()?,
            other => {
                let expected = "the pickle instructions of a state dict";
                return Err(self.wrong(expected, format!("the instruction {other:#04x}")));
            }
        }
        Ok(())
    }

    fn long(&mut self) -> Result<(), Error> {
        let length = usize::from(self.byte()?);
        if length > 8 {
            return self.raw(length);
        }
        let bytes = self.take(length)?;
        let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut word = if negative { [0xff; 8] } else { [0; 8] };
        word[..length].copy_from_slice(bytes);
        self.stack.push(Value::Int(i64::from_le_bytes(word)));
        Ok(())
    }

    /// Replaces a call of a known function by the data that the function would return.
    fn reduce(&mut self) -> Result<(), Error> {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let Some(Object::Global(GlobalName(global))) = self.object(function) else {
            return Err(self.wrong("one of the known functions to call", "something else"));
        };
        let global = *global;
        let Some(Object::Tuple(arguments)) = self.object(arguments) else {
            return Err(self.wrong("a tuple of arguments", "something else"));
        };
        let made = match (global, arguments.as_slice()) {
            (Global::OrderedDict, []) => Some(Object::Dict(Vec::new())),
            (Global::OrderedDict, [pairs]) => self.pairs(*pairs).map(Object::Dict),
            (Global::RebuildTensor, [storage, offset, dims, strides, ..]) => {
                self.tensor(*storage, *offset, *dims, *strides).map(|tensor| Object::Tensor(Box::new(tensor)))
            }
            (Global::RebuildParameter, [tensor, ..]) => match self.object(*tensor) {
                Some(Object::Tensor(tensor)) => Some(Object::Tensor(tensor.clone())),
                _ => None,
            },
            (Global::Size, [dims]) => match self.object(*dims) {
                Some(Object::Tuple(dims)) => Some(Object::Tuple(dims.clone())),
                _ => None,
            },
            _ => None,
        };
        match made {
            Some(object) => self.push_object(object),
            None => return Err(self.wrong("arguments that PyTorch writes", format!("others for {global:?}"))),
        }
        Ok(())
    }

    fn pairs(&self, list: Value) -> Option<Vec<(Value, Value)>> {
        let Object::List(list) = self.object(list)? else { return None };
        // In older versions of Python each pair is a list.
        let pairs = list.iter().map(|pair| match self.object(*pair)? {
            Object::Tuple(pair) | Object::List(pair) => match pair.as_slice() {
                [key, value] => Some((*key, *value)),
                _ => None,
            },
            _ => None,
        });
        pairs.collect()
    }

    fn tensor(&self, storage: Value, offset: Value, dims: Value, strides: Value) -> Option<Tensor> {
        let Object::Storage(storage) = self.object(storage)? else { return None };
        let Value::Int(offset) = offset else { return None };
        Some(Tensor {
            storage: storage.clone(),
            offset,
            dims: self.integers(dims)?,
            strides: self.integers(strides)?,
        })
    }

    fn integers(&self, tuple: Value) -> Option<Vec<i64>> {
        let Object::Tuple(values) = self.object(tuple)? else { return None };
        // A tuple that many tensors share is copied for each, so it must be short.
        if values.len() > 64 {
            return None;
        }
        let integers = values.iter().map(|value| match value {
            Value::Int(integer) => Some(*integer),
            _ => None,
        });
        integers.collect()
    }

    /// Skips the attributes of an object. A state dict has attributes, none of which is a tensor.
    fn build(&mut self) -> Result<(), Error> {
        self.pop()?;
        let target = self.top()?;
        match self.object(target) {
            Some(Object::Dict(_)) => Ok(()),
            _ => Err(self.wrong("attributes of a dict", "attributes of another object")),
        }
    }

    /// Replaces a persistent id by a reference to a storage. Only storages have persistent ids.
    fn storage(&mut self) -> Result<(), Error> {
        let id = self.pop()?;
        let storage = match self.object(id) {
            Some(Object::Tuple(id)) => match id.as_slice() {
                [tag, kind, key, _, Value::Int(len)] | [tag, kind, key, _, Value::Int(len), Value::None] => {
                    match (self.object(*tag), self.object(*kind), self.object(*key)) {
                        (
                            Some(Object::Text(tag)),
                            Some(Object::Global(GlobalName(Global::Storage(kind)))),
                            Some(Object::Text(key)),
                        ) if tag == "storage" && key.len() <= 64 => {
                            Some(Storage { kind: *kind, key: key.clone(), len: *len })
                        }
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        };
        match storage {
            Some(storage) => self.push_object(Object::Storage(storage)),
            None => return Err(self.wrong("the description of a storage", "something else")),
        }
        Ok(())
    }
}
