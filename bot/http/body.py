"""Read a body piece by piece, counting what it becomes once inflated."""

import zlib

from bot.errors import SourceUnavailable

_AUTO = zlib.MAX_WBITS | 32  # zlib finds out itself whether it reads a gzip or a zlib header


class Body:
    """Collects a body; never holds more than `max_bytes` of it, however small it was when compressed."""

    def __init__(self, encoding: str, max_bytes: int) -> None:
        coding = encoding.strip().lower()
        if coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise SourceUnavailable(f"the answer is encoded as {coding[:40]!r}, which was not asked for")
        self._inflater = zlib.decompressobj(_AUTO) if coding not in ("", "identity") else None
        self._max = max_bytes
        self._parts: list[bytes] = []
        self._size = 0
        self._came = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next piece as it came; raises SourceUnavailable when too much has come."""
        self._came += len(chunk)
        if self._came > self._max:
            self._refuse()
        if self._inflater is None:
            self._keep(chunk)
        else:
            self._inflate(chunk)

    def finish(self) -> bytes:
        """Return the whole body; raises SourceUnavailable when a compressed one was cut off."""
        if self._inflater is not None and self._came and not self._inflater.eof:
            raise SourceUnavailable("the compressed answer was cut off")
        return b"".join(self._parts)

    def _inflate(self, chunk: bytes) -> None:
        try:
            while chunk:
                assert self._inflater is not None  # noqa: S101 (for the type checker; feed() has looked)
                if self._inflater.eof:  # a further gzip member follows
                    self._inflater = zlib.decompressobj(_AUTO)
                self._keep(self._inflater.decompress(chunk, self._max - self._size + 1))
                chunk = self._inflater.unconsumed_tail or self._inflater.unused_data
        except zlib.error as error:
            raise SourceUnavailable("the compressed answer is damaged") from error

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._max:
            self._refuse()
        self._parts.append(piece)

    def _refuse(self) -> None:
        raise SourceUnavailable(f"the answer is larger than {self._max:,} bytes")
