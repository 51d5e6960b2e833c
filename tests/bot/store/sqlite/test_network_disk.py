"""Where a database may lie."""

from pathlib import Path

import pytest

from bot.errors import StoreError
from bot.store.sqlite.recovery.network_disk import refuse_network_disk

MOUNTS = """\
overlay / overlay rw 0 0
/dev/sda1 /srv ext4 rw 0 0
nas:/data /srv/nas nfs4 rw,vers=4.2 0 0
nas:/more /srv/my\\040files nfs rw 0 0
/dev/sdb1 /srv/nas/local ext4 rw 0 0
C:\\134 /mnt/c 9p rw,aname=drvfs;path=C:\\ 0 0
none /run/guest 9p rw,trans=virtio 0 0
me@host:/ /home/me/remote fuse.sshfs rw 0 0
"""


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    listed = tmp_path / "mounts"
    listed.write_text(MOUNTS, "utf-8")
    return listed


@pytest.mark.parametrize("path", ["/srv/nas/a.db", "/srv/my files/deep/a.db", "/mnt/c/a.db", "/home/me/remote/a.db"])
def test_a_file_on_a_network_file_system_is_refused(mounts: Path, path: str) -> None:
    with pytest.raises(StoreError, match="network file system"):
        refuse_network_disk(Path(path), mounts)


@pytest.mark.parametrize("path", ["/srv/a.db", "/srv/nasty/a.db", "/srv/nas/local/a.db", "/run/guest/a.db", "/a.db"])
def test_a_file_on_a_local_disk_is_let_through(mounts: Path, path: str) -> None:
    refuse_network_disk(Path(path), mounts)


def test_where_nothing_is_known_of_mounts_every_path_is_let_through(tmp_path: Path) -> None:
    refuse_network_disk(tmp_path / "a.db", tmp_path / "missing")
