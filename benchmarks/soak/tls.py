"""TLS in front of a platform, and a wire that is cut in the middle of what it carries.

    a client  →  the wire: raw TCP, which cuts  →  TLS, with a certificate made for this  →  the platform, in plain

What is cut may be a handshake, a request or an answer, always within what was written at once, so within a record of TLS:
half of it arrives, and then a reset, or an end without TLS's own goodbye.
"""

import asyncio
import contextlib
import ipaddress
import random
import socket
import ssl
import struct
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp.connector
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_HOST = "127.0.0.1"
_PIECE = 1 << 16
_Carry = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True)
class Wire:
    """Where a client finds the platform, whom it is to trust, and how often it was cut."""

    url: str
    trusted: str
    cut: int = 0


def trust(path: str) -> None:
    """Let every client of this process trust the certificate: they all stand on aiohttp's own context."""
    aiohttp.connector._SSL_CONTEXT_VERIFIED.load_verify_locations(path)


@asynccontextmanager
async def wire(url: str, share: float, seed: int) -> AsyncIterator[Wire]:
    """Run it before the platform at `url`; `share` of what passes is cut."""
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        certificate = Path(folder) / "certificate.pem"
        certificate.write_bytes(self_signed())
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)
        found = Wire("", str(certificate))

        def cuts() -> bool:
            cut = dice.random() < share
            found.cut += cut
            return cut

        platform = urlsplit(url)
        async with await asyncio.start_server(_joined(platform.port, lambda: False), _HOST, 0, ssl=context) as inner:
            async with await asyncio.start_server(_joined(_port(inner), cuts), _HOST, 0) as outer:
                found.url = f"https://{_HOST}:{_port(outer)}"
                yield found


def _port(server: asyncio.Server) -> int:
    return int(server.sockets[0].getsockname()[1])


def _joined(port: int | None, cuts: Callable[[], bool]) -> _Carry:
    """Return what carries everything between who connects and the port."""

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection(_HOST, port)
        except OSError:
            writer.close()
            return
        both = [asyncio.create_task(_carried(*each, cuts, (writer, back))) for each in ((reader, back), (there, writer))]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for each in both:
            each.cancel()
        await asyncio.gather(*both, return_exceptions=True)
        for end in (writer, back):
            end.close()

    return carry


async def _carried(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    cuts: Callable[[], bool],
    ends: tuple[asyncio.StreamWriter, asyncio.StreamWriter],
) -> None:
    with contextlib.suppress(OSError, ssl.SSLError):
        while piece := await reader.read(_PIECE):
            if cuts():
                writer.write(piece[: len(piece) // 2])
                await writer.drain()
                if len(piece) % 2:  # as good as by chance
                    _reset(ends[0])
                return
            writer.write(piece)
            await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def self_signed() -> bytes:
    """Return a key and a certificate for this machine, which signed itself, good for a day."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "the soak")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(_HOST))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain) + made.public_bytes(
        serialization.Encoding.PEM
    )
