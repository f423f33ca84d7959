"""Several watches on one stream, by stock gRPC for Python, plain and with gzip."""
import sys

import grpc
from grpc_status import rpc_status

import stubs
from checks import check, equal
from waiting import PATIENCE_SECONDS

sys.path.insert(0, str(stubs.python()))

from google.rpc import error_details_pb2  # noqa: E402
from perch.v1 import entitlement_service_pb2 as entitlement, store_operation_pb2 as store, transaction_service_pb2 as transaction  # noqa: E402
from perch.v1 import watch_service_pb2 as watch  # noqa: E402
from perch.v1.transaction_service_pb2_grpc import TransactionServiceStub  # noqa: E402
from perch.v1.watch_service_pb2_grpc import WatchServiceStub  # noqa: E402

MONTHLY = "com.example.monthly"


def watches(account, tokens=(b"", b"", b"")):
    return watch.WatchRequest(watches=[
        watch.WatchEntry(products_task=entitlement.ProductsTaskRequest(product_ids=[MONTHLY], resume_token=tokens[0])),
        watch.WatchEntry(entitlements_task=entitlement.EntitlementsTaskRequest(account=account, resume_token=tokens[1])),
        watch.WatchEntry(transaction_updates=transaction.TransactionUpdatesRequest(account=account, cursor=tokens[2])),
    ])


def until_bookmark(stream):
    """The messages up to a bookmark, which all watches share."""
    heard = []
    for message in stream:
        if message.HasField("bookmark"):
            return heard, message.bookmark
        heard.append(message)
    raise AssertionError("the stream ended")


def main(address):
    for name, compression in (("plain", grpc.Compression.NoCompression), ("gzip", grpc.Compression.Gzip)):
        channel = grpc.insecure_channel(address, compression=compression)
        account = f"several-{name}"
        orders, stub = TransactionServiceStub(channel), WatchServiceStub(channel)

        def opened(request):
            return stub.Watch(request, timeout=PATIENCE_SECONDS, metadata=[("perch-groups", "1")])

        with check(f"several watches say which they are, and one bookmark follows all values of a change, {name}"):
            stream = opened(watches(account))
            first, _ = until_bookmark(stream)
            equal(sorted({message.watch for message in first}), [0, 1, 2])
            equal({message.watch: message.WhichOneof("response") for message in first}, {0: "products_task", 1: "entitlements_task", 2: "transaction_updates"})
            bought = orders.Purchase(transaction.PurchaseRequest(account=account, order=store.PurchaseOrder(product_id=MONTHLY)))
            news, bookmark = until_bookmark(stream)
            while bookmark.revision < bought.position.revision:
                more, bookmark = until_bookmark(stream)
                news += more
            assert 2 in {message.watch for message in news} and 0 not in {message.watch for message in news}, news
        with check(f"a call with the tokens of another answers unchanged, {name}"):
            tokens = {}
            for message in first + news:
                response = getattr(message, message.WhichOneof("response"))
                tokens[message.watch] = response.cursor or tokens.get(2) if message.watch == 2 else response.info.resume_token
            again = opened(watches(account, [tokens[each] for each in range(3)]))
            stream.cancel()
            heard, _ = until_bookmark(again)
            equal({message.watch: getattr(message, message.WhichOneof("response")).WhichOneof("state") for message in heard if message.watch != 2}, {0: "unchanged", 1: "unchanged"})
            again.cancel()
        with check(f"a refusal names its watch, {name}"):
            try:
                next(iter(opened(watches(account, [b"", b"\1\2\3", b""]))))
                raise AssertionError("a broken token was taken")
            except grpc.RpcError as error:
                status = rpc_status.from_call(error)
                info = error_details_pb2.ErrorInfo()
                assert any(each.Unpack(info) for each in status.details if each.Is(info.DESCRIPTOR)), status
                equal((info.reason, info.metadata["watch"]), ("TOKEN_MALFORMED", "1"))
        channel.close()
