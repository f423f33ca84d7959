"""A customer, from Apple's notification to `has("plus")` in a stock Python client.

The app has named its customer by an appAccountToken. Apple's notifications of real size come through the proxy, late, twice and in any
order. The device holds a stream with a token of its own account. A forger, whose certificates look like Apple's, gets nowhere.
"""
import uuid

from appstore import PRO, AppStore, now
from production.waiting import GUARD_SECONDS
from production.world import READER, SHOP

SETTINGS, FULL = ["nodes"], ["sqlite", "nodes"]
CONTROL = "apple.json trusts a second authority, that of a forger"
BREAKS = "a forged notification entitles nobody"


def play(world):
    forger = AppStore(SHOP.bundle)
    world.further_roots = [forger.root] if world.is_control else []
    world.start()
    admin = world.caller("admin")
    device = world.entitlements("alice")
    world.check("a customer who bought nothing has nothing", not device.has("plus"))

    # The app names its customer, who subscribes on the phone.
    token, original = str(uuid.uuid4()), 2_000_000_900_000_100
    admin.insist("AttachAlias", account="alice", app_account_token=token)
    store = world.app_store
    bought = store.transaction(original, token=token)
    subscribed = store.notification("SUBSCRIBED", bought, subtype="INITIAL_BUY")
    world.check("a notification of a subscription has some 20 kB", 17_000 < len(subscribed) < 26_000, len(subscribed))
    world.equal("Apple's notification is answered 200", world.notify(subscribed).status, 200)
    device.waits_for("plus")
    world.equal("the tier is that of the plan", device.active["plus"], "plus")
    position = device.values[-1].info.position

    # Apple repeats itself, and an older report comes late.
    world.equal("a repeated notification is answered 200", world.notify(subscribed).status, 200)
    older = store.notification("DID_CHANGE_RENEWAL_STATUS", store.transaction(original, token=token, signed=now() - 3_600_000),
                               store.renewal(bought, 0, signedDate=now() - 3_600_000))
    world.equal("an older notification is answered 200", world.notify(older).status, 200)
    read = world.caller("read", account="alice")
    status = read.insist("GetSubscriptionStatus", account="alice", group_id="plus", at_least=position).success.statuses[0]
    world.check("an older report takes nothing back", status.renewal_info.renewal_info.will_auto_renew, status.renewal_info)

    # An upgrade, a refund, and the refund's reversal.
    upgraded = store.transaction(original, period=1, token=token, product=PRO, begin=now() - 1_000)
    world.equal("the upgrade is answered 200", world.notify(store.notification("DID_CHANGE_RENEWAL_PREF", upgraded, subtype="UPGRADE")).status, 200)
    device.until("the higher tier", lambda: device.active.get("plus") == "pro")
    refunded = store.transaction(original, period=1, token=token, product=PRO, begin=upgraded["purchaseDate"], revocationDate=now(),
                                 revocationReason=1)
    world.equal("the refund is answered 200", world.notify(store.notification("REFUND", refunded)).status, 200)
    device.waits_for("plus", False)
    back = store.transaction(original, period=1, token=token, product=PRO, begin=upgraded["purchaseDate"], signed=now() + 5)
    world.equal("the reversal is answered 200", world.notify(store.notification("REFUND_REVERSED", back)).status, 200)
    device.waits_for("plus")

    # A forger signs for mallory what Apple never signed.
    mallory = str(uuid.uuid4())
    admin.insist("AttachAlias", account="mallory", app_account_token=mallory)
    forged = world.notify(forger.notification("SUBSCRIBED", forger.transaction(77_000, token=mallory)))
    answer = world.caller("read").insist("GetEntitlements", account="mallory").success.entitlements
    world.check("a forged notification entitles nobody", not any(each.active for each in answer), f"{forged}: {answer}")
    world.equal("a forged notification is refused", forged.status, 503)

    # The other app of the same App Store knows nothing of it, and a purchase there is nothing here.
    reader = world.caller("read", READER)
    elsewhere = reader.insist("GetEntitlements", account="alice").success.entitlements
    world.check("another app's customers are others", not any(each.active for each in elsewhere), elsewhere)
    world.equal("the reader's notification is answered 200", world.notify(world.reader_store.notification(
        "SUBSCRIBED", world.reader_store.transaction(88_000, token=token))).status, 200)
    world.equal("a purchase in another app is no purchase here",
                [each.transaction.id for each in read.insist("ListCurrentEntitlements", account="alice").transactions], [original + 1])
    # The backend submits what its own app gave it, and the support reads why.
    ingest = world.caller("ingest")
    # A second attempt after a late answer would be a duplicate.
    answer = ingest.insist("SubmitTransaction", deadline=GUARD_SECONDS, account="bob", signed_values=[store.sign(store.transaction(99_000))])
    world.equal("a submission of the backend is news", answer.news_count, 1)
    named = world.caller("read").insist("GetEntitlements", account="bob", at_least=answer.position).success.entitlements
    world.check("what the backend submitted entitles", any(each.active and each.name == "plus" for each in named), named)
    letters = world.caller("admin", None).insist("ListDeadLetters").dead_letters
    world.equal("nothing waits as a dead letter", len(letters), 0)
