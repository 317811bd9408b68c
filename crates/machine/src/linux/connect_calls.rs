//! The system call that connects sockets.

use super::call::Call;
use super::errno::{
    EAFNOSUPPORT, EAGAIN, EALREADY, ECONNREFUSED, EINPROGRESS, EINVAL, EISCONN, EPERM, EPROTOTYPE,
};
use super::failure::{CallResult, Failure};
use super::open_files::Object;
use super::readiness::{POLLERR, POLLHUP, POLLOUT};
use super::socket_address::{AF_UNSPEC, Address, Internet, UnixName, family_of, parse_unix};
use super::sockets::{Connection, Socket, SocketKind};
use super::wait::Event;

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
    pub(super) fn establish(&mut self, client: u32, listening: u32) -> Result<(), Failure> {
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
