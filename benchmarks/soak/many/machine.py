"""Machines: each with a clock of its own and, where network namespaces can be made, an address and a cable of its own."""

import asyncio
import ipaddress
import itertools
import os
import shutil
import subprocess
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import cast

from tests.fakes.forked import Forked

# https://github.com/wolfcw/libfaketime; Debian's package `faketime`.
_FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
_made = itertools.count()  # machines of this process, each with a network of its own
_NETWORKS = 1 << 14  # of four addresses; nothing outside this machine is ever asked


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine, as the processes on it see it."""

    name: str
    host: str = "127.0.0.1"  # what the machine is called on which the server and the platform are
    space: str = ""  # its network namespace
    ahead: timedelta = timedelta(0)  # what its clock shows beside the true time

    def environ(self) -> Mapping[str, str]:
        """Return the variables that every process on it has."""
        if not self.ahead:
            return {}
        seconds = self.ahead.total_seconds()
        return {"LD_PRELOAD": str(_FAKETIME), "FAKETIME": f"{seconds:+.0f}s", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

    async def start(self, command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> Forked:
        """Start a program on it."""
        inside = ["ip", "netns", "exec", self.space] if self.space else []
        made = await asyncio.create_subprocess_exec(
            *inside, *command, cwd=folder, env=dict(environ), stdin=DEVNULL, stdout=PIPE, stderr=PIPE
        )
        return cast(Forked, made)  # asked for no more than both have

    def cut(self) -> None:
        """Take its cable away: what it sends is lost without a word."""
        _ip("link", "set", f"{self.space}h", "down")

    def mend(self) -> None:
        """Give it back."""
        _ip("link", "set", f"{self.space}h", "up")


HERE = Machine("here")


def can_have_clocks() -> bool:
    """Say whether a process can be shown another time than the machine's."""
    return _FAKETIME.exists()


def can_have_networks() -> bool:
    """Say whether network namespaces can be made here."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    name = f"bs{os.getpid()}t"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode == 0
    if made:
        _ip("netns", "del", name)
    return made


@asynccontextmanager
async def machines(*ahead: timedelta) -> AsyncIterator[list[Machine]]:
    """Make so many machines, with what their clocks show beside the true time, as far as that can be had here."""
    clocks = ahead if can_have_clocks() else [timedelta(0)] * len(ahead)
    if not await asyncio.to_thread(can_have_networks):
        yield [Machine(f"machine {number}", ahead=each) for number, each in enumerate(clocks, 1)]
        return
    made = [_with_a_network(number, each) for number, each in enumerate(clocks, 1)]
    try:
        for machine in made:
            await asyncio.to_thread(_wire, machine)
        yield made
    finally:
        for machine in made:
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "del", machine.space)


def _with_a_network(number: int, ahead: timedelta) -> Machine:
    """Return a machine whose names and addresses no other one has, of this process or of one beside it."""
    place = next(_made)
    first = ipaddress.ip_address("10.213.0.0") + 4 * ((8 * os.getpid() + place) % _NETWORKS)
    return Machine(f"machine {number}", str(first + 1), f"bs{os.getpid()}n{place}", ahead)


def _wire(machine: Machine) -> None:
    """Make the machine's namespace and a cable from it to here."""
    space, here, there = machine.space, f"{machine.space}h", f"{machine.space}g"
    _ip("netns", "add", space)
    _ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", space)
    _ip("addr", "add", f"{machine.host}/30", "dev", here)
    _ip("link", "set", here, "up")
    for words in (
        ("addr", "add", f"{ipaddress.ip_address(machine.host) + 1}/30", "dev", there),
        ("link", "set", there, "up"),
        ("link", "set", "lo", "up"),
    ):
        _ip("-n", space, *words)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
