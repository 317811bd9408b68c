//! Lines of text: labels, instructions and directives.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use super::data::Directive;
use super::error::ParseError;
use super::symbols::{Context, Symbols};
use super::token::{self, Token};
use super::{instruction, names};

/// The largest number of bytes that a text may assemble to.
const BYTES_MAX: u64 = 1 << 27;

/// The result of assembling a text: its words, and where its labels are.
///
/// ```
/// use kvrm_arm64::text::Assembly;
///
/// let assembly = Assembly::parse(0x1000, "nop; main: ret; table: .quad main")?;
/// assert_eq!(assembly.words, [0xd503_201f, 0xd65f_03c0, 0x1004, 0]);
/// assert_eq!((assembly.labels[0].name.as_str(), assembly.labels[0].address), ("main", 0x1004));
/// # Ok::<(), kvrm_arm64::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assembly {
    /// The instructions and data.
    pub words: Vec<u32>,
    /// The labels in the order of their addresses, without local ones and those that begin with `.L`.
    pub labels: Vec<Label>,
}

/// A label of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Label {
    /// The name.
    pub name: String,
    /// The address.
    pub address: u64,
    /// Whether an instruction follows, rather than data.
    pub is_code: bool,
}

impl Assembly {
    /// Assembles text, as [`assemble`](crate::assemble) does. `address` is the address of the first word, a multiple of
    /// 4.
    ///
    /// # Errors
    /// [`ParseError`]: a line that is not understood, and what was expected instead.
    pub fn parse(address: u64, text: &str) -> Result<Self, ParseError> {
        let mut source = Source::default();
        for (index, line) in text.lines().enumerate() {
            let error = |problem| ParseError { line: index + 1, text: line.trim().to_string(), problem };
            source.read_line(index, line, address).map_err(error)?;
        }
        let mut data = Vec::new();
        for statement in &source.statements {
            let error = |problem| {
                let text = text.lines().nth(statement.line).unwrap_or_default().trim().to_string();
                ParseError { line: statement.line + 1, text, problem }
            };
            let context = Context {
                symbols: &source.symbols,
                pc: address.wrapping_add(data.len() as u64),
                place: statement.place,
            };
            statement.append(context, &mut data).map_err(error)?;
        }
        data.resize(data.len().next_multiple_of(4), 0);
        let words =
            data.chunks_exact(4).map(|bytes| bytes.try_into().map_or(0, u32::from_le_bytes)).collect();
        Ok(Self { words, labels: source.labels })
    }
}

/// An instruction or a directive.
struct Statement<'a> {
    /// The index of the line.
    line: usize,
    place: usize,
    kind: Kind<'a>,
    operands: Vec<Token<'a>>,
}

enum Kind<'a> {
    /// An instruction with this mnemonic.
    Instruction(&'a str),
    Directive(Directive),
}

impl Statement<'_> {
    fn append(&self, context: Context<'_>, data: &mut Vec<u8>) -> Result<(), String> {
        match self.kind {
            Kind::Instruction(mnemonic) => {
                let word = instruction::assemble(mnemonic, &self.operands, context)?;
                data.extend(word.to_le_bytes());
                Ok(())
            }
            Kind::Directive(directive) => directive.append(&self.operands, context, data),
        }
    }
}

/// The text as it has been read so far.
#[derive(Default)]
struct Source<'a> {
    statements: Vec<Statement<'a>>,
    symbols: Symbols<'a>,
    labels: Vec<Label>,
    /// The number of labels at the end to which nothing follows yet.
    open_labels: usize,
    /// The number of bytes.
    bytes: u64,
    /// The number of statements and labels.
    places: usize,
}

impl<'a> Source<'a> {
    fn read_line(&mut self, index: usize, line: &'a str, address: u64) -> Result<(), String> {
        let tokens = token::tokens(line)?;
        let mut is_inst = false;
        for part in tokens.split(|token| *token == Token::Mark(';')) {
            // The disassembler says `.inst 0xffffffff ; undefined`.
            if is_inst && *part == [Token::Name("undefined")] {
                continue;
            }
            is_inst = matches!(part, [Token::Name(".inst"), ..]);
            let mut part = part;
            while let [label, Token::Mark(':'), rest @ ..] = part {
                self.add_label(label, address)?;
                part = rest;
            }
            if let [first, operands @ ..] = part {
                self.add_statement(index, first, operands, address)?;
            }
        }
        Ok(())
    }

    fn add_label(&mut self, label: &Token<'a>, address: u64) -> Result<(), String> {
        let address = address.wrapping_add(self.bytes);
        match *label {
            Token::Name(name) => {
                if names::general(name).is_some() || name == "." {
                    return Err(format!("a label cannot be called `{name}`, which means something else"));
                }
                if !self.symbols.add(name, address) {
                    return Err(format!("the label `{name}` is defined twice"));
                }
                if !name.starts_with(".L") {
                    self.labels.push(Label { name: name.to_string(), address, is_code: false });
                    self.open_labels += 1;
                }
            }
            Token::Integer(number) => {
                let number =
                    u32::try_from(number).map_err(|_| "the number of a label has at most 32 bits")?;
                self.symbols.add_local(number, self.places, address);
            }
            _ => return Err("expected the name of a label before `:`".into()),
        }
        self.places += 1;
        Ok(())
    }

    fn add_statement(
        &mut self,
        line: usize,
        first: &Token<'a>,
        operands: &[Token<'a>],
        address: u64,
    ) -> Result<(), String> {
        let Token::Name(name) = *first else {
            return Err("expected an instruction, a directive or a label".into());
        };
        let context =
            Context { symbols: &self.symbols, pc: address.wrapping_add(self.bytes), place: self.places };
        let (kind, bytes) = match Directive::find(name) {
            Some(directive) => (Kind::Directive(directive), directive.bytes(operands, context)?),
            None if name.starts_with('.') => return Err(format!("unknown directive `{name}`")),
            None => (Kind::Instruction(name), 4),
        };
        let is_word = matches!(kind, Kind::Instruction(_)) || name.eq_ignore_ascii_case(".inst");
        if is_word && !context.pc.is_multiple_of(4) {
            return Err(
                "an instruction must begin at a multiple of 4; `.balign 4` pads the data before".into()
            );
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > BYTES_MAX {
            return Err(format!("the text assembles to more than {BYTES_MAX} bytes"));
        }
        if bytes > 0 {
            let count = self.labels.len();
            let is_code = is_word;
            self.labels[count - self.open_labels..].iter_mut().for_each(|label| label.is_code = is_code);
            self.open_labels = 0;
        }
        self.statements.push(Statement { line, place: self.places, kind, operands: operands.to_vec() });
        self.places += 1;
        Ok(())
    }
}
