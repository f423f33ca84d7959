"""The machine of one process and its children: its wall clock, its disk and its syncs, by machine.c, which trial.sh compiles."""
import mmap
import os
import pathlib
import struct

from trial import WORK


class Machine:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.path.write_bytes(bytes(24))
        with self.path.open("r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 24)
        os.chmod(self.path, 0o644)

    def give(self, ahead=0, syncs_fail=0, disk_is_full=0):
        """`ahead`: seconds by which the clock is."""
        self.memory[:] = struct.pack("=qqq", ahead * 10**9, syncs_fail, disk_is_full)

    @property
    def variables(self):
        return {"LD_PRELOAD": str(WORK / "machine.so"), "PERCH_TEST_MACHINE": str(self.path)}
