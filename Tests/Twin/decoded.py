"""What Apple's library decodes, field by field, against what the test store says in the JSON of its own contract."""
import attr
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.api_client import GetTransactionHistoryVersion

from rehearsal import BUNDLE

TYPES = {"AUTO_RENEWABLE": "Auto-Renewable Subscription", "NON_CONSUMABLE": "Non-Consumable", "CONSUMABLE": "Consumable",
         "NON_RENEWABLE": "Non-Renewing Subscription"}
OFFERS = {"INTRODUCTORY": 1, "PROMOTIONAL": 2, "CODE": 3, "WIN_BACK": 4}
PLANS = {"UP_FRONT": "BILLED_UPFRONT", "MONTHLY": "MONTHLY"}
INTENTS = {"AUTO_RENEW_DISABLED": 1, "BILLING_ERROR": 2, "DID_NOT_CONSENT_TO_PRICE_INCREASE": 3, "PRODUCT_UNAVAILABLE": 4, "UNKNOWN": 5}
STATES = {"SUBSCRIBED": 1, "EXPIRED": 2, "IN_BILLING_RETRY_PERIOD": 3, "IN_GRACE_PERIOD": 4, "REVOKED": 5}
PLATFORMS = {"IOS": "iOS", "MACOS": "macOS", "TVOS": "tvOS", "VISIONOS": "visionOS", "WATCHOS": "watchOS"}
UNITS = {"DAY": "D", "WEEK": "W", "MONTH": "M", "YEAR": "Y"}


def word(value, prefix):
    """The name of an enumerator without that of its enumeration."""
    return value.removeprefix(prefix + "_") if value and not value.endswith("_UNSPECIFIED") else None


def number(value):
    return None if value is None else int(value)


def money(value):
    return (int(value.get("milliunits", 0)), value.get("currency")) if value else (None, None)


def offer(value):
    if not value:
        return {}
    period = value.get("period")
    return {
        "offerType": OFFERS.get(word(value.get("type"), "OFFER_TYPE")), "offerIdentifier": value.get("id"),
        "offerDiscountType": word(value.get("paymentMode"), "OFFER_PAYMENT_MODE"),
        "offerPeriod": period and f"P{period.get('value', 1)}{UNITS[word(period['unit'], 'PERIOD_UNIT')]}",
    }


def transaction(said):
    """The fields of Apple's payload for a transaction of the contract."""
    price, currency = money(said.get("price"))
    fields = {
        "transactionId": said["id"], "originalTransactionId": said["originalId"], "webOrderLineItemId": said.get("webOrderLineItemId"),
        "bundleId": BUNDLE, "productId": said["productId"], "subscriptionGroupIdentifier": said.get("subscriptionGroupId"),
        "purchaseDate": number(said["purchaseDateMs"]), "originalPurchaseDate": number(said["originalPurchaseDateMs"]),
        "expiresDate": number(said.get("expirationDateMs")), "quantity": said.get("purchasedQuantity"),
        "type": TYPES[word(said["productType"], "PRODUCT_TYPE")], "appAccountToken": said.get("appAccountToken"),
        "inAppOwnershipType": word(said["ownershipType"], "OWNERSHIP_TYPE"), "signedDate": number(said["signedDateMs"]),
        "isUpgraded": said.get("isUpgraded"), "environment": "Sandbox", "storefront": said.get("storefront", {}).get("countryCode"),
        "storefrontId": said.get("storefront", {}).get("id"), "transactionReason": word(said.get("reason"), "TRANSACTION_REASON"),
        "price": price, "currency": currency, "appTransactionId": said.get("appTransactionId"),
        "billingPlanType": PLANS.get(word(said.get("billingPlan"), "BILLING_PLAN_TYPE")), **offer(said.get("offer")),
    }
    if revoked := said.get("revocation"):
        kind = word(revoked.get("type"), "REVOCATION_TYPE")
        fields |= {
            "revocationDate": number(revoked["dateMs"]), "revocationType": kind,
            "revocationReason": int(word(revoked.get("reason"), "REVOCATION_REASON") == "DEVELOPER_ISSUE"),
            "revocationPercentage": None if kind == "FAMILY_REVOKE" else revoked.get("percentageMilli", 0),
        }
    if commitment := said.get("commitment"):
        fields["commitmentInfo"] = {
            "billingPeriodNumber": commitment.get("billingPeriodNumber"), "totalBillingPeriods": commitment.get("totalBillingPeriods"),
            "commitmentExpiresDate": number(commitment["expirationDateMs"]), "commitmentPrice": money(commitment.get("price"))[0] or 0,
        }
    return fields


def renewal(said):
    """The fields of Apple's payload for the renewal information of the contract."""
    price, currency = money(said.get("renewalPrice"))
    plan = PLANS.get(word(said.get("renewalBillingPlan"), "BILLING_PLAN_TYPE"))
    fields = {
        "originalTransactionId": said["originalTransactionId"], "productId": said["currentProductId"],
        "autoRenewProductId": said.get("autoRenewPreference"), "autoRenewStatus": int(said.get("willAutoRenew", False)),
        "expirationIntent": INTENTS.get(word(said.get("expirationReason"), "EXPIRATION_REASON")),
        "isInBillingRetryPeriod": said.get("isInBillingRetry", False), "gracePeriodExpiresDate": number(said.get("gracePeriodExpirationDateMs")),
        "priceIncreaseStatus": {"PENDING": 0, "AGREED": 1}.get(word(said.get("priceIncreaseStatus"), "PRICE_INCREASE_STATUS")),
        "environment": "Sandbox", "recentSubscriptionStartDate": number(said.get("recentSubscriptionStartDateMs")),
        "renewalDate": number(said.get("renewalDateMs")), "renewalPrice": price, "currency": currency,
        "eligibleWinBackOfferIds": said.get("eligibleWinBackOfferIds"), "appAccountToken": said.get("appAccountToken"),
        "appTransactionId": said.get("appTransactionId"), "renewalBillingPlanType": plan, **offer(said.get("offer")),
    }
    if commitment := said.get("commitment"):
        fields["commitmentInfo"] = {
            "commitmentAutoRenewProductId": said.get("autoRenewPreference"), "commitmentAutoRenewStatus": int(commitment.get("willRenew", False)),
            "commitmentRenewalBillingPlanType": plan, "commitmentRenewalDate": number(commitment["expirationDateMs"]),
            "commitmentRenewalPrice": money(commitment.get("price"))[0] or 0,
        }
    return fields


def read(value):
    """Every field that Apple's library has decoded, enumerations as they came."""
    found = {}
    for field in attr.fields(type(value)):
        name = field.name
        if name.startswith("raw") and name[3:4].isupper():
            continue
        raw = f"raw{name[0].upper()}{name[1:]}"
        one = getattr(value, raw) if hasattr(value, raw) else getattr(value, name)
        if one is not None:
            found[name] = read(one) if attr.has(type(one)) else one
    return found


def without_none(fields):
    return {name: without_none(value) if isinstance(value, dict) else value for name, value in fields.items() if value is not None}


def differences(what, decoded, wanted, without=()):
    """The fields that differ."""
    found = read(decoded)
    for name in without:
        found.pop(name, None)
        wanted.pop(name, None)
    wanted = without_none(wanted)
    return [f"{what}: {name} is {found.get(name)!r}, the test store has {wanted.get(name)!r}"
            for name in sorted(found.keys() | wanted.keys()) if found.get(name) != wanted.get(name)]


def compared(twin, client, verifier, account, groups):
    """All that is signed about an account, against the test store. Returns how many values were compared, and the differences."""
    stored = twin.transactions(account)
    if not stored:
        return 0, []
    wrong, count, found, revision, any_id = [], 0, {}, None, next(iter(stored))
    while True:
        page = client.get_transaction_history(any_id, revision, TransactionHistoryRequest(), GetTransactionHistoryVersion.V2)
        for text in page.signedTransactions:
            one = verifier.verify_and_decode_signed_transaction(text)
            found[one.transactionId] = one
        revision = page.revision
        if not page.hasMore:
            break
    if found.keys() != stored.keys():
        wrong.append(f"{account}: history has {sorted(found)}, the test store {sorted(stored)}")
    for id in found.keys() & stored.keys():
        count += 1
        wrong += differences(f"{account} {id}", found[id], transaction(stored[id]))
    statuses = {}
    for group in client.get_all_subscription_statuses(any_id).data:
        for line in group.lastTransactions:
            statuses[line.originalTransactionId] = (group.subscriptionGroupIdentifier, line)
    said = {}
    # A group that the catalogue has lost still has its subscribers.
    for group in {*groups, *(one["subscriptionGroupId"] for one in stored.values() if "subscriptionGroupId" in one)}:
        for one in twin.call("GetSubscriptionStatus", account=account, groupId=group).get("success", {}).get("statuses", []):
            said[one["renewalInfo"]["renewalInfo"]["originalTransactionId"]] = (group, one)
    if statuses.keys() != said.keys():
        wrong.append(f"{account}: statuses of {sorted(statuses)}, the test store has {sorted(said)}")
    for id in statuses.keys() & said.keys():
        count += 2
        (group, line), (wanted, one) = statuses[id], said[id]
        if (group, line.rawStatus) != (wanted, STATES[word(one["state"], "RENEWAL_STATE")]):
            wrong.append(f"{account} {id}: {group} {line.rawStatus}, the test store has {wanted} {one['state']}")
        wrong += differences(f"{account} {id} status", verifier.verify_and_decode_signed_transaction(line.signedTransactionInfo),
                             transaction(one["transaction"]["transaction"]))
        # Signed when it was asked for.
        wrong += differences(f"{account} {id} renewal", verifier.verify_and_decode_renewal_info(line.signedRenewalInfo),
                             renewal(one["renewalInfo"]["renewalInfo"]), without=("signedDate",))
    app = verifier.verify_and_decode_app_transaction(client.get_app_transaction_info(any_id).signedAppTransactionInfo)
    asked = twin.call("GetAppTransaction", account=account)
    count += 1
    wrong += differences(f"{account} app transaction", app, {
        "receiptType": "Sandbox", "bundleId": BUNDLE, "applicationVersion": "1.0", "originalApplicationVersion": asked.get("originalAppVersion"),
        "originalPurchaseDate": number(asked.get("originalPurchaseDateMs")), "appTransactionId": asked["appTransactionId"],
        "originalPlatform": PLATFORMS.get(word(asked.get("originalPlatform"), "APP_PLATFORM"))}, without=("receiptCreationDate",))
    return count, wrong
