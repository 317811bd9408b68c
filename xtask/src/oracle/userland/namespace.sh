# Runs a program of another architecture as root of a system, in name spaces of its own: what it changes is in a folder, and
# binfmt_misc and the network are private. The arguments are: QEMU, the system, a folder with the directories `upper`, `work`
# and `root`, the working directory, and the program with its arguments.
set -e
qemu=$1 system=$2 folder=$3 directory=$4
shift 4
mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
# The start of an ELF file for AArch64. P passes argument 0 on, F opens QEMU now, outside of the system.
zeros='\x00\x00\x00\x00\x00\x00\x00\x00\x00'
ones='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf '%s' ":kvrm:M::\\x7fELF\\x02\\x01\\x01$zeros\\x02\\x00\\xb7\\x00:$ones:$qemu:PF" > /proc/sys/fs/binfmt_misc/register
mount -t overlay overlay -o "lowerdir=$system,upperdir=$folder/upper,workdir=$folder/work" "$folder/root"
mount -t tmpfs tmpfs "$folder/root/dev"
for device in null zero full random urandom; do
    : > "$folder/root/dev/$device"
    mount --bind "/dev/$device" "$folder/root/dev/$device"
done
mkdir -m 1777 "$folder/root/dev/shm"
ln -s /proc/self/fd "$folder/root/dev/fd"
mount -t proc proc "$folder/root/proc"
ip link set lo up
# Not with exec: the shell is process 1, which ignores signals. What the shell says about a signal that ends the program is no output
# of the program.
set +e
exec 3>&2 2> /dev/null
(exec chroot "$folder/root" /usr/bin/env -C "$directory" "$@" 2>&3 3>&-)
exit $?
