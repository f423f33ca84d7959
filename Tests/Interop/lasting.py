"""What a client needs that comes back: when to apply values together, and how long to stay away. See proto/README.md."""
import random

from client import BEAT, MESSAGE, STATUS


class Groups:
    """When to apply the values of several watches: the rules of "Groups" in proto/README.md."""
    def __init__(self):
        self.counted, self.resuming, self.held, self.is_open = set(), set(), {}, False

    def called(self, stream):
        """A watch resumes: it is called with a token. Before its CALL is sent."""
        self.counted.add(stream)
        self.resuming.add(stream)

    def took(self, frame):
        """The messages to apply together now, by stream. Of a stream of state only."""
        if frame.kind == MESSAGE:
            self.counted.add(frame.stream)
            self.is_open = True
            if frame.message.WhichOneof("state") != "loading":
                self.held[frame.stream] = frame.message
                self.resuming.discard(frame.stream)
        elif frame.kind == STATUS:
            self.counted.discard(frame.stream)
            self.resuming.discard(frame.stream)
            self.held.pop(frame.stream, None)  # its next call tells it again
        elif frame.kind == BEAT:
            self.is_open = False
        if self.resuming or (self.is_open and len(self.counted) > 1):
            return {}
        held, self.held = self.held, {}
        return held


# The reasons of DRAIN whose column Retry is `no`: the same program gets the same answer.
REFUSED = set("""FRAME_TOO_LONG UNKNOWN_KIND RESERVED_FLAG STREAM_ZERO STREAM_NOT_ZERO HELLO_EXPECTED HELLO_REPEATED HELLO_INVALID
    PROTOCOL_VERSION STREAM_LIVE KIND_NOT_FOR_CLIENTS PING_LENGTH CANCEL_NOT_EMPTY INFLATE_LIMIT INFLATE_RATIO INFLATE_CORRUPT
    COMPRESSION_NOT_OFFERED TLS_REQUIRED HTTP_PROTOCOL""".split())


def pause_ms(failures, drain=None):
    """Milliseconds to stay away after so many failures in a row, or None: do not come back by yourself. `drain`: the final one."""
    if drain and drain.reason in REFUSED:
        return None
    grown = random.uniform(0, min(60_000, 1_000 * 2 ** failures))
    if not drain or not (drain.reconnect_after_ms or drain.jitter_ms):
        return grown
    asked = drain.reconnect_after_ms + random.uniform(0, drain.jitter_ms)
    return max(asked, grown) if failures else asked
