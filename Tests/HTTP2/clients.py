"""gRPC from outside: Python's grpcio, generated from the contract, against a real server."""
import sys
import threading

import stubs

sys.path.insert(0, str(stubs.python()))

import grpc  # noqa: E402
from google.rpc import error_details_pb2  # noqa: E402
from grpc_health.v1 import health_pb2, health_pb2_grpc  # noqa: E402
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc  # noqa: E402
from grpc_status import rpc_status  # noqa: E402
from perch.v1 import admin_service_pb2 as admin  # noqa: E402
from perch.v1 import admin_service_pb2_grpc as admin_grpc  # noqa: E402
from perch.v1 import entitlement_service_pb2 as entitlement  # noqa: E402
from perch.v1 import entitlement_service_pb2_grpc as entitlement_grpc  # noqa: E402
from perch.v1 import store_operation_pb2 as store_operation  # noqa: E402
from perch.v1 import transaction_service_pb2 as transaction  # noqa: E402
from perch.v1 import transaction_service_pb2_grpc as transaction_grpc  # noqa: E402

from checks import check, equal, summary  # noqa: E402
from server import Server  # noqa: E402
from trial import CATALOG, PERCH, WORK  # noqa: E402
from waiting import PATIENCE_SECONDS  # noqa: E402


class Stream:
    """A stream that is read on a thread of its own, so that a test can wait for a message."""

    def __init__(self, call):
        self.call, self.messages, self.error = call, [], None
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            for message in self.call:
                with self.changed:
                    self.messages.append(message)
                    self.changed.notify_all()
        except grpc.RpcError as error:
            self.error = error
        with self.changed:
            self.changed.notify_all()

    def until(self, wanted):
        with self.changed:
            def found():
                return next((message for message in self.messages if wanted(message)), None)
            self.changed.wait_for(lambda: found() is not None or self.error, PATIENCE_SECONDS)
            assert found() is not None, f"never came; {len(self.messages)} messages, {self.error}"
            return found()


def details(error):
    """The unpacked google.rpc details of an error, by type."""
    status = rpc_status.from_call(error)
    assert status is not None, f"no details: {error}"
    found = {}
    for any in status.details:
        kind = {"google.rpc.ErrorInfo": error_details_pb2.ErrorInfo, "google.rpc.RetryInfo": error_details_pb2.RetryInfo,
                "google.rpc.BadRequest": error_details_pb2.BadRequest}[any.type_url.split("/")[-1]]
        message = kind()
        assert any.Unpack(message)
        found[kind.DESCRIPTOR.name] = message
    return found


def refused(call, code, reason):
    try:
        call()
    except grpc.RpcError as error:
        equal(error.code(), code, "the code")
        found = details(error)
        equal(found["ErrorInfo"].reason, reason, "the reason")
        return error, found
    raise AssertionError("the call went well")


def buy(store, account, product="pro.monthly"):
    return store.Purchase(transaction.PurchaseRequest(
        account=account, order=store_operation.PurchaseOrder(product_id=product)), timeout=PATIENCE_SECONDS)


def main(port, product, group):
    channel = grpc.insecure_channel(f"127.0.0.1:{port}")
    service = entitlement_grpc.EntitlementServiceStub(channel)
    store = transaction_grpc.TransactionServiceStub(channel)

    def watch(account, **more):
        return Stream(service.SubscriptionStatusTask(
            entitlement.SubscriptionStatusTaskRequest(account=account, group_id=group), **more))

    with check("grpc: a unary read answers"):
        answer = service.GetProducts(entitlement.GetProductsRequest(product_ids=[product, "nothing"]), timeout=PATIENCE_SECONDS)
        equal([p.id for p in answer.success.products], [product], "the products")
        equal(list(answer.success.unavailable_ids), ["nothing"], "the unavailable")

    with check("grpc: a watch says loading, a snapshot, and each change"):
        seen = watch("grpc-1")
        first = seen.until(lambda m: m.WhichOneof("state") == "success")
        equal(seen.messages[0].WhichOneof("state"), "loading", "the first message")
        equal(len(first.success.statuses), 0, "the statuses before")
        bought = buy(store, "grpc-1", product)
        pushed = seen.until(lambda m: len(m.success.statuses) == 1)
        assert pushed.info.position.revision == bought.position.revision
        seen.call.cancel()

    with check("grpc: two hundred streams on one connection all see one change"):
        streams = [watch("grpc-2") for _ in range(200)]
        for one in streams:
            one.until(lambda m: m.WhichOneof("state") == "success")
        buy(store, "grpc-2", product)
        values = {one.until(lambda m: len(m.success.statuses) == 1).SerializeToString() for one in streams}
        equal(len(values), 1, "the number of different values")
        for one in streams:
            one.call.cancel()

    with check("grpc: a watch resumes by its token"):
        seen = watch("grpc-2")
        token = seen.until(lambda m: m.WhichOneof("state") == "success").info.resume_token
        seen.call.cancel()
        again = Stream(service.SubscriptionStatusTask(entitlement.SubscriptionStatusTaskRequest(
            account="grpc-2", group_id=group, resume_token=token)))
        equal(again.until(lambda m: True).WhichOneof("state"), "unchanged", "the state")
        again.call.cancel()

    with check("grpc: errors carry code, text, reason, and details"):
        error, found = refused(
            lambda: service.GetSubscriptionStatus(entitlement.GetSubscriptionStatusRequest(account="", group_id=group),
                                                  timeout=PATIENCE_SECONDS),
            grpc.StatusCode.INVALID_ARGUMENT, "ACCOUNT_KEY")
        assert error.details()
        error, found = refused(
            lambda: service.GetSubscriptionStatus(entitlement.GetSubscriptionStatusRequest(account="a"), timeout=PATIENCE_SECONDS),
            grpc.StatusCode.INVALID_ARGUMENT, "FIELD_MISSING")
        equal(found["BadRequest"].field_violations[0].field, "group_id", "the field")

    with check("grpc: a deadline ends a watch with DEADLINE_EXCEEDED"):
        call = service.SubscriptionStatusTask(
            entitlement.SubscriptionStatusTaskRequest(account="grpc-3", group_id=group), timeout=0.4)
        try:
            for _ in call:
                pass
            raise AssertionError("it ended well")
        except grpc.RpcError as error:
            equal(error.code(), grpc.StatusCode.DEADLINE_EXCEEDED, "the code")

    with check("grpc: an unknown method is UNIMPLEMENTED"):
        call = channel.unary_unary("/perch.v1.EntitlementService/Nothing")
        refused(lambda: call(b"", timeout=PATIENCE_SECONDS), grpc.StatusCode.UNIMPLEMENTED, "UNKNOWN_METHOD")

    for name, algorithm in (("gzip", grpc.Compression.Gzip), ("deflate", grpc.Compression.Deflate)):
        with check(f"grpc: requests and answers compressed with {name}"):
            with grpc.insecure_channel(f"127.0.0.1:{port}", compression=algorithm) as compressed:
                stub = entitlement_grpc.EntitlementServiceStub(compressed)
                ids = [product] + [f"product-{n}" for n in range(500)]
                answer = stub.GetProducts(entitlement.GetProductsRequest(product_ids=ids), timeout=PATIENCE_SECONDS)
                equal(len(answer.success.unavailable_ids), 500, "the unavailable")

    with check("grpc: bookmarks come on every stream, and after a change where groups are asked for"):
        asks = (("perch-groups", "1"), ("perch-heartbeat", "600"))  # No heartbeat comes in time.
        with grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.use_local_subchannel_pool", 1)]) as grouped:
            stub = entitlement_grpc.EntitlementServiceStub(grouped)
            one = Stream(stub.SubscriptionStatusTask(
                entitlement.SubscriptionStatusTaskRequest(account="grpc-4", group_id=group), metadata=asks))
            two = Stream(stub.CurrentEntitlementTask(
                entitlement.CurrentEntitlementTaskRequest(account="grpc-4", product_id=product), metadata=asks))
            three = Stream(transaction_grpc.TransactionServiceStub(grouped).TransactionUpdates(
                transaction.TransactionUpdatesRequest(account="grpc-5"), metadata=asks))
            one.until(lambda m: m.WhichOneof("state") == "success")
            two.until(lambda m: m.WhichOneof("state") == "success")
            revision = buy(store, "grpc-4", product).position.revision
            for each in (one, two, three):
                each.until(lambda m: m.HasField("bookmark") and m.bookmark.revision >= revision)
            index = next(i for i, m in enumerate(one.messages) if len(m.success.statuses) == 1)
            after = next(i for i, m in enumerate(one.messages) if m.HasField("bookmark") and m.bookmark.revision >= revision)
            assert index < after, "a bookmark passed its value"

    with check("grpc: transaction updates come exactly once"):
        updates = Stream(store.TransactionUpdates(transaction.TransactionUpdatesRequest(account="grpc-6")))
        updates.until(lambda m: m.cursor and not m.HasField("transaction"))
        for _ in range(3):
            buy(store, "grpc-6", "com.example.coins")
        updates.until(lambda m: len([x for x in updates.messages if x.HasField("transaction")]) >= 3)
        equal(len([x for x in updates.messages if x.HasField("transaction")]), 3, "the events")
        updates.call.cancel()

    with check("grpc: the changes of an app come exactly once, and go on from a cursor"):
        entitlements = service
        first = Stream(entitlements.AppChanges(entitlement.AppChangesRequest()))
        start = first.until(lambda message: message.cursor)
        for number in range(150):
            buy(store, f"feed-{number}", product)
        first.until(lambda message: message.account == "feed-149")
        feed = [message.account for message in first.messages if message.account.startswith("feed-")]
        equal(feed, [f"feed-{number}" for number in range(150)], "the accounts")
        again = Stream(entitlements.AppChanges(entitlement.AppChangesRequest(cursor=start.cursor, entitlements_only=True)))
        again.until(lambda message: message.account == "feed-149")
        first.call.cancel()
        again.call.cancel()

    with check("grpc: a copy of all entitlements begins, ends, follows changes, and goes on from a token"):
        first = Stream(service.AppEntitlements(entitlement.AppEntitlementsRequest()))
        first.until(lambda message: message.HasField("end"))
        equal(first.messages[0].begin.resumed, False, "whether it goes on")
        admin_grpc.AdminServiceStub(channel).GrantEntitlement(admin.GrantEntitlementRequest(account="copied", name="plus"))
        change = first.until(lambda message: message.accounts.keys).accounts
        equal((change.keys, list(change.key_ends), list(change.segment_ends)), (b"copied", [6], [1]), "the account")
        equal((change.more_grades[change.grades[0]].name, list(change.untils), change.reasons), ("plus", [2**63 - 1], b"\5"), "the segment")
        again = Stream(service.AppEntitlements(entitlement.AppEntitlementsRequest(resume_token=change.resume_token)))
        equal(again.until(lambda message: message.HasField("begin")).begin.resumed, True, "whether it goes on")
        first.call.cancel()
        again.call.cancel()
    with check("grpc: health answers without credentials, and watches"):
        health = health_pb2_grpc.HealthStub(channel)
        for name in ("", "perch.v1.EntitlementService"):
            equal(health.Check(health_pb2.HealthCheckRequest(service=name), timeout=PATIENCE_SECONDS).status,
                  health_pb2.HealthCheckResponse.SERVING, "the status")
        try:
            health.Check(health_pb2.HealthCheckRequest(service="nothing"), timeout=PATIENCE_SECONDS)
            raise AssertionError("an unknown service is healthy")
        except grpc.RpcError as error:
            equal(error.code(), grpc.StatusCode.NOT_FOUND, "the code")
        unknown = Stream(health.Watch(health_pb2.HealthCheckRequest(service="nothing")))
        equal(unknown.until(lambda m: True).status, health_pb2.HealthCheckResponse.SERVICE_UNKNOWN, "the status")
        unknown.call.cancel()

    with check("grpc: reflection lists and describes the services"):
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        asked = [reflection_pb2.ServerReflectionRequest(list_services=""),
                 reflection_pb2.ServerReflectionRequest(file_containing_symbol="perch.v1.EntitlementService"),
                 reflection_pb2.ServerReflectionRequest(file_containing_symbol="grpc.health.v1.Health"),
                 reflection_pb2.ServerReflectionRequest(file_containing_symbol="nothing.at.all")]
        answers = list(stub.ServerReflectionInfo(iter(asked), timeout=PATIENCE_SECONDS))
        names = [each.name for each in answers[0].list_services_response.service]
        for name in ("perch.v1.EntitlementService", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"):
            assert name in names, f"{name} is not in {names}"
        from google.protobuf import descriptor_pb2, descriptor_pool
        for answer in answers[1:3]:
            pool = descriptor_pool.DescriptorPool()
            files = [descriptor_pb2.FileDescriptorProto.FromString(data)
                     for data in answer.file_descriptor_response.file_descriptor_proto]
            while files:
                loaded = [file for file in files if all(name not in [f.name for f in files] for name in file.dependency)]
                assert loaded, f"files without their imports: {[file.name for file in files]}"
                for file in loaded:
                    pool.Add(file)
                    files.remove(file)
        equal(answers[3].error_response.error_code, 5, "the code of an unknown symbol")

    channel.close()


if __name__ == "__main__":
    with Server(PERCH, CATALOG, "memory", WORK / "clients.log") as server:
        server.start()
        main(server.port, "com.example.monthly", "premium")
        equal(server.stop(), 0, "the exit status")
    sys.exit(summary("grpc"))
