"""Keys and tokens, made by `perch token` as an operator makes them."""
import itertools
import pathlib
import subprocess


class Keys:
    """A signing key, and `public`, a directory with its public half for servers."""

    def __init__(self, perch, directory):
        self.perch, self.directory = perch, pathlib.Path(directory)
        self.public, self.signing = self.directory / "keys", self.directory / "main.jwk"
        self.public.mkdir(parents=True)
        self.run("key", "create", "--to", self.signing)
        (self.directory / "main.pub.jwk").rename(self.public / "main.pub.jwk")
        self.numbers = itertools.count(1)

    def run(self, *arguments):
        subprocess.run([self.perch, "token", *map(str, arguments)], check=True, capture_output=True)

    def token(self, scope, app=None, account=None, subject=None, expires=None):
        """The path of a new token: for one app (a pair of bundle and environment) or for all, for one account or for all."""
        # Threads make tokens at once, each of its own name.
        path = self.directory / f"{next(self.numbers)}-{scope}.token"
        words = ["create", "--key", self.signing, "--scope", scope, "--to", path]
        words += ["--app", app[0], "--environment", app[1]] if app else ["--app", "*"]
        for name, value in (("--account", account), ("--subject", subject or scope.replace(",", "-")), ("--expires", expires)):
            words += [name, value] if value else []
        self.run(*words)
        return path

    def text(self, *arguments, **more):
        return self.token(*arguments, **more).read_text().strip()
