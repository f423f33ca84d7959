"""PostgreSQL servers. One is initialised for all trials of a run; the others are copies of its files."""
import fcntl
import pathlib
import shutil
import subprocess

import database


class PostgreSQL(database.Database):
    """A server of its own in `directory`, with an empty database `perch`. `shared` is a directory of the whole run."""

    def __init__(self, directory, shared):
        shared = pathlib.Path(shared)
        with open(shared / "postgres.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            made = shared / "postgres-template"
            if not made.exists():
                database.Database(shared / "postgres-making")
                (shared / "postgres-making").rename(made)
        versions = sorted(pathlib.Path("/usr/lib/postgresql").iterdir(), key=lambda each: int(each.name))
        self.copy(made / "data", directory, versions[-1] / "bin")

    def copy(self, data, directory, programs):
        """As the initialiser does, with the files of a template in place of `initdb`."""
        self.programs, self.address, self.port, self.process = programs, "", 5432, None
        self.directory = pathlib.Path(directory)
        self.data = self.directory / "data"
        self.directory.mkdir(parents=True)
        self.directory.parent.chmod(0o755)
        self.as_user = []
        subprocess.run(["cp", "-a", data, self.data], check=True)
        if self.data.owner() != pathlib.Path(self.directory).owner():
            self.as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
            shutil.chown(self.directory, "nobody", "nogroup")

    def start(self):
        super().start()
        if self.ask("SELECT 1") != "1":
            self.ask("CREATE DATABASE perch", "postgres")
        return self

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
