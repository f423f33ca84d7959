"""An idle stream through nginx, HAProxy and Envoy lives, thanks to bookmarks.

    proxies.py PERCH CATALOG                 15 s, with the proxies' timeouts shortened to 12 s
    proxies.py PERCH CATALOG --minutes 10    with the timeouts that each has by default

The stream says nothing for that time, and then a purchase must come through. With short timeouts a stream whose bookmarks come
too rarely is the control: each proxy must cut it. Envoy's route timeout is off: it would end every stream after 15 s.
"""
import argparse
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

import stubs
from checks import check, equal, summary
from server import Server

sys.path.insert(0, str(stubs.python()))
import grpc  # noqa: E402
from perch.v1 import entitlement_service_pb2 as pb  # noqa: E402
from perch.v1.entitlement_service_pb2_grpc import EntitlementServiceStub  # noqa: E402

SHORT = 12  # seconds; the shortest heartbeat of a client is 10 s
GROUP, PRODUCT = "premium", "com.example.monthly"


def nginx(work, port, server, timeout):
    """By default a gRPC upstream may say nothing for 60 s."""
    short = f"grpc_read_timeout {timeout}s; grpc_send_timeout {timeout}s; send_timeout {timeout}s;" if timeout else ""
    (work / "nginx.conf").write_text(f"""daemon off; master_process off; pid {work}/nginx.pid; error_log {work}/nginx.log;
events {{}}
http {{
    access_log off; client_body_temp_path {work}/b; proxy_temp_path {work}/p; fastcgi_temp_path {work}/f;
    uwsgi_temp_path {work}/u; scgi_temp_path {work}/s;
    server {{ listen 127.0.0.1:{port} http2; location / {{ grpc_pass grpc://127.0.0.1:{server}; {short} }} }}
}}
""")
    return [next(path for path in ("/usr/sbin/nginx", "/usr/bin/nginx") if pathlib.Path(path).exists()), "-c", work / "nginx.conf"]


def haproxy(work, port, server, timeout):
    """HAProxy has no timeouts by itself; 50 s are those of Debian's configuration."""
    (work / "haproxy.cfg").write_text(f"""defaults
    mode http
    timeout connect 5s
    timeout client {timeout or 50}s
    timeout server {timeout or 50}s
frontend calls
    bind 127.0.0.1:{port} proto h2
    default_backend perch
backend perch
    server perch 127.0.0.1:{server} proto h2
""")
    return [next(path for path in ("/usr/sbin/haproxy", "/usr/bin/haproxy") if pathlib.Path(path).exists()), "-db", "-f", work / "haproxy.cfg"]


def envoy(work, port, server, timeout):
    """By default a stream may be idle for five minutes."""
    kinds = "type.googleapis.com/envoy.extensions"
    manager = {
        "@type": f"{kinds}.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "calls",
        "http_filters": [{"name": "envoy.filters.http.router",
                          "typed_config": {"@type": f"{kinds}.filters.http.router.v3.Router"}}],
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [
            {"match": {"prefix": "/"}, "route": {"cluster": "perch", "timeout": "0s"}}]}]}}
    if timeout:
        manager["stream_idle_timeout"] = f"{timeout}s"

    def address(number):
        return {"socket_address": {"address": "127.0.0.1", "port_value": number}}
    (work / "envoy.json").write_text(json.dumps({"static_resources": {
        "listeners": [{"name": "calls", "address": address(port), "filter_chains": [
            {"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}]}],
        "clusters": [{
            "name": "perch", "connect_timeout": "5s",
            "load_assignment": {"cluster_name": "perch", "endpoints": [
                {"lb_endpoints": [{"endpoint": {"address": address(server)}}]}]},
            "typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": f"{kinds}.upstreams.http.v3.HttpProtocolOptions",
                "explicit_http_config": {"http2_protocol_options": {}}}}}]}}))
    import envoy as package
    program = next(pathlib.Path(package.__file__).parent.rglob("_bin/envoy"))
    return [program, "-c", work / "envoy.json", "--base-id", str(port), "--concurrency", "1", "--log-level", "warning"]


PROXIES = {"nginx": nginx, "HAProxy": haproxy, "Envoy": envoy}


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Stream:
    """A watch, read on a thread of its own."""

    def __init__(self, port, account, heartbeat):
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.use_local_subchannel_pool", 1)])
        self.call = EntitlementServiceStub(self.channel).SubscriptionStatusTask(
            pb.SubscriptionStatusTaskRequest(account=account, group_id=GROUP), wait_for_ready=True,
            metadata=[("perch-heartbeat", str(heartbeat))])
        self.statuses, self.bookmarks, self.error, self.ended = None, 0, None, threading.Event()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            for message in self.call:
                if message.HasField("bookmark"):
                    self.bookmarks += 1
                elif message.WhichOneof("state") == "success":
                    self.statuses = len(message.success.statuses)
        except grpc.RpcError as error:
            self.error = f"{error.code().name}: {error.details()}"
        self.ended.set()

    def until(self, statuses, seconds=20):
        deadline = time.monotonic() + seconds
        while self.statuses != statuses and not self.ended.is_set() and time.monotonic() < deadline:
            time.sleep(0.05)
        equal((self.statuses, self.error), (statuses, None), "the statuses and the error")


def main():
    parser = argparse.ArgumentParser(prog="Tests/Interop/proxies.py")
    parser.add_argument("perch")
    parser.add_argument("catalog")
    parser.add_argument("--minutes", type=float, help="so long, with default timeouts")
    options = parser.parse_args()
    timeout = None if options.minutes else SHORT
    seconds = options.minutes * 60 if options.minutes else 15
    heartbeat = 30 if options.minutes else 10
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        server = Server(options.perch, options.catalog, "memory", work / "server.log")
        server.start()
        ports, processes, streams, controls = {}, [], {}, {}
        try:
            # The control has a proxy of its own, because a proxy shares one connection among clients, and so its bookmarks.
            for name in [*PROXIES, *(f"{name}-control" for name in PROXIES if timeout)]:
                place = work / name
                place.mkdir()
                ports[name] = free_port()
                configure = PROXIES[name.removesuffix("-control")]
                command = [str(word) for word in configure(place, ports[name], server.port, timeout)]
                log = (place / "out").open("wb")
                processes.append(subprocess.Popen(command, cwd=place, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
            for name in PROXIES:
                with check(f"{name}: a stream begins"):
                    streams[name] = Stream(ports[name], name, heartbeat)
                    if timeout:
                        controls[name] = Stream(ports[f"{name}-control"], f"{name}-control", 600)
                    try:
                        streams[name].until(0)
                    except AssertionError as error:
                        raise AssertionError(f"{error}; {(work / name / 'out').read_text()[-1000:]}")
            time.sleep(seconds)
            for name, stream in streams.items():
                with check(f"{name}: a stream that was idle for {seconds:.0f} s gets a purchase"):
                    stubs.run(options.perch, "store", "buy", name, PRODUCT, "--server", f"127.0.0.1:{server.port}")
                    try:
                        stream.until(1)
                    except AssertionError as error:
                        raise AssertionError(f"{error}; {(work / name / 'out').read_text()[-1000:]}")
                    assert stream.bookmarks >= seconds // heartbeat, f"only {stream.bookmarks} bookmarks came"
            for name, control in controls.items():
                with check(f"{name}: without bookmarks the proxy cuts the stream"):
                    assert control.ended.wait(SHORT), f"it lives after {seconds + SHORT} s, with {control.bookmarks} bookmarks"
        finally:
            for process in processes:
                process.kill()
                process.wait()
            server.kill()
    return summary("proxies")


if __name__ == "__main__":
    sys.exit(main())
