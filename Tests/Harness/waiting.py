"""How trials wait. A slow machine is no failure, so a limit only ends what hangs, and a port is nobody else's."""
import random
import socket
import time

PATIENCE_SECONDS = 300


def until(look, what, seconds=PATIENCE_SECONDS):
    """Looks again until `look()` is true, and answers what it answered."""
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, f"not within {seconds} s: {what() if callable(what) else what}"
        time.sleep(0.02)
    return found


def given_time(look, seconds):
    """What ends by itself after some seconds may end before it came to the point on a machine that others use. `look(seconds)` is called
    with twice as many until it is true."""
    while not (found := look(seconds)):
        assert seconds < PATIENCE_SECONDS, f"not within {seconds} s either"
        seconds *= 2
    return found


_taken = []


def free_port(address="127.0.0.1"):
    """A TCP port for a server that may start later, or stop and start again.

    The kernel gives nobody a port below 32768 by itself, neither a listener on port 0 nor a connection. A UDP socket on the same
    number keeps it from the other trials for as long as this process lives.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for _ in range(1_000):
        port = random.SystemRandom().randrange(12_000, 32_000)
        mark = socket.socket(family, socket.SOCK_DGRAM)
        try:
            mark.bind((address, port))
            with socket.socket(family) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((address, port))
        except OSError:
            mark.close()
            continue
        _taken.append(mark)
        return port
    raise RuntimeError(f"no free port of {address} between 12000 and 32000 in 1,000 attempts")
