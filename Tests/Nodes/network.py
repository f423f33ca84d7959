"""A network namespace of its own, joined to this one by a pair of interfaces, which can be cut. Needs root."""
import ctypes
import os
import socket
import subprocess
import threading

CLONE_NEWNET = 0x40000000


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Network:
    def __init__(self):
        number = os.getpid() % 250
        self.name, self.here, self.there = f"perch-{os.getpid()}", f"perch{number}a", f"perch{number}b"
        self.address, self.other = f"10.213.{number}.1", f"10.213.{number}.2"
        ip("netns", "add", self.name)
        try:
            ip("link", "add", self.here, "type", "veth", "peer", "name", self.there, "netns", self.name)
            ip("addr", "add", f"{self.address}/30", "dev", self.here)
            ip("link", "set", self.here, "up")
            ip("-n", self.name, "addr", "add", f"{self.other}/30", "dev", self.there)
            ip("-n", self.name, "link", "set", self.there, "up")
        except subprocess.CalledProcessError:
            self.close()
            raise

    def connect(self, port):
        """A connection from in there; the calling thread stays where it is."""
        made = []

        def enter():
            try:
                with open(f"/run/netns/{self.name}") as namespace:
                    if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET) != 0:
                        return
                made.append(socket.create_connection((self.address, port), timeout=1))
            except OSError:
                pass
        # The namespace is the thread's, and ends with it.
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        if not made:
            raise OSError("no connection")
        made[0].settimeout(None)
        return made[0]

    def cut(self):
        ip("link", "set", self.here, "down")

    def mend(self):
        ip("link", "set", self.here, "up")

    def close(self):
        """With the namespace goes the pair."""
        ip("netns", "delete", self.name)
