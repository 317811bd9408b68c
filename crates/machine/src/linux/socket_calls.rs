//! System calls that make, bind, connect and shut down sockets.

use std::collections::VecDeque;

use super::call::{Call, Interrupted};
use super::errno::{
    EADDRINUSE, EAFNOSUPPORT, EAGAIN, EALREADY, ECONNREFUSED, EFAULT, EINPROGRESS, EINVAL, EISCONN, EMFILE,
    ENOBUFS, ENOTCONN, ENOTSOCK, EOPNOTSUPP, EPERM, EPROTONOSUPPORT, EPROTOTYPE, ESOCKTNOSUPPORT,
};
use super::failure::{CallResult, Failure};
use super::files::{Inode, Kind};
use super::open_files::{Description, O_CLOEXEC, O_NONBLOCK, O_RDWR, Object};
use super::readiness::{POLLERR, POLLHUP, POLLIN, POLLOUT};
use super::socket_address::{
    AF_INET, AF_INET6, AF_UNIX, AF_UNSPEC, Address, Family, Internet, UnixName, address_bytes, family_of,
    parse_unix,
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

    fn add_socket(&mut self, socket: Socket) -> Result<u32, Failure> {
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
    call.kernel.process().descriptors.lowest_free(0)?;
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
    let descriptors = &call.kernel.process().descriptors;
    let first = descriptors.lowest_free(0)?;
    descriptors.lowest_free(first + 1).map_err(|_| EMFILE)?;
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
    fn bind_internet(&mut self, id: u32, mut address: Internet) -> Result<(), Failure> {
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
    call.kernel.process().descriptors.lowest_free(0)?;
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

pub(super) fn connect(call: &mut Call<'_>) -> CallResult {
    let [descriptor, address, bytes, ..] = call.x;
    let id = call.socket_of(descriptor)?;
    let bytes = call.address(address, bytes)?;
    let family = family_of(&bytes)?;
    let socket = call.kernel.open.sockets.get(id)?;
    match (socket.is_unix(), socket.kind) {
        (_, SocketKind::Datagram) if family == AF_UNSPEC => call.disconnect(id),
        (true, SocketKind::Datagram) => call.connect_unix_datagrams(id, &bytes),
        (true, _) => call.connect_unix(descriptor, id, &bytes),
        (false, SocketKind::Datagram) => {
            let to = Internet::parse(&bytes, socket.family)?.ok_or(EAFNOSUPPORT)?.reached()?;
            let own_any = Internet::any(socket.family);
            call.bind_to_route(id, own_any, to)?;
            let socket = call.kernel.open.sockets.get_mut(id)?;
            socket.peer_name = Some(Address::Internet(to));
            Ok(0)
        }
        (false, _) => call.connect_tcp(descriptor, id, &bytes),
    }
}

impl Call<'_> {
    fn disconnect(&mut self, id: u32) -> CallResult {
        let socket = self.kernel.open.sockets.get_mut(id)?;
        (socket.connection, socket.peer_name) = (Connection::None, None);
        Ok(0)
    }

    /// Gives a socket without a host in its address the one from which packets to an address go out.
    fn bind_to_route(&mut self, id: u32, any: Internet, to: Internet) -> Result<(), Failure> {
        let own = self.kernel.open.sockets.get(id)?.internet();
        match own {
            None => self.bind_internet(id, Internet { port: 0, ..any.reached_from(to) }),
            Some(own) if own.is_any() => {
                let name = Internet { port: own.port, ..own.reached_from(to) };
                self.kernel.open.sockets.get_mut(id)?.name = Some(Address::Internet(name));
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }

    /// Returns the Unix socket with a name.
    pub(super) fn unix_target(&self, bytes: &[u8]) -> Result<u32, Failure> {
        let sockets = &self.kernel.open.sockets;
        let found = match parse_unix(bytes)? {
            UnixName::Unnamed => return Err(EINVAL.into()),
            UnixName::Abstract(name) => {
                sockets.bound(|other| matches!(other, Address::Abstract(there) if *there == name))
            }
            UnixName::Path(path) => {
                let number = self.place_of(&path, true)?.existing()?;
                sockets.bound(|other| matches!(other, Address::Path { inode, .. } if *inode == number))
            }
        };
        Ok(found.ok_or(ECONNREFUSED)?)
    }

    fn connect_unix_datagrams(&mut self, id: u32, bytes: &[u8]) -> CallResult {
        let peer = self.unix_target(bytes)?;
        let sockets = &mut self.kernel.open.sockets;
        let target = sockets.get(peer)?;
        if target.kind != SocketKind::Datagram {
            return Err(EPROTOTYPE.into());
        }
        if target.peer().is_some_and(|other| other != id) {
            return Err(EPERM.into());
        }
        let name = target.name.clone();
        let socket = sockets.get_mut(id)?;
        (socket.connection, socket.peer_name) = (Connection::Connected { peer }, name);
        Ok(0)
    }

    fn connect_unix(&mut self, descriptor: u64, id: u32, bytes: &[u8]) -> CallResult {
        let to = self.unix_target(bytes)?;
        let sockets = &self.kernel.open.sockets;
        let (socket, target) = (sockets.get(id)?, sockets.get(to)?);
        if target.kind != socket.kind {
            return Err(EPROTOTYPE.into());
        }
        match socket.connection {
            Connection::Connected { .. } => return Err(EISCONN.into()),
            Connection::None => {}
            _ => return Err(EINVAL.into()),
        }
        if !target.is_listening() || target.ends_reading {
            return Err(ECONNREFUSED.into());
        }
        if !target.has_room() {
            if !self.does_wait(descriptor)? {
                return Err(EAGAIN.into());
            }
            return Err(self.wait_at_socket(Event::Room(to), socket.options.send_time, EAGAIN));
        }
        self.establish(id, to)?;
        Ok(0)
    }

    fn connect_tcp(&mut self, descriptor: u64, id: u32, bytes: &[u8]) -> CallResult {
        let does_wait = self.does_wait(descriptor)?;
        let socket = self.kernel.open.sockets.get(id)?;
        let send_time = socket.options.send_time;
        let wait = |call: &Self| {
            let event = Event::Ready(vec![(call.kernel.opened(descriptor)?, POLLOUT | POLLERR | POLLHUP)]);
            Err(call.wait_at_socket(event, send_time, EINPROGRESS))
        };
        match socket.connection {
            Connection::None if socket.error != 0 => {
                return Err(self
                    .kernel
                    .open
                    .sockets
                    .get_mut(id)?
                    .take_error()
                    .err()
                    .unwrap_or(EINVAL)
                    .into());
            }
            Connection::None => {}
            Connection::Connecting { .. } if does_wait => return wait(self),
            Connection::Connecting { .. } => return Err(EALREADY.into()),
            Connection::Listening { .. } => return Err(EISCONN.into()),
            Connection::Connected { .. } => {
                // The first call after one that did not wait learns how it has ended.
                let socket = self.kernel.open.sockets.get_mut(id)?;
                let was_unknown = std::mem::take(&mut socket.is_unreported);
                return if was_unknown || self.woken.is_some() { Ok(0) } else { Err(EISCONN.into()) };
            }
        }
        let to = Internet::parse(bytes, socket.family)?.ok_or(EAFNOSUPPORT)?.reached()?;
        let any = Internet::any(socket.family);
        self.bind_to_route(id, any, to)?;
        let found = self.kernel.open.sockets.target(to, SocketKind::Stream, None);
        let Some(listening) = found else {
            if does_wait {
                return Err(ECONNREFUSED.into());
            }
            self.kernel.open.sockets.get_mut(id)?.error = ECONNREFUSED.0;
            self.kernel.open.note_change(Object::Socket(id));
            return Err(EINPROGRESS.into());
        };
        let sockets = &mut self.kernel.open.sockets;
        sockets.get_mut(id)?.peer_name = Some(Address::Internet(to));
        let target = sockets.get_mut(listening)?;
        let has_room = target.has_room();
        if has_room {
            self.establish(id, listening)?;
        } else if let Connection::Listening { clients, .. } = &mut target.connection {
            clients.push_back(id);
            sockets.get_mut(id)?.connection = Connection::Connecting { to: listening };
        }
        if does_wait {
            return if has_room { Ok(0) } else { wait(self) };
        }
        self.kernel.open.sockets.get_mut(id)?.is_unreported = true;
        Err(EINPROGRESS.into())
    }

    /// Connects a client to a new socket that waits to be accepted.
    fn establish(&mut self, client: u32, listening: u32) -> Result<(), Failure> {
        let sockets = &self.kernel.open.sockets;
        let (own, target) = (sockets.get(client)?, sockets.get(listening)?);
        let peer_name = if own.is_unix() { target.name.clone() } else { own.peer_name.clone() };
        let server = Socket {
            name: peer_name.clone(),
            is_accepted: true,
            peer_name: own.name.clone(),
            connection: Connection::Connected { peer: client },
            peer_credentials: Some(self.credentials()),
            options: target.options.clone(),
            ..Socket::new(target.family, target.kind, target.own_credentials)
        };
        let credentials = target.own_credentials;
        let peer = self.add_socket(server)?;
        let sockets = &mut self.kernel.open.sockets;
        let client_socket = sockets.get_mut(client)?;
        client_socket.connection = Connection::Connected { peer };
        (client_socket.peer_name, client_socket.peer_credentials) = (peer_name, Some(credentials));
        if let Connection::Listening { pending, .. } = &mut sockets.get_mut(listening)?.connection {
            pending.push_back(peer);
        }
        for changed in [client, listening] {
            self.kernel.open.note_change(Object::Socket(changed));
        }
        Ok(())
    }
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
