"""What happened, in order: the only input of the checks.

The live part of the recorder writes entries, the checks read them. A journal can be saved, changed (see controls.py)
and checked again without a server.
"""

import pickle
import time
from typing import NamedTuple


class Entry(NamedTuple):
    """One thing that happened.

    what        meaning                                          fields
    serve       a server process has begun                       note: how
    kill        it was killed with -9, or stopped by SIGTERM      note: signal
    open        a connection was opened                          connection, note: session, client_id, writer
    lost        it ended                                         connection, note: why, by (client or server)
    call        a call was sent                                  connection, stream, body: the request, note: for what
    cancel      CANCEL was sent                                  connection, stream
    frame       a frame arrived                                  connection, stream, kind, body: inflated
    operation   an operation of the workload begins              note: the operation
    settled     no change is under way any more: compare         note: final
    end         the run has ended
    """

    at: float
    what: str
    connection: int = 0
    stream: int = 0
    kind: int = 0
    body: bytes = b""
    note: dict = {}


class Journal:
    """Keeps entries where they are wanted later, and hands each to the checks."""

    def __init__(self, checks, keeps):
        self.checks = checks
        self.entries = [] if keeps else None

    def write(self, what, **fields):
        entry = Entry(time.monotonic(), what, **fields)
        if self.entries is not None:
            self.entries.append(entry)
        self.checks.feed(entry)


def save(path, entries, header):
    with open(path, "wb") as file:
        pickle.dump((header, [tuple(entry) for entry in entries]), file, protocol=4)


def load(path):
    with open(path, "rb") as file:
        header, entries = pickle.load(file)
    return header, [Entry(*entry) for entry in entries]
