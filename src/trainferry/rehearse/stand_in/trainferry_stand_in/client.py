"""The line of one process to the hub, over which ranks exchange tensors."""

import atexit
import os
import socket
import threading

from trainferry_stand_in import ranks
from trainferry_stand_in.errors import NotOnThisMachine, WouldHang
from trainferry_stand_in.wire import read_message, send_message

_making = threading.Lock()
_made = {}


def hub():
    """The one line of this process; threads that ask at the same time get the same one."""
    with _making:
        process = os.getpid()
        if process not in _made:
            _made[process] = Line()
        return _made[process]


class Line:
    """Requests go out under one lock; one thread reads the answers and wakes who waits."""

    def __init__(self):
        path = os.environ.get(ranks.HUB)
        if not path:
            raise NotOnThisMachine(
                f"{ranks.world_size()} ranks are set, but no hub joins them: start the script with "
                f"`trainferry rehearse --ranks {ranks.world_size()}`"
            )
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._connection.connect(path)
        self._writing = threading.Lock()
        self._waiting = {}
        self._next = 0
        self._closed = None
        self.post("hello", {"rank": ranks.world_rank(), "pid": os.getpid()})
        reader = threading.Thread(target=self._read, name="trainferry-hub")
        reader.daemon = True
        reader.start()
        atexit.register(self.close)

    def request(self, header, payload=b""):
        """Send and wait; the parts of all ranks as (header, bytes), in rank order."""
        answer = _Answer()
        with self._writing:
            if self._closed:
                raise WouldHang(self._closed)
            self._next += 1
            number = self._next
            self._waiting[number] = answer
            send_message(self._connection, dict(header, id=number), payload)
        answer.arrived.wait()
        if answer.error:
            raise WouldHang(answer.error)
        return answer.parts

    def post(self, kind, header):
        """Tell the hub something that needs no answer."""
        with self._writing:
            send_message(self._connection, dict(header, kind=kind, id=0))

    def close(self):
        """Say that this rank ends; the hub tells the others if they still wait for it."""
        with self._writing:
            if self._closed is None:
                self._closed = "this rank has ended its communication"
                try:
                    self._connection.shutdown(socket.SHUT_WR)
                except OSError:
                    return  # The hub went first: there is nobody left to tell.

    def _read(self):
        stream = self._connection.makefile("rb")
        while True:
            try:
                message = read_message(stream)
            except OSError:
                message = None
            if message is None:
                break
            header, payload = message
            if header["id"] == 0:
                self._closed = header["error"]
                break
            self._waiting.pop(header["id"]).fill(header, payload)
        with self._writing:
            self._closed = self._closed or "the hub that joins the ranks has ended"
            for answer in self._waiting.values():
                answer.fail(self._closed)
            self._waiting.clear()


class _Answer:
    def __init__(self):
        self.arrived = threading.Event()
        self.parts = []
        self.error = None

    def fill(self, header, payload):
        self.error = header.get("error")
        start = 0
        for part in header.get("parts", []):
            end = start + part["bytes"]
            self.parts.append((part, payload[start:end]))
            start = end
        self.arrived.set()

    def fail(self, reason):
        self.error = reason
        self.arrived.set()
