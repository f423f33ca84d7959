"""Customers of the App Store in different situations, beside every read that Perch has of them.

    customers.py [--table FILE]

What the App Store says is built with the models of Apple's own library and signed with a chain of real length. A server with
credentials takes it as notifications and submissions, in a random order and twice. What each read must say then is written here by
hand, from Apple's documents of notifications, of the signed values and of StoreKit: nothing of it is taken from Perch. What the App
Store does not say is `unknown`. --table writes the table of all cells.
"""

import http.client
import json
import pathlib
import random
import sys
import tempfile
import time
import uuid

import jwt
from appstoreserverlibrary.models.AutoRenewStatus import AutoRenewStatus
from appstoreserverlibrary.models.Data import Data
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExpirationIntent import ExpirationIntent
from appstoreserverlibrary.models.InAppOwnershipType import InAppOwnershipType
from appstoreserverlibrary.models.JWSRenewalInfoDecodedPayload import JWSRenewalInfoDecodedPayload
from appstoreserverlibrary.models.JWSTransactionDecodedPayload import JWSTransactionDecodedPayload
from appstoreserverlibrary.models.LibraryUtility import _get_cattrs_converter
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.OfferDiscountType import OfferDiscountType
from appstoreserverlibrary.models.OfferType import OfferType
from appstoreserverlibrary.models.PriceIncreaseStatus import PriceIncreaseStatus
from appstoreserverlibrary.models.ResponseBodyV2DecodedPayload import ResponseBodyV2DecodedPayload
from appstoreserverlibrary.models.RevocationReason import RevocationReason
from appstoreserverlibrary.models.Subtype import Subtype
from appstoreserverlibrary.models.TransactionReason import TransactionReason
from appstoreserverlibrary.models.Type import Type

import trial
from chains import Chain
from lives import Customers
from shop import BUNDLE, DAY

APPLE_ID = 1234567890
GROUP, APPLES_GROUP = "plus", "21482145"
PLUS, PRO, YEARLY = "app.perch.plus.monthly", "app.perch.pro.monthly", "app.perch.plus.yearly"
LIFETIME, COINS, LEGACY = "app.perch.lifetime", "app.perch.coins", "app.perch.legacy.yearly"
NOW = int(time.time() * 1000)
COLUMNS = ["status", "entitlement", "named", "pass", "offers", "plans", "app transaction", "messages", "explanation", "export"]


def day(days):
    return NOW + round(days * DAY)


def fields_of(model):
    """A model of Apple's library as the JSON that the App Store signs."""
    return _get_cattrs_converter(type(model)).unstructure(model)


class Customer:
    """What the App Store knows of a customer, and what each read of Perch must say of it."""

    def __init__(self, number, who, environment=Environment.SANDBOX):
        self.number, self.who, self.environment = number, who, environment
        self.account = f"customer-{number}"
        self.token = str(uuid.uuid5(uuid.NAMESPACE_URL, self.account))
        self.original = 2_000_000_000_000_000 + number * 1_000
        self.apple_number = f"70{self.original}"
        self.notifications, self.submitted, self.expected = [], [], {}

    def transaction(self, product, begin, end=None, kind=Type.AUTO_RENEWABLE_SUBSCRIPTION, place=0, first=None, **more):
        more.setdefault("signedDate", day(begin) + 5_000)
        more.setdefault("inAppOwnershipType", InAppOwnershipType.PURCHASED)
        if end is not None:
            more.setdefault("subscriptionGroupIdentifier", APPLES_GROUP)
            more["expiresDate"] = day(end)
            more["webOrderLineItemId"] = str(self.original * 10 + place)
        return JWSTransactionDecodedPayload(
            transactionId=str(self.original + place), originalTransactionId=more.pop("original", str(self.original)),
            bundleId=BUNDLE, productId=product, purchaseDate=day(begin), originalPurchaseDate=day(begin if first is None else first),
            quantity=more.pop("quantity", 1), type=kind, appAccountToken=self.token, environment=self.environment,
            transactionReason=TransactionReason.RENEWAL if first is not None else TransactionReason.PURCHASE, storefront="USA",
            storefrontId="143441", price=4990, currency="USD", appTransactionId=self.apple_number, **more)

    def renewal(self, product, end, signed, status=AutoRenewStatus.ON, next_product=None, **more):
        return JWSRenewalInfoDecodedPayload(
            originalTransactionId=str(self.original), productId=product, autoRenewProductId=next_product or product,
            autoRenewStatus=status, environment=self.environment, signedDate=day(signed), renewalDate=day(end),
            recentSubscriptionStartDate=day(end - 60), currency="USD", renewalPrice=4990, appTransactionId=self.apple_number,
            appAccountToken=self.token, **more)

    def hears(self, kind, subtype, transaction, renewal=None):
        """The App Store posts a notification."""
        self.notifications.append((kind, subtype, transaction, renewal))
        return self

    def submits(self, value):
        """The app hands its backend a signed value."""
        self.submitted.append(value)
        return self

    def expects(self, *cells):
        self.expected = dict(zip(COLUMNS, cells, strict=True))
        return self


def subscribed(customer, product, begin, end, **more):
    """A first purchase as its notification tells it."""
    renewal = more.pop("renewal", {})
    return customer.hears(
        NotificationTypeV2.SUBSCRIBED, Subtype.INITIAL_BUY, customer.transaction(product, begin, end, **more),
        customer.renewal(product, end, begin, **renewal))


# The offers of the catalogue: promotional pro.half, code QUARTER, win-back pro.comeback, an introductory offer of each product.
# Promotional offers are for customers who have or had a subscription (AD `promotional offers`); win-back offers for those whose
# subscription is over (AD `win-back offers`). Who may have an introductory offer or a code, no signed value says.
ACTIVE = "introductory unknown, promotional eligible, code unknown, win-back ineligible"
STRANGER = "introductory unknown, promotional unknown, code unknown, win-back unknown"
# The catalogue's plans in their order, seen from plus.monthly and from pro.monthly.
FROM_PLUS = "pro.monthly upgrade, plus.monthly current, plus.yearly crossgrade at renewal"
FROM_PRO = "pro.monthly current, plus.monthly downgrade at renewal, plus.yearly downgrade at renewal"
NO_PLAN = "pro.monthly, plus.monthly, plus.yearly"


def customers():
    made = []

    def customer(who, **more):
        made.append(Customer(len(made) + 1, who, **more))
        return made[-1]

    one = customer("in a free trial")
    subscribed(one, PLUS, -2, 5, offerType=OfferType.INTRODUCTORY_OFFER, offerDiscountType=OfferDiscountType.FREE_TRIAL, offerPeriod="P1W")
    one.expects(
        "SUBSCRIBED plus.monthly until +5d, renews as plus.monthly", "plus.monthly", "plus plus until +5d, renews, subscribed",
        "plus plus until +5d, ends +1d", "introductory ineligible, promotional eligible, code unknown, win-back ineligible",
        FROM_PLUS + "; next plus.monthly", one.apple_number, "none", "PERIOD_LASTS entitled; +5d SUBSCRIBED", "1: plus.monthly")

    one = customer("has paid since two months")
    subscribed(one, PLUS, -70, -40)
    for place in (1, 2):
        end = -40 + place * 30
        one.hears(NotificationTypeV2.DID_RENEW, None, one.transaction(PLUS, end - 30, end, place=place, first=-70),
                  one.renewal(PLUS, end, end - 30))
    one.notifications[-1] = (*one.notifications[-1][:2], one.transaction(PLUS, -10, 20, place=2, first=-70), one.renewal(PLUS, 20, -10))
    one.expects(
        "SUBSCRIBED plus.monthly until +20d, renews as plus.monthly", "plus.monthly", "plus plus until +20d, renews, subscribed",
        "plus plus until +20d, ends +1d", ACTIVE, FROM_PLUS + "; next plus.monthly", one.apple_number, "none",
        "PERIOD_LASTS entitled; +20d SUBSCRIBED", "3: plus.monthly plus.monthly plus.monthly")

    one = customer("in billing retry")
    subscribed(one, PLUS, -33, -3)
    one.hears(NotificationTypeV2.DID_FAIL_TO_RENEW, None, one.transaction(PLUS, -33, -3, signedDate=day(-2.9)),
              one.renewal(PLUS, -3, -2.9, isInBillingRetryPeriod=True))
    one.expects(
        "IN_BILLING_RETRY_PERIOD plus.monthly until -3d, renews as plus.monthly, retrying", "none", "plus no, inBillingRetryPeriod",
        "nothing, ends +1d", ACTIVE, NO_PLAN, one.apple_number, "billing issue since -3d",
        "BILLING_RETRY not entitled; +57d EXPIRED", "1: plus.monthly")

    one = customer("in a grace period")
    subscribed(one, PRO, -31, -1)
    one.hears(NotificationTypeV2.DID_FAIL_TO_RENEW, Subtype.GRACE_PERIOD, one.transaction(PRO, -31, -1, signedDate=day(-0.9)),
              one.renewal(PRO, -1, -0.9, isInBillingRetryPeriod=True, gracePeriodExpiresDate=day(15)))
    one.expects(
        "IN_GRACE_PERIOD pro.monthly until -1d, renews as pro.monthly, retrying, grace until +15d", "pro.monthly",
        "plus pro until +15d, renews, inGracePeriod", "plus pro until +15d, ends +1d", ACTIVE, FROM_PRO + "; next pro.monthly",
        one.apple_number, "billing issue since -1d", "GRACE_PERIOD entitled; +15d IN_BILLING_RETRY_PERIOD", "1: pro.monthly")

    one = customer("refunded")
    subscribed(one, PLUS, -10, 20)
    # Apple switches renewal off after a refund (AD `notificationtype`, DID_CHANGE_RENEWAL_STATUS).
    refunded = dict(revocationDate=day(-1), revocationReason=RevocationReason.REFUNDED_DUE_TO_ISSUE, signedDate=day(-0.99))
    one.hears(NotificationTypeV2.REFUND, None, one.transaction(PLUS, -10, 20, **refunded))
    one.hears(NotificationTypeV2.DID_CHANGE_RENEWAL_STATUS, Subtype.AUTO_RENEW_DISABLED, one.transaction(PLUS, -10, 20, **refunded),
              one.renewal(PLUS, 20, -0.99, AutoRenewStatus.OFF))
    one.expects(
        "REVOKED plus.monthly until +20d, does not renew, refunded -1d", "none", "plus no, revoked", "nothing, ends +1d",
        "introductory unknown, promotional eligible, code unknown, win-back unknown", NO_PLAN, one.apple_number, "none",
        "REVOKED not entitled; nothing", "1: plus.monthly")

    one = customer("upgraded")
    subscribed(one, PLUS, -20, 10)
    # The notification has the new product only. What became of the old one comes later, or never (AD `isupgraded`).
    one.hears(NotificationTypeV2.DID_CHANGE_RENEWAL_PREF, Subtype.UPGRADE, one.transaction(PRO, -2, 28, place=1, first=-20),
              one.renewal(PRO, 28, -2))
    one.expects(
        "SUBSCRIBED pro.monthly until +28d, renews as pro.monthly", "pro.monthly", "plus pro until +28d, renews, subscribed",
        "plus pro until +28d, ends +1d", ACTIVE, FROM_PRO + "; next pro.monthly", one.apple_number, "none",
        "PERIOD_LASTS entitled; +28d SUBSCRIBED", "2: plus.monthly pro.monthly")

    one = customer("upgraded, and all of it was told")
    subscribed(one, PLUS, -20, 10)
    one.hears(NotificationTypeV2.DID_CHANGE_RENEWAL_PREF, Subtype.UPGRADE, one.transaction(PRO, -2, 28, place=1, first=-20),
              one.renewal(PRO, 28, -2))
    one.submits(one.transaction(PLUS, -20, 10, isUpgraded=True, signedDate=day(-1)))
    one.expects(*made[-2].expected.values())
    one.expected["app transaction"] = one.apple_number

    one = customer("left by their own wish")
    subscribed(one, PLUS, -40, -10, renewal={"status": AutoRenewStatus.OFF})
    one.hears(NotificationTypeV2.EXPIRED, Subtype.VOLUNTARY, one.transaction(PLUS, -40, -10, signedDate=day(-9.99)),
              one.renewal(PLUS, -10, -9.99, AutoRenewStatus.OFF, expirationIntent=ExpirationIntent.CUSTOMER_CANCELLED))
    one.expects(
        "EXPIRED plus.monthly until -10d, does not renew, because AUTO_RENEW_DISABLED", "none", "plus no, expired", "nothing, ends +1d",
        "introductory unknown, promotional eligible, code unknown, win-back unknown", NO_PLAN, one.apple_number, "none",
        "RENEWAL_OFF not entitled; nothing", "1: plus.monthly")

    one = customer("asked for a higher price")
    subscribed(one, PLUS, -10, 20)
    one.hears(NotificationTypeV2.PRICE_INCREASE, Subtype.PENDING, one.transaction(PLUS, -10, 20, signedDate=day(-1)),
              one.renewal(PLUS, 20, -1, priceIncreaseStatus=PriceIncreaseStatus.CUSTOMER_HAS_NOT_RESPONDED))
    one.expects(
        "SUBSCRIBED plus.monthly until +20d, renews as plus.monthly, higher price PENDING", "plus.monthly",
        "plus plus until +20d, renews, subscribed", "plus plus until +20d, ends +1d", ACTIVE, FROM_PLUS + "; next plus.monthly",
        one.apple_number, "price consent since -1d", "PERIOD_LASTS entitled; +20d SUBSCRIBED", "1: plus.monthly")

    one = customer("shares a relative's subscription")
    subscribed(one, PRO, -10, 20, inAppOwnershipType=InAppOwnershipType.FAMILY_SHARED)
    one.expects(
        "SUBSCRIBED pro.monthly until +20d, shared, renews as pro.monthly", "pro.monthly (shared)",
        "plus pro until +20d, renews, subscribed, shared", "plus pro until +20d, ends +1d", STRANGER, NO_PLAN, one.apple_number,
        "none", "PERIOD_LASTS entitled; +20d SUBSCRIBED", "1: pro.monthly")

    one = customer("may come back for less")
    subscribed(one, PRO, -100, -70, renewal={"status": AutoRenewStatus.OFF})
    one.hears(NotificationTypeV2.EXPIRED, Subtype.VOLUNTARY, one.transaction(PRO, -100, -70, signedDate=day(-69.9)),
              one.renewal(PRO, -70, -69.9, AutoRenewStatus.OFF, expirationIntent=ExpirationIntent.CUSTOMER_CANCELLED))
    one.submits(one.renewal(PRO, -70, -5, AutoRenewStatus.OFF, expirationIntent=ExpirationIntent.CUSTOMER_CANCELLED,
                            eligibleWinBackOfferIds=["app.perch.pro.comeback"]))
    one.expects(
        "EXPIRED pro.monthly until -70d, does not renew, because AUTO_RENEW_DISABLED, may have app.perch.pro.comeback", "none",
        "plus no, expired", "nothing, ends +1d", "introductory unknown, promotional eligible, code unknown, win-back eligible", NO_PLAN,
        one.apple_number, "win-back app.perch.pro.comeback since -5d", "RENEWAL_OFF not entitled; nothing", "1: pro.monthly")

    one = customer("bought for ever, and coins")
    one.hears(NotificationTypeV2.ONE_TIME_CHARGE, None, one.transaction(LIFETIME, -300, kind=Type.NON_CONSUMABLE))
    for place in (1, 2):
        one.hears(NotificationTypeV2.ONE_TIME_CHARGE, None, one.transaction(
            COINS, -place, kind=Type.CONSUMABLE, place=place, original=str(one.original + place), quantity=3))
    one.expects(
        "none", "lifetime", "plus pro for ever, purchased", "plus pro for ever, ends +1d", STRANGER, NO_PLAN, one.apple_number, "none",
        "NEVER_SUBSCRIBED not entitled; nothing", "3: lifetime coins coins")

    one = customer("holds what the catalogue lacks")
    subscribed(one, LEGACY, -10, 355, subscriptionGroupIdentifier="99999999")
    one.expects(
        "99999999: SUBSCRIBED legacy.yearly until +355d, renews as legacy.yearly", "legacy.yearly", "plus no, never",
        "nothing, ends +1d", STRANGER, NO_PLAN, one.apple_number, "none", "NEVER_SUBSCRIBED not entitled; nothing", "1: legacy.yearly")

    one = customer("is known from the middle of a life")
    # The backend began to listen after the fifth renewal: a transaction and nothing else.
    one.submits(one.transaction(PLUS, -5, 25, place=5, first=-155))
    one.expects(
        "SUBSCRIBED plus.monthly until +25d, renewal unknown", "plus.monthly", "plus plus until +25d, renewal unknown, subscribed",
        "plus plus until +25d, ends +1d", ACTIVE, FROM_PLUS + "; next unknown", one.apple_number, "none",
        "PERIOD_LASTS entitled; +25d SUBSCRIBED", "1: plus.monthly")

    one = customer("goes to another plan at the renewal")
    subscribed(one, PRO, -10, 20)
    one.hears(NotificationTypeV2.DID_CHANGE_RENEWAL_PREF, Subtype.DOWNGRADE, one.transaction(PRO, -10, 20, signedDate=day(-1)),
              one.renewal(PRO, 20, -1, next_product=PLUS))
    one.expects(
        "SUBSCRIBED pro.monthly until +20d, renews as plus.monthly", "pro.monthly", "plus pro until +20d, renews, subscribed",
        "plus pro until +20d, ends +1d", ACTIVE, FROM_PRO + "; next plus.monthly", one.apple_number, "none",
        "PERIOD_LASTS entitled; +20d SUBSCRIBED", "1: pro.monthly")

    one = customer("has been charged ahead of the period")
    # Renewals are charged up to a day early: the new period begins tomorrow morning.
    subscribed(one, PLUS, -29.5, 0.5)
    one.hears(NotificationTypeV2.DID_RENEW, None, one.transaction(PLUS, 0.5, 30.5, place=1, first=-29.5, signedDate=day(-0.1)),
              one.renewal(PLUS, 30.5, -0.1))
    one.expects(
        "SUBSCRIBED plus.monthly until +0.5d, renews as plus.monthly", "plus.monthly", "plus plus until +0.5d, renews, subscribed",
        "plus plus until +0.5d, ends +0.5d", ACTIVE, FROM_PLUS + "; next plus.monthly", one.apple_number, "none",
        "PERIOD_LASTS entitled; +0.5d SUBSCRIBED", "2: plus.monthly plus.monthly")

    one = customer("buys in production, which this app is not", environment=Environment.PRODUCTION)
    subscribed(one, PLUS, -10, 20)
    one.expects("none", "none", "plus no, never", "nothing, ends +1d", STRANGER, NO_PLAN, "unknown", "none", "NEVER_SUBSCRIBED not entitled; nothing",
                "no purchase")

    one = customer("is nobody yet")
    one.expects("none", "none", "plus no, never", "nothing, ends +1d", STRANGER, NO_PLAN, "unknown", "none", "NEVER_SUBSCRIBED not entitled; nothing",
                "no account")
    return made


# MARK: Reads

def name(product):
    return product.removeprefix("app.perch.")


def offset(milliseconds):
    """Days from now, to a tenth."""
    return f"{round((int(milliseconds) - NOW) / DAY, 1):+g}d"


def bare(value, prefix):
    return value.removeprefix(prefix)


class Reader:
    """Each read of a customer as one line."""

    def __init__(self, server):
        self.server = server
        self.keys = jwt.PyJWKSet.from_dict(server.post("/.well-known/jwks.json", None, method="GET")[1])

    def call(self, method, **request):
        status, answer = self.server.call(method, "admin", **request)
        return answer if status == 200 else {"refused": answer}

    def cells(self, customer):
        reads = [self.status, self.entitlement, self.named, self.passes, self.offers, self.plans, self.app_transaction, self.messages,
                 self.explanation, self.export]
        return {column: self.cell(read, customer.account) for column, read in zip(COLUMNS, reads, strict=True)}

    @staticmethod
    def cell(read, account):
        try:
            return read(account)
        except (AssertionError, KeyError) as wrong:
            return f"{type(wrong).__name__}: {wrong}"

    def status(self, account):
        said = []
        for group in (GROUP, "99999999", APPLES_GROUP):
            answer = self.call("GetSubscriptionStatus", account=account, groupId=group)
            for one in answer.get("success", {}).get("statuses", []):
                said.append(("" if group == GROUP else f"{group}: ") + self.line(one))
        return "; ".join(said) or "none"

    @staticmethod
    def line(one):
        transaction, info = one["transaction"]["transaction"], one["renewalInfo"]["renewalInfo"]
        words = [f"{bare(one['state'], 'RENEWAL_STATE_')} {name(transaction['productId'])} until {offset(transaction['expirationDateMs'])}"]
        if transaction.get("ownershipType", "").endswith("FAMILY_SHARED"):
            words.append("shared")
        if info.get("unreported"):
            words.append("renewal unknown")
        elif info.get("willAutoRenew"):
            words.append(f"renews as {name(info.get('autoRenewPreference', 'unknown'))}")
        else:
            words.append("does not renew")
        if info.get("isInBillingRetry"):
            words.append("retrying")
        if "gracePeriodExpirationDateMs" in info:
            words.append(f"grace until {offset(info['gracePeriodExpirationDateMs'])}")
        if "expirationReason" in info:
            words.append(f"because {bare(info['expirationReason'], 'EXPIRATION_REASON_')}")
        if "priceIncreaseStatus" in info and not info["priceIncreaseStatus"].endswith("NO_INCREASE_PENDING"):
            words.append(f"higher price {bare(info['priceIncreaseStatus'], 'PRICE_INCREASE_STATUS_')}")
        if info.get("eligibleWinBackOfferIds"):
            words.append("may have " + " ".join(info["eligibleWinBackOfferIds"]))
        if "revocation" in transaction:
            words.append(f"refunded {offset(transaction['revocation']['dateMs'])}")
        return ", ".join(words)

    def entitlement(self, account):
        listed = self.call("ListCurrentEntitlements", account=account).get("transactions", [])
        said = []
        for one in listed:
            transaction = one["transaction"]
            shared = " (shared)" if transaction.get("ownershipType", "").endswith("FAMILY_SHARED") else ""
            said.append(name(transaction["productId"]) + shared)
        # The question for one product has the same answer.
        for product in (PLUS, PRO, YEARLY, LIFETIME, COINS, LEGACY):
            answer = self.call("GetCurrentEntitlement", account=account, productId=product)
            found = answer.get("success", {}).get("transaction")
            if (found is not None) != any(one["transaction"]["productId"] == product for one in listed):
                said.append(f"{name(product)} is answered {answer}")
        return ", ".join(said) or "none"

    def named(self, account):
        said = []
        for one in self.call("GetEntitlements", account=account)["success"]["entitlements"]:
            if not one.get("active"):
                said.append(f"{one['name']} no, {one['reason']}")
                continue
            end = "for ever" if one.get("lifetime") else f"until {offset(one['untilMs'])}"
            words = [f"{one['name']} {one['tier']} {end}"]
            if one.get("renewalUnknown"):
                words.append("renewal unknown")
            elif one.get("willRenew"):
                words.append("renews")
            words.append(one["reason"])
            if one.get("ownershipType", "").endswith("FAMILY_SHARED"):
                words.append("shared")
            assert one["sandbox"], one
            said.append(", ".join(words))
        return "; ".join(said)

    def passes(self, account):
        text = self.call("GetPass", account=account)["pass"]
        key = self.keys[jwt.get_unverified_header(text)["kid"]]
        said = jwt.decode(text, key.key, algorithms=["ES256"], audience=BUNDLE)
        assert said["sub"] == account and said["env"] == "sandbox", said
        words = []
        for one in said["entitlements"]:
            end = f"until {offset(one['until'] * 1000)}" if "until" in one else "for ever"
            assert one.get("until", said["iat"] + 1) > said["iat"], f"it is over: {said}"
            words.append(f"{one['name']} {one['tier']} {end}")
        return f"{', '.join(words) or 'nothing'}, ends {offset(said['exp'] * 1000)}"

    def offers(self, account):
        answer = self.call("GetOfferEligibility", account=account, groupId=GROUP)
        say = lambda value: bare(value.get("eligibility", "ELIGIBILITY_UNSPECIFIED"), "ELIGIBILITY_").lower()
        introductory = bare(answer["introductoryEligibility"], "ELIGIBILITY_").lower()
        assert answer.get("introductoryEligible", False) is False, answer
        words = [f"introductory {introductory}"]
        for kind, word in [("PROMOTIONAL", "promotional"), ("CODE", "code"), ("WIN_BACK", "win-back")]:
            offers = [one for one in answer["offers"] if one["type"] == f"OFFER_TYPE_{kind}"]
            assert len(offers) == 1 and offers[0].get("eligible", False) == (say(offers[0]) == "eligible"), offers
            words.append(f"{word} {say(offers[0])}")
        for one in answer["offers"]:
            assert one["type"] != "OFFER_TYPE_INTRODUCTORY" or say(one) == introductory, one
        return ", ".join(words)

    def plans(self, account):
        answer = self.call("ListPlanOptions", account=account, groupId=GROUP)
        words, preferred = [], []
        for one in answer["options"]:
            assert "offer" not in one, f"an offer that may not apply is named: {one}"
            relation = bare(one.get("relation", ""), "PLAN_RELATION_").lower()
            words.append(" ".join(filter(None, [
                name(one["product"]["id"]), relation, "at renewal" if one.get("takesEffectAtRenewal") else ""])))
            if one.get("preferred"):
                preferred.append(name(one["product"]["id"]))
        said = ", ".join(words)
        if "current" not in said:
            assert not preferred, answer
            return said
        return f"{said}; next {' '.join(preferred) or 'unknown'}"

    def app_transaction(self, account):
        answer = self.call("GetAppTransaction", account=account)
        # Only a device, or Get App Transaction Info, says these.
        known = {"originalAppVersion", "originalPurchaseDateMs", "originalPlatform"} & answer.keys()
        assert not known and answer["paymentsEligibility"] == "ELIGIBILITY_UNKNOWN", answer
        return answer.get("appTransactionId") or "unknown"

    def messages(self, account):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        app = f"app.bundleId={BUNDLE}&app.environment=ENVIRONMENT_SANDBOX"
        connection.request("GET", f"/perch.v1.TransactionService/Messages?{app}&account={account}", headers={
            "accept": "text/event-stream", "authorization": "Bearer " + self.server.tokens["admin"]})
        events = connection.getresponse()
        try:
            while line := events.readline():
                if line.startswith(b"data: ") and b'"success"' in line:
                    said = []
                    for one in json.loads(line[6:])["success"].get("messages", []):
                        reason = {"BILLING_ISSUE": "billing issue", "PRICE_INCREASE_CONSENT": "price consent",
                                  "WIN_BACK_OFFER": f"win-back {one.get('offerId')}"}[bare(one["reason"], "MESSAGE_REASON_")]
                        said.append(f"{reason} since {offset(one['sinceMs'])}")
                    return ", ".join(said) or "none"
        finally:
            connection.close()
        return f"no value: {events.status}"

    def explanation(self, account):
        answer = self.call("Explain", account=account, groupId=GROUP)
        first = (answer.get("explanations") or [{}])[0]
        assert answer.get("message") and "told" not in json.dumps(answer), answer
        words = [first["rule"]] if "rule" in first else []
        words.append("entitled" if answer.get("entitled") else "not entitled")
        change = first.get("nextChange")
        if not change:
            return " ".join(words) + "; nothing"
        then = bare(change.get("state", "?"), "RENEWAL_STATE_")
        return " ".join(words) + f"; {offset(change['atMs'])} {then}"

    def export(self, account):
        answer = self.call("ExportAccount", account=account)
        if "refused" in answer:
            return "no account" if answer["refused"].get("code") == "not_found" else str(answer)
        transactions = [one["transaction"] for one in answer.get("transactions", [])]
        if not transactions:
            return "no purchase"
        assert answer["keys"] == [account] and "grants" not in answer, answer
        numbers = {one["appTransactionId"] for one in transactions} | set(answer["appTransactionIds"])
        tokens = {one["appAccountToken"] for one in transactions} | set(answer["appAccountTokens"])
        assert len(numbers) == 1 and len(tokens) == 1, answer
        return f"{len(transactions)}: {' '.join(name(one['productId']) for one in transactions)}"


def deliver(server, chain, made, chance):
    """Everything that the App Store and the apps say, in a random order and twice."""
    steps = []
    for customer in made:
        steps += [(customer, "name", None)]
        steps += [(customer, "hears", one) for one in customer.notifications * 2]
        steps += [(customer, "submits", one) for one in customer.submitted * 2]
    chance.shuffle(steps)
    for customer, way, what in steps:
        if way == "name":
            if not customer.notifications and not customer.submitted:
                continue
            status, answer = server.call("AttachAlias", account=customer.account, appAccountToken=customer.token)
        elif way == "submits":
            value = chain.sign(fields_of(what))
            status, answer = server.call("SubmitTransaction", "read,ingest", account=customer.account, signedValues=[value])
        else:
            kind, subtype, transaction, renewal = what
            data = Data(environment=customer.environment, bundleId=BUNDLE, bundleVersion="1",
                        appAppleId=APPLE_ID if customer.environment == Environment.PRODUCTION else None,
                        signedTransactionInfo=chain.sign(fields_of(transaction)),
                        signedRenewalInfo=chain.sign(fields_of(renewal)) if renewal else None)
            body = ResponseBodyV2DecodedPayload(
                notificationType=kind, subtype=subtype, version="2.0", signedDate=transaction.signedDate, data=data,
                notificationUUID=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{kind} {transaction} {renewal}")))
            status, answer = server.notify({"signedPayload": chain.sign(fields_of(body))})
        # An app that no file names is answered 503: the App Store sends it again when it is named.
        expected = 503 if customer.environment == Environment.PRODUCTION and way == "hears" else 200
        if status != expected:
            sys.exit(f"customers: {customer.who}: {way} {what}: {status} {answer}")


def main():
    options = trial.options(__doc__)
    options.add_argument("--table")
    options = options.parse_args()
    chance, chain = random.Random(options.seed), Chain.of_real_length()
    made = customers()
    wrong, rows = [], []
    with tempfile.TemporaryDirectory() as directory:
        server = Customers(pathlib.Path(directory), chain)
        try:
            deliver(server, chain, made, chance)
            reader = Reader(server)
            for customer in made:
                found = reader.cells(customer)
                rows.append((customer.who, found))
                wrong += [
                    f"{customer.who}: {column} is\n    {found[column]}\n  and should be\n    {customer.expected[column]}"
                    for column in COLUMNS if found[column] != customer.expected[column]]
        finally:
            server.kill()
    if options.table:
        lines = ["| Customer | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
        lines += [f"| {who} | " + " | ".join(cells[column] for column in COLUMNS) + " |" for who, cells in rows]
        pathlib.Path(options.table).write_text("\n".join(lines) + "\n")
    if wrong:
        print("\n".join(f"customers: FAILED: {one}" for one in wrong), file=sys.stderr)
        sys.exit(f"customers: {len(wrong)} of {len(rows) * len(COLUMNS)} cells are wrong; again: --seed {options.seed}")
    print(f"apple: {len(rows) * len(COLUMNS)} cells of {len(rows)} customers are as the App Store means them (seed {options.seed})")


if __name__ == "__main__":
    main()
