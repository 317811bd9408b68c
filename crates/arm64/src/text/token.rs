//! The tokens of a line of assembly text.

use alloc::string::String;
use alloc::vec::Vec;

/// A token. Names keep their case.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A name: of an instruction, a directive, a register, a label. May contain dots.
    Name(&'a str),
    /// An integer without a sign.
    Integer(u64),
    /// A number with a point or an exponent, without a sign.
    Float(f64),
    /// A reference to a local label: its number, and whether it is the next one rather than the last one.
    Local(u32, bool),
    /// A string with its escapes resolved.
    String(Vec<u8>),
    /// Any other character.
    Mark(char),
}

/// Divides a line into tokens. A comment ends it.
///
/// # Errors
/// The reason why a part of the line is no token.
pub(super) fn tokens(line: &str) -> Result<Vec<Token<'_>>, String> {
    let mut tokens = Vec::new();
    let mut rest = line.trim();
    if rest.starts_with('#') {
        return Ok(tokens);
    }
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("//") {
            break;
        }
        let (token, after) = if first == '"' {
            string(&rest[1..])?
        } else if first.is_ascii_digit() {
            number(rest)?
        } else if is_in_name(first) {
            let (name, after) = name(rest);
            (Token::Name(name), after)
        } else {
            (Token::Mark(first), &rest[first.len_utf8()..])
        };
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

const fn is_in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$')
}

/// Splits off the characters of a name.
fn name(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c| !is_in_name(c)).unwrap_or(text.len()))
}

/// Splits off a number, or a reference to a local label such as `1f`.
fn number(text: &str) -> Result<(Token<'_>, &str), String> {
    let (mut digits, mut after) = name(text);
    // The sign of an exponent is not part of a name.
    let is_hex = digits.starts_with("0x") || digits.starts_with("0X");
    if !is_hex && digits.ends_with(['e', 'E']) && after.starts_with(['+', '-']) {
        let (exponent, _) = name(&after[1..]);
        (digits, after) = text.split_at(digits.len() + 1 + exponent.len());
    }
    let integer = |digits: &str, radix| u64::from_str_radix(digits, radix).ok().map(Token::Integer);
    let lower = digits.to_ascii_lowercase();
    let decimal = lower.bytes().all(|byte| byte.is_ascii_digit());
    let token = if let Some(digits) = lower.strip_prefix("0x") {
        integer(digits, 16)
    } else if decimal {
        integer(&lower, 10)
    } else if let Some(digits) = lower.strip_prefix("0b").filter(|digits| !digits.is_empty()) {
        integer(digits, 2)
    } else if let Some(local) = lower.strip_suffix(['b', 'f']).and_then(|digits| digits.parse().ok()) {
        Some(Token::Local(local, lower.ends_with('f')))
    } else {
        lower.parse().ok().map(Token::Float)
    };
    let problem = || alloc::format!("`{digits}` is not a number of at most 64 bits");
    token.map(|token| (token, after)).ok_or_else(problem)
}

/// Splits off the rest of a string after its first quotation mark.
fn string(text: &str) -> Result<(Token<'_>, &str), String> {
    let mut bytes = Vec::new();
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Ok((Token::String(bytes), &text[at + 1..])),
            '\\' => {
                let escaped = characters.next().map(|(_, c)| c);
                bytes.push(match escaped {
                    Some('n') => b'\n',
                    Some('t') => b'\t',
                    Some('r') => b'\r',
                    Some('0') => 0,
                    Some('\\') => b'\\',
                    Some('"') => b'"',
                    _ => return Err(r#"a string knows only the escapes \n \t \r \0 \\ \""#.into()),
                });
            }
            _ => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    Err("the string has no end".into())
}
