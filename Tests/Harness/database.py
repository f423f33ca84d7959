"""A PostgreSQL server of its own, in a directory, as an ordinary user. It is ended by its process number."""
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import time

from freezing import Freeze
from waiting import free_port


class Database:
    """It has an empty database `perch` when it starts. `address`: it listens there as well, on a port of its own. `settings`: as on the
    server's command line. `template`: a directory of the whole run, in which one is initialised for all, and copied."""

    process, freezing, settings = None, None, ()

    def __init__(self, directory, copied_from=None, address="", settings=(), template=None):
        versions = sorted(pathlib.Path("/usr/lib/postgresql").iterdir(), key=lambda each: int(each.name))
        self.programs = versions[-1] / "bin"
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.data = self.directory / "data"
        self.address, self.port, self.settings = address, 5432, settings
        if address:
            self.port = free_port(address)
        self.as_user, self.is_kept = [], self.data.exists()
        if os.getuid() == 0:
            self.as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
            shutil.chown(self.directory, "nobody", "nogroup")
            # The way to it must be open for that user.
            os.chmod(self.directory.parent, 0o755)
        # That of an earlier run, which KEEP has kept.
        if self.is_kept:
            return
        if template:
            subprocess.run(["cp", "-a", self.made(pathlib.Path(template)), self.data], check=True)
            return
        if copied_from:
            # -R: it follows the one that it was copied from.
            command = ["pg_basebackup", "-h", copied_from.directory, "-U", "perch", "-D", self.data, "-R", "-X", "stream",
                       "-c", "fast", "--no-sync"]
        else:
            command = ["initdb", "-D", self.data, "-U", "perch", "--auth=trust", "--no-sync", "--encoding=UTF8", "--no-locale"]
        subprocess.run(self.as_user + [self.programs / command[0]] + command[1:], check=True, cwd="/", stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

        if address:
            with (self.data / "pg_hba.conf").open("a") as rights:
                rights.write("host all all samenet trust\n")

    def made(self, template):
        with open(template / "postgres.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (template / "postgres-template").exists():
                Database(template / "postgres-making")
                (template / "postgres-making").rename(template / "postgres-template")
        return template / "postgres-template" / "data"

    @property
    def url(self):
        return f"postgres://perch@/perch?host={self.directory}&port={self.port}"

    def start(self):
        log = (self.directory / "server.log").open("ab")
        for _ in range(600):
            self.process = subprocess.Popen(
                self.as_user + [self.programs / "postgres", "-D", self.data, "-p", str(self.port),
                                "-c", f"listen_addresses={self.address}", "-c", f"unix_socket_directories={self.directory}",
                                "-c", "max_connections=60", *(word for each in self.settings for word in ("-c", each))],
                cwd="/", stdout=log, stderr=log, stdin=subprocess.DEVNULL)
            # After kill -9 the memory of the old server is in use until its last process has ended.
            while self.process.poll() is None:
                if self.ask("SELECT 1", "postgres") == "1":
                    if self.ask("SELECT pg_is_in_recovery()", "postgres") == "f" and self.ask("SELECT 1") != "1":
                        self.ask("CREATE DATABASE perch", "postgres")
                    return
                time.sleep(0.02)
            time.sleep(0.1)
        raise RuntimeError(f"PostgreSQL does not start: see {self.directory}/server.log")

    def ask(self, sql, database="perch"):
        """The answer in one text; None where it failed."""
        done = subprocess.run([self.programs / "psql", "-h", self.directory, "-p", str(self.port), "-U", "perch", "-d", database,
                               "-qAtX", "-c", sql], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    def run(self, program, *arguments, **options):
        return subprocess.run(self.as_user + [self.programs / program, "-h", self.directory, "-p", str(self.port), "-U", "perch", *arguments],
                              check=True, cwd="/", **options)

    def keep_copy(self, name):
        """A copy of the files of the running server (pg_basebackup), which `return_to` puts in place."""
        copy = self.directory / name
        self.run("pg_basebackup", "-D", copy, "-X", "stream", "-c", "fast", "--no-sync", capture_output=True)
        return copy

    def return_to(self, copy):
        """Instead of its own files a stopped server has those of the copy."""
        shutil.rmtree(self.data)
        subprocess.run(["cp", "-a", copy, self.data], check=True)

    def dump(self, path):
        with open(path, "wb") as file:
            self.run("pg_dump", "--schema=perch", "--clean", "--if-exists", "perch", stdout=file)

    def load(self, path):
        with open(path, "rb") as file:
            self.run("psql", "-d", "perch", "-qX", "-v", "ON_ERROR_STOP=1", stdin=file, stdout=subprocess.DEVNULL)

    def standby(self, directory):
        """A copy that follows this one."""
        return Database(directory, copied_from=self)

    def promote(self):
        """It follows nobody any more, and takes writes."""
        assert self.ask("SELECT pg_promote(true, 300)", "postgres") == "t"

    def pause_receiving(self):
        """It follows nobody from now on, but does not know that it is the primary."""
        self.ask("ALTER SYSTEM SET primary_conninfo = ''", "postgres")
        self.ask("SELECT pg_reload_conf()", "postgres")
        while self.ask("SELECT count(*) FROM pg_stat_wal_receiver", "postgres") != "0":
            time.sleep(0.05)

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait()

    def freeze(self):
        """Stops the server and all its processes, of which the first waits for connections."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.freezing = Freeze([self.process.pid, *map(int, children)])

    def thaw(self):
        if self.freezing:
            self.freezing.thaw()
        self.freezing = None

    def stop(self):
        # A process that stands still does not even see that it is told to end.
        self.thaw()
        if self.process and self.process.poll() is None:
            self.kill(signal.SIGINT)
