//! A place in the tokens of a statement.

use alloc::string::String;

use super::symbols::Context;
use super::token::Token;

/// A place in the tokens of a statement, and what the statement may refer to.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    tokens: &'a [Token<'a>],
    position: usize,
    context: Context<'a>,
}

/// The place at which tokens are not what they should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    /// The number of tokens that were understood.
    pub(super) position: usize,
    /// Whether the tokens are an operand of the right kind, but with a value that does not fit.
    pub(super) is_value: bool,
    /// What was expected instead.
    pub(super) expected: String,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(tokens: &'a [Token<'a>], context: Context<'a>) -> Self {
        Self { tokens, position: 0, context }
    }

    pub(super) const fn position(&self) -> usize {
        self.position
    }

    pub(super) const fn context(&self) -> Context<'a> {
        self.context
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.peek().is_none()
    }

    fn peek(&self) -> Option<&'a Token<'a>> {
        self.tokens.get(self.position)
    }

    pub(super) fn mismatch(&self, expected: impl Into<String>) -> Mismatch {
        Mismatch { position: self.position, is_value: false, expected: expected.into() }
    }

    /// Returns the next name without taking it.
    pub(super) fn peek_name(&self) -> Option<&'a str> {
        match self.peek() {
            Some(Token::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// Takes a name of which `read` knows the meaning.
    pub(super) fn name<T>(&mut self, read: impl FnOnce(&'a str) -> Option<T>) -> Option<T> {
        let meaning = self.peek_name().and_then(read)?;
        self.position += 1;
        Some(meaning)
    }

    pub(super) fn string(&mut self) -> Option<&'a [u8]> {
        let Some(Token::String(bytes)) = self.peek() else { return None };
        self.position += 1;
        Some(bytes)
    }

    /// Takes a mark, if it is the next token.
    pub(super) fn mark(&mut self, mark: char) -> bool {
        let found = self.peek() == Some(&Token::Mark(mark));
        self.position += usize::from(found);
        found
    }

    /// Takes a mark.
    pub(super) fn expect(&mut self, mark: char) -> Result<(), Mismatch> {
        if self.mark(mark) { Ok(()) } else { Err(self.mismatch(alloc::format!("`{mark}`"))) }
    }

    /// Takes a comma that is followed by a name of which `read` knows the meaning, and the name.
    pub(super) fn comma_and_name<T>(&mut self, read: impl FnOnce(&'a str) -> Option<T>) -> Option<T> {
        let before = self.position;
        let meaning = if self.mark(',') { self.name(read) } else { None };
        if meaning.is_none() {
            self.position = before;
        }
        meaning
    }

    /// Takes an immediate: a sum of numbers and labels, with or without `#`. Its value is of 64 bits, signed or unsigned.
    pub(super) fn immediate(&mut self, expected: impl Fn() -> String) -> Result<i64, Mismatch> {
        let before = self.position;
        self.mark('#');
        let low_part = self.is_low_part();
        let sum = match self.sum() {
            Ok(Some(sum)) => sum,
            Ok(None) => {
                self.position = before;
                return Err(self.mismatch(expected()));
            }
            Err(mismatch) => return Err(mismatch),
        };
        let sum = if low_part { sum & 0xfff } else { sum };
        let value = i64::try_from(sum).ok().or_else(|| u64::try_from(sum).ok().map(|value| value as i64));
        value.ok_or_else(|| Mismatch {
            position: self.position,
            is_value: true,
            expected: "a number of at most 64 bits".into(),
        })
    }

    /// Takes `:lo12:`, if it comes next.
    fn is_low_part(&mut self) -> bool {
        let mut after = self.clone();
        let is_lo12 = |name: &str| name.eq_ignore_ascii_case("lo12").then_some(());
        let found = after.mark(':') && after.name(is_lo12).is_some() && after.mark(':');
        if found {
            self.position = after.position;
        }
        found
    }

    /// Takes a sum. Returns `None` if it does not begin with a number or a name.
    fn sum(&mut self) -> Result<Option<i128>, Mismatch> {
        let mut negative = self.mark('-');
        let Some(mut sum) = self.term()? else { return Ok(None) };
        if negative {
            sum = -sum;
        }
        loop {
            negative = self.mark('-');
            if !negative && !self.mark('+') {
                return Ok(Some(sum));
            }
            let term = self.term()?.ok_or_else(|| self.mismatch("a number or a label"))?;
            // A line cannot have so many terms of 64 bits that their sum wraps.
            sum = sum.wrapping_add(if negative { -term } else { term });
        }
    }

    /// Takes a number, or a label as its address.
    fn term(&mut self) -> Result<Option<i128>, Mismatch> {
        let Context { symbols, pc, place } = self.context;
        let value = match self.peek() {
            Some(Token::Integer(value)) => Some(*value),
            Some(Token::Name(".")) => Some(pc),
            Some(Token::Name(name)) => symbols.find(name),
            Some(&Token::Local(number, next)) => {
                let address = symbols.find_local(number, place, next);
                let where_to = if next { "after" } else { "before" };
                Some(address.ok_or_else(|| {
                    self.undefined(alloc::format!("a label `{number}:` {where_to} this line"))
                })?)
            }
            _ => None,
        };
        self.position += usize::from(value.is_some());
        Ok(value.map(i128::from))
    }

    /// Returns the error of a reference to a label that the text does not define.
    pub(super) fn undefined(&self, expected: String) -> Mismatch {
        Mismatch { position: self.position, is_value: true, expected }
    }

    /// Takes a number in floating point, with or without `#`.
    pub(super) fn float(&mut self) -> Option<f64> {
        let before = self.position;
        self.mark('#');
        let negative = self.mark('-');
        let magnitude = match self.peek() {
            Some(Token::Float(magnitude)) => Some(*magnitude),
            Some(Token::Integer(magnitude)) => Some(*magnitude as f64),
            _ => None,
        };
        match magnitude {
            Some(magnitude) => {
                self.position += 1;
                Some(if negative { -magnitude } else { magnitude })
            }
            None => {
                self.position = before;
                None
            }
        }
    }
}
