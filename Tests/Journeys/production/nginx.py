"""nginx in front of the nodes, with nothing but `grpc_pass` and `proxy_pass`: every other setting is its default."""
import pathlib
import shutil
import socket

from server import Process
from waiting import free_port

from .waiting import until


class Front(Process):
    """`grpc` and `web` are the ports of clients, `apple` the one of notifications. All three speak TLS.

    `accounts` maps a path such as `alice` to the token that nginx adds for calls below it, as an app's own backend would."""

    def __init__(self, directory, certificate, key):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True)
        self.certificate, self.key, self.servers, self.accounts = certificate, key, [], {}
        self.grpc, self.web, self.apple = free_port(), free_port(), free_port()
        program = next(path for path in ("/usr/sbin/nginx", "/usr/bin/nginx", shutil.which("nginx")) if path and pathlib.Path(path).exists())
        super().__init__([program, "-c", self.directory / "nginx.conf"], self.directory / "nginx.out")

    @property
    def origin(self):
        """Of pages that come through it. nginx does not tell servers its own name, so they have to be told by `--allow-origin`."""
        return f"https://localhost:{self.web}"

    def write_settings(self):
        here = self.directory
        clients = " ".join(f"server 127.0.0.1:{server.port};" for server in self.servers)
        notifications = " ".join(f"server 127.0.0.1:{server.apple_port};" for server in self.servers)
        tls = f"ssl_certificate {self.certificate}; ssl_certificate_key {self.key};"
        more = "".join(f"""
        location /as/{name}/ {{ proxy_pass https://perch/; proxy_set_header Authorization "Bearer {token}"; }}"""
                       for name, token in self.accounts.items())
        # nginx passes on the name of its upstream, and Apple's listener on loopback takes names of loopback only.
        (here / "nginx.conf").write_text(f"""daemon off; master_process off; pid {here}/pid; error_log {here}/error.log;
events {{}}
http {{
    access_log {here}/access.log; client_body_temp_path {here}/b; proxy_temp_path {here}/p; fastcgi_temp_path {here}/f;
    uwsgi_temp_path {here}/u; scgi_temp_path {here}/s;
    upstream perch {{ {clients} }}
    upstream localhost {{ {notifications} }}
    server {{ listen 127.0.0.1:{self.grpc} ssl http2; {tls} location / {{ grpc_pass grpcs://perch; }} }}
    server {{ listen 127.0.0.1:{self.web} ssl; {tls}
        location / {{ proxy_pass https://perch; }}{more}
    }}
    server {{ listen 127.0.0.1:{self.apple} ssl; {tls} location = /apple/notifications {{ proxy_pass https://localhost; }} }}
}}
""")

    def start(self, servers, accounts):
        self.servers, self.accounts = servers, accounts
        self.write_settings()
        self.spawn()
        until("nginx that listens", lambda: not self.runs or self.listens(), lambda: self.lines[-5:])
        if not self.runs:
            self.reader.join()
            raise RuntimeError(f"nginx ended with {self.process.returncode}: {self.lines[-5:]}")
        return self

    def listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.apple)) == 0
