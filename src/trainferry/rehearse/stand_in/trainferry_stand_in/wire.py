"""Messages between ranks and hub: a length, a header in JSON, and raw bytes."""

import json
import struct

_LENGTH = struct.Struct(">I")


def send_message(connection, header, payload=b""):
    """Write one message; the caller holds the lock of the connection."""
    text = json.dumps(dict(header, bytes=len(payload))).encode("utf-8")
    connection.sendall(_LENGTH.pack(len(text)) + text)
    if payload:
        connection.sendall(payload)


def read_message(stream):
    """The next message as header and payload; None when the other side has closed."""
    start = stream.read(_LENGTH.size)
    if len(start) < _LENGTH.size:
        return None
    text = stream.read(_LENGTH.unpack(start)[0])
    if not text:
        return None
    header = json.loads(text.decode("utf-8"))
    payload = stream.read(header["bytes"]) if header["bytes"] else b""
    if len(payload) < header["bytes"]:
        return None
    return header, payload
