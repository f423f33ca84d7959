"""Every call of Apple's client against the twin, its answer compared with what the test store says.

    calls.py [--table FILE]
"""
import http.server
import inspect
import json
import pathlib
import re
import socket
import ssl
import struct
import sys
import threading
import time
import uuid
import zlib

import requests
from appstoreserverlibrary.api_client import AppStoreServerAPIClient, GetTransactionHistoryVersion
from appstoreserverlibrary.models.BulletPoint import BulletPoint
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.DefaultConfigurationRequest import DefaultConfigurationRequest
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.HeaderPosition import HeaderPosition
from appstoreserverlibrary.models.ImageSize import ImageSize
from appstoreserverlibrary.models.ImageState import ImageState
from appstoreserverlibrary.models.InAppOwnershipType import InAppOwnershipType
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.MessageState import MessageState
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.OrderLookupStatus import OrderLookupStatus
from appstoreserverlibrary.models.PerformanceTestRequest import PerformanceTestRequest
from appstoreserverlibrary.models.PerformanceTestStatus import PerformanceTestStatus
from appstoreserverlibrary.models.RealtimeUrlRequest import RealtimeUrlRequest
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.Subtype import Subtype
from appstoreserverlibrary.models.TransactionHistoryRequest import Order, ProductType, TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.models.UploadMessageImage import UploadMessageImage
from appstoreserverlibrary.models.UploadMessageRequestBody import UploadMessageRequestBody
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from expectations import conclude, expect
from trial import WORK
from waiting import PATIENCE_SECONDS
from rehearsal import BUNDLE, Twin, plain, refusal

V2 = GetTransactionHistoryVersion.V2
PLUS, PRO, COINS = "app.perch.plus.monthly", "app.perch.pro.monthly", "app.perch.coins"
table = {}


def called(name, what):
    """A row of the table: a call of the client, and what its answer was compared with."""
    table.setdefault(name, []).append(what)


def same(decoded, stored, what):
    """A decoded transaction says what the test store says."""
    fields = {
        "transactionId": "id", "originalTransactionId": "originalId", "productId": "productId", "purchaseDate": "purchaseDateMs",
        "originalPurchaseDate": "originalPurchaseDateMs", "expiresDate": "expirationDateMs", "signedDate": "signedDateMs",
    }
    for apple, perch in fields.items():
        value = getattr(decoded, apple)
        expect(str(value) == str(stored.get(perch)) or value is None and perch not in stored,
               f"{what}: {apple} is {value}, the test store has {stored.get(perch)}")
    expect((decoded.revocationDate is not None) == ("revocation" in stored), f"{what}: revocation is {decoded.revocationDate}")
    expect(decoded.bundleId == BUNDLE and decoded.environment == Environment.SANDBOX, f"{what}: {decoded.bundleId} {decoded.environment}")


def history(client, transaction, request=None, revision=None, version=V2):
    """All pages of a history, each with its revision."""
    pages = []
    while True:
        page = client.get_transaction_history(transaction, revision, request or TransactionHistoryRequest(), version)
        pages.append(page)
        revision = page.revision
        if not page.hasMore:
            return pages


def reads(twin):
    client, verifier = twin.client(), twin.verifier()

    def decoded(pages):
        return [verifier.verify_and_decode_signed_transaction(text) for page in pages for text in page.signedTransactions]

    bought = twin.buy("anna", PLUS)
    coins = [twin.buy("anna", COINS)["id"] for _ in range(44)]
    info = client.get_transaction_info(bought["id"])
    same(verifier.verify_and_decode_signed_transaction(info.signedTransactionInfo), twin.transactions("anna")[bought["id"]], "info")
    expect(client.get_transaction_info(bought["id"]) == info, "a transaction that is read again keeps its bytes")
    called("get_transaction_info", "all fields; equal bytes when read again")

    pages = history(client, coins[3])
    expect([len(page.signedTransactions) for page in pages] == [20, 20, 5], "45 transactions stand on three pages")
    expect([page.hasMore for page in pages] == [True, True, False], "hasMore")
    expect(all(page.bundleId == BUNDLE and page.environment == Environment.SANDBOX for page in pages), "each page names its app")
    stored = twin.transactions("anna")
    found = decoded(pages)
    expect([one.transactionId for one in found] == sorted(stored, key=int), f"oldest first, each once: {[one.transactionId for one in found]}")
    for one in found:
        same(one, stored[one.transactionId], f"history {one.transactionId}")
    last = pages[-1].revision
    again = history(client, coins[3], revision=last)
    expect(decoded(again) == [] and again[-1].revision == last, "nothing is new, and the revision stays")
    twin.operate("anna", refund={"target": {"transactionId": coins[5]}})
    newer = twin.buy("anna", PRO)
    news = decoded(history(client, coins[3], revision=last))
    expect([one.transactionId for one in news] == [coins[5], bought["id"], newer["id"]] or
           [one.transactionId for one in news] == [coins[5], newer["id"]],
           f"after the revision: what was refunded, and what is new: {[one.transactionId for one in news]}")
    expect(news[0].revocationDate is not None, "the refunded one shows its refund")
    down = decoded(history(client, coins[3], TransactionHistoryRequest(sort=Order.DESCENDING)))
    up = decoded(history(client, coins[3]))
    expect([one.transactionId for one in down] == [one.transactionId for one in reversed(up)], "descending is ascending from the end")
    called("get_transaction_history", "v2: three pages, each field, order, revision after a refund and a purchase")
    stored = twin.transactions("anna")
    for request, wanted in [
        (TransactionHistoryRequest(productIds=[PLUS, PRO]), lambda one: one["productId"] in (PLUS, PRO)),
        (TransactionHistoryRequest(productTypes=[ProductType.AUTO_RENEWABLE]), lambda one: "groupId" in one or one["productId"] in (PLUS, PRO)),
        (TransactionHistoryRequest(productTypes=[ProductType.CONSUMABLE]), lambda one: one["productId"] == COINS),
        (TransactionHistoryRequest(subscriptionGroupIdentifiers=["plus"]), lambda one: one["productId"] in (PLUS, PRO)),
        (TransactionHistoryRequest(revoked=True), lambda one: "revocation" in one),
        (TransactionHistoryRequest(revoked=False), lambda one: "revocation" not in one),
        (TransactionHistoryRequest(inAppOwnershipType=InAppOwnershipType.FAMILY_SHARED), lambda one: False),
        (TransactionHistoryRequest(startDate=int(stored[coins[9]]["purchaseDateMs"])), lambda one: int(one["purchaseDateMs"]) >= int(stored[coins[9]]["purchaseDateMs"])),
        (TransactionHistoryRequest(endDate=int(stored[coins[9]]["purchaseDateMs"])), lambda one: int(one["purchaseDateMs"]) < int(stored[coins[9]]["purchaseDateMs"])),
    ]:
        found = {one.transactionId for one in decoded(history(client, bought["id"], request))}
        expect(found == {id for id, one in stored.items() if wanted(one)}, f"{request}: {sorted(found)}")
    called("get_transaction_history", "v2: each filter")
    expect(refusal(lambda: client.get_transaction_history(bought["id"], "0" + last, TransactionHistoryRequest(), V2)) == (400, 4000005) and
           refusal(lambda: client.get_transaction_history(
               bought["id"], last, TransactionHistoryRequest(revoked=True), V2)) == (400, 4000005), "a revision of another query is refused")
    twin.call("Finish", account="anna", transactionId=coins[7])
    first = {one.transactionId for one in decoded(history(client, bought["id"], version=GetTransactionHistoryVersion.V1))}
    expect(first == set(stored) - {coins[7]}, "v1 leaves out consumables that are finished")
    called("get_transaction_history", "v1: without finished consumables")

    statuses = client.get_all_subscription_statuses(bought["id"])
    expect(statuses.bundleId == BUNDLE and [group.subscriptionGroupIdentifier for group in statuses.data] == ["plus"], f"{statuses}")
    (line,) = statuses.data[0].lastTransactions
    said = twin.call("GetSubscriptionStatus", account="anna", groupId="plus")["success"]["statuses"][0]
    expect(line.status == Status.ACTIVE and said["state"].lower().endswith("subscribed"), f"{line.status} {said['state']}")
    same(verifier.verify_and_decode_signed_transaction(line.signedTransactionInfo), said["transaction"]["transaction"], "status")
    renewal, info = verifier.verify_and_decode_renewal_info(line.signedRenewalInfo), said["renewalInfo"]["renewalInfo"]
    expect(str(renewal.renewalDate) == info["renewalDateMs"] and renewal.productId == info["currentProductId"]
           and (renewal.autoRenewStatus.value == 1) == info.get("willAutoRenew", False), f"{renewal} {info}")
    expect(client.get_all_subscription_statuses(bought["id"], [Status.EXPIRED]).data == [], "statuses are filtered")
    expect(client.get_all_subscription_statuses(bought["id"], [Status.EXPIRED, Status.ACTIVE]) == statuses, "by one of several")
    called("get_all_subscription_statuses", "status, transaction and renewal info; the filter")

    found = client.look_up_order_id(f"MT{coins[0]}")
    expect(found.status == OrderLookupStatus.VALID, "an order is found")
    same(verifier.verify_and_decode_signed_transaction(found.signedTransactions[0]), stored[coins[0]], "order")
    for unknown in ("MT99999999", "MT", "W002182", f"MT0{coins[0]}"):
        expect(client.look_up_order_id(unknown).status == OrderLookupStatus.INVALID, f"there is no order {unknown}")
    called("look_up_order_id", "a transaction's order; four unknown ones")

    refunds = client.get_refund_history(bought["id"], None)
    expect([verifier.verify_and_decode_signed_transaction(text).transactionId for text in refunds.signedTransactions] == [coins[5]]
           and not refunds.hasMore, "the refund")
    for id in coins[10:32]:
        twin.operate("anna", refund={"target": {"transactionId": id}})
    more = client.get_refund_history(bought["id"], refunds.revision)
    rest = client.get_refund_history(bought["id"], more.revision)
    found = [verifier.verify_and_decode_signed_transaction(text).transactionId for page in (more, rest) for text in page.signedTransactions]
    expect(found == coins[10:32] and more.hasMore and not rest.hasMore and len(more.signedTransactions) == 20,
           f"22 more refunds follow the revision, in two pages: {found}")
    called("get_refund_history", "one, then 22 more after its revision, in two pages")

    app = verifier.verify_and_decode_app_transaction(client.get_app_transaction_info(bought["id"]).signedAppTransactionInfo)
    expect(app.bundleId == BUNDLE and app.receiptType == Environment.SANDBOX
           and app.appTransactionId == twin.call("GetAppTransaction", account="anna")["appTransactionId"], f"{app}")
    called("get_app_transaction_info", "bundle ID, environment, app transaction ID")
    return bought["id"], coins


def changes(twin):
    client, verifier = twin.client(), twin.verifier()
    id = twin.buy("bert", PLUS)["id"]
    request = ExtendRenewalDateRequest(extendByDays=1, extendReasonCode=ExtendReasonCode.OTHER, requestIdentifier="a")
    expect(refusal(lambda: client.extend_subscription_renewal_date(id, request)) == (403, 4030004), "a free trial is not extended")
    twin.operate("bert", renew={"target": {"productId": PLUS}})
    bought = max(twin.transactions("bert").values(), key=lambda one: int(one["id"]))
    request = ExtendRenewalDateRequest(extendByDays=10, extendReasonCode=ExtendReasonCode.CUSTOMER_SATISFACTION, requestIdentifier=str(uuid.uuid4()))
    answer = client.extend_subscription_renewal_date(id, request)
    later = twin.transactions("bert")[bought["id"]]
    expect(answer.success and str(answer.effectiveDate) == later["expirationDateMs"] and answer.originalTransactionId == id
           and int(later["expirationDateMs"]) == int(bought["expirationDateMs"]) + 10 * 86_400_000, f"an extension: {answer} {later}")
    expect(client.extend_subscription_renewal_date(id, request).success, "a second one")
    expect(refusal(lambda: client.extend_subscription_renewal_date(id, request)) == (403, 4030005), "the third within a year is refused")
    for days, reason, name, code in [(0, 1, "a", 4000009), (91, 1, "a", 4000009), (1, None, "a", 4000010), (1, 1, "", 4000011)]:
        wrong = ExtendRenewalDateRequest(extendByDays=days, extendReasonCode=reason and ExtendReasonCode(reason), requestIdentifier=name)
        expect(refusal(lambda: client.extend_subscription_renewal_date(id, wrong)) == (400, code), f"{days} {reason} {name} is {code}")
    coin = twin.buy("bert", COINS)["id"]
    expect(refusal(lambda: client.extend_subscription_renewal_date("987654321", request)) == (404, 4040005), "of no transaction")
    expect(refusal(lambda: client.extend_subscription_renewal_date(coin, request)) == (403, 4030004), "of no subscription")
    called("extend_subscription_renewal_date", "the new end; the third in a year; four invalid requests; no subscription")

    for account in ("carl", "dora", "emil"):
        twin.buy(account, PRO)
    twin.operate("emil", refund={"target": {"productId": PRO}})
    ends = {account: int(twin.buy(account, PLUS)["expirationDateMs"]) for account in ("frida", "gina")}
    mass = MassExtendRenewalDateRequest(extendByDays=3, extendReasonCode=ExtendReasonCode.OTHER, requestIdentifier="outage", productId=PRO)
    expect(client.extend_renewal_date_for_all_active_subscribers(mass).requestIdentifier == "outage", "a mass extension")
    done = client.get_status_of_subscription_renewal_date_extensions("outage", PRO)
    sold = [one for account in ("anna", "carl", "dora", "emil") for one in twin.transactions(account).values() if one["productId"] == PRO]
    expect(done.complete and done.failedCount == 0 and done.succeededCount == sum("revocation" not in one for one in sold),
           f"each subscriber that is not refunded: {done}")
    for account, end in ends.items():
        expect(all(int(one["expirationDateMs"]) == end for one in twin.transactions(account).values()), "other products stay")
    client.extend_renewal_date_for_all_active_subscribers(mass)
    expect(client.get_status_of_subscription_renewal_date_extensions("outage", PRO) == done, "asked again, nothing is extended twice")
    called("extend_renewal_date_for_all_active_subscribers", "each line of the product, no other; twice")
    expect(refusal(lambda: client.get_status_of_subscription_renewal_date_extensions("none", PRO)) == (404, 4040009), "no such request")
    called("get_status_of_subscription_renewal_date_extensions", "counts; an unknown request")
    expect(refusal(client.request_test_notification) == (404, 4040007), "no address to test")
    expect(refusal(lambda: client.get_test_notification_status("f" * 36 + "_1")) == (404, 4040008), "no such test")
    called("request_test_notification", "refused as without an address: 4040007")
    called("get_test_notification_status", "refused: 4040008")

    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    client.set_app_account_token(id, UpdateAppAccountTokenRequest(first.upper()))
    newest = max(twin.transactions("bert").values(), key=lambda one: int(one["id"]) if one["productId"] == PLUS else 0)
    expect(newest["appAccountToken"] == first, f"the token of a subscription: {newest}")
    (group,) = client.get_all_subscription_statuses(id).data
    line = group.lastTransactions[0]
    expect(verifier.verify_and_decode_signed_transaction(line.signedTransactionInfo).appAccountToken == first
           and verifier.verify_and_decode_renewal_info(line.signedRenewalInfo).appAccountToken == first, "in what is signed")
    twin.operate("bert", renew={"target": {"productId": PLUS}})
    renewed = max(twin.transactions("bert").values(), key=lambda one: int(one["id"]))
    expect(renewed["appAccountToken"] == first, "its renewal inherits it")
    client.set_app_account_token(coin, UpdateAppAccountTokenRequest(first))
    client.set_app_account_token(coin, UpdateAppAccountTokenRequest(second))
    client.set_app_account_token(coin, UpdateAppAccountTokenRequest(second))
    expect(twin.transactions("bert")[coin]["appAccountToken"] == second, "the token of a consumable, replaced")
    lifetime = twin.buy("bert", "app.perch.lifetime")["id"]
    twin.operate("bert", share={"target": {"transactionId": lifetime}, "member": "bella"})
    twin.call("Sync", account="bella")
    shared = next(iter(twin.transactions("bella").values()), None)
    wrong = [("x", first, 400, 4000006), ("987654321", first, 404, 4040010), (coin, "no UUID", 400, 4000183), (renewed["id"], first, 400, 4000187)]
    for target, token, status, code in wrong + ([(shared["originalId"], first, 400, 4000185)] if shared else []):
        found = refusal(lambda: client.set_app_account_token(target, UpdateAppAccountTokenRequest(token)))
        expect(found == (status, code), f"{target} {token} is {found}, not {code}")
    called("set_app_account_token", "a subscription, its renewal, a consumable; five that are refused")
    expect(shared is not None, "a shared subscription was there to be refused")

    def unfinished():
        return {one["transaction"]["id"] for one in twin.call("ListUnfinished", account="bert").get("transactions", [])}

    expect(coin in unfinished(), "a consumable waits")
    client.finish_transaction(coin)
    expect(coin not in unfinished(), "it is finished")
    client.finish_transaction(coin)
    called("finish_transaction", "it waits no longer; twice")

    consumption = ConsumptionRequest(customerConsented=True, sampleContentProvided=False, deliveryStatus=DeliveryStatus.DELIVERED)
    client.send_consumption_information(coin, consumption)
    entries = twin.call("ListAudit").get("entries", [])
    expect(any("consumption" in str(one) and coin in str(one) and "DELIVERED" in str(one) for one in entries), f"the audit trail has it: {entries}")
    consumption.customerConsented = False
    expect(refusal(lambda: client.send_consumption_information(coin, consumption)) == (400, 4000035), "without consent nothing is taken")
    called("send_consumption_information", "stands in the audit trail; refused without consent")
    client.send_consumption_data(coin, ConsumptionRequestV1(customerConsented=True))
    called("send_consumption_data", "taken")
    return id


def notifications(twin, id):
    """Pages and filters of the notification history; its contents are compared by notices.py."""
    client, verifier = twin.client(Environment.LOCAL_TESTING), twin.verifier()
    request = {"startDate": 0, "endDate": 4_000_000_000_000}

    def read(**fields):
        token, found = None, []
        while True:
            page = client.get_notification_history(token, NotificationHistoryRequest(**{**request, **fields}))
            found += page.notificationHistory
            if not page.hasMore:
                return [verifier.verify_and_decode_notification(item.signedPayload) for item in found]
            token = page.paginationToken
            expect(len(page.notificationHistory) == 20, "pages of twenty")

    every = read()
    expect(len(every) > 80 and len({one.notificationUUID for one in every}) == len(every), f"{len(every)} notifications, each once")
    expect([one.signedDate for one in every] == sorted(one.signedDate for one in every), "oldest first")
    refunds = read(notificationType=NotificationTypeV2.REFUND)
    expect(refunds == [one for one in every if one.notificationType == NotificationTypeV2.REFUND] and len(refunds) == 24, f"{len(refunds)} refunds")
    first = read(notificationType=NotificationTypeV2.SUBSCRIBED, notificationSubtype=Subtype.INITIAL_BUY)
    expect(first == [one for one in every if one.subtype == Subtype.INITIAL_BUY] and len(first) == 7, f"{len(first)} first purchases")
    anna = read(transactionId=id)
    known = twin.transactions("anna")
    expect(anna == [one for one in every if verifier.verify_and_decode_signed_transaction(one.data.signedTransactionInfo).transactionId in known
                    and one in anna] and len(anna) > 60, f"{len(anna)} of one customer")
    middle = every[50].signedDate
    expect(read(startDate=middle) + read(endDate=middle) == [one for one in every if one.signedDate >= middle]
           + [one for one in every if one.signedDate < middle], "dates")
    expect(read(onlyFailures=True) == [], "nothing was sent, so nothing failed")
    for fields, code in [
        ({"startDate": None}, 4000015), ({"endDate": None}, 4000016), ({"startDate": 5, "endDate": 5}, 4000013),
        ({"transactionId": "x"}, 4000006), ({"notificationSubtype": Subtype.UPGRADE}, 4000018),
        ({"transactionId": id, "notificationType": NotificationTypeV2.REFUND}, 4000019),
    ]:
        wrong = NotificationHistoryRequest(**{**request, **fields})
        expect(refusal(lambda: client.get_notification_history(None, wrong)) == (400, code), f"{fields} is {code}")
    token = client.get_notification_history(None, NotificationHistoryRequest(**request)).paginationToken
    other = NotificationHistoryRequest(**{**request, "endDate": 3_000_000_000_000})
    for text, asked in [("x", NotificationHistoryRequest(**request)), (token, other), (token[:-1], NotificationHistoryRequest(**request))]:
        expect(refusal(lambda: client.get_notification_history(text, asked)) == (400, 4000014), f"the token {text} is refused")
    expect(twin.client(Environment.PRODUCTION).get_notification_history(None, NotificationHistoryRequest(**request)).notificationHistory == [],
           "production has none")
    called("get_notification_history", "pages, each filter, nine refusals; contents by notices.py")


def png(width, height, colour=2, noise=b""):
    """A PNG of one colour, with a comment that may be long."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    row = b"\0" + bytes(width * {2: 3, 6: 4}[colour])
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)) + chunk(b"tEXt", noise)
            + chunk(b"IDAT", zlib.compress(row * height, 1)) + chunk(b"IEND", b""))


class Messages:
    """A backend's endpoint for retention messages. It verifies what it is asked, and answers with `message`."""

    def __init__(self, verifier):
        self.message, self.asked, self.lock = None, [], threading.Lock()
        backend = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                text = json.loads(self.rfile.read(int(self.headers["content-length"])))["signedPayload"]
                with backend.lock:
                    backend.asked.append(verifier.verify_and_decode_realtime_request(text))
                body = json.dumps({"message": {"messageIdentifier": backend.message}}).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/messages"


def messaging(twin):
    """Retention messaging: images, messages, defaults, the backend's endpoint and its test."""
    # Their rates in the sandbox are for people.
    client, production = twin.client(Environment.LOCAL_TESTING), twin.client(Environment.PRODUCTION)
    first, second, bullet, message, other, unknown = (uuid.uuid4() for _ in range(6))

    def refused(code, call, *arguments):
        found = refusal(lambda: call(*arguments))
        expect(found == (code // 10_000, code), f"{call.__name__} {[str(one)[:60] for one in arguments]} is {found}, not {code}")

    big = png(3840, 2160, noise=bytes(200_000))
    client.upload_image(first, big)
    client.upload_image(second, png(3840, 160), ImageSize.FULL_SIZE)
    client.upload_image(bullet, png(64, 64), ImageSize.BULLET_POINT)
    refused(4090000, client.upload_image, first, big)
    for wrong in (png(3839, 160), png(3840, 159), png(3840, 2161), png(3840, 160, colour=6), b"GIF89a", b""):
        refused(4000161, client.upload_image, unknown, wrong)
    called("upload_image", f"three sizes, one of {len(big)} bytes; the same again; six that are none")
    found = {one.imageIdentifier: (one.imageState, one.imageSize) for one in client.get_image_list().imageIdentifiers}
    expect(found == {first: (ImageState.APPROVED, ImageSize.FULL_SIZE), second: (ImageState.APPROVED, ImageSize.FULL_SIZE),
                     bullet: (ImageState.APPROVED, ImageSize.BULLET_POINT)}, f"the images: {found}")
    called("get_image_list", "identifier, state and size of each")

    text = UploadMessageRequestBody(header="Stay", body="Half the price", image=UploadMessageImage(first, "a cat"),
                                    headerPosition=HeaderPosition.ABOVE_IMAGE, bulletPoints=[BulletPoint("more", bullet, "a dot")])
    client.upload_message(message, text)
    client.upload_message(other, UploadMessageRequestBody(header="Stay", body="please"))
    refused(4090001, client.upload_message, message, text)
    refused(4040014, client.upload_message, unknown, UploadMessageRequestBody(header="a", body="b", image=UploadMessageImage(unknown, "c")))
    refused(4000224, client.upload_message, unknown, UploadMessageRequestBody(header="a", body="b", headerPosition=HeaderPosition.ABOVE_IMAGE))
    # What the library itself refuses to send.
    image = {"imageIdentifier": str(bullet), "altText": "a"}
    for wrong, code in [
        ({"header": "h" * 67}, 4000162), ({"body": "b" * 145}, 4000163), ({"image": image | {"altText": "a" * 151}}, 4000175),
        ({"bulletPoints": [image | {"text": "t"}] * 6}, 4000218), ({"bulletPoints": [image | {"text": "t" * 67}]}, 4000219), ({"header": None}, 4000000),
    ]:
        answer = requests.put(f"https://api.storekit-sandbox.apple.com/inApps/v1/messaging/message/{unknown}", timeout=60,
                              json={"header": "a", "body": "b"} | wrong, headers={"authorization": f"Bearer {client._generate_token()}"})
        expect((answer.status_code, answer.json()["errorCode"]) == (400, code), f"{wrong} is {answer.text}, not {code}")
    called("upload_message", "with image and bullet points; the same again; eight that are refused")
    found = {one.messageIdentifier: one.messageState for one in client.get_message_list().messageIdentifiers}
    expect(found == {message: MessageState.APPROVED, other: MessageState.APPROVED}, f"the messages: {found}")
    called("get_message_list", "identifier and state of each")

    refused(4030019, client.delete_image, first)
    refused(4040014, client.delete_image, unknown)
    client.delete_image(second)
    expect(second not in {one.imageIdentifier for one in client.get_image_list().imageIdentifiers}, "a deleted image is gone")
    called("delete_image", "gone; refused in use, and unknown")

    client.configure_default_message(PLUS, "en-US", DefaultConfigurationRequest(message))
    expect(client.get_default_message(PLUS, "en-US").messageIdentifier == message, "a default")
    client.configure_default_message(PLUS, "en-US", DefaultConfigurationRequest(other))
    expect(client.get_default_message(PLUS, "en-US").messageIdentifier == other, "another default in its place")
    refused(4040020, client.get_default_message, PLUS, "de-DE")
    for product, locale, wanted, code in [
        (PLUS, "en_US", message, 4000164), (PLUS, "english", message, 4000164), (COINS, "en-US", message, 4000023), ("none", "en-US", message, 4000023),
        (PLUS, "en-US", unknown, 4040015), (PLUS, "en-US", None, 4000000),
    ]:
        refused(code, client.configure_default_message, product, locale, DefaultConfigurationRequest(wanted))
    called("configure_default_message", "set and replaced; two locales, two products and two messages that are none")
    called("get_default_message", "what is set; none for another locale")
    client.delete_default_message(PLUS, "en-US")
    refused(4040020, client.get_default_message, PLUS, "en-US")
    refused(4040020, client.delete_default_message, PLUS, "en-US")
    called("delete_default_message", "gone; refused the second time")
    client.configure_default_message(PLUS, "en-US", DefaultConfigurationRequest(other))
    client.delete_message(other)
    refused(4040015, client.delete_message, other)
    refused(4040020, client.get_default_message, PLUS, "en-US")
    called("delete_message", "gone, also as a default; refused the second time")

    # Production has its own, and what is shown to customers waits for a review.
    expect(production.get_image_list().imageIdentifiers == [], "production has no image of the sandbox")
    production.upload_message(message, UploadMessageRequestBody(header="Stay", body="please"))
    expect([one.messageState for one in production.get_message_list().messageIdentifiers] == [MessageState.PENDING], "in production it waits")
    refused(4030017, production.configure_default_message, PLUS, "en-US", DefaultConfigurationRequest(message))

    backend = Messages(twin.verifier(online=False))
    refused(4040021, client.get_realtime_url)
    refused(4040021, client.delete_realtime_url)
    for wrong in ("nothing", "http://example.com/messages", "ftp://example.com/", "https://"):
        refused(4000215, client.configure_realtime_url, RealtimeUrlRequest(wrong))
    bought = twin.buy("hugo", PLUS)["id"]
    refused(4000211, client.initiate_performance_test, PerformanceTestRequest(bought))
    client.configure_realtime_url(RealtimeUrlRequest(backend.url))
    expect(client.get_realtime_url().realtimeURL == backend.url, "the URL")
    refused(4030026, production.configure_realtime_url, RealtimeUrlRequest("https://example.com/messages"))
    called("configure_realtime_url", "set; four that are none; in production refused before a test has passed")
    called("get_realtime_url", "what is set; none before")

    def tested():
        started = client.initiate_performance_test(PerformanceTestRequest(bought))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (result := client.get_performance_test_results(started.requestId)).result == PerformanceTestStatus.PENDING and time.monotonic() < deadline:
            time.sleep(0.2)
        expect(result.config == started.config and result.target == backend.url and result.numPending == 0, f"a test: {result}")
        return result, started.config.totalRequests

    backend.message = str(unknown)
    failed, total = tested()
    expect(failed.result == PerformanceTestStatus.FAIL and failed.successRate == 0 and failed.rawFailures == {"INVALID_RESPONSE": total},
           f"a message that was not uploaded: {failed}")
    refused(4030026, production.configure_realtime_url, RealtimeUrlRequest("https://example.com/messages"))
    backend.message = str(message)
    passed, total = tested()
    slow = (passed.rawFailures or {}).get("TIMED_OUT", 0)
    expect(passed.successRate == (total - slow) * 100 // total and set(passed.rawFailures or {}) <= {"TIMED_OUT"}
           and (passed.result == PerformanceTestStatus.PASS) == (passed.successRate >= passed.config.successRateThreshold)
           and passed.responseTimes.p50 <= passed.responseTimes.p99, f"a message that was: {passed}")
    asked = backend.asked[-total:]
    expect(len({one.requestIdentifier for one in backend.asked}) == len(backend.asked) == 2 * total, f"{len(backend.asked)} requests, each its own")
    expect(all(one.originalTransactionId == bought and one.productId == PLUS and one.environment == Environment.SANDBOX for one in asked),
           f"signed requests about the subscription: {asked[0]}")
    if passed.result == PerformanceTestStatus.PASS:
        production.configure_realtime_url(RealtimeUrlRequest("https://example.com/messages"))
    for wrong, code in [("x", 4000006), ("987654321", 4000006), (twin.buy("hugo", COINS)["id"], 4000211)]:
        refused(code, client.initiate_performance_test, PerformanceTestRequest(wrong))
    called("initiate_performance_test", f"{total} signed requests, verified by the backend; four that are refused")
    for wrong, code in [("x", 4000212), (str(unknown), 4040018)]:
        refused(code, client.get_performance_test_results, wrong)
    called("get_performance_test_results", "one that fails, one that passes; two that are none")
    client.delete_realtime_url()
    refused(4040021, client.get_realtime_url)
    called("delete_realtime_url", "gone; refused before it is set")


def refusals(twin, id):
    client = twin.client()
    expect(refusal(lambda: client.get_transaction_info("987654321")) == (404, 4040010), "an unknown transaction")
    for text in ("0", "x", "-1", "99999999999999999999", "18446744073709551615"):
        expect(refusal(lambda: client.get_transaction_info(text)) == (400, 4000006), f"{text} is no transaction ID")
    production = twin.client(Environment.PRODUCTION)
    for call in (production.get_transaction_info, production.get_all_subscription_statuses, production.get_app_transaction_info):
        expect(refusal(lambda: call(id)) == (404, 4040010), "production does not know what the sandbox has")
    expect(twin.client(Environment.LOCAL_TESTING).get_transaction_info(id).signedTransactionInfo, "the host of LocalTesting arrives")
    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    for wrong in (twin.client(key=other), twin.client(key_id="AAAAAAAAAA"), twin.client(issuer=str(uuid.uuid4())), twin.client(bundle="com.example.other")):
        expect(refusal(lambda: wrong.get_transaction_info(id)) == (401, None), "a wrong key, key ID, issuer or bundle ID is 401")
    expect(plain("GET", twin.twin_port, f"/inApps/v1/transactions/{id}").status_code == 401, "no token is 401")
    token = {"authorization": f"Bearer {client._generate_token()}"}
    answer = plain("GET", twin.twin_port, f"/inApps/v1/transactions/{id}", headers=token)
    expect(answer.status_code == 200 and answer.headers["content-type"] == "application/json", "plain HTTP to the listener itself")
    expect(plain("GET", twin.twin_port, "/inApps/v9/nothing/x", headers=token).status_code == 404, "there is no such path")
    expect(plain("GET", twin.twin_port, f"/inApps/v1/transactions/{id}", headers={**token, "host": "evil.example"}).status_code == 421,
           "another name of the listener is refused")
    expect(plain("POST", twin.twin_port, "/ocsp", data=b"nonsense").status_code == 400, "nonsense is no OCSP request")
    try:
        requests.get("https://example.com/", timeout=60)
        expect(False, "another host was reached")
    except requests.exceptions.ProxyError as error:
        expect("403" in str(error), f"other hosts are refused: {error}")
    # The rate: ten seconds' worth at once, of which `reads` took three, then one more each second. All in one piece, so that a
    # slow client asks as fast.
    before = time.time() * 1000
    answers = secure(twin, "api.storekit-sandbox.apple.com", ["/inApps/v2/refund/lookup/987654321"] * 60)
    later = [int(instant) for instant in re.findall(rb"HTTP/1.1 429 [^{]*?Retry-After: (\d+)\r\n[^{]*{[^}]*4290000", answers)]
    expect(later and answers.count(b"HTTP/1.1 404 ") == 60 - len(later) >= 7,
           f"the rate of refunds in the sandbox ends: {answers}")
    expect(all(before < instant < time.time() * 1000 + 1_100 for instant in later),
           f"Retry-After is an instant in milliseconds: {later}")


def pieces(twin, id):
    """Requests in pieces, several in one, and too long ones."""
    head = f"GET /inApps/v1/transactions/{id} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {twin.client()._generate_token()}\r\n"
    with socket.create_connection(("127.0.0.1", twin.twin_port)) as connection:
        for byte in (head + "\r\n").encode():
            connection.sendall(bytes([byte]))
        connection.sendall((head + "\r\n" + head + "Connection: close\r\n\r\n").encode())
        answer = b""
        while part := connection.recv(65536):
            answer += part
        expect(answer.count(b"HTTP/1.1 200 OK") == 3, f"three answers: {answer[:200]}")
    for request, status in [
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000, b"431"), (b"POST /ocsp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 70000\r\n\r\n", b"400"),
        (b"POST /ocsp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"400"), (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"400"), (b"CONNECT example.com:443 HTTP/1.1\r\n\r\n", b"403"),
        (b"CONNECT api.storekit.apple.com:80 HTTP/1.1\r\n\r\n", b"403"),
    ]:
        with socket.create_connection(("127.0.0.1", twin.twin_port)) as connection:
            try:
                connection.sendall(request)
                answer = connection.recv(65536)
            except ConnectionError:
                continue  # It was answered and closed before all was sent.
            expect(answer.startswith(b"HTTP/1.1 " + status), f"{request[:60]}: {answer[:60]}")


def mishaps(twin, id):
    client = twin.client(Environment.LOCAL_TESTING)

    def order(**fields):
        return plain("POST", twin.twin_port, "/mishaps", json=fields).status_code

    expect(order(answer=429, times=2, path="/inApps/v2/history") == 202 and order(answer=500) == 202 and order(answer=503) == 202, "mishaps are taken")
    expect(refusal(lambda: client.get_transaction_info(id)) == (500, 5000001), "the next request fails")
    expect(refusal(lambda: client.get_transaction_info(id)) == (503, None), "then the next")
    expect(refusal(lambda: client.get_transaction_info(id)) == (200, None), "and no other")
    asked = [refusal(lambda: client.get_transaction_history(id, None, TransactionHistoryRequest(), V2)) for _ in range(3)]
    expect(asked == [(429, 4290000), (429, 4290000), (200, None)], f"a mishap of one path: {asked}")
    for wrong in ({"answer": 404}, {"answer": 429, "times": 0}, {"answer": 429, "other": 1}, {"times": 2}, {"answer": "429"}):
        expect(order(**wrong) == 400, f"{wrong} is no mishap")
    expect(plain("POST", twin.twin_port, "/mishaps", data=b'{"answer": 429}', headers={"content-type": "text/plain"}).status_code == 400,
           "a form of a web page orders none")


def counts(twin):
    found = {(one["rate"], one["sandbox"]): one for one in plain("GET", twin.twin_port, "/counts").json()["rates"]}
    expect(found[("history", True)]["requests"] > 20 and found[("refunds", True)]["allowedInASecond"] == 10
           and all(1 <= one["mostInASecond"] <= one["requests"] for one in found.values()), f"requests are counted: {found}")


def secure(twin, name, paths):
    """The answers to requests in one piece, of a client whose system leads Apple's names to the listener, without a proxy."""
    context = ssl.create_default_context(cafile=twin.facts["APPLE_ROOT"])
    token = twin.client()._generate_token()
    heads = [f"GET {path} HTTP/1.1\r\nHost: {name}\r\nAuthorization: Bearer {token}\r\n" for path in paths]
    with (socket.create_connection(("127.0.0.1", twin.twin_port)) as plainly,
          context.wrap_socket(plainly, server_hostname=name) as connection):
        connection.sendall(("\r\n".join(heads) + "Connection: close\r\n\r\n").encode())
        answers = b""
        while part := connection.recv(65536):
            answers += part
    return answers


def directly(twin, id):
    """Each of Apple's names, with the certificate of its own."""
    for name, status in [("api.storekit-sandbox.apple.com", b"200"), ("api.storekit.apple.com", b"404"), ("local-testing-base-url", b"200")]:
        answer = secure(twin, name, [f"/inApps/v1/transactions/{id}"])
        expect(answer.startswith(b"HTTP/1.1 " + status), f"{name} directly: {answer[:80]}")


def again(twin, id):
    """A start with the same address keeps every certificate; another address keeps the root and the key."""
    before, root = dict(twin.facts), twin.root
    signed = twin.client().get_transaction_info(id).signedTransactionInfo
    twin.connection.close()
    twin.stop()
    twin.start()
    expect(twin.facts == before and twin.root == root, "a start changes nothing")
    twin.verifier().verify_and_decode_signed_transaction(signed)
    twin.connection.close()
    twin.stop()
    for name, mode in {"authority": 0o600, f"AuthKey_{before['APPLE_KEY_ID']}.p8": 0o600}.items():
        found = (twin.directory / "twin" / name).stat().st_mode & 0o777
        expect(found == mode, f"the mode of {name} is {found:o}")
    (twin.directory / "twin" / "authority").chmod(0o640)
    twin.spawn()
    twin.serving.wait(60)
    expect(twin.ready_after is None and any("chmod 600" in line for line in twin.lines), f"keys that others can read are refused: {twin.lines}")
    twin.kill()
    (twin.directory / "twin" / "authority").chmod(0o600)


def main():
    with Twin(WORK, "--clock", "2026-01-01", store=WORK / "store.db") as twin:
        twin.start()
        id, _ = reads(twin)
        changes(twin)
        notifications(twin, id)
        refusals(twin, id)
        pieces(twin, id)
        directly(twin, id)
        mishaps(twin, id)
        counts(twin)
        again(twin, id)
    messages = WORK / "messaging"
    messages.mkdir()
    with Twin(messages, "--clock", "2026-01-01", "--twin-notify", "http://127.0.0.1:9/") as twin:
        twin.start()
        messaging(twin)
    calls = [name for name, _ in inspect.getmembers(AppStoreServerAPIClient, inspect.isfunction) if not name.startswith("_")]
    rows = [f"| `{name}` | {'; '.join(table[name]) if name in table else 'not served: 404'} |" for name in calls]
    if "--table" in sys.argv:
        lines = ["| Call of Apple's Python library | Checked |", "|---|---|", *rows, ""]
        pathlib.Path(sys.argv[sys.argv.index("--table") + 1]).write_text("\n".join(lines))
    print(f"twin: {len(table)} of {len(calls)} calls of Apple's client are served")
    expect(set(table) == set(calls), f"not called: {sorted(set(calls) - set(table))}")

    conclude("the twin")


main()
