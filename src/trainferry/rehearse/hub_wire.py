"""Messages between hub and ranks: a length, a header in JSON, and raw bytes.

`stand_in/trainferry_stand_in/wire.py` is the other end, in the user's process.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any, BinaryIO

_LENGTH = struct.Struct(">I")


def send_message(connection: socket.socket, header: dict[str, Any], payload: bytes = b"") -> None:
    text = json.dumps({**header, "bytes": len(payload)}).encode("utf-8")
    connection.sendall(_LENGTH.pack(len(text)) + text + payload)


def read_message(stream: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """Give the next message; None when the rank has closed its line, at whatever point."""
    try:
        length = stream.read(_LENGTH.size)
        if len(length) < _LENGTH.size:
            return None
        header: dict[str, Any] = json.loads(stream.read(_LENGTH.unpack(length)[0]))
        payload = stream.read(header["bytes"]) if header["bytes"] else b""
    except (OSError, ValueError):
        return None
    return (header, payload) if len(payload) == header["bytes"] else None
