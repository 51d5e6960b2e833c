"""Refusing a path on a disk that machines share, on which SQLite loses data."""

from pathlib import Path

from bot.errors import StoreError

# The types under which Linux lists file systems that machines share. The write-ahead log needs shared memory, which these
# do not have (https://sqlite.org/wal.html, "all processes using a database must be on the same host computer").
_NAMES = (
    "afs ceph cifs coda davfs fuse.ceph fuse.davfs fuse.glusterfs fuse.rclone fuse.s3fs fuse.sshfs gfs2 glusterfs lustre"
    " ncpfs nfs nfs4 ocfs2 smb2 smb3 smbfs"
)
_NETWORK = frozenset(_NAMES.split())


def refuse_network_disk(path: Path, mounts: Path = Path("/proc/mounts")) -> None:
    """Raise StoreError when the file would lie on a network file system; where `mounts` cannot be read, let it pass."""
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return
    kind, options = _file_system(path.resolve(), lines)
    # Windows drives inside WSL come over 9p; other uses of 9p are local disks of a virtual machine.
    if kind in _NETWORK or (kind == "9p" and "drvfs" in options):
        raise StoreError(
            f"{path} lies on a network file system ({kind}), on which SQLite loses data; choose a path on a local disk."
        )


def _file_system(path: Path, mounts: list[str]) -> tuple[str, str]:
    """Return type and options of the longest mount point above the path; of two mounts on one point the later one holds."""
    best, found = -1, ("", "")
    for line in mounts:
        _, point, kind, options, *_ = [*line.split(" "), "", "", "", ""]
        point = _unescaped(point)
        if point and path.is_relative_to(point) and len(point) >= best:
            best, found = len(point), (kind, options)
    return found


def _unescaped(point: str) -> str:
    r"""Undo the octal escapes of /proc/mounts (a space is \040)."""
    for code in (r"\040", r"\011", r"\012", r"\134"):
        point = point.replace(code, chr(int(code[1:], 8)))
    return point
