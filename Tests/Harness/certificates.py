"""Certificates for tests, made by Debian's openssl when they are asked for: no key lies in the repository, none ends."""
import os
import pathlib
import subprocess

CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


class Authority:
    """An authority in a directory, and what it has signed: NAME.pem and NAME.key."""

    def __init__(self, directory, name="authority"):
        self.directory, self.name = pathlib.Path(directory), name
        self.run("req", "-x509", *CURVE, "-keyout", self.key(name), "-out", self.pem(name), "-days", "2",
                 "-subj", f"/CN={name}")

    def pem(self, name):
        return str(self.directory / f"{name}.pem")

    def key(self, name):
        return str(self.directory / f"{name}.key")

    def run(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)

    def sign(self, name, subject=None, names=None, days=2):
        """A certificate for `subject`; with negative `days` it has ended. Answers the two paths."""
        request, extensions = self.directory / f"{name}.csr", self.directory / f"{name}.ext"
        self.run("req", *CURVE, "-keyout", self.key(name), "-out", str(request), "-subj", f"/CN={subject or name}")
        extensions.write_text(f"subjectAltName={names}\n" if names else "basicConstraints=CA:FALSE\n")
        if days < 0:
            self.sign_ended(name, request, extensions)
        else:
            self.run("x509", "-req", "-in", str(request), "-CA", self.pem(self.name), "-CAkey", self.key(self.name),
                     "-CAcreateserial", "-extfile", str(extensions), "-out", self.pem(name), "-days", str(days))
        os.chmod(self.key(name), 0o600)
        return self.pem(name), self.key(name)

    def sign_ended(self, name, request, extensions):
        """`openssl x509` of version 3.0 begins now; `openssl ca` takes dates, and wants a few files."""
        index = self.directory / f"{name}.index"
        index.write_text("")
        settings = self.directory / f"{name}.cnf"
        settings.write_text(f"""[ca]
default_ca = here
[here]
database = {index}
new_certs_dir = {self.directory}
rand_serial = yes
default_md = sha256
policy = any
[any]
commonName = supplied
""")
        self.run("ca", "-batch", "-notext", "-config", str(settings), "-in", str(request), "-cert", self.pem(self.name),
                 "-keyfile", self.key(self.name), "-extfile", str(extensions), "-startdate", "20200101000000Z",
                 "-enddate", "20200102000000Z", "-out", self.pem(name))
