//! System calls on extended attributes of files.

use super::call::{AT_FDCWD, Call};
use super::errno::{E2BIG, EEXIST, EINVAL, ENODATA, ENOENT, ENOSPC, EOPNOTSUPP, EPERM, ERANGE};
use super::failure::{CallResult, Failure};
use super::files::{InodeNumber, Kind};
use super::notices::IN_ATTRIB;
use super::open_files::Object;
use super::proc_node::is_node;

/// The limits on the size of a name, of a value, and of all names and values of a file.
const NAME_BYTES_MAX: usize = 255;
const VALUE_BYTES_MAX: u64 = 65_536;
const ALL_BYTES_MAX: usize = 1 << 17;
const XATTR_CREATE: u32 = 1;
const XATTR_REPLACE: u32 = 2;

impl Call<'_> {
    /// Returns the inode that a call names: by a descriptor, or by a path whose last link is followed or not.
    fn attributed(&mut self) -> Result<Option<InodeNumber>, Failure> {
        // Each of the four operations has three calls: for paths, for links, and for descriptors.
        let object = match (self.cpu.x(8) as u32 - 5) % 3 {
            2 => self.opened_file(self.x[0])?.object,
            follows => Object::Inode(self.place(AT_FDCWD as u64, self.x[0], follows == 0)?.existing()?),
        };
        // Nodes of `/proc` have no attributes, and neither have objects without an inode.
        Ok(
            if let Object::Inode(number) = object
                && !is_node(number)
            {
                Some(number)
            } else {
                None
            },
        )
    }

    /// Reads the name of an attribute.
    fn attribute_name(&mut self) -> Result<Vec<u8>, Failure> {
        match self.guest.text(self.x[1], NAME_BYTES_MAX + 1)? {
            Some(name) if !name.is_empty() => Ok(name),
            _ => Err(ERANGE.into()),
        }
    }
}

/// Checks that a file may have an attribute. As on Linux, those of users are for files and directories only.
fn check(kind: &Kind, name: &[u8], otherwise: super::errno::Errno) -> Result<(), Failure> {
    let prefixes = [&b"user."[..], b"trusted.", b"security."];
    let rest = prefixes.iter().find_map(|prefix| name.strip_prefix(*prefix)).ok_or(EOPNOTSUPP)?;
    if rest.is_empty() {
        return Err(EINVAL.into());
    }
    if name.starts_with(b"user.") && !matches!(kind, Kind::File(_) | Kind::Directory { .. }) {
        return Err(otherwise.into());
    }
    Ok(())
}

pub(super) fn setxattr(call: &mut Call<'_>) -> CallResult {
    let [_, _, value, bytes, flags, _] = call.x;
    let flags = flags as u32;
    if flags & !(XATTR_CREATE | XATTR_REPLACE) != 0 {
        return Err(EINVAL.into());
    }
    let name = call.attribute_name()?;
    if bytes > VALUE_BYTES_MAX {
        return Err(E2BIG.into());
    }
    let value = call.guest.read(value, bytes)?;
    let (number, now) = (call.attributed()?.ok_or(EOPNOTSUPP)?, call.now());
    let inode = call.kernel.files.inode_mut(number)?;
    check(&inode.kind, &name, EPERM)?;
    let is_there = inode.attributes.contains_key(&name);
    if is_there && flags & XATTR_CREATE != 0 {
        return Err(EEXIST.into());
    }
    if !is_there && flags & XATTR_REPLACE != 0 {
        return Err(ENODATA.into());
    }
    let others = inode.attributes.iter().filter(|(other, _)| **other != name);
    let used: usize = others.map(|(name, value)| name.len() + value.len()).sum();
    if used + name.len() + value.len() > ALL_BYTES_MAX {
        return Err(ENOSPC.into());
    }
    inode.attributes.insert(name, value);
    inode.times[2] = now;
    call.kernel.notify(number, None, IN_ATTRIB);
    Ok(0)
}

/// Writes a result to a buffer, or only returns its size if the size of the buffer is 0.
fn answer(call: &mut Call<'_>, data: &[u8], address: u64, bytes: u64) -> CallResult {
    if bytes != 0 {
        if (data.len() as u64) > bytes {
            return Err(ERANGE.into());
        }
        call.guest.write(address, data)?;
    }
    Ok(data.len() as u64)
}

pub(super) fn getxattr(call: &mut Call<'_>) -> CallResult {
    let [_, _, address, bytes, ..] = call.x;
    let name = call.attribute_name()?;
    let number = call.attributed()?.ok_or(EOPNOTSUPP)?;
    let inode = call.kernel.files.inode(number).ok_or(ENOENT)?;
    check(&inode.kind, &name, ENODATA)?;
    let value = inode.attributes.get(&name).ok_or(ENODATA)?.clone();
    answer(call, &value, address, bytes)
}

pub(super) fn listxattr(call: &mut Call<'_>) -> CallResult {
    let [_, address, bytes, ..] = call.x;
    let Some(number) = call.attributed()? else { return Ok(0) };
    let attributes = &call.kernel.files.inode(number).ok_or(ENOENT)?.attributes;
    let names: Vec<u8> = attributes.keys().flat_map(|name| [name, &[0][..]].concat()).collect();
    answer(call, &names, address, bytes)
}

pub(super) fn removexattr(call: &mut Call<'_>) -> CallResult {
    let name = call.attribute_name()?;
    let (number, now) = (call.attributed()?.ok_or(EOPNOTSUPP)?, call.now());
    let inode = call.kernel.files.inode_mut(number)?;
    check(&inode.kind, &name, EPERM)?;
    inode.attributes.remove(&name).ok_or(ENODATA)?;
    inode.times[2] = now;
    call.kernel.notify(number, None, IN_ATTRIB);
    Ok(0)
}
