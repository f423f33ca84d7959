"""Ports below the range that the kernel gives to outgoing connections, so that a server finds its port free when it starts again.

Processes that run beside each other take theirs from different parts: `use_part`."""
import socket
import threading

PARTS, PART_SIZE = 24, 500
lock = threading.Lock()
following = iter(range(20_000, 20_000 + PART_SIZE))


def use_part(number):
    global following
    begin = 20_000 + number % PARTS * PART_SIZE
    following = iter(range(begin, begin + PART_SIZE))


def free_port(address="127.0.0.1"):
    with lock:
        for port in following:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind((address, port))
                except OSError:
                    continue
            return port
    raise RuntimeError("no port is left: see harness/ports.py")
