"""An App Store for the apps of a trial: a chain of certificates, of real length if nothing else is said, and what it signs."""
import json
import time
import uuid

from chains import Chain

DAY = 86_400_000
PLUS, PRO = "app.perch.plus.monthly", "app.perch.pro.monthly"


def now():
    return int(time.time() * 1000)


class AppStore:
    """What the App Store knows of one app's customers, and signs. Two with the same chain are two apps of one App Store."""

    def __init__(self, bundle, environment="Sandbox", chain=None):
        self.bundle, self.environment = bundle, environment
        # With certificates as long as Apple's a notification of a subscription has some 20 kB.
        self.chain = chain or Chain.of_real_length()

    @property
    def root(self):
        """Its root certificate, in PEM."""
        return self.chain.pem

    def transaction(self, original, period=0, token=None, product=PLUS, begin=None, days=30, signed=None, **more):
        """The payload of a subscription's transaction, with every field that Apple sends."""
        begin = begin if begin is not None else now() - DAY + period * days * DAY
        payload = {
            "transactionId": str(original + period), "originalTransactionId": str(original),
            "webOrderLineItemId": f"{original}{period}", "bundleId": self.bundle, "productId": product,
            "subscriptionGroupIdentifier": "21482145", "purchaseDate": begin, "originalPurchaseDate": begin - period * days * DAY,
            "expiresDate": begin + days * DAY, "quantity": 1, "type": "Auto-Renewable Subscription",
            "inAppOwnershipType": "PURCHASED", "signedDate": signed or now(), "environment": self.environment,
            "transactionReason": "RENEWAL" if period else "PURCHASE", "storefront": "USA", "storefrontId": "143441",
            "currency": "USD", "price": 4990, "appTransactionId": f"7045{original}"}
        if token:
            payload["appAccountToken"] = token
        return payload | more

    def renewal(self, transaction, status=1, **more):
        """The renewal information that belongs to a transaction."""
        return {
            "originalTransactionId": transaction["originalTransactionId"], "autoRenewProductId": transaction["productId"],
            "productId": transaction["productId"], "autoRenewStatus": status, "renewalDate": transaction["expiresDate"],
            "renewalPrice": 4990, "currency": "USD", "signedDate": transaction["signedDate"], "environment": self.environment,
            "recentSubscriptionStartDate": transaction["originalPurchaseDate"],
            "appTransactionId": transaction["appTransactionId"]} | more

    def sign(self, payload):
        return self.chain.sign(payload)

    def notification(self, kind, transaction, renewal=None, subtype=None, signed=None, inner=None):
        """The body that Apple posts. `inner`: the chain that signs the values in it, in place of its own."""
        sign = (inner or self.chain).sign
        payload = {
            "notificationType": kind, "notificationUUID": str(uuid.uuid4()), "version": "2.0", "signedDate": signed or now(),
            "data": {"appAppleId": 1234567890, "bundleId": self.bundle, "bundleVersion": "1042", "environment": self.environment,
                     "signedTransactionInfo": sign(transaction),
                     "signedRenewalInfo": sign(renewal or self.renewal(transaction)), "status": 1}}
        if subtype:
            payload["subtype"] = subtype
        return json.dumps({"signedPayload": self.sign(payload)})
