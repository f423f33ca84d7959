"""nginx, HAProxy and Envoy in front of a server, with their default settings if nothing else is said."""
import importlib.util
import json
import pathlib
import shutil
import tempfile

from server import Process
from waiting import free_port


def program(name):
    return shutil.which(name) or next(
        (path for path in (f"/usr/sbin/{name}", f"/usr/local/sbin/{name}") if pathlib.Path(path).exists()), None)


def is_here(name):
    return importlib.util.find_spec("envoy") is not None if name == "Envoy" else program(name.lower()) is not None


def nginx(work, port, server, speaks, timeout):
    """By default a gRPC upstream may say nothing for 60 s."""
    listens, passes = ("http2", "grpc_pass grpc") if speaks == "h2" else ("", "proxy_pass http")
    short = f"grpc_read_timeout {timeout}s; grpc_send_timeout {timeout}s; send_timeout {timeout}s;" if timeout else ""
    (work / "nginx.conf").write_text(f"""daemon off; master_process off; pid {work}/nginx.pid; error_log {work}/nginx.log;
events {{}}
http {{
    access_log off; client_body_temp_path {work}/b; proxy_temp_path {work}/p; fastcgi_temp_path {work}/f;
    uwsgi_temp_path {work}/u; scgi_temp_path {work}/s;
    server {{ listen 127.0.0.1:{port} {listens}; location / {{ {passes}://127.0.0.1:{server}; {short} }} }}
}}
""")
    return [program("nginx"), "-c", work / "nginx.conf"]


def haproxy(work, port, server, speaks, timeout):
    """HAProxy has no timeouts by itself; 50 s are those of Debian's configuration."""
    version = "proto h2" if speaks == "h2" else ""
    (work / "haproxy.cfg").write_text(f"""defaults
    mode http
    timeout connect 5s
    timeout client {timeout or 50}s
    timeout server {timeout or 50}s
frontend calls
    bind 127.0.0.1:{port} {version}
    default_backend perch
backend perch
    server perch 127.0.0.1:{server} {version}
""")
    return [program("haproxy"), "-db", "-f", work / "haproxy.cfg"]


def envoy(work, port, server, speaks, timeout):
    """By default a stream may be idle for five minutes. Its route timeout, which would end every stream after 15 s, is off for HTTP/2."""
    kinds = "type.googleapis.com/envoy.extensions"

    def address(number):
        return {"socket_address": {"address": "127.0.0.1", "port_value": number}}

    route = {"cluster": "perch"} | ({"timeout": "0s"} if speaks == "h2" else {})
    manager = {
        "@type": f"{kinds}.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "calls",
        "http_filters": [{"name": "envoy.filters.http.router",
                          "typed_config": {"@type": f"{kinds}.filters.http.router.v3.Router"}}],
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": route}]}]}}
    if timeout:
        manager["stream_idle_timeout"] = f"{timeout}s"
    cluster = {"name": "perch", "connect_timeout": "5s", "load_assignment": {"cluster_name": "perch", "endpoints": [
        {"lb_endpoints": [{"endpoint": {"address": address(server)}}]}]}}
    if speaks == "h2":
        cluster["typed_extension_protocol_options"] = {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
            "@type": f"{kinds}.upstreams.http.v3.HttpProtocolOptions", "explicit_http_config": {"http2_protocol_options": {}}}}
    (work / "envoy.json").write_text(json.dumps({"static_resources": {
        "listeners": [{"name": "calls", "address": address(port), "filter_chains": [
            {"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}]}],
        "clusters": [cluster]}}))
    import envoy as package
    binary = next(pathlib.Path(package.__file__).parent.rglob("_bin/envoy"))
    return [binary, "-c", work / "envoy.json", "--base-id", str(port), "--concurrency", "1", "--log-level", "warning"]


PROXIES = {"nginx": nginx, "HAProxy": haproxy, "Envoy": envoy}


class Proxy(Process):
    """A proxy that runs. `speaks`: HTTP/1.1, or "h2" in both directions. `timeout`: seconds in place of its own."""

    def __init__(self, name, server, speaks="http/1.1", timeout=None):
        self.port, self.directory = free_port(), tempfile.TemporaryDirectory()
        work = pathlib.Path(self.directory.name)
        super().__init__(PROXIES[name](work, self.port, server, speaks, timeout), work / "out", cwd=work)
        self.spawn()
