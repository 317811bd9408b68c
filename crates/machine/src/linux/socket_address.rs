//! The addresses of sockets, and their forms in the guest's memory.

use serde::{Deserialize, Serialize};

use super::errno::{EADDRNOTAVAIL, EAFNOSUPPORT, EINVAL, ENETUNREACH, Errno};
use super::files::InodeNumber;

pub(super) const AF_UNSPEC: u16 = 0;
pub(super) const AF_UNIX: u16 = 1;
pub(super) const AF_INET: u16 = 2;
pub(super) const AF_INET6: u16 = 10;

/// The size of `struct sockaddr_un`.
const UNIX_BYTES: usize = 110;
/// The sizes of `struct sockaddr_in` and `struct sockaddr_in6`.
const INET_BYTES: usize = 16;
const INET6_BYTES: usize = 28;
/// The smallest `struct sockaddr_in6`, without the scope.
const INET6_BYTES_MIN: usize = 24;

/// The address family of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Family {
    Unix,
    Inet,
    Inet6,
}

impl Family {
    /// Returns the number on Linux.
    pub(super) const fn number(self) -> u16 {
        match self {
            Self::Unix => AF_UNIX,
            Self::Inet => AF_INET,
            Self::Inet6 => AF_INET6,
        }
    }
}

/// An address that a socket is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Address {
    /// A path, and the inode that the bind made.
    Path { path: Vec<u8>, inode: InodeNumber },
    /// A name outside of the file system.
    Abstract(Vec<u8>),
    /// An IP address and a port.
    Internet(Internet),
}

/// An IP address and a port. An IPv4 address has its form as an IPv6 address, `::ffff:a.b.c.d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Internet {
    pub(super) ip: [u8; 16],
    pub(super) port: u16,
}

/// The first bytes of an IPv4 address as an IPv6 address.
const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/// Returns an IPv4 address as an IPv6 address.
fn mapped(v4: [u8; 4]) -> [u8; 16] {
    let mut ip = [0; 16];
    ip[..12].copy_from_slice(&MAPPED);
    ip[12..].copy_from_slice(&v4);
    ip
}

impl Internet {
    /// Returns the address without a host and a port, to which sockets of a family are bound first.
    pub(super) fn any(family: Family) -> Self {
        Self { ip: if family == Family::Inet { mapped([0; 4]) } else { [0; 16] }, port: 0 }
    }

    pub(super) fn is_v4(&self) -> bool {
        self.ip.starts_with(&MAPPED)
    }

    /// Returns whether it stands for all addresses of the host.
    pub(super) fn is_any(&self) -> bool {
        self.ip == [0; 16] || self.ip == mapped([0; 4])
    }

    /// Returns whether it is an address of the loopback interface.
    pub(super) fn is_loopback(&self) -> bool {
        const LOOPBACK: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        if self.is_v4() { self.ip[12] == 127 } else { self.ip == LOOPBACK }
    }

    /// Returns the address that packets to this one reach: that of the loopback interface in place of none.
    ///
    /// # Errors
    /// `ENETUNREACH` if it is outside of the lane.
    pub(super) fn reached(self) -> Result<Self, Errno> {
        if self.is_any() {
            let mut loopback = [0; 16];
            loopback[15] = 1;
            let ip = if self.is_v4() { mapped([127, 0, 0, 1]) } else { loopback };
            return Ok(Self { ip, ..self });
        }
        if self.is_loopback() { Ok(self) } else { Err(ENETUNREACH) }
    }

    /// Returns the address from which packets of a socket that is bound to this one reach another one.
    pub(super) const fn reached_from(self, to: Self) -> Self {
        Self { ip: to.ip, ..self }
    }

    /// Checks that a socket can be bound to the address.
    pub(super) fn check_local(&self) -> Result<(), Errno> {
        if self.is_any() || self.is_loopback() { Ok(()) } else { Err(EADDRNOTAVAIL) }
    }

    /// Reads `struct sockaddr_in` or `struct sockaddr_in6` of a socket of a family; `None` if the family is not specified.
    pub(super) fn parse(bytes: &[u8], family: Family) -> Result<Option<Self>, Errno> {
        let number = family_of(bytes)?;
        if number == AF_UNSPEC {
            return Ok(None);
        }
        let port = |bytes: &[u8]| u16::from_be_bytes([bytes[2], bytes[3]]);
        match (number, family) {
            (AF_INET, Family::Inet) if bytes.len() < INET_BYTES => Err(EINVAL),
            (AF_INET, Family::Inet) => {
                let ip = mapped([bytes[4], bytes[5], bytes[6], bytes[7]]);
                Ok(Some(Self { ip, port: port(bytes) }))
            }
            (AF_INET6, Family::Inet6) => {
                let ip = bytes.get(8..INET6_BYTES_MIN).and_then(|ip| ip.try_into().ok()).ok_or(EINVAL)?;
                Ok(Some(Self { ip, port: port(bytes) }))
            }
            _ => Err(EAFNOSUPPORT),
        }
    }

    /// Returns the address as a socket of a family shows it.
    fn bytes(&self, family: Family) -> Vec<u8> {
        let mut out = family.number().to_le_bytes().to_vec();
        out.extend(self.port.to_be_bytes());
        if family == Family::Inet {
            out.extend(&self.ip[12..]);
            out.resize(INET_BYTES, 0);
        } else {
            out.extend([0; 4]);
            out.extend(self.ip);
            out.resize(INET6_BYTES, 0);
        }
        out
    }
}

/// Returns the family of an address in the guest's memory.
pub(super) fn family_of(bytes: &[u8]) -> Result<u16, Errno> {
    bytes.first_chunk().copied().map(u16::from_le_bytes).ok_or(EINVAL)
}

/// A name of a Unix socket, as programs write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UnixName {
    /// None: the kernel chooses one.
    Unnamed,
    Path(Vec<u8>),
    Abstract(Vec<u8>),
}

/// Reads `struct sockaddr_un`.
pub(super) fn parse_unix(bytes: &[u8]) -> Result<UnixName, Errno> {
    if bytes.len() > UNIX_BYTES || family_of(bytes)? != AF_UNIX {
        return Err(EINVAL);
    }
    Ok(match &bytes[2..] {
        [] => UnixName::Unnamed,
        [0, name @ ..] => UnixName::Abstract(name.to_vec()),
        path => UnixName::Path(path.iter().copied().take_while(|byte| *byte != 0).collect()),
    })
}

/// Returns an address as a socket of a family shows it. A Unix socket without an address shows only its family.
pub(super) fn address_bytes(address: Option<&Address>, family: Family) -> Vec<u8> {
    match address {
        Some(Address::Internet(address)) => address.bytes(family),
        Some(Address::Path { path, .. }) => [&AF_UNIX.to_le_bytes()[..], path, &[0]].concat(),
        Some(Address::Abstract(name)) => [&AF_UNIX.to_le_bytes()[..], &[0], name].concat(),
        None if family == Family::Unix => AF_UNIX.to_le_bytes().to_vec(),
        None => Internet::any(family).bytes(family),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internet_addresses_have_the_form_of_linux() {
        let v4 = [2, 0, 0x1f, 0x90, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        let address = Internet::parse(&v4, Family::Inet).expect("it is valid").expect("it has a family");
        assert_eq!((address.port, address.is_loopback(), address.is_v4()), (8080, true, true), "its parts");
        assert_eq!(address_bytes(Some(&Address::Internet(address)), Family::Inet), v4, "there and back");
        let v6 = address_bytes(Some(&Address::Internet(address)), Family::Inet6);
        assert_eq!((v6.len(), v6[0], v6[23]), (28, 10, 1), "a mapped address");
        assert_eq!(Internet::parse(&v6, Family::Inet6), Ok(Some(address)), "there and back");
        assert_eq!(Internet::parse(&v6, Family::Inet), Err(EAFNOSUPPORT), "another family");
        assert_eq!(Internet::parse(&v4[..8], Family::Inet), Err(EINVAL), "too short");
    }

    #[test]
    fn only_the_loopback_interface_is_reached() {
        let at = |v4| Internet { ip: mapped(v4), port: 1 };
        assert_eq!(at([127, 9, 9, 9]).reached(), Ok(at([127, 9, 9, 9])), "all of 127.0.0.0/8");
        assert_eq!(at([0; 4]).reached(), Ok(at([127, 0, 0, 1])), "none stands for the own host");
        assert_eq!(at([10, 0, 0, 1]).reached(), Err(ENETUNREACH), "another host");
        assert_eq!(at([10, 0, 0, 1]).check_local(), Err(EADDRNOTAVAIL), "another host");
    }

    #[test]
    fn unix_names_end_with_a_nul_or_with_their_size() {
        let path = |path: &[u8]| Ok(UnixName::Path(path.to_vec()));
        assert_eq!(parse_unix(b"\x01\0/tmp/a\0b"), path(b"/tmp/a"), "a NUL");
        assert_eq!(parse_unix(b"\x01\0/tmp/a"), path(b"/tmp/a"), "no NUL");
        assert_eq!(parse_unix(b"\x01\0\0a\0b"), Ok(UnixName::Abstract(b"a\0b".to_vec())), "any bytes");
        assert_eq!(parse_unix(b"\x01\0"), Ok(UnixName::Unnamed), "none");
        assert_eq!(parse_unix(b"\x02\0/tmp/a"), Err(EINVAL), "another family");
        assert_eq!(parse_unix(&[1; 111]), Err(EINVAL), "too long");
    }
}
