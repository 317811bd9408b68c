//! System calls that make, bind, connect and shut down sockets.

use std::collections::VecDeque;

use super::call::{Call, Interrupted};
use super::errno::{
    EADDRINUSE, EAFNOSUPPORT, EAGAIN, EFAULT, EINVAL, ENOBUFS, ENOTCONN, ENOTSOCK, EOPNOTSUPP,
    EPROTONOSUPPORT, ESOCKTNOSUPPORT,
};
use super::failure::{CallResult, Failure};
use super::files::{Inode, Kind};
use super::open_files::{Description, O_CLOEXEC, O_NONBLOCK, O_RDWR, Object};
use super::readiness::{POLLHUP, POLLIN};
use super::socket_address::{
    AF_INET, AF_INET6, AF_UNIX, Address, Family, Internet, UnixName, address_bytes, parse_unix,
};
use super::sockets::{Connection, Credentials, SOCKETS_MAX, Socket, SocketKind};
use super::wait::Event;

/// The largest number of connections that wait to be accepted (`net.core.somaxconn`).
const BACKLOG_MAX: usize = 4096;
/// The size of the largest address, `struct sockaddr_storage`.
const ADDRESS_BYTES_MAX: u64 = 128;

/// Returns the type of a socket from the number of a call.
fn kind_of(number: u64) -> Result<SocketKind, Failure> {
    match number & 0xf {
        1 => Ok(SocketKind::Stream),
        2 => Ok(SocketKind::Datagram),
        5 => Ok(SocketKind::Packets),
        _ if number & 0xf > 10 => Err(EINVAL.into()),
        _ => Err(ESOCKTNOSUPPORT.into()),
    }
}

/// Returns family and type that a call asks for, with the flags of the descriptor.
fn arguments(call: &Call<'_>) -> Result<(Family, SocketKind, u32), Failure> {
    const TCP: u32 = 6;
    const UDP: u32 = 17;
    let [family, kind, protocol, ..] = call.x;
    let flags = kind as u32 & !0xf;
    if flags & !(O_NONBLOCK | O_CLOEXEC) != 0 {
        return Err(EINVAL.into());
    }
    let family = match u16::try_from(family as u32).unwrap_or(u16::MAX) {
        AF_UNIX => Family::Unix,
        AF_INET => Family::Inet,
        AF_INET6 => Family::Inet6,
        _ => return Err(EAFNOSUPPORT.into()),
    };
    let kind = if family == Family::Unix && kind & 0xf == 3 { SocketKind::Datagram } else { kind_of(kind)? };
    let is_known = match (family, kind) {
        (Family::Unix, _) => matches!(protocol as u32, 0 | 1),
        (_, SocketKind::Packets) => return Err(ESOCKTNOSUPPORT.into()),
        (_, SocketKind::Stream) => matches!(protocol as u32, 0 | TCP),
        (_, SocketKind::Datagram) => matches!(protocol as u32, 0 | UDP),
    };
    if is_known { Ok((family, kind, flags)) } else { Err(EPROTONOSUPPORT.into()) }
}

impl Call<'_> {
    /// Returns the ID of the socket of a descriptor.
    pub(super) fn socket_of(&self, descriptor: u64) -> Result<u32, Failure> {
        match self.kernel.description(descriptor)?.object {
            Object::Socket(socket) => Ok(socket),
            _ => Err(ENOTSOCK.into()),
        }
    }

    /// Returns the IDs of the process, and of its user and group.
    pub(super) fn credentials(&self) -> Credentials {
        [self.kernel.process_id(), 0, 0]
    }

    /// Returns whether a call on a descriptor waits, unless a flag of the call says that it does not.
    pub(super) fn does_wait(&self, descriptor: u64) -> Result<bool, Failure> {
        Ok(self.kernel.description(descriptor)?.does_wait())
    }

    pub(super) fn add_socket(&mut self, socket: Socket) -> Result<u32, Failure> {
        if self.kernel.open.sockets.len() >= SOCKETS_MAX {
            return Err(ENOBUFS.into());
        }
        Ok(self.kernel.open.add_socket(socket))
    }

    /// Opens a descriptor for a socket.
    fn open_socket(&mut self, socket: u32, flags: u32) -> CallResult {
        let description = Description::new(Object::Socket(socket), flags & O_NONBLOCK | O_RDWR);
        Ok(self.kernel.open(description, flags & O_CLOEXEC != 0)?)
    }

    /// Reads an address of `bytes` bytes.
    pub(super) fn address(&mut self, address: u64, bytes: u64) -> Result<Vec<u8>, Failure> {
        let bytes = u64::from(bytes as u32);
        if bytes > ADDRESS_BYTES_MAX {
            return Err(EINVAL.into());
        }
        self.guest.read(address, bytes)
    }

    /// Writes an address to a buffer whose size is at another address, where the size of the whole address is written.
    pub(super) fn write_address(&mut self, bytes: &[u8], at: u64, size_at: u64) -> Result<(), Failure> {
        let room = self.guest.read_u32(size_at)?;
        if room as i32 >= 0 {
            self.guest.write(at, &bytes[..bytes.len().min(room as usize)])?;
            return self.guest.write(size_at, &(bytes.len() as u32).to_le_bytes());
        }
        Err(EINVAL.into())
    }

    /// Waits as a call on a socket does, at most for a time. Fails with `otherwise` after that.
    pub(super) fn wait_at_socket(
        &self,
        event: Event,
        timeout: Option<u64>,
        otherwise: super::errno::Errno,
    ) -> Failure {
        let interrupted = if timeout.is_some() { Interrupted::Fails } else { Interrupted::Restarts };
        match self.wait(event, self.deadline(timeout), interrupted) {
            Ok(()) => otherwise.into(),
            Err(failure) => failure,
        }
    }
}

pub(super) fn socket(call: &mut Call<'_>) -> CallResult {
    let (family, kind, flags) = arguments(call)?;
    call.kernel.process().lowest_free(0)?;
    let own = call.credentials();
    let socket = call.add_socket(Socket::new(family, kind, own))?;
    call.open_socket(socket, flags)
}

pub(super) fn socketpair(call: &mut Call<'_>) -> CallResult {
    let (family, kind, flags) = arguments(call)?;
    if family != Family::Unix {
        return Err(EOPNOTSUPP.into());
    }
    let address = call.x[3];
    // Check that the address is writable before opening anything, by writing back the bytes that are there.
    let before: [u8; 8] = call.guest.array(address)?;
    call.guest.write(address, &before)?;
    let process = call.kernel.process();
    process.lowest_free(process.lowest_free(0)? + 1)?;
    let own = call.credentials();
    let ids =
        [call.add_socket(Socket::new(family, kind, own))?, call.add_socket(Socket::new(family, kind, own))?];
    for (id, peer) in [(ids[0], ids[1]), (ids[1], ids[0])] {
        let socket = call.kernel.open.sockets.get_mut(id)?;
        (socket.connection, socket.peer_credentials) = (Connection::Connected { peer }, Some(own));
    }
    let ends = [call.open_socket(ids[0], flags)?, call.open_socket(ids[1], flags)?];
    call.guest.write(address, &ends.map(|end| (end as u32).to_le_bytes()).concat())?;
    Ok(0)
}

pub(super) fn bind(call: &mut Call<'_>) -> CallResult {
    let [descriptor, address, bytes, ..] = call.x;
    let id = call.socket_of(descriptor)?;
    let bytes = call.address(address, bytes)?;
    let socket = call.kernel.open.sockets.get(id)?;
    let family = socket.family;
    if family == Family::Unix {
        let is_bound = socket.name.is_some();
        return call.bind_unix(id, parse_unix(&bytes)?, is_bound);
    }
    if bytes.len() < 16 {
        return Err(EINVAL.into());
    }
    let address = match Internet::parse(&bytes, family)? {
        Some(address) => address,
        // As on Linux, no family with no address is that of IPv4.
        None if family == Family::Inet && bytes[4..8] == [0; 4] => Internet::any(family),
        None => return Err(EAFNOSUPPORT.into()),
    };
    address.check_local()?;
    if socket.name.is_some() {
        return Err(EINVAL.into());
    }
    call.bind_internet(id, address)?;
    Ok(0)
}

impl Call<'_> {
    fn bind_unix(&mut self, id: u32, name: UnixName, is_bound: bool) -> CallResult {
        let name = match name {
            UnixName::Unnamed if is_bound => return Ok(0),
            UnixName::Abstract(_) if is_bound => return Err(EINVAL.into()),
            UnixName::Unnamed => Address::Abstract(self.kernel.open.sockets.free_name()?),
            UnixName::Abstract(name) => {
                let name = Address::Abstract(name);
                if self.kernel.open.sockets.bound(|other| *other == name).is_some() {
                    return Err(EADDRINUSE.into());
                }
                name
            }
            UnixName::Path(path) => {
                let place = self.place_of(&path, false)?;
                if place.inode.is_some() {
                    return Err(EADDRINUSE.into());
                }
                if is_bound {
                    return Err(EINVAL.into());
                }
                let (mode, now) = (0o777 & !self.kernel.process().umask, self.now());
                let inode = self.kernel.files.add(&place, Inode::new(Kind::Socket, mode, now))?;
                self.kernel.notify_new(&place, inode);
                Address::Path { path, inode }
            }
        };
        self.kernel.open.sockets.get_mut(id)?.name = Some(name);
        Ok(0)
    }

    /// Binds an IP socket, to a port that the kernel chooses if it is 0.
    pub(super) fn bind_internet(&mut self, id: u32, mut address: Internet) -> Result<(), Failure> {
        let sockets = &mut self.kernel.open.sockets;
        if address.port == 0 {
            address.port = sockets.free_port(id, address)?;
        } else {
            sockets.check_free(id, address)?;
        }
        sockets.get_mut(id)?.name = Some(Address::Internet(address));
        Ok(())
    }

    /// Binds an IP socket that sends or listens without an address of its own.
    pub(super) fn bind_unbound(&mut self, id: u32) -> Result<(), Failure> {
        let socket = self.kernel.open.sockets.get(id)?;
        if socket.name.is_some() { Ok(()) } else { self.bind_internet(id, Internet::any(socket.family)) }
    }
}

pub(super) fn listen(call: &mut Call<'_>) -> CallResult {
    let [descriptor, backlog, ..] = call.x;
    let id = call.socket_of(descriptor)?;
    let backlog = (backlog as u32 as usize).min(BACKLOG_MAX);
    let socket = call.kernel.open.sockets.get(id)?;
    if socket.kind == SocketKind::Datagram || !socket.is_unix() && socket.kind != SocketKind::Stream {
        return Err(EOPNOTSUPP.into());
    }
    if socket.is_unix() && socket.name.is_none() {
        return Err(EINVAL.into());
    }
    if !socket.is_unix() {
        call.bind_unbound(id)?;
    }
    let own = call.credentials();
    let socket = call.kernel.open.sockets.get_mut(id)?;
    socket.own_credentials = own;
    match &mut socket.connection {
        Connection::None => {
            let (pending, clients) = (VecDeque::new(), VecDeque::new());
            socket.connection = Connection::Listening { backlog, pending, clients };
        }
        Connection::Listening { backlog: there, .. } => *there = backlog,
        _ => return Err(EINVAL.into()),
    }
    Ok(0)
}

pub(super) fn accept(call: &mut Call<'_>) -> CallResult {
    call.x[3] = 0;
    accept4(call)
}

pub(super) fn accept4(call: &mut Call<'_>) -> CallResult {
    let [descriptor, address, size, flags, ..] = call.x;
    let flags = flags as u32;
    if flags & !(O_NONBLOCK | O_CLOEXEC) != 0 {
        return Err(EINVAL.into());
    }
    let id = call.socket_of(descriptor)?;
    call.kernel.process().lowest_free(0)?;
    let listening = call.kernel.open.sockets.get(id)?;
    if listening.kind == SocketKind::Datagram {
        return Err(EOPNOTSUPP.into());
    }
    let Connection::Listening { pending, .. } = &listening.connection else { return Err(EINVAL.into()) };
    let Some(new) = pending.front().copied() else {
        if !call.does_wait(descriptor)? {
            return Err(EAGAIN.into());
        }
        let event = Event::Ready(vec![(call.kernel.opened(descriptor)?, POLLIN | POLLHUP)]);
        return Err(call.wait_at_socket(event, listening.options.receive_time, EAGAIN));
    };
    if address != 0 {
        let socket = call.kernel.open.sockets.get(new)?;
        let bytes = address_bytes(socket.peer_name.as_ref(), socket.family);
        call.write_address(&bytes, address, size)?;
    }
    let sockets = &mut call.kernel.open.sockets;
    let mut next = None;
    if let Connection::Listening { pending, clients, .. } = &mut sockets.get_mut(id)?.connection {
        pending.pop_front();
        next = clients.pop_front();
    }
    if let Some(client) = next {
        call.establish(client, id)?;
    }
    call.open_socket(new, flags)
}

pub(super) fn shutdown(call: &mut Call<'_>) -> CallResult {
    let [descriptor, how, ..] = call.x;
    let id = call.socket_of(descriptor)?;
    let (reading, writing) = match how as u32 {
        0 => (true, false),
        1 => (false, true),
        2 => (true, true),
        _ => return Err(EINVAL.into()),
    };
    let open = &mut call.kernel.open;
    let socket = open.sockets.get_mut(id)?;
    let is_connected = match socket.connection {
        Connection::Connected { .. } => true,
        Connection::None => socket.is_unix() || socket.is_udp() && socket.peer_name.is_some(),
        Connection::Listening { .. } => true,
        Connection::Connecting { .. } => false,
    };
    if socket.is_tcp() && socket.ends_reading && socket.ends_writing {
        return Err(ENOTCONN.into());
    }
    socket.ends_reading |= reading;
    socket.ends_writing |= writing;
    let (is_unix, peer) = (socket.is_unix(), socket.peer().filter(|_| socket.kind != SocketKind::Datagram));
    open.note_change(Object::Socket(id));
    if let Some(peer) = peer
        && let Ok(socket) = open.sockets.get_mut(peer)
    {
        socket.ends_reading |= writing;
        socket.ends_writing |= reading && is_unix;
        open.note_change(Object::Socket(peer));
    }
    if is_connected { Ok(0) } else { Err(ENOTCONN.into()) }
}

pub(super) fn getsockname(call: &mut Call<'_>) -> CallResult {
    let [descriptor, address, size, ..] = call.x;
    let socket = call.kernel.open.sockets.get(call.socket_of(descriptor)?)?;
    let bytes = address_bytes(socket.name.as_ref(), socket.family);
    call.write_address(&bytes, address, size)?;
    Ok(0)
}

pub(super) fn getpeername(call: &mut Call<'_>) -> CallResult {
    let [descriptor, address, size, ..] = call.x;
    let socket = call.kernel.open.sockets.get(call.socket_of(descriptor)?)?;
    let is_reset = socket.is_tcp() && socket.ends_reading && socket.ends_writing;
    if socket.peer().is_none() && !(socket.is_udp() && socket.peer_name.is_some()) || is_reset {
        return Err(ENOTCONN.into());
    }
    if address == 0 {
        return Err(EFAULT.into());
    }
    let bytes = address_bytes(socket.peer_name.as_ref(), socket.family);
    call.write_address(&bytes, address, size)?;
    Ok(0)
}
