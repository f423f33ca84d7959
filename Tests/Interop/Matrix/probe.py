"""One action of a client in Python, for matrix.py: prints what it saw, a line of JSON for each message.

    probe.py LIBRARY ADDRESS ACTION [NAME=VALUE…]

LIBRARY: grpcio, grpclib, or connectrpc with a protocol: connectrpc+grpc, connectrpc+grpc-web, connectrpc+connect. The actions
and their words are in matrix.py.
"""
import asyncio
import json
import pathlib
import ssl
import sys

from google.protobuf import message_factory
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from perch.v1 import admin_service_pb2, entitlement_service_pb2

library, address, action, *words = sys.argv[1:]
word = dict(each.split("=", 1) for each in words)
library, _, protocol = library.partition("+")
SERVICES = [admin_service_pb2, entitlement_service_pb2, health_pb2, reflection_pb2]


class Refused(Exception):
    def __init__(self, code, details):
        super().__init__(code)
        self.code, self.details = code, details  # pairs of a type's name and bytes


def method(path):
    """The request's and the answer's class of a method."""
    service, name = path.split("/")
    for module in SERVICES:
        for each in module.DESCRIPTOR.services_by_name.values():
            if each.full_name == service:
                found = each.methods_by_name[name]
                return (message_factory.GetMessageClass(found.input_type), message_factory.GetMessageClass(found.output_type))
    raise KeyError(path)


class GRPCIO:
    """C-core, with blocking calls."""

    def __init__(self):
        import grpc
        self.grpc = grpc
        kind = word.get("compress", "NoCompression").capitalize().replace("Nocompression", "NoCompression")
        compression = getattr(grpc.Compression, kind)
        # Answers with no other algorithm: of several the server takes deflate, which its watchers share.
        options = [("grpc.compression_enabled_algorithms_bitset", {"gzip": 0b101, "deflate": 0b011}[word["compress"]])] \
            if "compress" in word else []
        if "ca" in word:
            credentials = grpc.ssl_channel_credentials(pathlib.Path(word["ca"]).read_bytes())
            self.channel = grpc.secure_channel(address, credentials, options, compression)
        else:
            self.channel = grpc.insecure_channel(address, options, compression)
        self.more = {"metadata": [("authorization", f"Bearer {word['bearer']}")] if "bearer" in word else None,
                     "timeout": int(word["deadline"]) / 1_000 if "deadline" in word else None}

    def refused(self, error):
        from grpc_status import rpc_status
        status = rpc_status.from_call(error)
        return Refused(error.code().name, [(each.type_url.split("/")[-1], each.value) for each in status.details] if status else [])

    def unary(self, path, request):
        try:
            call = self.channel.unary_unary(f"/{path}", type(request).SerializeToString, method(path)[1].FromString)
            return call(request, **self.more)
        except self.grpc.RpcError as error:
            raise self.refused(error)

    def stream(self, path, request, seen):
        kind = "stream_stream" if "Reflection" in path else "unary_stream"
        call = getattr(self.channel, kind)(f"/{path}", type(request).SerializeToString, method(path)[1].FromString)(
            iter([request]) if kind == "stream_stream" else request, **self.more)
        try:
            for message in call:
                if seen(message):
                    call.cancel()
        except self.grpc.RpcError as error:
            raise self.refused(error)


class GRPCLib:
    """Python's hyper-h2, with asyncio."""

    def __init__(self):
        self.more = {"metadata": {"authorization": f"Bearer {word['bearer']}"} if "bearer" in word else None,
                     "timeout": int(word["deadline"]) / 1_000 if "deadline" in word else None}

    def run(self, path, request, seen, cardinality):
        from grpclib.client import Channel
        from grpclib.const import Cardinality
        from grpclib.exceptions import GRPCError

        async def call():
            host, port = address.split(":")
            tls = ssl.create_default_context(cafile=word["ca"]) if "ca" in word else None
            if tls:
                tls.set_alpn_protocols(["h2"])
            channel = Channel(host, int(port), ssl=tls)
            try:
                async with channel.request(f"/{path}", getattr(Cardinality, cardinality), type(request), method(path)[1],
                                           **self.more) as stream:
                    await stream.send_message(request, end=True)
                    async for message in stream:
                        if seen(message):
                            await stream.cancel()
                            raise Refused("CANCELLED", [])
            finally:
                channel.close()
        try:
            asyncio.run(call())
        except GRPCError as error:
            raise Refused(error.status.name, [(each.DESCRIPTOR.full_name, each.SerializeToString()) for each in error.details or []])
        except asyncio.TimeoutError:
            raise Refused("DEADLINE_EXCEEDED", [])

    def unary(self, path, request):
        answers = []
        self.run(path, request, answers.append, "UNARY_UNARY")
        return answers[0]

    def stream(self, path, request, seen):
        self.run(path, request, seen, "STREAM_STREAM" if "Reflection" in path else "UNARY_STREAM")


class ConnectRPC:
    """Rust's hyper, in three protocols."""

    def __init__(self):
        import connectrpc.client
        import pyqwest
        from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec
        from connectrpc.compression.gzip import GzipCompression
        from connectrpc.protocol import ProtocolType
        ca = pathlib.Path(word["ca"]).read_bytes() if "ca" in word else None
        version = pyqwest.HTTPVersion.HTTP2 if protocol == "grpc" or ca else pyqwest.HTTPVersion.HTTP1
        transport = pyqwest.SyncHTTPTransport(tls_ca_cert=ca, http_version=version)
        codec = google_protobuf_json_codec() if protocol == "connect" else google_protobuf_binary_codec()
        self.client = connectrpc.client.ConnectClientSync(
            f"{'https' if ca else 'http'}://{address}", codec=codec, http_client=pyqwest.SyncClient(transport),
            protocol={"grpc": ProtocolType.GRPC, "grpc-web": ProtocolType.GRPC_WEB, "connect": ProtocolType.CONNECT}[protocol],
            send_compression=GzipCompression() if word.get("compress") == "gzip" else None)
        self.more = {"headers": {"authorization": f"Bearer {word['bearer']}"} if "bearer" in word else None,
                     "timeout_ms": int(word["deadline"]) if "deadline" in word else None}

    def info(self, path):
        from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
        service, name = path.split("/")
        asked, answered = method(path)
        return MethodInfo(name=name, service_name=service, input=asked, output=answered,
                          idempotency_level=IdempotencyLevel.UNKNOWN,
                          stream_type=StreamType.SERVER_STREAM if action == "watch" else
                          StreamType.BIDI_STREAM if action == "reflection" else StreamType.UNARY)

    def refused(self, error):
        return Refused({"canceled": "CANCELLED"}.get(error.code.value, error.code.value.upper()),
                       [(each.type_name, each.message_bytes) for each in error.details])

    def unary(self, path, request):
        from connectrpc.errors import ConnectError
        try:
            return self.client.execute_unary(request=request, method=self.info(path), **self.more)
        except ConnectError as error:
            raise self.refused(error)

    def stream(self, path, request, seen):
        from connectrpc.errors import ConnectError
        try:
            if "Reflection" in path:
                messages = self.client.execute_bidi_stream(request=iter([request]), method=self.info(path), **self.more)
            else:
                messages = self.client.execute_server_stream(request=request, method=self.info(path), **self.more)
            for message in messages:
                if seen(message):
                    if hasattr(messages, "close"):
                        messages.close()
                    raise Refused("CANCELLED", [])
        except ConnectError as error:
            raise self.refused(error)


def say(**fields):
    print(json.dumps(fields), flush=True)


def act(client):
    request = entitlement_service_pb2
    entitlements = "perch.v1.EntitlementService"
    if action == "products":
        ids = word["ids"].split(",") + [f"{word.get('prefix', 'product-')}{n}" for n in range(int(word.get("count", 0)))]
        answer = client.unary(f"{entitlements}/GetProducts", request.GetProductsRequest(product_ids=ids))
        say(found=len(answer.success.products), unavailable=len(answer.success.unavailable_ids))
    elif action == "watch":
        def seen(message):
            statuses = len(message.success.statuses)
            say(state=message.WhichOneof("state"), statuses=statuses, token=message.info.resume_token.hex())
            return message.WhichOneof("state") in ("success", "unchanged") and statuses >= int(word["until"])
        client.stream(f"{entitlements}/SubscriptionStatusTask", request.SubscriptionStatusTaskRequest(
            account=word["account"], group_id="premium", resume_token=bytes.fromhex(word.get("token", ""))), seen)
    elif action == "error":
        client.unary(f"{entitlements}/GetSubscriptionStatus", request.GetSubscriptionStatusRequest(account="a"))
    elif action == "load":
        answer = client.unary("perch.v1.AdminService/LoadCatalog", admin_service_pb2.LoadCatalogRequest(
            file=pathlib.Path(word["file"]).read_bytes()))
        say(subscriptions=answer.summary.subscription_count)
    elif action == "health":
        answer = client.unary("grpc.health.v1.Health/Check", health_pb2.HealthCheckRequest())
        say(status=health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))
    elif action == "reflection":
        def listed(message):
            say(services=[each.name for each in message.list_services_response.service])
        client.stream("grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                      reflection_pb2.ServerReflectionRequest(list_services=""), listed)


try:
    act({"grpcio": GRPCIO, "grpclib": GRPCLib, "connectrpc": ConnectRPC}[library]())
except Refused as error:
    reason = field = ""
    for name, value in error.details:
        if name == "google.rpc.ErrorInfo":
            reason = error_details_pb2.ErrorInfo.FromString(value).reason
        if name == "google.rpc.BadRequest":
            field = error_details_pb2.BadRequest.FromString(value).field_violations[0].field
    say(code=error.code, reason=reason, field=field)
