"""The messages of the package perch.v1.

Generated from proto/ by `make proto`. Do not edit: change the contract or proto/generator/python.py.
"""
# flake8: noqa
from __future__ import annotations

from typing import List, Optional, Sequence

from .._codec import Enumeration, Message


class Environment(Enumeration):
    """The store behind an app."""

    UNSPECIFIED = 0
    """Unspecified."""

    PRODUCTION = 1
    """The App Store."""

    SANDBOX = 2
    """Apple's sandbox."""

    XCODE = 3
    """A test app: Perch itself is its store."""


class PeriodUnit(Enumeration):
    """The unit of a subscription period."""

    UNSPECIFIED = 0
    """Unspecified."""

    DAY = 1
    """Days."""

    WEEK = 2
    """Weeks."""

    MONTH = 3
    """Calendar months."""

    YEAR = 4
    """Calendar years."""


class OfferType(Enumeration):
    """What kind of offer."""

    UNSPECIFIED = 0
    """Unspecified."""

    INTRODUCTORY = 1
    """For customers who are new to a subscription group."""

    PROMOTIONAL = 2
    """For existing and former subscribers, chosen by the developer."""

    CODE = 3
    """Redeemed by a code."""

    WIN_BACK = 4
    """For former subscribers."""


class OfferPaymentMode(Enumeration):
    """How an offer is paid."""

    UNSPECIFIED = 0
    """Unspecified."""

    FREE_TRIAL = 1
    """Nothing is paid for the offer's period."""

    PAY_AS_YOU_GO = 2
    """A reduced price each billing period."""

    PAY_UP_FRONT = 3
    """A reduced price once, for the offer's period."""

    ONE_TIME = 4
    """A one-time purchase with an offer code."""


class BillingPlanType(Enumeration):
    """How a yearly subscription is billed."""

    UNSPECIFIED = 0
    """Unspecified, or the product has no billing plans."""

    UP_FRONT = 1
    """The whole price at once."""

    MONTHLY = 2
    """Monthly, with a commitment of twelve months."""


class VerificationError(Enumeration):
    """Why a signed value is not trusted."""

    UNSPECIFIED = 0
    """It was verified."""

    INVALID_CERTIFICATE_CHAIN = 1
    """The certificate chain is not valid."""

    INVALID_DEVICE_VERIFICATION = 2
    """The device verification does not match."""

    INVALID_ENCODING = 3
    """The bytes could not be read."""

    INVALID_SIGNATURE = 4
    """The signature does not fit."""

    MISSING_REQUIRED_PROPERTIES = 5
    """A required property is missing."""

    REVOKED_CERTIFICATE = 6
    """A certificate was revoked."""


class Eligibility(Enumeration):
    """What is known of a permission. The App Store does not say everything about a customer, and what it has not said is unknown:
    never shown as a yes or a no.
    """

    UNSPECIFIED = 0
    """A server of an earlier version said nothing: the bool beside it holds."""

    UNKNOWN = 1
    """Not known. Ask the App Store on the device: `Product.SubscriptionInfo.isEligibleForIntroOffer`, `AppStore.canMakePayments`.
    """

    ELIGIBLE = 2
    """Yes."""

    INELIGIBLE = 3
    """No."""


class ProductType(Enumeration):
    """The four types of in-app purchase."""

    UNSPECIFIED = 0
    """Unspecified."""

    CONSUMABLE = 1
    """Used up; never an entitlement."""

    NON_CONSUMABLE = 2
    """Bought once, owned until refunded."""

    AUTO_RENEWABLE = 3
    """A subscription that renews automatically."""

    NON_RENEWABLE = 4
    """A subscription whose end the store does not know."""


class OwnershipType(Enumeration):
    """How an account owns a product."""

    UNSPECIFIED = 0
    """Unspecified."""

    PURCHASED = 1
    """Bought by this account."""

    FAMILY_SHARED = 2
    """Shared by a member of the family."""

    ASSIGNED = 3
    """Assigned by an organisation."""


class TransactionReason(Enumeration):
    """Why a transaction exists."""

    UNSPECIFIED = 0
    """Unspecified."""

    PURCHASE = 1
    """A customer bought."""

    RENEWAL = 2
    """The store renewed."""


class RevocationReason(Enumeration):
    """Why a transaction was revoked."""

    UNSPECIFIED = 0
    """Unspecified."""

    OTHER = 1
    """Another reason, such as a purchase by accident (0 in StoreKit)."""

    DEVELOPER_ISSUE = 2
    """An issue with the app (1 in StoreKit)."""


class RevocationType(Enumeration):
    """The extent of a revocation."""

    UNSPECIFIED = 0
    """Unspecified."""

    REFUND_FULL = 1
    """The full price was refunded."""

    REFUND_PRORATED = 2
    """A part of the price was refunded."""

    FAMILY_REVOKE = 3
    """Family sharing ended."""


class IntroductoryEligibility(Enumeration):
    """Overrides the account's eligibility for the introductory offer."""

    UNSPECIFIED = 0
    """The history of the account decides."""

    ALLOWED = 1
    """Allowed."""

    DENIED = 2
    """Denied."""


class RenewalBehaviour(Enumeration):
    """The renewals that follow a purchase in the past."""

    UNSPECIFIED = 0
    """In a test app, whose store charges automatically, every renewal since then is made; elsewhere none."""

    RENEW_UNTIL_NOW = 1
    """Every renewal due since then is made."""

    CANCEL_IMMEDIATELY = 2
    """Renewal is off from the start."""


class PurchaseResult(Enumeration):
    """The result of a purchase."""

    UNSPECIFIED = 0
    """Unspecified."""

    SUCCESS = 1
    """The purchase has a transaction. It may be the one already held."""

    USER_CANCELLED = 2
    """The customer cancelled; nothing happened."""

    PENDING = 3
    """The purchase waits for approval. If approved, the transaction arrives on TransactionUpdates."""


class ChargeOutcome(Enumeration):
    """Whether charges fail."""

    UNSPECIFIED = 0
    """As the app's setting says."""

    SUCCEED = 1
    """They succeed."""

    FAIL = 2
    """They fail."""


class PriceConsent(Enumeration):
    """Whether a price increase needs the customer's consent."""

    UNSPECIFIED = 0
    """The size of the increase and the time since the last one decide."""

    NEEDED = 1
    """Needed."""

    NOT_NEEDED = 2
    """Not needed: the customer is notified."""


class AppPlatform(Enumeration):
    """The platform of an app."""

    UNSPECIFIED = 0
    """Unspecified."""

    IOS = 1
    """iOS and iPadOS."""

    MACOS = 2
    """macOS."""

    TVOS = 3
    """tvOS."""

    VISIONOS = 4
    """visionOS."""

    WATCHOS = 5
    """watchOS."""


class PendingReason(Enumeration):
    """The reason why a purchase waits."""

    UNSPECIFIED = 0
    """Unspecified."""

    ASK_TO_BUY = 1
    """Another person's approval (Ask to Buy)."""

    INTERRUPTED = 2
    """An issue that the customer has to resolve (interrupted purchase)."""

    DIALOG = 3
    """The customer's own decision (dialog)."""


class StoreKitApi(Enumeration):
    """A part of the store that can be made to fail: nine from StoreKit, and one of Perch's."""

    UNSPECIFIED = 0
    """Unspecified."""

    LOAD_PRODUCTS = 1
    """ProductsTask and its read push a failure."""

    PURCHASE = 2
    """Purchases fail."""

    VERIFICATION = 3
    """Values become unverified."""

    APP_STORE_SYNC = 4
    """Sync fails."""

    SUBSCRIPTION_STATUS = 5
    """SubscriptionStatusTask and its read push a failure."""

    APP_TRANSACTION = 6
    """GetAppTransaction fails."""

    MANAGE_SUBSCRIPTIONS = 7
    """ManageSubscriptions fails."""

    REFUND_REQUEST = 8
    """RequestRefund fails."""

    OFFER_CODE_REDEEM = 9
    """RedeemOfferCode fails."""

    CURRENT_ENTITLEMENT = 10
    """CurrentEntitlementTask and its read push a failure. Perch's own: StoreKit has none."""


class StoreKitError(Enumeration):
    """An error of StoreKit."""

    UNSPECIFIED = 0
    """Unspecified."""

    UNKNOWN = 1
    """StoreKitError.unknown."""

    USER_CANCELLED = 2
    """StoreKitError.userCancelled."""

    NETWORK_ERROR = 3
    """StoreKitError.networkError."""

    SYSTEM_ERROR = 4
    """StoreKitError.systemError."""

    NOT_AVAILABLE_IN_STOREFRONT = 5
    """StoreKitError.notAvailableInStorefront."""

    NOT_ENTITLED = 6
    """StoreKitError.notEntitled."""

    UNSUPPORTED = 7
    """StoreKitError.unsupported."""

    INVALID_QUANTITY = 8
    """PurchaseError.invalidQuantity."""

    PRODUCT_UNAVAILABLE = 9
    """PurchaseError.productUnavailable."""

    PURCHASE_NOT_ALLOWED = 10
    """PurchaseError.purchaseNotAllowed."""

    INELIGIBLE_FOR_OFFER = 11
    """PurchaseError.ineligibleForOffer."""

    INVALID_OFFER_IDENTIFIER = 12
    """PurchaseError.invalidOfferIdentifier."""

    INVALID_OFFER_PRICE = 13
    """PurchaseError.invalidOfferPrice."""

    INVALID_OFFER_SIGNATURE = 14
    """PurchaseError.invalidOfferSignature."""

    MISSING_OFFER_PARAMETERS = 15
    """PurchaseError.missingOfferParameters."""

    INVALID_CERTIFICATE_CHAIN = 16
    """VerificationError.invalidCertificateChain."""

    INVALID_DEVICE_VERIFICATION = 17
    """VerificationError.invalidDeviceVerification."""

    INVALID_ENCODING = 18
    """VerificationError.invalidEncoding."""

    INVALID_SIGNATURE = 19
    """VerificationError.invalidSignature."""

    MISSING_REQUIRED_PROPERTIES = 20
    """VerificationError.missingRequiredProperties."""

    REVOKED_CERTIFICATE = 21
    """VerificationError.revokedCertificate."""

    DUPLICATE_REQUEST = 22
    """RefundRequestError.duplicateRequest."""

    FAILED = 23
    """RefundRequestError.failed."""


class RenewalState(Enumeration):
    """The five states of a subscription line."""

    UNSPECIFIED = 0
    """Unspecified."""

    SUBSCRIBED = 1
    """Entitled: the period lasts."""

    EXPIRED = 2
    """Not entitled: it ended."""

    IN_BILLING_RETRY_PERIOD = 3
    """Not entitled: the store tries to charge again."""

    IN_GRACE_PERIOD = 4
    """Entitled although the charge failed."""

    REVOKED = 5
    """Not entitled: refunded, or no longer shared."""


class ExpirationReason(Enumeration):
    """Why a subscription ended."""

    UNSPECIFIED = 0
    """It has not."""

    AUTO_RENEW_DISABLED = 1
    """The customer switched renewal off."""

    BILLING_ERROR = 2
    """The charge failed."""

    DID_NOT_CONSENT_TO_PRICE_INCREASE = 3
    """The customer did not agree to a higher price."""

    PRODUCT_UNAVAILABLE = 4
    """The product was withdrawn."""

    UNKNOWN = 5
    """Another reason."""


class PriceIncreaseStatus(Enumeration):
    """Whether a price increase waits for the customer's consent."""

    UNSPECIFIED = 0
    """No increase is pending."""

    PENDING = 1
    """Asked, not answered (0 in StoreKit)."""

    AGREED = 2
    """Agreed, or informed if no consent is needed (1 in StoreKit)."""


class EffectiveReason(Enumeration):
    """Why a status is the one that counts."""

    UNSPECIFIED = 0
    """No line entitles."""

    ONLY_ENTITLED = 1
    """It is the only line that entitles."""

    HIGHEST_LEVEL = 2
    """It has the highest level of service."""

    OWN_BEFORE_SHARED = 3
    """Own before shared, at the same level."""

    LATEST_EXPIRATION = 4
    """It ends later, at the same level."""


class Cause(Enumeration):
    """The cause of a value."""

    UNSPECIFIED = 0
    """Unspecified."""

    SNAPSHOT = 1
    """The first value of a call."""

    PURCHASE = 2
    """A purchase or a restore."""

    RENEWAL = 3
    """A renewal attempt, succeeded or failed."""

    REFUND = 4
    """A refund, a revocation or their reversal."""

    EXPIRY = 5
    """Time: an expiry, the end of a grace or retry period, an offer window."""

    CATALOG = 6
    """The catalogue."""

    CLOCK = 7
    """The app's clock was moved."""

    SETTING = 8
    """A setting of the app or of the account: auto-renew, plan, storefront, time rate. Also a grant, its revocation, and a merge.
    """


class ForecastKind(Enumeration):
    """What happens by itself."""

    UNSPECIFIED = 0
    """Nothing."""

    RENEWAL = 1
    """The period ends and the store tries to renew it. `state` is the expected result: a test store knows which charges
    are set to fail.
    """

    EXPIRY = 2
    """The period ends for good."""

    GRACE_END = 3
    """The grace period ends."""

    RETRY_END = 4
    """The store stops trying to charge."""

    OFFER_WINDOW = 5
    """A win-back offer becomes available to the account, or stops being so."""

    MESSAGE = 6
    """A message of the store appears or disappears."""


class MishapKind(Enumeration):
    """What goes wrong."""

    UNSPECIFIED = 0
    """Not given."""

    LOSE = 1
    """The notification is never sent. It stands in the notification history without an attempt."""

    DELAY = 2
    """The notification is sent later."""

    DOUBLE = 3
    """The notification is sent twice."""

    REORDER = 4
    """The notifications are held until all are there, and sent in the reverse order."""

    RATE_LIMIT = 5
    """The request is answered 429, as if its rate were used up."""

    ERROR = 6
    """The request is answered 500, with Apple's general error that is worth a retry."""

    UNAVAILABLE = 7
    """The request is answered 503, without a body."""


class ConsumptionDelivery(Enumeration):
    """What the app delivered of a purchase whose customer wants a refund."""

    UNSPECIFIED = 0
    """Not said. It is no answer."""

    DELIVERED = 1
    """It works."""

    QUALITY_ISSUE = 2
    """Not delivered: it was of bad quality."""

    WRONG_ITEM = 3
    """Not delivered: it was something else."""

    SERVER_OUTAGE = 4
    """Not delivered: the app's server was out of order."""

    OTHER = 5
    """Not delivered for another reason."""


class RefundPreference(Enumeration):
    """What the app would decide."""

    UNSPECIFIED = 0
    """Nothing is said."""

    DECLINE = 1
    """No refund."""

    GRANT_FULL = 2
    """All of it."""

    GRANT_PRORATED = 3
    """What was not consumed."""


class ConsumptionState(Enumeration):
    """What became of a question."""

    UNSPECIFIED = 0
    """Never sent."""

    OPEN = 1
    """It waits for an answer."""

    ANSWERED = 2
    """It is answered, and the App Store does not have the answer yet."""

    SENT = 3
    """The App Store took the answer."""

    REFUSED = 4
    """The App Store refused the answer: see `message`. Another one may be given."""


class CustomerNameKind(Enumeration):
    """What kind of name a customer is known by."""

    UNSPECIFIED = 0
    """None."""

    ACCOUNT = 1
    """The caller's key of the account."""

    ALIAS = 2
    """Another key that leads to the account, such as that of an account which was merged into it."""

    EMAIL_HASH = 3
    """The SHA-256 of an e-mail address, attached by AttachAlias or used as a key."""

    TRANSACTION = 4
    """A transaction."""

    ORIGINAL_TRANSACTION = 5
    """The first transaction of a subscription, or a purchase."""

    ORDER = 6
    """The order of a purchase or of a renewal: webOrderLineItemId."""

    APP_ACCOUNT_TOKEN = 7
    """The app's own UUID for its customer."""

    APP_TRANSACTION = 8
    """Apple's number of the customer in this app."""


class EntitlementOrigin(Enumeration):
    """What gives an entitlement."""

    UNSPECIFIED = 0
    """Nothing does."""

    STORE = 1
    """A purchase or subscription."""

    GRANT = 2
    """An administrator's grant."""


class PlanRelation(Enumeration):
    """The relation of a plan to the account's current plan."""

    UNSPECIFIED = 0
    """No plan is held."""

    CURRENT = 1
    """It is held."""

    UPGRADE = 2
    """A higher level of service."""

    DOWNGRADE = 3
    """A lower level of service."""

    CROSSGRADE = 4
    """The same level of service."""


class SupposedEvent(Enumeration):
    """What an answer may suppose."""

    UNSPECIFIED = 0
    """Nothing."""

    CHARGE_FAILS = 1
    """The next charge of the subscription fails. It is tried now."""

    REFUND = 2
    """The purchase, or the present period of the subscription, is refunded now."""

    PLAN_CHANGE = 3
    """The customer changes the plan to a product now."""

    PRICE_AGREED = 4
    """The price rises, and the customer agrees or need not agree."""

    PRICE_NOT_AGREED = 5
    """The price rises, and the customer does not agree."""

    CANCELLED = 6
    """The customer switches renewal off now."""


class HistoryKind(Enumeration):
    """What kind of thing happened to an account."""

    UNSPECIFIED = 0
    """Nothing is said."""

    PURCHASE = 1
    """Something was bought, or a purchase waited."""

    RENEWAL = 2
    """A subscription renewed."""

    FAILURE = 3
    """A charge failed."""

    END = 4
    """Access, a subscription or a grant ended."""

    REFUND = 5
    """A refund, asked for, made, declined or taken back."""

    SETTING = 6
    """The customer or a tester changed how things go on."""

    EXTENSION = 7
    """A period was made longer."""

    PRICE = 8
    """A higher price, and the answer to it."""

    GRANT = 9
    """An administrator's grant."""

    MOVE = 10
    """A purchase went from one account to another."""

    SHARING = 11
    """Sharing within a family."""


class EntitlementReason(Enumeration):
    """Why a segment entitles. The numbers are those in `EntitlementsBatch.reasons`."""

    UNSPECIFIED = 0
    """Not entitled: a gap before the next segment of the name."""

    SUBSCRIBED = 1
    """The period of a subscription."""

    IN_GRACE_PERIOD = 2
    """The grace period after a failed charge."""

    RENEWAL_AWAITED = 3
    """The period is over, and nothing is known of its renewal yet: the account stays entitled. In a test app the segment has no end,
    because the store renews within two seconds and sends a change. A copy that has heard nothing of the server for longer ends
    such a segment two seconds after it began.
    """

    PURCHASED = 4
    """A purchase that does not expire."""

    GRANTED = 5
    """A grant."""


class TransactionEventKind(Enumeration):
    """The kind of an event of a transaction."""

    UNSPECIFIED = 0
    """Unspecified."""

    UNFINISHED = 1
    """The transaction was unfinished when this call began."""

    PURCHASED = 2
    """It was bought."""

    RENEWED = 3
    """It renewed a subscription."""

    REVOKED = 4
    """It was refunded or revoked."""

    REINSTATED = 5
    """A refund was reversed."""

    CHANGED = 6
    """Another field changed: an upgrade left it behind, or its period was cut short or extended."""


class MessageReason(Enumeration):
    """Why the store has a message."""

    UNSPECIFIED = 0
    """Unspecified."""

    BILLING_ISSUE = 1
    """A charge failed. Repeated while the store retries."""

    PRICE_INCREASE_CONSENT = 2
    """A price increase waits for an answer."""

    GENERIC = 3
    """Something else."""

    WIN_BACK_OFFER = 4
    """A win-back offer is available."""


class AppRef(Message):
    """Names an app. May be absent if the server, or the caller's identity, has exactly one."""

    __slots__ = ("bundle_id", "environment")
    _fields = (
        (1, "bundle_id", "string", False, None),
        (2, "environment", "Environment", False, None),
    )

    bundle_id: str
    """Bundle identifier, such as `com.example.app`."""

    environment: Environment
    """The store. May be unspecified if the bundle identifier has exactly one."""

    def __init__(self, *, bundle_id: str = "", environment: Environment = Environment.UNSPECIFIED) -> None:
        self.bundle_id = bundle_id
        self.environment = environment


class Position(Message):
    """The position of a value in the store's history. Positions of one epoch are compared by revision, then by instant. Send a
    position back as it came.
    """

    __slots__ = ("revision", "as_of_ms", "epoch")
    _fields = (
        (1, "revision", "uint64", False, None),
        (2, "as_of_ms", "int64", False, None),
        (3, "epoch", "uint32", False, None),
    )

    revision: int
    """The revision that last changed the value's data."""

    as_of_ms: int
    """The instant of the app's clock for which the value was computed, in milliseconds since the Unix epoch."""

    epoch: int
    """The epoch of the store, which changes with a restore. An `at_least` of another epoch is refused with
    TOKEN_OTHER_STORE: this history may lack what that position saw. 0, as from an earlier version: of any epoch.
    """

    def __init__(self, *, revision: int = 0, as_of_ms: int = 0, epoch: int = 0) -> None:
        self.revision = revision
        self.as_of_ms = as_of_ms
        self.epoch = epoch


class Money(Message):
    """An amount of money."""

    __slots__ = ("milliunits", "currency")
    _fields = (
        (1, "milliunits", "int64", False, None),
        (2, "currency", "string", False, None),
    )

    milliunits: int
    """Thousandths of the currency's unit: 10990 is 10.99."""

    currency: str
    """ISO 4217 code, such as `USD`."""

    def __init__(self, *, milliunits: int = 0, currency: str = "") -> None:
        self.milliunits = milliunits
        self.currency = currency


class Storefront(Message):
    """An App Store storefront."""

    __slots__ = ("country_code", "id")
    _fields = (
        (1, "country_code", "string", False, None),
        (2, "id", "string", False, None),
    )

    country_code: str
    """ISO 3166-1 alpha-3, such as `USA`."""

    id: str
    """Apple's number of the storefront; empty if unknown."""

    def __init__(self, *, country_code: str = "", id: str = "") -> None:
        self.country_code = country_code
        self.id = id


class Period(Message):
    """A length of time by the calendar."""

    __slots__ = ("unit", "value")
    _fields = (
        (1, "unit", "PeriodUnit", False, None),
        (2, "value", "uint32", False, None),
    )

    unit: PeriodUnit
    """The unit."""

    value: int
    """Number of units, at least 1."""

    def __init__(self, *, unit: PeriodUnit = PeriodUnit.UNSPECIFIED, value: int = 0) -> None:
        self.unit = unit
        self.value = value


class SubscriptionOffer(Message):
    """An offer configured for a product. GetOfferEligibility says whether an account may have it."""

    __slots__ = ("id", "type", "payment_mode", "price", "display_price", "period", "period_count", "billing_plan")
    _fields = (
        (1, "id", "string", False, None),
        (2, "type", "OfferType", False, None),
        (3, "payment_mode", "OfferPaymentMode", False, None),
        (4, "price", "Money", False, None),
        (5, "display_price", "string", False, None),
        (6, "period", "Period", False, None),
        (7, "period_count", "uint32", False, None),
        (8, "billing_plan", "BillingPlanType", False, None),
    )

    id: str
    """Identifier; empty for introductory offers. Offer codes are named by their reference name."""

    type: OfferType
    """Introductory, promotional or win-back. Codes are not listed on a product."""

    payment_mode: OfferPaymentMode
    """How it is paid."""

    price: Optional[Money]
    """Price of one charge; 0 for a free trial."""

    display_price: str
    """The price as a text, in the request's locale."""

    period: Optional[Period]
    """Free trial and pay up front: the length of the whole offer. Pay as you go: one billing period."""

    period_count: int
    """Pay as you go: the number of billing periods. Otherwise 1."""

    billing_plan: BillingPlanType
    """The billing plan of the offer, if the product has several."""

    def __init__(
            self, *, id: str = "", type: OfferType = OfferType.UNSPECIFIED,
            payment_mode: OfferPaymentMode = OfferPaymentMode.UNSPECIFIED, price: Optional[Money] = None,
            display_price: str = "", period: Optional[Period] = None, period_count: int = 0,
            billing_plan: BillingPlanType = BillingPlanType.UNSPECIFIED,
    ) -> None:
        self.id = id
        self.type = type
        self.payment_mode = payment_mode
        self.price = price
        self.display_price = display_price
        self.period = period
        self.period_count = period_count
        self.billing_plan = billing_plan


class BillingPlan(Message):
    """A way to pay for a subscription that has several."""

    __slots__ = ("type", "price", "display_price", "commitment_price", "commitment_display_price", "charge_count")
    _fields = (
        (1, "type", "BillingPlanType", False, None),
        (2, "price", "Money", False, None),
        (3, "display_price", "string", False, None),
        (4, "commitment_price", "Money", False, None),
        (5, "commitment_display_price", "string", False, None),
        (6, "charge_count", "uint32", False, None),
    )

    type: BillingPlanType
    """Which plan."""

    price: Optional[Money]
    """Price of one charge."""

    display_price: str
    """The price of one charge, as a text."""

    commitment_price: Optional[Money]
    """Price of the whole commitment; equal to `price` without a commitment."""

    commitment_display_price: str
    """The price of the whole commitment, as a text."""

    charge_count: int
    """Number of charges in a commitment; 1 without a commitment."""

    def __init__(
            self, *, type: BillingPlanType = BillingPlanType.UNSPECIFIED, price: Optional[Money] = None,
            display_price: str = "", commitment_price: Optional[Money] = None, commitment_display_price: str = "",
            charge_count: int = 0,
    ) -> None:
        self.type = type
        self.price = price
        self.display_price = display_price
        self.commitment_price = commitment_price
        self.commitment_display_price = commitment_display_price
        self.charge_count = charge_count


class SubscriptionInfo(Message):
    """The fields of auto-renewable subscriptions."""

    __slots__ = (
            "group_id", "group_display_name", "group_level", "period", "introductory_offers", "promotional_offers",
            "win_back_offers", "billing_plans",
    )
    _fields = (
        (1, "group_id", "string", False, None),
        (2, "group_display_name", "string", False, None),
        (3, "group_level", "uint32", False, None),
        (4, "period", "Period", False, None),
        (5, "introductory_offers", "SubscriptionOffer", True, None),
        (6, "promotional_offers", "SubscriptionOffer", True, None),
        (7, "win_back_offers", "SubscriptionOffer", True, None),
        (8, "billing_plans", "BillingPlan", True, None),
    )

    group_id: str
    """The group that this product belongs to."""

    group_display_name: str
    """The group's name in the request's locale; empty without localization."""

    group_level: int
    """Level of service: 1 is the highest."""

    period: Optional[Period]
    """Billing period."""

    introductory_offers: List[SubscriptionOffer]
    """The introductory offers: at most one for each billing plan."""

    promotional_offers: List[SubscriptionOffer]
    """Promotional offers."""

    win_back_offers: List[SubscriptionOffer]
    """Win-back offers."""

    billing_plans: List[BillingPlan]
    """Billing plans, if the product has several."""

    def __init__(
            self, *, group_id: str = "", group_display_name: str = "", group_level: int = 0,
            period: Optional[Period] = None, introductory_offers: Sequence[SubscriptionOffer] = (),
            promotional_offers: Sequence[SubscriptionOffer] = (), win_back_offers: Sequence[SubscriptionOffer] = (),
            billing_plans: Sequence[BillingPlan] = (),
    ) -> None:
        self.group_id = group_id
        self.group_display_name = group_display_name
        self.group_level = group_level
        self.period = period
        self.introductory_offers = list(introductory_offers)
        self.promotional_offers = list(promotional_offers)
        self.win_back_offers = list(win_back_offers)
        self.billing_plans = list(billing_plans)


class Product(Message):
    """A product of an app's catalogue."""

    __slots__ = (
            "id", "type", "display_name", "description", "price", "display_price", "is_family_shareable",
            "promotional_image_id", "subscription", "storefront", "json_representation", "promotional_image_hash",
    )
    _fields = (
        (1, "id", "string", False, None),
        (2, "type", "ProductType", False, None),
        (3, "display_name", "string", False, None),
        (4, "description", "string", False, None),
        (5, "price", "Money", False, None),
        (6, "display_price", "string", False, None),
        (7, "is_family_shareable", "bool", False, None),
        (8, "promotional_image_id", "string", False, None),
        (9, "subscription", "SubscriptionInfo", False, None),
        (10, "storefront", "Storefront", False, None),
        (11, "json_representation", "bytes", False, None),
        (12, "promotional_image_hash", "bytes", False, None),
    )

    id: str
    """Product identifier, unique in the app."""

    type: ProductType
    """Which of the four types."""

    display_name: str
    """Name in the request's locale; empty without localization."""

    description: str
    """Description in the request's locale; empty without localization."""

    price: Optional[Money]
    """Price in the storefront's currency."""

    display_price: str
    """The price for people."""

    is_family_shareable: bool
    """Whether family members share it."""

    promotional_image_id: str
    """Identifier of the promotional image; empty for none."""

    subscription: Optional[SubscriptionInfo]
    """Only for auto-renewable subscriptions."""

    storefront: Optional[Storefront]
    """The storefront of the price."""

    json_representation: bytes
    """The product's JSON in the catalogue file, for clients that need fields without a mapping."""

    promotional_image_hash: bytes
    """SHA-256 of the promotional image, 32 bytes; empty if there is no image. See EntitlementService.GetImage."""

    def __init__(
            self, *, id: str = "", type: ProductType = ProductType.UNSPECIFIED, display_name: str = "",
            description: str = "", price: Optional[Money] = None, display_price: str = "",
            is_family_shareable: bool = False, promotional_image_id: str = "",
            subscription: Optional[SubscriptionInfo] = None, storefront: Optional[Storefront] = None,
            json_representation: bytes = b"", promotional_image_hash: bytes = b"",
    ) -> None:
        self.id = id
        self.type = type
        self.display_name = display_name
        self.description = description
        self.price = price
        self.display_price = display_price
        self.is_family_shareable = is_family_shareable
        self.promotional_image_id = promotional_image_id
        self.subscription = subscription
        self.storefront = storefront
        self.json_representation = json_representation
        self.promotional_image_hash = promotional_image_hash


class Revocation(Message):
    """A refund, or the end of family sharing."""

    __slots__ = ("date_ms", "reason", "type", "percentage_milli")
    _fields = (
        (1, "date_ms", "int64", False, None),
        (2, "reason", "RevocationReason", False, None),
        (3, "type", "RevocationType", False, None),
        (4, "percentage_milli", "uint32", False, None),
    )

    date_ms: int
    """The instant, in milliseconds since the Unix epoch."""

    reason: RevocationReason
    """Why."""

    type: RevocationType
    """How much."""

    percentage_milli: int
    """The refunded part in thousandths of a per cent: 50000 is half."""

    def __init__(
            self, *, date_ms: int = 0, reason: RevocationReason = RevocationReason.UNSPECIFIED,
            type: RevocationType = RevocationType.UNSPECIFIED, percentage_milli: int = 0,
    ) -> None:
        self.date_ms = date_ms
        self.reason = reason
        self.type = type
        self.percentage_milli = percentage_milli


class TransactionOffer(Message):
    """The offer that a transaction was bought with."""

    __slots__ = ("id", "type", "payment_mode", "period")
    _fields = (
        (1, "id", "string", False, None),
        (2, "type", "OfferType", False, None),
        (3, "payment_mode", "OfferPaymentMode", False, None),
        (4, "period", "Period", False, None),
    )

    id: str
    """Identifier; empty for introductory offers."""

    type: OfferType
    """Which kind."""

    payment_mode: OfferPaymentMode
    """How it was paid."""

    period: Optional[Period]
    """Its period."""

    def __init__(
            self, *, id: str = "", type: OfferType = OfferType.UNSPECIFIED,
            payment_mode: OfferPaymentMode = OfferPaymentMode.UNSPECIFIED, period: Optional[Period] = None,
    ) -> None:
        self.id = id
        self.type = type
        self.payment_mode = payment_mode
        self.period = period


class CommitmentInfo(Message):
    """The position of a transaction in a commitment of twelve months."""

    __slots__ = ("billing_period_number", "total_billing_periods", "expiration_date_ms", "price", "will_renew")
    _fields = (
        (1, "billing_period_number", "uint32", False, None),
        (2, "total_billing_periods", "uint32", False, None),
        (3, "expiration_date_ms", "int64", False, None),
        (4, "price", "Money", False, None),
        (5, "will_renew", "bool", False, None),
    )

    billing_period_number: int
    """The billing period of this transaction, counted from 1."""

    total_billing_periods: int
    """Billing periods in the commitment."""

    expiration_date_ms: int
    """End of the commitment, in milliseconds since the Unix epoch."""

    price: Optional[Money]
    """Price of the whole commitment."""

    will_renew: bool
    """Whether the commitment itself renews. A transaction has the value at its charge, renewal info the current one."""

    def __init__(
            self, *, billing_period_number: int = 0, total_billing_periods: int = 0, expiration_date_ms: int = 0,
            price: Optional[Money] = None, will_renew: bool = False,
    ) -> None:
        self.billing_period_number = billing_period_number
        self.total_billing_periods = total_billing_periods
        self.expiration_date_ms = expiration_date_ms
        self.price = price
        self.will_renew = will_renew


class Transaction(Message):
    """A transaction with all fields of StoreKit 2's `Transaction`. Identifiers start at 0, so 0 does not mean absent.
    """

    __slots__ = (
            "id", "original_id", "web_order_line_item_id", "app_bundle_id", "app_transaction_id", "product_id",
            "product_type", "subscription_group_id", "purchase_date_ms", "original_purchase_date_ms",
            "expiration_date_ms", "purchased_quantity", "is_upgraded", "ownership_type", "offer", "revocation",
            "app_account_token", "environment", "storefront", "reason", "price", "signed_date_ms",
            "device_verification", "device_verification_nonce", "billing_plan", "commitment", "advanced_commerce_info",
    )
    _fields = (
        (1, "id", "uint64", False, None),
        (2, "original_id", "uint64", False, None),
        (3, "web_order_line_item_id", "string", False, None),
        (4, "app_bundle_id", "string", False, None),
        (5, "app_transaction_id", "string", False, None),
        (6, "product_id", "string", False, None),
        (7, "product_type", "ProductType", False, None),
        (8, "subscription_group_id", "string", False, None),
        (9, "purchase_date_ms", "int64", False, None),
        (10, "original_purchase_date_ms", "int64", False, None),
        (11, "expiration_date_ms", "int64", False, "expiration"),
        (12, "purchased_quantity", "uint32", False, None),
        (13, "is_upgraded", "bool", False, None),
        (14, "ownership_type", "OwnershipType", False, None),
        (15, "offer", "TransactionOffer", False, None),
        (16, "revocation", "Revocation", False, None),
        (17, "app_account_token", "string", False, None),
        (18, "environment", "Environment", False, None),
        (19, "storefront", "Storefront", False, None),
        (20, "reason", "TransactionReason", False, None),
        (21, "price", "Money", False, None),
        (22, "signed_date_ms", "int64", False, None),
        (23, "device_verification", "bytes", False, None),
        (24, "device_verification_nonce", "string", False, None),
        (25, "billing_plan", "BillingPlanType", False, None),
        (26, "commitment", "CommitmentInfo", False, None),
        (27, "advanced_commerce_info", "bytes", False, None),
    )

    id: int
    """Unique in the store; new for each purchase, renewal and restore."""

    original_id: int
    """The first transaction of its line; equal to `id` for that one."""

    web_order_line_item_id: str
    """Unique for each purchase event of a subscription, renewals included; empty for other products."""

    app_bundle_id: str
    """The app's bundle identifier."""

    app_transaction_id: str
    """Unique for each account and app."""

    product_id: str
    """What was bought."""

    product_type: ProductType
    """Its type."""

    subscription_group_id: str
    """Auto-renewable subscriptions only; empty otherwise."""

    purchase_date_ms: int
    """When it was charged, in milliseconds since the Unix epoch; for a renewal, the start of the new period."""

    original_purchase_date_ms: int
    """The purchase date of the original transaction."""

    expiration_date_ms: Optional[int]
    """End of this period, in milliseconds since the Unix epoch. In a grace period it is in the past."""

    purchased_quantity: int
    """Quantity; 1 except for consumables."""

    is_upgraded: bool
    """True on the transaction that an upgrade left behind."""

    ownership_type: OwnershipType
    """Bought or shared."""

    offer: Optional[TransactionOffer]
    """The offer it was bought with; absent for none."""

    revocation: Optional[Revocation]
    """Absent unless refunded or revoked."""

    app_account_token: str
    """The app's UUID for its customer, lower case, as given with the purchase; empty for none."""

    environment: Environment
    """Which store made it."""

    storefront: Optional[Storefront]
    """The storefront at the time of purchase."""

    reason: TransactionReason
    """Purchase or renewal."""

    price: Optional[Money]
    """The amount charged: with the offer, times the quantity; absent if unknown."""

    signed_date_ms: int
    """When this transaction was signed, in milliseconds since the Unix epoch. Not part of equality."""

    device_verification: bytes
    """Device verification; set for devices only."""

    device_verification_nonce: str
    """Nonce of the device verification."""

    billing_plan: BillingPlanType
    """The billing plan, if the product has several."""

    commitment: Optional[CommitmentInfo]
    """Present on a commitment."""

    advanced_commerce_info: bytes
    """Advanced Commerce data as JSON, unchanged."""

    def __init__(
            self, *, id: int = 0, original_id: int = 0, web_order_line_item_id: str = "", app_bundle_id: str = "",
            app_transaction_id: str = "", product_id: str = "", product_type: ProductType = ProductType.UNSPECIFIED,
            subscription_group_id: str = "", purchase_date_ms: int = 0, original_purchase_date_ms: int = 0,
            expiration_date_ms: Optional[int] = None, purchased_quantity: int = 0, is_upgraded: bool = False,
            ownership_type: OwnershipType = OwnershipType.UNSPECIFIED, offer: Optional[TransactionOffer] = None,
            revocation: Optional[Revocation] = None, app_account_token: str = "",
            environment: Environment = Environment.UNSPECIFIED, storefront: Optional[Storefront] = None,
            reason: TransactionReason = TransactionReason.UNSPECIFIED, price: Optional[Money] = None,
            signed_date_ms: int = 0, device_verification: bytes = b"", device_verification_nonce: str = "",
            billing_plan: BillingPlanType = BillingPlanType.UNSPECIFIED, commitment: Optional[CommitmentInfo] = None,
            advanced_commerce_info: bytes = b"",
    ) -> None:
        self.id = id
        self.original_id = original_id
        self.web_order_line_item_id = web_order_line_item_id
        self.app_bundle_id = app_bundle_id
        self.app_transaction_id = app_transaction_id
        self.product_id = product_id
        self.product_type = product_type
        self.subscription_group_id = subscription_group_id
        self.purchase_date_ms = purchase_date_ms
        self.original_purchase_date_ms = original_purchase_date_ms
        self.expiration_date_ms = expiration_date_ms
        self.purchased_quantity = purchased_quantity
        self.is_upgraded = is_upgraded
        self.ownership_type = ownership_type
        self.offer = offer
        self.revocation = revocation
        self.app_account_token = app_account_token
        self.environment = environment
        self.storefront = storefront
        self.reason = reason
        self.price = price
        self.signed_date_ms = signed_date_ms
        self.device_verification = device_verification
        self.device_verification_nonce = device_verification_nonce
        self.billing_plan = billing_plan
        self.commitment = commitment
        self.advanced_commerce_info = advanced_commerce_info


class TransactionResult(Message):
    """A transaction, and whether its signature is trusted."""

    __slots__ = ("transaction", "verification_error", "jws")
    _fields = (
        (1, "transaction", "Transaction", False, None),
        (2, "verification_error", "VerificationError", False, None),
        (3, "jws", "string", False, None),
    )

    transaction: Optional[Transaction]
    """The transaction, readable in both cases."""

    verification_error: VerificationError
    """Unspecified: verified."""

    jws: str
    """The signed form (compact JWS), if the request asked for it and the app is a test app."""

    def __init__(
            self, *, transaction: Optional[Transaction] = None,
            verification_error: VerificationError = VerificationError.UNSPECIFIED, jws: str = "",
    ) -> None:
        self.transaction = transaction
        self.verification_error = verification_error
        self.jws = jws


class OperationTarget(Message):
    """The target of an operation."""

    __slots__ = ("transaction_id", "product_id")
    _fields = (
        (1, "transaction_id", "uint64", False, "target"),
        (2, "product_id", "string", False, "target"),
    )

    transaction_id: Optional[int]
    """A transaction. Any transaction of a subscription line stands for the line."""

    product_id: Optional[str]
    """A subscription that the account holds now; of another product, its newest own transaction."""

    def __init__(self, *, transaction_id: Optional[int] = None, product_id: Optional[str] = None) -> None:
        self.transaction_id = transaction_id
        self.product_id = product_id


class PurchaseOffer(Message):
    """An offer to buy with."""

    __slots__ = ("type", "id", "jws")
    _fields = (
        (1, "type", "OfferType", False, None),
        (2, "id", "string", False, None),
        (3, "jws", "string", False, None),
    )

    type: OfferType
    """Promotional, code or win-back. Introductory offers apply automatically."""

    id: str
    """The offer's identifier; for a code, its reference name."""

    jws: str
    """Signature of a promotional offer, as a compact JWS. A test store needs none. A signature that it cannot verify is
    refused, never ignored.
    """

    def __init__(self, *, type: OfferType = OfferType.UNSPECIFIED, id: str = "", jws: str = "") -> None:
        self.type = type
        self.id = id
        self.jws = jws


class PurchaseOrder(Message):
    """A product, and the options of its purchase."""

    __slots__ = (
            "product_id", "quantity", "app_account_token", "offer", "introductory_eligibility",
            "introductory_eligibility_jws", "billing_plan", "purchase_date_ms", "renewal_behaviour",
            "simulates_ask_to_buy", "seen_storefront", "continues_in_new_storefront",
    )
    _fields = (
        (1, "product_id", "string", False, None),
        (2, "quantity", "uint32", False, None),
        (3, "app_account_token", "string", False, None),
        (4, "offer", "PurchaseOffer", False, None),
        (5, "introductory_eligibility", "IntroductoryEligibility", False, None),
        (6, "introductory_eligibility_jws", "string", False, None),
        (7, "billing_plan", "BillingPlanType", False, None),
        (8, "purchase_date_ms", "int64", False, "bought"),
        (9, "renewal_behaviour", "RenewalBehaviour", False, None),
        (10, "simulates_ask_to_buy", "bool", False, None),
        (11, "seen_storefront", "string", False, None),
        (12, "continues_in_new_storefront", "bool", False, None),
    )

    product_id: str
    """What to buy."""

    quantity: int
    """Quantity, for consumables; 0 means 1."""

    app_account_token: str
    """A UUID chosen by the caller, returned unchanged; empty for none."""

    offer: Optional[PurchaseOffer]
    """An offer to buy with; absent for none. Products other than subscriptions have offers of codes only."""

    introductory_eligibility: IntroductoryEligibility
    """Overrides the account's eligibility for the introductory offer."""

    introductory_eligibility_jws: str
    """The developer's signature of that override, as a compact JWS."""

    billing_plan: BillingPlanType
    """The billing plan, if the product has several."""

    purchase_date_ms: Optional[int]
    """The instant of a purchase in the past, in milliseconds since the Unix epoch."""

    renewal_behaviour: RenewalBehaviour
    """The renewals that follow a purchase in the past."""

    simulates_ask_to_buy: bool
    """Waits for approval, whatever the app's setting is."""

    seen_storefront: str
    """The storefront that the app showed to the customer, alpha-3; empty: not checked."""

    continues_in_new_storefront: bool
    """Buy even if the storefront has changed; otherwise the purchase is cancelled."""

    def __init__(
            self, *, product_id: str = "", quantity: int = 0, app_account_token: str = "",
            offer: Optional[PurchaseOffer] = None,
            introductory_eligibility: IntroductoryEligibility = IntroductoryEligibility.UNSPECIFIED,
            introductory_eligibility_jws: str = "", billing_plan: BillingPlanType = BillingPlanType.UNSPECIFIED,
            purchase_date_ms: Optional[int] = None, renewal_behaviour: RenewalBehaviour = RenewalBehaviour.UNSPECIFIED,
            simulates_ask_to_buy: bool = False, seen_storefront: str = "", continues_in_new_storefront: bool = False,
    ) -> None:
        self.product_id = product_id
        self.quantity = quantity
        self.app_account_token = app_account_token
        self.offer = offer
        self.introductory_eligibility = introductory_eligibility
        self.introductory_eligibility_jws = introductory_eligibility_jws
        self.billing_plan = billing_plan
        self.purchase_date_ms = purchase_date_ms
        self.renewal_behaviour = renewal_behaviour
        self.simulates_ask_to_buy = simulates_ask_to_buy
        self.seen_storefront = seen_storefront
        self.continues_in_new_storefront = continues_in_new_storefront


class RefundOperation(Message):
    """Refunds a transaction. Refunding a refunded transaction changes nothing."""

    __slots__ = ("target", "reason", "type", "percentage_milli")
    _fields = (
        (1, "target", "OperationTarget", False, None),
        (2, "reason", "RevocationReason", False, None),
        (3, "type", "RevocationType", False, None),
        (4, "percentage_milli", "uint32", False, None),
    )

    target: Optional[OperationTarget]
    """Which."""

    reason: RevocationReason
    """Why; unspecified means other."""

    type: RevocationType
    """Full or prorated; unspecified means full."""

    percentage_milli: int
    """Of a prorated refund: the part in thousandths of a per cent; 0 means the unused part of the period."""

    def __init__(
            self, *, target: Optional[OperationTarget] = None, reason: RevocationReason = RevocationReason.UNSPECIFIED,
            type: RevocationType = RevocationType.UNSPECIFIED, percentage_milli: int = 0,
    ) -> None:
        self.target = target
        self.reason = reason
        self.type = type
        self.percentage_milli = percentage_milli


class ReverseRefundOperation(Message):
    """Takes a refund back."""

    __slots__ = ("target", )
    _fields = (
        (1, "target", "OperationTarget", False, None),
    )

    target: Optional[OperationTarget]
    """Which."""

    def __init__(self, *, target: Optional[OperationTarget] = None) -> None:
        self.target = target


class DeclineRefundOperation(Message):
    """The store declines a refund. Nothing changes."""

    __slots__ = ("target", )
    _fields = (
        (1, "target", "OperationTarget", False, None),
    )

    target: Optional[OperationTarget]
    """Which."""

    def __init__(self, *, target: Optional[OperationTarget] = None) -> None:
        self.target = target


class RequestConsumptionOperation(Message):
    """The store asks for consumption data. Nothing changes."""

    __slots__ = ("target", )
    _fields = (
        (1, "target", "OperationTarget", False, None),
    )

    target: Optional[OperationTarget]
    """Which."""

    def __init__(self, *, target: Optional[OperationTarget] = None) -> None:
        self.target = target


class RenewOperation(Message):
    """Ends the current period now and renews."""

    __slots__ = ("target", )
    _fields = (
        (1, "target", "OperationTarget", False, None),
    )

    target: Optional[OperationTarget]
    """Which subscription."""

    def __init__(self, *, target: Optional[OperationTarget] = None) -> None:
        self.target = target


class ExpireOperation(Message):
    """Ends the current period now, for good."""

    __slots__ = ("target", )
    _fields = (
        (1, "target", "OperationTarget", False, None),
    )

    target: Optional[OperationTarget]
    """Which subscription."""

    def __init__(self, *, target: Optional[OperationTarget] = None) -> None:
        self.target = target


class SetAutoRenewOperation(Message):
    """Switches renewal on or off. Switching off in a grace or retry period ends the subscription at once."""

    __slots__ = ("target", "enabled")
    _fields = (
        (1, "target", "OperationTarget", False, None),
        (2, "enabled", "bool", False, None),
    )

    target: Optional[OperationTarget]
    """Which subscription."""

    enabled: bool
    """On or off."""

    def __init__(self, *, target: Optional[OperationTarget] = None, enabled: bool = False) -> None:
        self.target = target
        self.enabled = enabled


class ResolveBillingOperation(Message):
    """The customer's payment works again: a subscription in its grace or retry period renews. If the account's charges were set to fail,
    they are as the app's setting says from now on.
    """

    __slots__ = ("target", )
    _fields = (
        (1, "target", "OperationTarget", False, None),
    )

    target: Optional[OperationTarget]
    """Which subscription."""

    def __init__(self, *, target: Optional[OperationTarget] = None) -> None:
        self.target = target


class SetChargesOperation(Message):
    """Whether the account's charges fail from now on."""

    __slots__ = ("outcome", )
    _fields = (
        (1, "outcome", "ChargeOutcome", False, None),
    )

    outcome: ChargeOutcome
    """Whether."""

    def __init__(self, *, outcome: ChargeOutcome = ChargeOutcome.UNSPECIFIED) -> None:
        self.outcome = outcome


class RaisePriceOperation(Message):
    """Raises the price of a subscription from its next period on."""

    __slots__ = ("target", "price_milliunits", "consent")
    _fields = (
        (1, "target", "OperationTarget", False, None),
        (2, "price_milliunits", "int64", False, None),
        (3, "consent", "PriceConsent", False, None),
    )

    target: Optional[OperationTarget]
    """Which subscription."""

    price_milliunits: int
    """The new price of a period, in thousandths of the currency's unit."""

    consent: PriceConsent
    """Whether consent is needed."""

    def __init__(
            self, *, target: Optional[OperationTarget] = None, price_milliunits: int = 0,
            consent: PriceConsent = PriceConsent.UNSPECIFIED,
    ) -> None:
        self.target = target
        self.price_milliunits = price_milliunits
        self.consent = consent


class AnswerPriceIncreaseOperation(Message):
    """Answers a price increase. Declining switches renewal off because of the price."""

    __slots__ = ("target", "agrees")
    _fields = (
        (1, "target", "OperationTarget", False, None),
        (2, "agrees", "bool", False, None),
    )

    target: Optional[OperationTarget]
    """Which subscription."""

    agrees: bool
    """Whether the customer agrees."""

    def __init__(self, *, target: Optional[OperationTarget] = None, agrees: bool = False) -> None:
        self.target = target
        self.agrees = agrees


class ExtendRenewalOperation(Message):
    """Moves the end of the current period later."""

    __slots__ = ("target", "by_ms")
    _fields = (
        (1, "target", "OperationTarget", False, None),
        (2, "by_ms", "int64", False, None),
    )

    target: Optional[OperationTarget]
    """Which subscription."""

    by_ms: int
    """By so many milliseconds."""

    def __init__(self, *, target: Optional[OperationTarget] = None, by_ms: int = 0) -> None:
        self.target = target
        self.by_ms = by_ms


class ShareOperation(Message):
    """Shares a subscription or a non-consumable with a member of the family. Up to five other members."""

    __slots__ = ("target", "member")
    _fields = (
        (1, "target", "OperationTarget", False, None),
        (2, "member", "string", False, None),
    )

    target: Optional[OperationTarget]
    """What."""

    member: str
    """The member's key. The account is created if it does not exist."""

    def __init__(self, *, target: Optional[OperationTarget] = None, member: str = "") -> None:
        self.target = target
        self.member = member


class StopSharingOperation(Message):
    """Stops sharing."""

    __slots__ = ("target", "member")
    _fields = (
        (1, "target", "OperationTarget", False, None),
        (2, "member", "string", False, None),
    )

    target: Optional[OperationTarget]
    """The shared product; absent: all of them."""

    member: str
    """With whom; empty: with everybody."""

    def __init__(self, *, target: Optional[OperationTarget] = None, member: str = "") -> None:
        self.target = target
        self.member = member


class DecidePurchaseOperation(Message):
    """Ends the wait of a purchase."""

    __slots__ = ("number", "approves")
    _fields = (
        (1, "number", "uint64", False, None),
        (2, "approves", "bool", False, None),
    )

    number: int
    """Its number."""

    approves: bool
    """True: approved, resolved or confirmed. False: declined, and no transaction arrives."""

    def __init__(self, *, number: int = 0, approves: bool = False) -> None:
        self.number = number
        self.approves = approves


class DeleteTransactionOperation(Message):
    """Deletes a transaction, as if it had never existed. If it was the only one with an introductory offer, the account is
    eligible again.
    """

    __slots__ = ("transaction_id", )
    _fields = (
        (1, "transaction_id", "uint64", False, None),
    )

    transaction_id: int
    """Which."""

    def __init__(self, *, transaction_id: int = 0) -> None:
        self.transaction_id = transaction_id


class ClearTransactionsOperation(Message):
    """Deletes all transactions and pending purchases of the account."""

    __slots__ = ()


class CreateIntentOperation(Message):
    """Begins a purchase outside the app. Nothing is bought until the app buys it."""

    __slots__ = ("product_id", "offer")
    _fields = (
        (1, "product_id", "string", False, None),
        (2, "offer", "PurchaseOffer", False, None),
    )

    product_id: str
    """The product."""

    offer: Optional[PurchaseOffer]
    """With an offer; absent for none."""

    def __init__(self, *, product_id: str = "", offer: Optional[PurchaseOffer] = None) -> None:
        self.product_id = product_id
        self.offer = offer


class EndIntentOperation(Message):
    """Ends a purchase intent: bought or dismissed."""

    __slots__ = ("number", )
    _fields = (
        (1, "number", "uint64", False, None),
    )

    number: int
    """Its number."""

    def __init__(self, *, number: int = 0) -> None:
        self.number = number


class SetStorefrontOperation(Message):
    """Sets the account's own storefront."""

    __slots__ = ("storefront", )
    _fields = (
        (1, "storefront", "string", False, None),
    )

    storefront: str
    """ISO 3166-1 alpha-3; empty for the app's."""

    def __init__(self, *, storefront: str = "") -> None:
        self.storefront = storefront


class PostMessageOperation(Message):
    """Posts a store message without a cause in the account."""

    __slots__ = ()


class SetPaymentsOperation(Message):
    """Whether the account may make payments at all, as Screen Time decides it. Renewals go on."""

    __slots__ = ("allowed", )
    _fields = (
        (1, "allowed", "bool", False, None),
    )

    allowed: bool
    """False: every purchase of the account, and every code, is refused with `PURCHASE_NOT_ALLOWED`."""

    def __init__(self, *, allowed: bool = False) -> None:
        self.allowed = allowed


class SetAppTransactionOperation(Message):
    """Sets the record of the account's first use of the app, whole. A field that is left out has the value that it has in every
    test app, which is that of Apple's sandbox.
    """

    __slots__ = ("original_app_version", "original_purchase_date_ms", "original_platform", "environment")
    _fields = (
        (1, "original_app_version", "string", False, None),
        (2, "original_purchase_date_ms", "int64", False, "original_purchase"),
        (3, "original_platform", "AppPlatform", False, None),
        (4, "environment", "Environment", False, None),
    )

    original_app_version: str
    """The version that the customer got first, up to 64 bytes; empty: `1.0`."""

    original_purchase_date_ms: Optional[int]
    """When the customer got the app first, in milliseconds since the Unix epoch."""

    original_platform: AppPlatform
    """On what; unspecified: iOS."""

    environment: Environment
    """What the app transaction names as its store; unspecified: the app's own."""

    def __init__(
            self, *, original_app_version: str = "", original_purchase_date_ms: Optional[int] = None,
            original_platform: AppPlatform = AppPlatform.UNSPECIFIED,
            environment: Environment = Environment.UNSPECIFIED,
    ) -> None:
        self.original_app_version = original_app_version
        self.original_purchase_date_ms = original_purchase_date_ms
        self.original_platform = original_platform
        self.environment = environment


class StoreOperation(Message):
    """One operation on an account."""

    __slots__ = (
            "buy", "refund", "reverse_refund", "decline_refund", "request_consumption", "renew", "expire",
            "set_auto_renew", "resolve_billing", "set_charges", "raise_price", "answer_price_increase",
            "extend_renewal", "share", "stop_sharing", "decide_purchase", "delete_transaction", "clear_transactions",
            "create_intent", "end_intent", "set_storefront", "post_message", "set_payments", "set_app_transaction",
    )
    _fields = (
        (1, "buy", "PurchaseOrder", False, "operation"),
        (2, "refund", "RefundOperation", False, "operation"),
        (3, "reverse_refund", "ReverseRefundOperation", False, "operation"),
        (4, "decline_refund", "DeclineRefundOperation", False, "operation"),
        (5, "request_consumption", "RequestConsumptionOperation", False, "operation"),
        (6, "renew", "RenewOperation", False, "operation"),
        (7, "expire", "ExpireOperation", False, "operation"),
        (8, "set_auto_renew", "SetAutoRenewOperation", False, "operation"),
        (9, "resolve_billing", "ResolveBillingOperation", False, "operation"),
        (10, "set_charges", "SetChargesOperation", False, "operation"),
        (11, "raise_price", "RaisePriceOperation", False, "operation"),
        (12, "answer_price_increase", "AnswerPriceIncreaseOperation", False, "operation"),
        (13, "extend_renewal", "ExtendRenewalOperation", False, "operation"),
        (14, "share", "ShareOperation", False, "operation"),
        (15, "stop_sharing", "StopSharingOperation", False, "operation"),
        (16, "decide_purchase", "DecidePurchaseOperation", False, "operation"),
        (17, "delete_transaction", "DeleteTransactionOperation", False, "operation"),
        (18, "clear_transactions", "ClearTransactionsOperation", False, "operation"),
        (19, "create_intent", "CreateIntentOperation", False, "operation"),
        (20, "end_intent", "EndIntentOperation", False, "operation"),
        (21, "set_storefront", "SetStorefrontOperation", False, "operation"),
        (22, "post_message", "PostMessageOperation", False, "operation"),
        (23, "set_payments", "SetPaymentsOperation", False, "operation"),
        (24, "set_app_transaction", "SetAppTransactionOperation", False, "operation"),
    )

    buy: Optional[PurchaseOrder]
    """A purchase outside the app: the transaction arrives on every TransactionUpdates of the account."""

    refund: Optional[RefundOperation]
    """Refunds a transaction."""

    reverse_refund: Optional[ReverseRefundOperation]
    """Takes a refund back."""

    decline_refund: Optional[DeclineRefundOperation]
    """Says no to a refund."""

    request_consumption: Optional[RequestConsumptionOperation]
    """Asks for consumption data."""

    renew: Optional[RenewOperation]
    """Renews now."""

    expire: Optional[ExpireOperation]
    """Ends a subscription now."""

    set_auto_renew: Optional[SetAutoRenewOperation]
    """Switches renewal on or off."""

    resolve_billing: Optional[ResolveBillingOperation]
    """Renews subscriptions in grace or retry."""

    set_charges: Optional[SetChargesOperation]
    """Makes the account's charges fail or succeed."""

    raise_price: Optional[RaisePriceOperation]
    """Raises a price."""

    answer_price_increase: Optional[AnswerPriceIncreaseOperation]
    """Answers a price increase."""

    extend_renewal: Optional[ExtendRenewalOperation]
    """Moves the end of a period."""

    share: Optional[ShareOperation]
    """Shares with a member of the family."""

    stop_sharing: Optional[StopSharingOperation]
    """Stops sharing."""

    decide_purchase: Optional[DecidePurchaseOperation]
    """Approves or declines a pending purchase."""

    delete_transaction: Optional[DeleteTransactionOperation]
    """Deletes a transaction."""

    clear_transactions: Optional[ClearTransactionsOperation]
    """Deletes all transactions."""

    create_intent: Optional[CreateIntentOperation]
    """Begins a purchase outside the app."""

    end_intent: Optional[EndIntentOperation]
    """Ends a purchase intent: bought or dismissed."""

    set_storefront: Optional[SetStorefrontOperation]
    """Sets the storefront."""

    post_message: Optional[PostMessageOperation]
    """Posts a message."""

    set_payments: Optional[SetPaymentsOperation]
    """Allows or forbids payments."""

    set_app_transaction: Optional[SetAppTransactionOperation]
    """Sets the app transaction."""

    def __init__(
            self, *, buy: Optional[PurchaseOrder] = None, refund: Optional[RefundOperation] = None,
            reverse_refund: Optional[ReverseRefundOperation] = None,
            decline_refund: Optional[DeclineRefundOperation] = None,
            request_consumption: Optional[RequestConsumptionOperation] = None, renew: Optional[RenewOperation] = None,
            expire: Optional[ExpireOperation] = None, set_auto_renew: Optional[SetAutoRenewOperation] = None,
            resolve_billing: Optional[ResolveBillingOperation] = None,
            set_charges: Optional[SetChargesOperation] = None, raise_price: Optional[RaisePriceOperation] = None,
            answer_price_increase: Optional[AnswerPriceIncreaseOperation] = None,
            extend_renewal: Optional[ExtendRenewalOperation] = None, share: Optional[ShareOperation] = None,
            stop_sharing: Optional[StopSharingOperation] = None,
            decide_purchase: Optional[DecidePurchaseOperation] = None,
            delete_transaction: Optional[DeleteTransactionOperation] = None,
            clear_transactions: Optional[ClearTransactionsOperation] = None,
            create_intent: Optional[CreateIntentOperation] = None, end_intent: Optional[EndIntentOperation] = None,
            set_storefront: Optional[SetStorefrontOperation] = None,
            post_message: Optional[PostMessageOperation] = None, set_payments: Optional[SetPaymentsOperation] = None,
            set_app_transaction: Optional[SetAppTransactionOperation] = None,
    ) -> None:
        self.buy = buy
        self.refund = refund
        self.reverse_refund = reverse_refund
        self.decline_refund = decline_refund
        self.request_consumption = request_consumption
        self.renew = renew
        self.expire = expire
        self.set_auto_renew = set_auto_renew
        self.resolve_billing = resolve_billing
        self.set_charges = set_charges
        self.raise_price = raise_price
        self.answer_price_increase = answer_price_increase
        self.extend_renewal = extend_renewal
        self.share = share
        self.stop_sharing = stop_sharing
        self.decide_purchase = decide_purchase
        self.delete_transaction = delete_transaction
        self.clear_transactions = clear_transactions
        self.create_intent = create_intent
        self.end_intent = end_intent
        self.set_storefront = set_storefront
        self.post_message = post_message
        self.set_payments = set_payments
        self.set_app_transaction = set_app_transaction


class PendingPurchase(Message):
    """A purchase that waits."""

    __slots__ = ("number", "reason", "order", "since_ms")
    _fields = (
        (1, "number", "uint64", False, None),
        (2, "reason", "PendingReason", False, None),
        (3, "order", "PurchaseOrder", False, None),
        (4, "since_ms", "int64", False, None),
    )

    number: int
    """Unique in the store."""

    reason: PendingReason
    """For what it waits."""

    order: Optional[PurchaseOrder]
    """The order."""

    since_ms: int
    """Instant of its creation, in milliseconds since the Unix epoch."""

    def __init__(
            self, *, number: int = 0, reason: PendingReason = PendingReason.UNSPECIFIED,
            order: Optional[PurchaseOrder] = None, since_ms: int = 0,
    ) -> None:
        self.number = number
        self.reason = reason
        self.order = order
        self.since_ms = since_ms


class PurchaseIntent(Message):
    """A purchase that a customer began outside the app."""

    __slots__ = ("number", "product_id", "offer", "since_ms")
    _fields = (
        (1, "number", "uint64", False, None),
        (2, "product_id", "string", False, None),
        (3, "offer", "PurchaseOffer", False, None),
        (4, "since_ms", "int64", False, None),
    )

    number: int
    """Unique in the store."""

    product_id: str
    """The product."""

    offer: Optional[PurchaseOffer]
    """With an offer; absent for none."""

    since_ms: int
    """Instant of its creation, in milliseconds since the Unix epoch."""

    def __init__(
            self, *, number: int = 0, product_id: str = "", offer: Optional[PurchaseOffer] = None, since_ms: int = 0,
    ) -> None:
        self.number = number
        self.product_id = product_id
        self.offer = offer
        self.since_ms = since_ms


class SimulatedError(Message):
    """An armed failure. It stays until it is disarmed."""

    __slots__ = ("api", "error")
    _fields = (
        (1, "api", "StoreKitApi", False, None),
        (2, "error", "StoreKitError", False, None),
    )

    api: StoreKitApi
    """What fails."""

    error: StoreKitError
    """How; unspecified disarms."""

    def __init__(
            self, *, api: StoreKitApi = StoreKitApi.UNSPECIFIED, error: StoreKitError = StoreKitError.UNSPECIFIED,
    ) -> None:
        self.api = api
        self.error = error


class ProductEdit(Message):
    """A change of one product of the catalogue. Absent fields stay unchanged."""

    __slots__ = ("product_id", "price_milliunits", "display_name", "withdrawn", "family_shareable", "offers")
    _fields = (
        (1, "product_id", "string", False, None),
        (2, "price_milliunits", "int64", False, "price_change"),
        (3, "display_name", "string", False, "name_change"),
        (4, "withdrawn", "bool", False, "withdrawal"),
        (5, "family_shareable", "bool", False, "sharing"),
        (6, "offers", "OfferEdit", True, None),
    )

    product_id: str
    """Which."""

    price_milliunits: Optional[int]
    """The new price, in thousandths of the currency's unit."""

    display_name: Optional[str]
    """The new display name, in all locales."""

    withdrawn: Optional[bool]
    """Whether the product is withdrawn from sale. The catalogue keeps it, but it is unavailable."""

    family_shareable: Optional[bool]
    """Whether it can be shared with the family."""

    offers: List[OfferEdit]
    """Offers to replace, by identifier, or to add."""

    def __init__(
            self, *, product_id: str = "", price_milliunits: Optional[int] = None, display_name: Optional[str] = None,
            withdrawn: Optional[bool] = None, family_shareable: Optional[bool] = None,
            offers: Sequence[OfferEdit] = (),
    ) -> None:
        self.product_id = product_id
        self.price_milliunits = price_milliunits
        self.display_name = display_name
        self.withdrawn = withdrawn
        self.family_shareable = family_shareable
        self.offers = list(offers)


class OfferEdit(Message):
    """An offer of a product, replaced or added."""

    __slots__ = (
            "type", "id", "removed", "payment_mode", "price_milliunits", "period", "period_count", "eligibility",
            "eligible", "win_back_rule", "stackable", "codes",
    )
    _fields = (
        (1, "type", "OfferType", False, None),
        (2, "id", "string", False, None),
        (3, "removed", "bool", False, None),
        (4, "payment_mode", "OfferPaymentMode", False, None),
        (5, "price_milliunits", "int64", False, None),
        (6, "period", "Period", False, None),
        (7, "period_count", "uint32", False, None),
        (8, "eligibility", "string", True, None),
        (9, "eligible", "bool", False, None),
        (10, "win_back_rule", "WinBackRule", False, None),
        (11, "stackable", "bool", False, None),
        (12, "codes", "OfferCode", True, None),
    )

    type: OfferType
    """Introductory, promotional, code or win-back."""

    id: str
    """The offer's identifier; for a code, its reference name; empty for introductory."""

    removed: bool
    """Removes the offer; other fields are then ignored."""

    payment_mode: OfferPaymentMode
    """How it is paid."""

    price_milliunits: int
    """Price in thousandths of the currency's unit; 0 for a free trial."""

    period: Optional[Period]
    """Its period."""

    period_count: int
    """Pay as you go: the number of billing periods; 0 means 1."""

    eligibility: List[str]
    """For a code: the categories that may redeem it, of `new`, `existing` and `expired`; empty means all."""

    eligible: bool
    """For a win-back offer: whether it is available as soon as the subscription has lapsed (Xcode's switch)."""

    win_back_rule: Optional[WinBackRule]
    """For a win-back offer: the rule of eligibility; absent: no account is eligible by rule."""

    stackable: bool
    """For a code: whether it may follow the introductory offer."""

    codes: List[OfferCode]
    """For a code: the codes that customers enter. None: its reference name is the code, without a limit."""

    def __init__(
            self, *, type: OfferType = OfferType.UNSPECIFIED, id: str = "", removed: bool = False,
            payment_mode: OfferPaymentMode = OfferPaymentMode.UNSPECIFIED, price_milliunits: int = 0,
            period: Optional[Period] = None, period_count: int = 0, eligibility: Sequence[str] = (),
            eligible: bool = False, win_back_rule: Optional[WinBackRule] = None, stackable: bool = False,
            codes: Sequence[OfferCode] = (),
    ) -> None:
        self.type = type
        self.id = id
        self.removed = removed
        self.payment_mode = payment_mode
        self.price_milliunits = price_milliunits
        self.period = period
        self.period_count = period_count
        self.eligibility = list(eligibility)
        self.eligible = eligible
        self.win_back_rule = win_back_rule
        self.stackable = stackable
        self.codes = list(codes)


class OfferCode(Message):
    """A code of an offer, as customers enter it."""

    __slots__ = ("code", "redemption_limit", "until_ms")
    _fields = (
        (1, "code", "string", False, None),
        (2, "redemption_limit", "uint32", False, None),
        (3, "until_ms", "int64", False, "end"),
    )

    code: str
    """The code: 1 to 64 bytes."""

    redemption_limit: int
    """Number of redemptions, of all accounts together; 1: a one-time-use code; 0: no limit."""

    until_ms: Optional[int]
    """From when it cannot be redeemed, in milliseconds since the Unix epoch."""

    def __init__(self, *, code: str = "", redemption_limit: int = 0, until_ms: Optional[int] = None) -> None:
        self.code = code
        self.redemption_limit = redemption_limit
        self.until_ms = until_ms


class WinBackRule(Message):
    """The conditions of a win-back offer, beyond the loss of the subscription."""

    __slots__ = ("paid_months", "lapsed_months_min", "lapsed_months_max", "wait_months")
    _fields = (
        (1, "paid_months", "uint32", False, None),
        (2, "lapsed_months_min", "uint32", False, None),
        (3, "lapsed_months_max", "uint32", False, None),
        (4, "wait_months", "uint32", False, None),
    )

    paid_months: int
    """Minimum number of paid months."""

    lapsed_months_min: int
    """Minimum number of months since the subscription ended: 1 to 24."""

    lapsed_months_max: int
    """Maximum number of months since the subscription ended: 1 to 24."""

    wait_months: int
    """Months between two redemptions: 2 to 24."""

    def __init__(
            self, *, paid_months: int = 0, lapsed_months_min: int = 0, lapsed_months_max: int = 0,
            wait_months: int = 0,
    ) -> None:
        self.paid_months = paid_months
        self.lapsed_months_min = lapsed_months_min
        self.lapsed_months_max = lapsed_months_max
        self.wait_months = wait_months


class AppSetting(Message):
    """One setting of an app."""

    __slots__ = (
            "ask_to_buy", "interrupted_purchases", "billing_retry_on_renewal", "grace_period", "grace_period_days",
            "grace_period_for_all_renewals", "dialogs", "time_rate", "storefront", "locale", "simulated_error",
            "product", "reset",
    )
    _fields = (
        (1, "ask_to_buy", "bool", False, "setting"),
        (2, "interrupted_purchases", "bool", False, "setting"),
        (3, "billing_retry_on_renewal", "bool", False, "setting"),
        (4, "grace_period", "bool", False, "setting"),
        (5, "grace_period_days", "uint32", False, "setting"),
        (6, "grace_period_for_all_renewals", "bool", False, "setting"),
        (7, "dialogs", "bool", False, "setting"),
        (8, "time_rate", "int32", False, "setting"),
        (9, "storefront", "string", False, "setting"),
        (10, "locale", "string", False, "setting"),
        (11, "simulated_error", "SimulatedError", False, "setting"),
        (12, "product", "ProductEdit", False, "setting"),
        (13, "reset", "bool", False, "setting"),
    )

    ask_to_buy: Optional[bool]
    """Purchases wait for approval."""

    interrupted_purchases: Optional[bool]
    """Purchases are interrupted until resolved."""

    billing_retry_on_renewal: Optional[bool]
    """Renewals fail into billing retry."""

    grace_period: Optional[bool]
    """A failed renewal keeps the customer entitled for a while."""

    grace_period_days: Optional[int]
    """Its length: 3, 16 or 28 days. Weekly subscriptions have 3 of 3, and 6 of 16 or 28."""

    grace_period_for_all_renewals: Optional[bool]
    """Whether a trial whose first charge fails has a grace period too."""

    dialogs: Optional[bool]
    """Purchases wait for the customer's decision."""

    time_rate: Optional[int]
    """A value of SKTestSession.TimeRate."""

    storefront: Optional[str]
    """ISO 3166-1 alpha-3."""

    locale: Optional[str]
    """Such as `en_US`."""

    simulated_error: Optional[SimulatedError]
    """Arms or disarms a failure."""

    product: Optional[ProductEdit]
    """Changes a product."""

    reset: Optional[bool]
    """True: restores all settings above to the catalogue file's and disarms failures. Transactions and products stay.
    """

    def __init__(
            self, *, ask_to_buy: Optional[bool] = None, interrupted_purchases: Optional[bool] = None,
            billing_retry_on_renewal: Optional[bool] = None, grace_period: Optional[bool] = None,
            grace_period_days: Optional[int] = None, grace_period_for_all_renewals: Optional[bool] = None,
            dialogs: Optional[bool] = None, time_rate: Optional[int] = None, storefront: Optional[str] = None,
            locale: Optional[str] = None, simulated_error: Optional[SimulatedError] = None,
            product: Optional[ProductEdit] = None, reset: Optional[bool] = None,
    ) -> None:
        self.ask_to_buy = ask_to_buy
        self.interrupted_purchases = interrupted_purchases
        self.billing_retry_on_renewal = billing_retry_on_renewal
        self.grace_period = grace_period
        self.grace_period_days = grace_period_days
        self.grace_period_for_all_renewals = grace_period_for_all_renewals
        self.dialogs = dialogs
        self.time_rate = time_rate
        self.storefront = storefront
        self.locale = locale
        self.simulated_error = simulated_error
        self.product = product
        self.reset = reset


class RenewalInfo(Message):
    """The store's plan for the end of the period."""

    __slots__ = (
            "original_transaction_id", "current_product_id", "will_auto_renew", "auto_renew_preference",
            "expiration_reason", "is_in_billing_retry", "grace_period_expiration_date_ms", "price_increase_status",
            "renewal_date_ms", "renewal_price", "offer", "eligible_win_back_offer_ids",
            "recent_subscription_start_date_ms", "app_account_token", "app_transaction_id", "environment",
            "signed_date_ms", "renewal_billing_plan", "commitment", "unreported",
    )
    _fields = (
        (1, "original_transaction_id", "uint64", False, None),
        (2, "current_product_id", "string", False, None),
        (3, "will_auto_renew", "bool", False, None),
        (4, "auto_renew_preference", "string", False, None),
        (5, "expiration_reason", "ExpirationReason", False, None),
        (6, "is_in_billing_retry", "bool", False, None),
        (7, "grace_period_expiration_date_ms", "int64", False, "grace_period"),
        (8, "price_increase_status", "PriceIncreaseStatus", False, None),
        (9, "renewal_date_ms", "int64", False, None),
        (10, "renewal_price", "Money", False, None),
        (11, "offer", "TransactionOffer", False, None),
        (12, "eligible_win_back_offer_ids", "string", True, None),
        (13, "recent_subscription_start_date_ms", "int64", False, None),
        (14, "app_account_token", "string", False, None),
        (15, "app_transaction_id", "string", False, None),
        (16, "environment", "Environment", False, None),
        (17, "signed_date_ms", "int64", False, None),
        (18, "renewal_billing_plan", "BillingPlanType", False, None),
        (19, "commitment", "CommitmentInfo", False, None),
        (20, "unreported", "bool", False, None),
    )

    original_transaction_id: int
    """The first transaction of the line."""

    current_product_id: str
    """The product held now."""

    will_auto_renew: bool
    """Whether it renews."""

    auto_renew_preference: str
    """The product of the next period; empty if the line will not renew."""

    expiration_reason: ExpirationReason
    """Why it ended; unspecified while it is active."""

    is_in_billing_retry: bool
    """True while the store retries a charge, including the grace period."""

    grace_period_expiration_date_ms: Optional[int]
    """End of the grace period, in milliseconds since the Unix epoch."""

    price_increase_status: PriceIncreaseStatus
    """Whether a price increase waits for the customer's consent."""

    renewal_date_ms: int
    """End of the most recent period, in milliseconds since the Unix epoch; may be in the past."""

    renewal_price: Optional[Money]
    """The next charge with any offer applied; absent if the line will not renew."""

    offer: Optional[TransactionOffer]
    """The offer that applies to the next period; absent for none."""

    eligible_win_back_offer_ids: List[str]
    """Win-back offers for which this account is eligible, best first."""

    recent_subscription_start_date_ms: int
    """Start of the current run of periods, in milliseconds since the Unix epoch; lapses under 60 days are ignored."""

    app_account_token: str
    """The app's UUID for its customer; empty for none."""

    app_transaction_id: str
    """Unique for each account and app."""

    environment: Environment
    """Which store."""

    signed_date_ms: int
    """When this was signed, in milliseconds since the Unix epoch. Not part of equality."""

    renewal_billing_plan: BillingPlanType
    """The billing plan of the next period, if the product has several."""

    commitment: Optional[CommitmentInfo]
    """Present on a commitment."""

    unreported: bool
    """No renewal information was reported, so whether it renews, as what and for how much is unknown. `will_auto_renew` is then true
    while it entitles.
    """

    def __init__(
            self, *, original_transaction_id: int = 0, current_product_id: str = "", will_auto_renew: bool = False,
            auto_renew_preference: str = "", expiration_reason: ExpirationReason = ExpirationReason.UNSPECIFIED,
            is_in_billing_retry: bool = False, grace_period_expiration_date_ms: Optional[int] = None,
            price_increase_status: PriceIncreaseStatus = PriceIncreaseStatus.UNSPECIFIED, renewal_date_ms: int = 0,
            renewal_price: Optional[Money] = None, offer: Optional[TransactionOffer] = None,
            eligible_win_back_offer_ids: Sequence[str] = (), recent_subscription_start_date_ms: int = 0,
            app_account_token: str = "", app_transaction_id: str = "",
            environment: Environment = Environment.UNSPECIFIED, signed_date_ms: int = 0,
            renewal_billing_plan: BillingPlanType = BillingPlanType.UNSPECIFIED,
            commitment: Optional[CommitmentInfo] = None, unreported: bool = False,
    ) -> None:
        self.original_transaction_id = original_transaction_id
        self.current_product_id = current_product_id
        self.will_auto_renew = will_auto_renew
        self.auto_renew_preference = auto_renew_preference
        self.expiration_reason = expiration_reason
        self.is_in_billing_retry = is_in_billing_retry
        self.grace_period_expiration_date_ms = grace_period_expiration_date_ms
        self.price_increase_status = price_increase_status
        self.renewal_date_ms = renewal_date_ms
        self.renewal_price = renewal_price
        self.offer = offer
        self.eligible_win_back_offer_ids = list(eligible_win_back_offer_ids)
        self.recent_subscription_start_date_ms = recent_subscription_start_date_ms
        self.app_account_token = app_account_token
        self.app_transaction_id = app_transaction_id
        self.environment = environment
        self.signed_date_ms = signed_date_ms
        self.renewal_billing_plan = renewal_billing_plan
        self.commitment = commitment
        self.unreported = unreported


class RenewalInfoResult(Message):
    """Renewal information, and whether its signature is trusted."""

    __slots__ = ("renewal_info", "verification_error", "jws")
    _fields = (
        (1, "renewal_info", "RenewalInfo", False, None),
        (2, "verification_error", "VerificationError", False, None),
        (3, "jws", "string", False, None),
    )

    renewal_info: Optional[RenewalInfo]
    """The information, readable in both cases."""

    verification_error: VerificationError
    """Unspecified: verified."""

    jws: str
    """The signed form (compact JWS), if the request asked for it and the app is a test app."""

    def __init__(
            self, *, renewal_info: Optional[RenewalInfo] = None,
            verification_error: VerificationError = VerificationError.UNSPECIFIED, jws: str = "",
    ) -> None:
        self.renewal_info = renewal_info
        self.verification_error = verification_error
        self.jws = jws


class SubscriptionStatus(Message):
    """The state of one subscription line: the account's own, or one shared with it."""

    __slots__ = ("state", "transaction", "renewal_info")
    _fields = (
        (1, "state", "RenewalState", False, None),
        (2, "transaction", "TransactionResult", False, None),
        (3, "renewal_info", "RenewalInfoResult", False, None),
    )

    state: RenewalState
    """The state."""

    transaction: Optional[TransactionResult]
    """The line's latest transaction."""

    renewal_info: Optional[RenewalInfoResult]
    """What happens next."""

    def __init__(
            self, *, state: RenewalState = RenewalState.UNSPECIFIED, transaction: Optional[TransactionResult] = None,
            renewal_info: Optional[RenewalInfoResult] = None,
    ) -> None:
        self.state = state
        self.transaction = transaction
        self.renewal_info = renewal_info


class GroupEffective(Message):
    """The status that counts in one of several groups."""

    __slots__ = ("group_id", "index", "reason")
    _fields = (
        (1, "group_id", "string", False, None),
        (2, "index", "uint32", False, None),
        (3, "reason", "EffectiveReason", False, None),
    )

    group_id: str
    """The group."""

    index: int
    """Index in `statuses`."""

    reason: EffectiveReason
    """Why that one."""

    def __init__(
            self, *, group_id: str = "", index: int = 0, reason: EffectiveReason = EffectiveReason.UNSPECIFIED,
    ) -> None:
        self.group_id = group_id
        self.index = index
        self.reason = reason


class SubscriptionStatuses(Message):
    """All lines of an account in a subscription group."""

    __slots__ = ("statuses", "effective_index", "effective_reason", "effective_in_groups")
    _fields = (
        (1, "statuses", "SubscriptionStatus", True, None),
        (2, "effective_index", "uint32", False, "effective"),
        (3, "effective_reason", "EffectiveReason", False, None),
        (4, "effective_in_groups", "GroupEffective", True, None),
    )

    statuses: List[SubscriptionStatus]
    """One for each line; empty if the account never subscribed in this group. `effective` says which one counts."""

    effective_index: Optional[int]
    """Index in `statuses` of the one that counts: the highest level of service that entitles. A status whose transaction or
    renewal information is unverified never counts.
    """

    effective_reason: EffectiveReason
    """Why that one."""

    effective_in_groups: List[GroupEffective]
    """Of a request for all groups: the status that counts in each group in which a line entitles. `statuses` then has the groups
    one after another, in bytewise order; each transaction names its group.
    """

    def __init__(
            self, *, statuses: Sequence[SubscriptionStatus] = (), effective_index: Optional[int] = None,
            effective_reason: EffectiveReason = EffectiveReason.UNSPECIFIED,
            effective_in_groups: Sequence[GroupEffective] = (),
    ) -> None:
        self.statuses = list(statuses)
        self.effective_index = effective_index
        self.effective_reason = effective_reason
        self.effective_in_groups = list(effective_in_groups)


class GroupStatuses(Message):
    """A group and its statuses."""

    __slots__ = ("group_id", "statuses")
    _fields = (
        (1, "group_id", "string", False, None),
        (2, "statuses", "SubscriptionStatuses", False, None),
    )

    group_id: str
    """The group."""

    statuses: Optional[SubscriptionStatuses]
    """Its statuses."""

    def __init__(self, *, group_id: str = "", statuses: Optional[SubscriptionStatuses] = None) -> None:
        self.group_id = group_id
        self.statuses = statuses


class Loading(Message):
    """The first message of every call without a resume token, and only the first."""

    __slots__ = ()


class Failure(Message):
    """The value could not be computed. A state, not the end of the stream: the next successful load pushes success."""

    __slots__ = ("reason", "message")
    _fields = (
        (1, "reason", "string", False, None),
        (2, "message", "string", False, None),
    )

    reason: str
    """The reason code, from the table in proto/README.md."""

    message: str
    """For people."""

    def __init__(self, *, reason: str = "", message: str = "") -> None:
        self.reason = reason
        self.message = message


class Unchanged(Message):
    """The resume token's value is still current."""

    __slots__ = ()


class Bookmark(Message):
    """Up to where a stream has said everything. A message of its own on gRPC, Connect and gRPC-Web: the fields beside it are
    absent. On perch/1 BEAT says it for the whole connection.
    """

    __slots__ = ("revision", "server_time_ms")
    _fields = (
        (1, "revision", "uint64", False, None),
        (2, "server_time_ms", "int64", False, None),
    )

    revision: int
    """Everything up to this revision that concerns this stream has been said."""

    server_time_ms: int
    """The server's wall clock, in milliseconds since the Unix epoch."""

    def __init__(self, *, revision: int = 0, server_time_ms: int = 0) -> None:
        self.revision = revision
        self.server_time_ms = server_time_ms


class Forecast(Message):
    """When a value will change if nothing happens, and its state then."""

    __slots__ = ("at_ms", "kind", "original_transaction_id", "state", "entitled")
    _fields = (
        (1, "at_ms", "int64", False, None),
        (2, "kind", "ForecastKind", False, None),
        (3, "original_transaction_id", "uint64", False, None),
        (4, "state", "RenewalState", False, None),
        (5, "entitled", "bool", False, None),
    )

    at_ms: int
    """The instant on the app's clock, in milliseconds since the Unix epoch."""

    kind: ForecastKind
    """What happens then."""

    original_transaction_id: int
    """The line that changes."""

    state: RenewalState
    """The state of that line from then on."""

    entitled: bool
    """Whether that line entitles from then on."""

    def __init__(
            self, *, at_ms: int = 0, kind: ForecastKind = ForecastKind.UNSPECIFIED, original_transaction_id: int = 0,
            state: RenewalState = RenewalState.UNSPECIFIED, entitled: bool = False,
    ) -> None:
        self.at_ms = at_ms
        self.kind = kind
        self.original_transaction_id = original_transaction_id
        self.state = state
        self.entitled = entitled


class ValueInfo(Message):
    """Position, cause and forecast of a value. Not part of the value's equality."""

    __slots__ = ("position", "commit_time_ms", "cause", "next_change", "resume_token", "not_in_catalog")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "commit_time_ms", "int64", False, None),
        (3, "cause", "Cause", False, None),
        (4, "next_change", "Forecast", False, None),
        (5, "resume_token", "bytes", False, None),
        (6, "not_in_catalog", "bool", False, None),
    )

    position: Optional[Position]
    """Revision and instant."""

    commit_time_ms: int
    """When that revision was committed, in milliseconds since the Unix epoch."""

    cause: Cause
    """The cause of this value."""

    next_change: Optional[Forecast]
    """Absent if only new facts can change the value."""

    resume_token: bytes
    """Opaque. A new call that sends it gets what changed since."""

    not_in_catalog: bool
    """The value is empty, and the catalogue has no group or product of the name asked for: check the spelling. A later load
    of a catalogue that has it sends no message, because the value stays the same.
    """

    def __init__(
            self, *, position: Optional[Position] = None, commit_time_ms: int = 0, cause: Cause = Cause.UNSPECIFIED,
            next_change: Optional[Forecast] = None, resume_token: bytes = b"", not_in_catalog: bool = False,
    ) -> None:
        self.position = position
        self.commit_time_ms = commit_time_ms
        self.cause = cause
        self.next_change = next_change
        self.resume_token = resume_token
        self.not_in_catalog = not_in_catalog


class OrderMishapRequest(Message):
    """Orders a mishap."""

    __slots__ = ("app", "kind", "times", "delay_ms", "path")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "kind", "MishapKind", False, None),
        (3, "times", "uint32", False, None),
        (4, "delay_ms", "int64", False, None),
        (5, "path", "string", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    kind: MishapKind
    """What goes wrong."""

    times: int
    """With how many notifications or requests: up to 1,000,000, and up to 1,000 that are reordered. 0 means 1."""

    delay_ms: int
    """By how much a notification is delayed, in milliseconds of the app's clock: 1 to 365 days. Of other mishaps 0."""

    path: str
    """How the path of a request begins; empty for every request. Of notifications empty."""

    def __init__(
            self, *, app: Optional[AppRef] = None, kind: MishapKind = MishapKind.UNSPECIFIED, times: int = 0,
            delay_ms: int = 0, path: str = "",
    ) -> None:
        self.app = app
        self.kind = kind
        self.times = times
        self.delay_ms = delay_ms
        self.path = path


class OrderMishapResponse(Message):
    """It waits for its notification or request."""

    __slots__ = ("waiting", )
    _fields = (
        (1, "waiting", "uint32", False, None),
    )

    waiting: int
    """The mishaps of the app that wait, of this kind of event, with this one."""

    def __init__(self, *, waiting: int = 0) -> None:
        self.waiting = waiting


class OperateRequest(Message):
    """Performs one operation on one account."""

    __slots__ = ("app", "account", "idempotency_key", "operation")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "idempotency_key", "bytes", False, None),
        (4, "operation", "StoreOperation", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes. May be empty if the operation names a transaction. `buy`,
    `create_intent`, `set_storefront`, `set_charges`, `set_payments` and `set_app_transaction` create an account that does not
    exist.
    """

    idempotency_key: bytes
    """Makes the call safe to repeat. Up to 64 bytes."""

    operation: Optional[StoreOperation]
    """What to do."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", idempotency_key: bytes = b"",
            operation: Optional[StoreOperation] = None,
    ) -> None:
        self.app = app
        self.account = account
        self.idempotency_key = idempotency_key
        self.operation = operation


class OperateResponse(Message):
    """It is done."""

    __slots__ = ("position", "transaction", "purchase_result", "already_held", "number")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "transaction", "TransactionResult", False, None),
        (3, "purchase_result", "PurchaseResult", False, None),
        (4, "already_held", "bool", False, None),
        (5, "number", "uint64", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    transaction: Optional[TransactionResult]
    """The transaction that was created or changed; absent for none."""

    purchase_result: PurchaseResult
    """For a purchase: its result."""

    already_held: bool
    """For a purchase: the account already held the transaction."""

    number: int
    """The number of a pending purchase, or of an intent."""

    def __init__(
            self, *, position: Optional[Position] = None, transaction: Optional[TransactionResult] = None,
            purchase_result: PurchaseResult = PurchaseResult.UNSPECIFIED, already_held: bool = False, number: int = 0,
    ) -> None:
        self.position = position
        self.transaction = transaction
        self.purchase_result = purchase_result
        self.already_held = already_held
        self.number = number


class InspectAccountRequest(Message):
    """Asks for the store's record of an account."""

    __slots__ = ("app", "account", "at_least")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "at_least", "Position", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    def __init__(self, *, app: Optional[AppRef] = None, account: str = "", at_least: Optional[Position] = None) -> None:
        self.app = app
        self.account = account
        self.at_least = at_least


class FamilyShare(Message):
    """One product that an account shares with another account."""

    __slots__ = ("original_transaction_id", "member_original_transaction_id")
    _fields = (
        (1, "original_transaction_id", "uint64", False, None),
        (2, "member_original_transaction_id", "uint64", False, None),
    )

    original_transaction_id: int
    """The first transaction of the purchaser's line, or its transaction of a non-consumable."""

    member_original_transaction_id: int
    """The first transaction of the member's line, or its transaction of a non-consumable."""

    def __init__(self, *, original_transaction_id: int = 0, member_original_transaction_id: int = 0) -> None:
        self.original_transaction_id = original_transaction_id
        self.member_original_transaction_id = member_original_transaction_id


class RedeemedOffer(Message):
    """An offer of a code that an account has redeemed. Each account redeems an offer once."""

    __slots__ = ("product_id", "offer_id", "code", "transaction_id")
    _fields = (
        (1, "product_id", "string", False, None),
        (2, "offer_id", "string", False, None),
        (3, "code", "string", False, None),
        (4, "transaction_id", "uint64", False, None),
    )

    product_id: str
    """The product."""

    offer_id: str
    """The offer's reference name."""

    code: str
    """The code that was entered; empty for the reference name."""

    transaction_id: int
    """The transaction that it gave, or the one held then, if the offer applies from the next period."""

    def __init__(self, *, product_id: str = "", offer_id: str = "", code: str = "", transaction_id: int = 0) -> None:
        self.product_id = product_id
        self.offer_id = offer_id
        self.code = code
        self.transaction_id = transaction_id


class InspectAccountResponse(Message):
    """The store's record of an account."""

    __slots__ = (
            "position", "groups", "owned", "pending_purchases", "purchase_intents", "shares", "storefront", "charges",
            "app_transaction_id", "awaiting_sync", "payments_forbidden", "redeemed_offers",
    )
    _fields = (
        (1, "position", "Position", False, None),
        (2, "groups", "GroupStatuses", True, None),
        (3, "owned", "TransactionResult", True, None),
        (4, "pending_purchases", "PendingPurchase", True, None),
        (5, "purchase_intents", "PurchaseIntent", True, None),
        (6, "shares", "FamilyShare", True, None),
        (7, "storefront", "string", False, None),
        (8, "charges", "ChargeOutcome", False, None),
        (9, "app_transaction_id", "string", False, None),
        (10, "awaiting_sync", "TransactionResult", True, None),
        (11, "payments_forbidden", "bool", False, None),
        (12, "redeemed_offers", "RedeemedOffer", True, None),
    )

    position: Optional[Position]
    """Where the answer stands."""

    groups: List[GroupStatuses]
    """The groups in which the account has a line."""

    owned: List[TransactionResult]
    """Products without an end that the account owns."""

    pending_purchases: List[PendingPurchase]
    """Purchases that wait, oldest first."""

    purchase_intents: List[PurchaseIntent]
    """Purchases that the customer began outside the app, oldest first."""

    shares: List[FamilyShare]
    """The account's shares with others."""

    storefront: str
    """Its own storefront; empty for the app's."""

    charges: ChargeOutcome
    """Whether its charges fail."""

    app_transaction_id: str
    """Unique for each account and app."""

    awaiting_sync: List[TransactionResult]
    """Non-consumables shared with the account that its next Sync delivers."""

    payments_forbidden: bool
    """Payments of the account are forbidden."""

    redeemed_offers: List[RedeemedOffer]
    """The offers of codes that the account has redeemed, oldest first."""

    def __init__(
            self, *, position: Optional[Position] = None, groups: Sequence[GroupStatuses] = (),
            owned: Sequence[TransactionResult] = (), pending_purchases: Sequence[PendingPurchase] = (),
            purchase_intents: Sequence[PurchaseIntent] = (), shares: Sequence[FamilyShare] = (), storefront: str = "",
            charges: ChargeOutcome = ChargeOutcome.UNSPECIFIED, app_transaction_id: str = "",
            awaiting_sync: Sequence[TransactionResult] = (), payments_forbidden: bool = False,
            redeemed_offers: Sequence[RedeemedOffer] = (),
    ) -> None:
        self.position = position
        self.groups = list(groups)
        self.owned = list(owned)
        self.pending_purchases = list(pending_purchases)
        self.purchase_intents = list(purchase_intents)
        self.shares = list(shares)
        self.storefront = storefront
        self.charges = charges
        self.app_transaction_id = app_transaction_id
        self.awaiting_sync = list(awaiting_sync)
        self.payments_forbidden = payments_forbidden
        self.redeemed_offers = list(redeemed_offers)


class ListAccountsRequest(Message):
    """Asks for accounts."""

    __slots__ = ("app", "page_size", "page_token", "with_summaries")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "page_size", "uint32", False, None),
        (3, "page_token", "bytes", False, None),
        (4, "with_summaries", "bool", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    page_size: int
    """Maximum number of entries: up to 500; 0 means 100."""

    page_token: bytes
    """The token of the previous page; empty to begin."""

    with_summaries: bool
    """Adds a summary of each account, for lists that people read."""

    def __init__(
            self, *, app: Optional[AppRef] = None, page_size: int = 0, page_token: bytes = b"",
            with_summaries: bool = False,
    ) -> None:
        self.app = app
        self.page_size = page_size
        self.page_token = page_token
        self.with_summaries = with_summaries


class AccountSummary(Message):
    """What a list shows of one account: its line that matters most. That is the one that entitles, and among equals the one that
    ends last.
    """

    __slots__ = (
            "state", "product_id", "transaction_id", "original_transaction_id", "expiration_date_ms",
            "will_auto_renew", "next_change", "family_shared", "refunded", "price_increase_pending", "line_count",
            "owned_count", "pending_count", "app_account_token", "revision",
    )
    _fields = (
        (1, "state", "RenewalState", False, None),
        (2, "product_id", "string", False, None),
        (3, "transaction_id", "uint64", False, None),
        (4, "original_transaction_id", "uint64", False, None),
        (5, "expiration_date_ms", "int64", False, "expiration"),
        (6, "will_auto_renew", "bool", False, None),
        (7, "next_change", "Forecast", False, None),
        (8, "family_shared", "bool", False, None),
        (9, "refunded", "bool", False, None),
        (10, "price_increase_pending", "bool", False, None),
        (11, "line_count", "uint32", False, None),
        (12, "owned_count", "uint32", False, None),
        (13, "pending_count", "uint32", False, None),
        (14, "app_account_token", "string", False, None),
        (15, "revision", "uint64", False, None),
    )

    state: RenewalState
    """The state of that line; unspecified if the account never subscribed."""

    product_id: str
    """The product of the line, or of the newest product without an end."""

    transaction_id: int
    """The newest transaction of the line, or of the newest product without an end."""

    original_transaction_id: int
    """The first transaction of the line."""

    expiration_date_ms: Optional[int]
    """End of the line's period, in milliseconds since the Unix epoch."""

    will_auto_renew: bool
    """Whether the line renews."""

    next_change: Optional[Forecast]
    """The next change that time alone makes; absent for none."""

    family_shared: bool
    """The line is shared by a family member."""

    refunded: bool
    """The newest transaction of the line is refunded."""

    price_increase_pending: bool
    """A price increase waits for an answer."""

    line_count: int
    """Number of lines, in all groups."""

    owned_count: int
    """Number of products without an end that the account owns."""

    pending_count: int
    """Number of purchases that wait."""

    app_account_token: str
    """The app's UUID for its customer; empty for none."""

    revision: int
    """The revision that last changed the account."""

    def __init__(
            self, *, state: RenewalState = RenewalState.UNSPECIFIED, product_id: str = "", transaction_id: int = 0,
            original_transaction_id: int = 0, expiration_date_ms: Optional[int] = None, will_auto_renew: bool = False,
            next_change: Optional[Forecast] = None, family_shared: bool = False, refunded: bool = False,
            price_increase_pending: bool = False, line_count: int = 0, owned_count: int = 0, pending_count: int = 0,
            app_account_token: str = "", revision: int = 0,
    ) -> None:
        self.state = state
        self.product_id = product_id
        self.transaction_id = transaction_id
        self.original_transaction_id = original_transaction_id
        self.expiration_date_ms = expiration_date_ms
        self.will_auto_renew = will_auto_renew
        self.next_change = next_change
        self.family_shared = family_shared
        self.refunded = refunded
        self.price_increase_pending = price_increase_pending
        self.line_count = line_count
        self.owned_count = owned_count
        self.pending_count = pending_count
        self.app_account_token = app_account_token
        self.revision = revision


class ListAccountsResponse(Message):
    """A page of accounts."""

    __slots__ = ("accounts", "next_page_token", "summaries")
    _fields = (
        (1, "accounts", "string", True, None),
        (2, "next_page_token", "bytes", False, None),
        (3, "summaries", "AccountSummary", True, None),
    )

    accounts: List[str]
    """Their keys, in bytewise order."""

    next_page_token: bytes
    """Empty on the last page."""

    summaries: List[AccountSummary]
    """On request: one for each account, in the same order."""

    def __init__(
            self, *, accounts: Sequence[str] = (), next_page_token: bytes = b"",
            summaries: Sequence[AccountSummary] = (),
    ) -> None:
        self.accounts = list(accounts)
        self.next_page_token = next_page_token
        self.summaries = list(summaries)


class ConfigureRequest(Message):
    """Changes an app."""

    __slots__ = ("app", "settings", "idempotency_key")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "settings", "AppSetting", True, None),
        (3, "idempotency_key", "bytes", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    settings: List[AppSetting]
    """In order; all or none."""

    idempotency_key: bytes
    """Makes the call safe to repeat. Up to 64 bytes."""

    def __init__(
            self, *, app: Optional[AppRef] = None, settings: Sequence[AppSetting] = (), idempotency_key: bytes = b"",
    ) -> None:
        self.app = app
        self.settings = list(settings)
        self.idempotency_key = idempotency_key


class ConfigureResponse(Message):
    """The app is changed."""

    __slots__ = ("position", )
    _fields = (
        (1, "position", "Position", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    def __init__(self, *, position: Optional[Position] = None) -> None:
        self.position = position


class GetSettingsRequest(Message):
    """Asks for settings."""

    __slots__ = ("app", )
    _fields = (
        (1, "app", "AppRef", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    def __init__(self, *, app: Optional[AppRef] = None) -> None:
        self.app = app


class GetSettingsResponse(Message):
    """Settings of an app, as a list that Configure accepts."""

    __slots__ = ("settings", )
    _fields = (
        (1, "settings", "AppSetting", True, None),
    )

    settings: List[AppSetting]
    """One of each kind, then one for each armed failure."""

    def __init__(self, *, settings: Sequence[AppSetting] = ()) -> None:
        self.settings = list(settings)


class GetClockRequest(Message):
    """Asks for the clock."""

    __slots__ = ("app", )
    _fields = (
        (1, "app", "AppRef", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    def __init__(self, *, app: Optional[AppRef] = None) -> None:
        self.app = app


class Clock(Message):
    """An app's clock."""

    __slots__ = ("now_ms", "frozen", "offset_ms", "time_rate")
    _fields = (
        (1, "now_ms", "int64", False, None),
        (2, "frozen", "bool", False, None),
        (3, "offset_ms", "int64", False, None),
        (4, "time_rate", "int32", False, None),
    )

    now_ms: int
    """The instant, in milliseconds since the Unix epoch."""

    frozen: bool
    """Whether it stands still."""

    offset_ms: int
    """Milliseconds by which the clock is ahead of the wall clock."""

    time_rate: int
    """The time rate: a value of SKTestSession.TimeRate, see `perch store clock --help`."""

    def __init__(self, *, now_ms: int = 0, frozen: bool = False, offset_ms: int = 0, time_rate: int = 0) -> None:
        self.now_ms = now_ms
        self.frozen = frozen
        self.offset_ms = offset_ms
        self.time_rate = time_rate


class GetClockResponse(Message):
    """The clock."""

    __slots__ = ("clock", )
    _fields = (
        (1, "clock", "Clock", False, None),
    )

    clock: Optional[Clock]
    """The clock."""

    def __init__(self, *, clock: Optional[Clock] = None) -> None:
        self.clock = clock


class FreezeClock(Message):
    """Freezes the clock at its instant."""

    __slots__ = ()


class ResumeClock(Message):
    """Lets the clock run from its instant."""

    __slots__ = ()


class AdvanceToBoundary(Message):
    """Moves the clock to the next instant at which something is due for an account."""

    __slots__ = ("account", )
    _fields = (
        (1, "account", "string", False, None),
    )

    account: str
    """The caller's key of the account."""

    def __init__(self, *, account: str = "") -> None:
        self.account = account


class SetClockRequest(Message):
    """A change of the clock."""

    __slots__ = ("app", "freeze", "resume", "advance_by_ms", "advance_to_ms", "advance_to_boundary")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "freeze", "FreezeClock", False, "change"),
        (3, "resume", "ResumeClock", False, "change"),
        (4, "advance_by_ms", "int64", False, "change"),
        (5, "advance_to_ms", "int64", False, "change"),
        (6, "advance_to_boundary", "AdvanceToBoundary", False, "change"),
    )

    app: Optional[AppRef]
    """The app."""

    freeze: Optional[FreezeClock]
    """Stand still."""

    resume: Optional[ResumeClock]
    """Run."""

    advance_by_ms: Optional[int]
    """Forward by this number of milliseconds."""

    advance_to_ms: Optional[int]
    """Forward to this instant, in milliseconds since the Unix epoch."""

    advance_to_boundary: Optional[AdvanceToBoundary]
    """Forward to the next boundary of an account."""

    def __init__(
            self, *, app: Optional[AppRef] = None, freeze: Optional[FreezeClock] = None,
            resume: Optional[ResumeClock] = None, advance_by_ms: Optional[int] = None,
            advance_to_ms: Optional[int] = None, advance_to_boundary: Optional[AdvanceToBoundary] = None,
    ) -> None:
        self.app = app
        self.freeze = freeze
        self.resume = resume
        self.advance_by_ms = advance_by_ms
        self.advance_to_ms = advance_to_ms
        self.advance_to_boundary = advance_to_boundary


class SetClockResponse(Message):
    """The clock afterwards."""

    __slots__ = ("position", "clock", "settled_count", "renewed_count", "failed_count")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "clock", "Clock", False, None),
        (3, "settled_count", "uint64", False, None),
        (4, "renewed_count", "uint64", False, None),
        (5, "failed_count", "uint64", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    clock: Optional[Clock]
    """The clock."""

    settled_count: int
    """Number of renewal attempts settled during the advance: renewed, failed, or ended because renewal was off."""

    renewed_count: int
    """Number of those that renewed."""

    failed_count: int
    """Number of those whose charge failed."""

    def __init__(
            self, *, position: Optional[Position] = None, clock: Optional[Clock] = None, settled_count: int = 0,
            renewed_count: int = 0, failed_count: int = 0,
    ) -> None:
        self.position = position
        self.clock = clock
        self.settled_count = settled_count
        self.renewed_count = renewed_count
        self.failed_count = failed_count


class App(Message):
    """An app."""

    __slots__ = ("bundle_id", "environment", "product_count", "catalog_source")
    _fields = (
        (1, "bundle_id", "string", False, None),
        (2, "environment", "Environment", False, None),
        (3, "product_count", "uint32", False, None),
        (4, "catalog_source", "string", False, None),
    )

    bundle_id: str
    """Its bundle identifier."""

    environment: Environment
    """Its store."""

    product_count: int
    """Number of products in its catalogue."""

    catalog_source: str
    """Origin of its catalogue, as a text for operators."""

    def __init__(
            self, *, bundle_id: str = "", environment: Environment = Environment.UNSPECIFIED, product_count: int = 0,
            catalog_source: str = "",
    ) -> None:
        self.bundle_id = bundle_id
        self.environment = environment
        self.product_count = product_count
        self.catalog_source = catalog_source


class ListAppsRequest(Message):
    """Asks for the apps."""

    __slots__ = ()


class ListAppsResponse(Message):
    """The apps."""

    __slots__ = ("apps", )
    _fields = (
        (1, "apps", "App", True, None),
    )

    apps: List[App]
    """By bundle identifier."""

    def __init__(self, *, apps: Sequence[App] = ()) -> None:
        self.apps = list(apps)


class CatalogWarning(Message):
    """A warning about a place in a catalogue file."""

    __slots__ = ("line", "column", "product_id", "message")
    _fields = (
        (1, "line", "uint32", False, None),
        (2, "column", "uint32", False, None),
        (3, "product_id", "string", False, None),
        (4, "message", "string", False, None),
    )

    line: int
    """Line, from 1; 0 if the warning has none."""

    column: int
    """Column, from 1; 0 if the warning has none."""

    product_id: str
    """The product concerned; empty for none."""

    message: str
    """The problem, and how the server read the place."""

    def __init__(self, *, line: int = 0, column: int = 0, product_id: str = "", message: str = "") -> None:
        self.line = line
        self.column = column
        self.product_id = product_id
        self.message = message


class CatalogSummary(Message):
    """The contents of a catalogue, in numbers."""

    __slots__ = (
            "schema_version", "consumable_count", "non_consumable_count", "non_renewing_count", "subscription_count",
            "group_count", "introductory_offer_count", "promotional_offer_count", "code_offer_count",
            "win_back_offer_count", "warnings", "image_count",
    )
    _fields = (
        (1, "schema_version", "string", False, None),
        (2, "consumable_count", "uint32", False, None),
        (3, "non_consumable_count", "uint32", False, None),
        (4, "non_renewing_count", "uint32", False, None),
        (5, "subscription_count", "uint32", False, None),
        (6, "group_count", "uint32", False, None),
        (7, "introductory_offer_count", "uint32", False, None),
        (8, "promotional_offer_count", "uint32", False, None),
        (9, "code_offer_count", "uint32", False, None),
        (10, "win_back_offer_count", "uint32", False, None),
        (11, "warnings", "CatalogWarning", True, None),
        (12, "image_count", "uint32", False, None),
    )

    schema_version: str
    """The file's schema, such as `4.0`."""

    consumable_count: int
    """Consumables."""

    non_consumable_count: int
    """Non-consumables."""

    non_renewing_count: int
    """Non-renewing subscriptions."""

    subscription_count: int
    """Auto-renewable subscriptions."""

    group_count: int
    """Subscription groups."""

    introductory_offer_count: int
    """Introductory offers."""

    promotional_offer_count: int
    """Promotional offers."""

    code_offer_count: int
    """Offer codes."""

    win_back_offer_count: int
    """Win-back offers."""

    warnings: List[CatalogWarning]
    """What is odd."""

    image_count: int
    """Promotional images."""

    def __init__(
            self, *, schema_version: str = "", consumable_count: int = 0, non_consumable_count: int = 0,
            non_renewing_count: int = 0, subscription_count: int = 0, group_count: int = 0,
            introductory_offer_count: int = 0, promotional_offer_count: int = 0, code_offer_count: int = 0,
            win_back_offer_count: int = 0, warnings: Sequence[CatalogWarning] = (), image_count: int = 0,
    ) -> None:
        self.schema_version = schema_version
        self.consumable_count = consumable_count
        self.non_consumable_count = non_consumable_count
        self.non_renewing_count = non_renewing_count
        self.subscription_count = subscription_count
        self.group_count = group_count
        self.introductory_offer_count = introductory_offer_count
        self.promotional_offer_count = promotional_offer_count
        self.code_offer_count = code_offer_count
        self.win_back_offer_count = win_back_offer_count
        self.warnings = list(warnings)
        self.image_count = image_count


class CatalogImage(Message):
    """An image file of a catalogue: of a bundle directory, `Assets/<id>.png`."""

    __slots__ = ("id", "content")
    _fields = (
        (1, "id", "string", False, None),
        (2, "content", "bytes", False, None),
    )

    id: str
    """The identifier by which products refer to it."""

    content: bytes
    """The file: PNG or JPEG, at most 1 MiB."""

    def __init__(self, *, id: str = "", content: bytes = b"") -> None:
        self.id = id
        self.content = content


class CheckCatalogRequest(Message):
    """Asks for the contents of a catalogue file."""

    __slots__ = ("file", "images", "entitlements")
    _fields = (
        (1, "file", "bytes", False, None),
        (2, "images", "CatalogImage", True, None),
        (3, "entitlements", "bytes", False, None),
    )

    file: bytes
    """The file."""

    images: List[CatalogImage]
    """Its images."""

    entitlements: bytes
    """The file of named entitlements beside it; empty for none."""

    def __init__(self, *, file: bytes = b"", images: Sequence[CatalogImage] = (), entitlements: bytes = b"") -> None:
        self.file = file
        self.images = list(images)
        self.entitlements = entitlements


class CheckCatalogResponse(Message):
    """The contents of the file."""

    __slots__ = ("summary", )
    _fields = (
        (1, "summary", "CatalogSummary", False, None),
    )

    summary: Optional[CatalogSummary]
    """The summary."""

    def __init__(self, *, summary: Optional[CatalogSummary] = None) -> None:
        self.summary = summary


class LoadCatalogRequest(Message):
    """Replaces a catalogue."""

    __slots__ = ("app", "file", "source", "images", "entitlements")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "file", "bytes", False, None),
        (3, "source", "string", False, None),
        (4, "images", "CatalogImage", True, None),
        (5, "entitlements", "bytes", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    file: bytes
    """The file."""

    source: str
    """Origin of the file, as a text for operators."""

    images: List[CatalogImage]
    """All images of the catalogue, in one request. The images of the previous catalogue are dropped."""

    entitlements: bytes
    """The file of named entitlements beside it. Empty: the app keeps those that it has."""

    def __init__(
            self, *, app: Optional[AppRef] = None, file: bytes = b"", source: str = "",
            images: Sequence[CatalogImage] = (), entitlements: bytes = b"",
    ) -> None:
        self.app = app
        self.file = file
        self.source = source
        self.images = list(images)
        self.entitlements = entitlements


class LoadCatalogResponse(Message):
    """The catalogue is loaded."""

    __slots__ = ("position", "summary")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "summary", "CatalogSummary", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    summary: Optional[CatalogSummary]
    """What is in it."""

    def __init__(self, *, position: Optional[Position] = None, summary: Optional[CatalogSummary] = None) -> None:
        self.position = position
        self.summary = summary


class GetCatalogRequest(Message):
    """Asks for the contents of a catalogue."""

    __slots__ = ("app", )
    _fields = (
        (1, "app", "AppRef", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    def __init__(self, *, app: Optional[AppRef] = None) -> None:
        self.app = app


class CatalogImageInfo(Message):
    """An image of a catalogue."""

    __slots__ = ("id", "content_hash", "byte_count")
    _fields = (
        (1, "id", "string", False, None),
        (2, "content_hash", "bytes", False, None),
        (3, "byte_count", "uint32", False, None),
    )

    id: str
    """The identifier by which products refer to it."""

    content_hash: bytes
    """SHA-256, 32 bytes."""

    byte_count: int
    """Its length in bytes."""

    def __init__(self, *, id: str = "", content_hash: bytes = b"", byte_count: int = 0) -> None:
        self.id = id
        self.content_hash = content_hash
        self.byte_count = byte_count


class GetCatalogResponse(Message):
    """What a catalogue holds."""

    __slots__ = ("product_ids", "group_ids", "source", "revision", "summary", "images", "code_offers")
    _fields = (
        (1, "product_ids", "string", True, None),
        (2, "group_ids", "string", True, None),
        (3, "source", "string", False, None),
        (4, "revision", "uint64", False, None),
        (5, "summary", "CatalogSummary", False, None),
        (6, "images", "CatalogImageInfo", True, None),
        (7, "code_offers", "ProductEdit", True, None),
    )

    product_ids: List[str]
    """Product identifiers, in the order of the file."""

    group_ids: List[str]
    """Subscription groups, in the order of the file."""

    source: str
    """Origin of the file, as a text for operators."""

    revision: int
    """The revision that loaded it."""

    summary: Optional[CatalogSummary]
    """It in numbers, without warnings."""

    images: List[CatalogImageInfo]
    """Its images, by identifier."""

    code_offers: List[ProductEdit]
    """Products that have offers of codes, each with those offers and their codes: the first 1,000 of both."""

    def __init__(
            self, *, product_ids: Sequence[str] = (), group_ids: Sequence[str] = (), source: str = "",
            revision: int = 0, summary: Optional[CatalogSummary] = None, images: Sequence[CatalogImageInfo] = (),
            code_offers: Sequence[ProductEdit] = (),
    ) -> None:
        self.product_ids = list(product_ids)
        self.group_ids = list(group_ids)
        self.source = source
        self.revision = revision
        self.summary = summary
        self.images = list(images)
        self.code_offers = list(code_offers)


class GetServerStatusRequest(Message):
    """Asks for the server's state."""

    __slots__ = ()


class Metric(Message):
    """One measured value."""

    __slots__ = ("name", "labels", "value", "help")
    _fields = (
        (1, "name", "string", False, None),
        (2, "labels", "string", False, None),
        (3, "value", "double", False, None),
        (4, "help", "string", False, None),
    )

    name: str
    """Name by the Prometheus conventions."""

    labels: str
    """Labels as `key="value"`, comma-separated; empty for none."""

    value: float
    """The value."""

    help: str
    """What it means."""

    def __init__(self, *, name: str = "", labels: str = "", value: float = 0.0, help: str = "") -> None:
        self.name = name
        self.labels = labels
        self.value = value
        self.help = help


class Finding(Message):
    """One finding of the server's self-check."""

    __slots__ = ("level", "subject", "message", "remedy")
    _fields = (
        (1, "level", "string", False, None),
        (2, "subject", "string", False, None),
        (3, "message", "string", False, None),
        (4, "remedy", "string", False, None),
    )

    level: str
    """`ok`, `warning` or `problem`."""

    subject: str
    """What was looked at."""

    message: str
    """The finding as a sentence, with the numbers."""

    remedy: str
    """The suggested action; empty with `ok`."""

    def __init__(self, *, level: str = "", subject: str = "", message: str = "", remedy: str = "") -> None:
        self.level = level
        self.subject = subject
        self.message = message
        self.remedy = remedy


class GetServerStatusResponse(Message):
    """The server's state."""

    __slots__ = ("version", "store_id", "epoch", "revision", "metrics", "findings", "apple_root_pem")
    _fields = (
        (1, "version", "string", False, None),
        (2, "store_id", "bytes", False, None),
        (3, "epoch", "uint32", False, None),
        (4, "revision", "uint64", False, None),
        (5, "metrics", "Metric", True, None),
        (6, "findings", "Finding", True, None),
        (7, "apple_root_pem", "string", False, None),
    )

    version: str
    """Version of the server program."""

    store_id: bytes
    """Identity of the store: 16 bytes."""

    epoch: int
    """Epoch of the store."""

    revision: int
    """Newest revision."""

    metrics: List[Metric]
    """Every counter, gauge and histogram."""

    findings: List[Finding]
    """The server's findings about itself."""

    apple_root_pem: str
    """The root of the certificates that sign values of test apps, in PEM."""

    def __init__(
            self, *, version: str = "", store_id: bytes = b"", epoch: int = 0, revision: int = 0,
            metrics: Sequence[Metric] = (), findings: Sequence[Finding] = (), apple_root_pem: str = "",
    ) -> None:
        self.version = version
        self.store_id = store_id
        self.epoch = epoch
        self.revision = revision
        self.metrics = list(metrics)
        self.findings = list(findings)
        self.apple_root_pem = apple_root_pem


class BackupRequest(Message):
    """Asks for a copy of the store."""

    __slots__ = ("path", )
    _fields = (
        (1, "path", "string", False, None),
    )

    path: str
    """Absolute path of the copy on the server's machine. The file must not exist yet."""

    def __init__(self, *, path: str = "") -> None:
        self.path = path


class BackupResponse(Message):
    """The answer after the copy is complete and on disk."""

    __slots__ = ("revision", "byte_count", "duration_ms", "longest_stall_us")
    _fields = (
        (1, "revision", "uint64", False, None),
        (2, "byte_count", "uint64", False, None),
        (3, "duration_ms", "uint64", False, None),
        (4, "longest_stall_us", "uint64", False, None),
    )

    revision: int
    """The newest revision in the copy."""

    byte_count: int
    """Length of the file."""

    duration_ms: int
    """How long it took."""

    longest_stall_us: int
    """The longest single pause of the store's other work, in microseconds."""

    def __init__(
            self, *, revision: int = 0, byte_count: int = 0, duration_ms: int = 0, longest_stall_us: int = 0,
    ) -> None:
        self.revision = revision
        self.byte_count = byte_count
        self.duration_ms = duration_ms
        self.longest_stall_us = longest_stall_us


class RevokeTokenRequest(Message):
    """Takes a token back."""

    __slots__ = ("token_id", "expires_at_ms")
    _fields = (
        (1, "token_id", "string", False, None),
        (2, "expires_at_ms", "int64", False, None),
    )

    token_id: str
    """The token's `jti`. A token without `jti` has `sha256:` and the hash of its first two parts, as `perch token
    inspect` shows. Never the token itself.
    """

    expires_at_ms: int
    """The token's own end. The server keeps the revocation until then, and at least for its `--token-life`. 0: for ever.
    """

    def __init__(self, *, token_id: str = "", expires_at_ms: int = 0) -> None:
        self.token_id = token_id
        self.expires_at_ms = expires_at_ms


class RevokeTokenResponse(Message):
    """The answer after the token is revoked, durably."""

    __slots__ = ("already_revoked", "was_seen")
    _fields = (
        (1, "already_revoked", "bool", False, None),
        (2, "was_seen", "bool", False, None),
    )

    already_revoked: bool
    """The token was already revoked."""

    was_seen: bool
    """A caller used the token since the server started. Without one, check the ID: a wrong ID revokes nothing."""

    def __init__(self, *, already_revoked: bool = False, was_seen: bool = False) -> None:
        self.already_revoked = already_revoked
        self.was_seen = was_seen


class OfferConsoleCodeRequest(Message):
    """Offers a token."""

    __slots__ = ("token", )
    _fields = (
        (1, "token", "string", False, None),
    )

    token: str
    """The token that the browser will use."""

    def __init__(self, *, token: str = "") -> None:
        self.token = token


class OfferConsoleCodeResponse(Message):
    """The code of a token."""

    __slots__ = ("code", )
    _fields = (
        (1, "code", "string", False, None),
    )

    code: str
    """Good once, and for a minute."""

    def __init__(self, *, code: str = "") -> None:
        self.code = code


class RedeemConsoleCodeRequest(Message):
    """Redeems a code."""

    __slots__ = ("code", )
    _fields = (
        (1, "code", "string", False, None),
    )

    code: str
    """The code."""

    def __init__(self, *, code: str = "") -> None:
        self.code = code


class RedeemConsoleCodeResponse(Message):
    """The token behind a code."""

    __slots__ = ("token", )
    _fields = (
        (1, "token", "string", False, None),
    )

    token: str
    """The token."""

    def __init__(self, *, token: str = "") -> None:
        self.token = token


class DeadLetter(Message):
    """A value that was not taken."""

    __slots__ = (
            "id", "received_at_ms", "reason", "message", "bundle_id", "environment", "notification_type", "byte_count",
    )
    _fields = (
        (1, "id", "string", False, None),
        (2, "received_at_ms", "int64", False, None),
        (3, "reason", "string", False, None),
        (4, "message", "string", False, None),
        (5, "bundle_id", "string", False, None),
        (6, "environment", "string", False, None),
        (7, "notification_type", "string", False, None),
        (8, "byte_count", "uint32", False, None),
    )

    id: str
    """Its identifier, for RetryDeadLetter and DropDeadLetter."""

    received_at_ms: int
    """When it came, in milliseconds since the Unix epoch."""

    reason: str
    """Why it was not taken: a word of the table of errors."""

    message: str
    """That as a sentence. It quotes nothing of the value."""

    bundle_id: str
    """The bundle identifier that the value names."""

    environment: str
    """Apple's name of the environment that the value names."""

    notification_type: str
    """Apple's type of the notification; empty for another value."""

    byte_count: int
    """Length of the value."""

    def __init__(
            self, *, id: str = "", received_at_ms: int = 0, reason: str = "", message: str = "", bundle_id: str = "",
            environment: str = "", notification_type: str = "", byte_count: int = 0,
    ) -> None:
        self.id = id
        self.received_at_ms = received_at_ms
        self.reason = reason
        self.message = message
        self.bundle_id = bundle_id
        self.environment = environment
        self.notification_type = notification_type
        self.byte_count = byte_count


class ListDeadLettersRequest(Message):
    """Asks for dead letters."""

    __slots__ = ("page_size", "page_token")
    _fields = (
        (1, "page_size", "uint32", False, None),
        (2, "page_token", "bytes", False, None),
    )

    page_size: int
    """At most this many; 0 for 100."""

    page_token: bytes
    """From `next_page_token` of the page before."""

    def __init__(self, *, page_size: int = 0, page_token: bytes = b"") -> None:
        self.page_size = page_size
        self.page_token = page_token


class ListDeadLettersResponse(Message):
    """Dead letters."""

    __slots__ = ("dead_letters", "next_page_token")
    _fields = (
        (1, "dead_letters", "DeadLetter", True, None),
        (2, "next_page_token", "bytes", False, None),
    )

    dead_letters: List[DeadLetter]
    """Oldest first."""

    next_page_token: bytes
    """For the next page; empty if there is none."""

    def __init__(self, *, dead_letters: Sequence[DeadLetter] = (), next_page_token: bytes = b"") -> None:
        self.dead_letters = list(dead_letters)
        self.next_page_token = next_page_token


class RetryDeadLetterRequest(Message):
    """Takes a dead letter once more."""

    __slots__ = ("id", )
    _fields = (
        (1, "id", "string", False, None),
    )

    id: str
    """Which one."""

    def __init__(self, *, id: str = "") -> None:
        self.id = id


class RetryDeadLetterResponse(Message):
    """It was taken."""

    __slots__ = ("position", "news_count")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "news_count", "uint32", False, None),
    )

    position: Optional[Position]
    """Where the store stands with it."""

    news_count: int
    """Values that changed something."""

    def __init__(self, *, position: Optional[Position] = None, news_count: int = 0) -> None:
        self.position = position
        self.news_count = news_count


class DropDeadLetterRequest(Message):
    """Deletes a dead letter."""

    __slots__ = ("id", )
    _fields = (
        (1, "id", "string", False, None),
    )

    id: str
    """Which one."""

    def __init__(self, *, id: str = "") -> None:
        self.id = id


class DropDeadLetterResponse(Message):
    """It is deleted."""

    __slots__ = ("position", )
    _fields = (
        (1, "position", "Position", False, None),
    )

    position: Optional[Position]
    """Where the store stands with it."""

    def __init__(self, *, position: Optional[Position] = None) -> None:
        self.position = position


class ConsumptionAnswer(Message):
    """The app's answer. The App Store takes one only with the customer's consent."""

    __slots__ = ("customer_consented", "sample_content_provided", "delivery", "consumed_milli", "preference")
    _fields = (
        (1, "customer_consented", "bool", False, None),
        (2, "sample_content_provided", "bool", False, None),
        (3, "delivery", "ConsumptionDelivery", False, None),
        (4, "consumed_milli", "uint32", False, None),
        (5, "preference", "RefundPreference", False, None),
    )

    customer_consented: bool
    """The customer agrees that the App Store gets these data. It must be true."""

    sample_content_provided: bool
    """There was a free sample, or a trial."""

    delivery: ConsumptionDelivery
    """What was delivered. It must be said."""

    consumed_milli: int
    """How much was consumed, in thousandths of a per cent: at most 100,000."""

    preference: RefundPreference
    """What the app would decide."""

    def __init__(
            self, *, customer_consented: bool = False, sample_content_provided: bool = False,
            delivery: ConsumptionDelivery = ConsumptionDelivery.UNSPECIFIED, consumed_milli: int = 0,
            preference: RefundPreference = RefundPreference.UNSPECIFIED,
    ) -> None:
        self.customer_consented = customer_consented
        self.sample_content_provided = sample_content_provided
        self.delivery = delivery
        self.consumed_milli = consumed_milli
        self.preference = preference


class ConsumptionCase(Message):
    """A question of the App Store about a purchase whose customer wants a refund."""

    __slots__ = ("transaction_id", "reason", "asked_at_ms", "deadline_ms", "state", "message", "answer")
    _fields = (
        (1, "transaction_id", "uint64", False, None),
        (2, "reason", "string", False, None),
        (3, "asked_at_ms", "int64", False, None),
        (4, "deadline_ms", "int64", False, None),
        (5, "state", "ConsumptionState", False, None),
        (6, "message", "string", False, None),
        (7, "answer", "ConsumptionAnswer", False, None),
    )

    transaction_id: int
    """The purchase."""

    reason: str
    """Apple's word for the customer's reason, such as `UNINTENDED_PURCHASE`; empty where Apple gave none."""

    asked_at_ms: int
    """When the App Store signed it, in milliseconds since the Unix epoch."""

    deadline_ms: int
    """Until when Apple takes an answer, in milliseconds since the Unix epoch."""

    state: ConsumptionState
    """What became of it."""

    message: str
    """Why the App Store refused the answer; else empty."""

    answer: Optional[ConsumptionAnswer]
    """The answer; absent for none."""

    def __init__(
            self, *, transaction_id: int = 0, reason: str = "", asked_at_ms: int = 0, deadline_ms: int = 0,
            state: ConsumptionState = ConsumptionState.UNSPECIFIED, message: str = "",
            answer: Optional[ConsumptionAnswer] = None,
    ) -> None:
        self.transaction_id = transaction_id
        self.reason = reason
        self.asked_at_ms = asked_at_ms
        self.deadline_ms = deadline_ms
        self.state = state
        self.message = message
        self.answer = answer


class ListConsumptionRequest(Message):
    """Asks for the questions."""

    __slots__ = ("app", "page_size", "page_token")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "page_size", "uint32", False, None),
        (3, "page_token", "bytes", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    page_size: int
    """At most this many; 0 for 100."""

    page_token: bytes
    """From `next_page_token` of the page before."""

    def __init__(self, *, app: Optional[AppRef] = None, page_size: int = 0, page_token: bytes = b"") -> None:
        self.app = app
        self.page_size = page_size
        self.page_token = page_token


class ListConsumptionResponse(Message):
    """Questions."""

    __slots__ = ("cases", "next_page_token")
    _fields = (
        (1, "cases", "ConsumptionCase", True, None),
        (2, "next_page_token", "bytes", False, None),
    )

    cases: List[ConsumptionCase]
    """In the order of the transactions."""

    next_page_token: bytes
    """For the next page; empty if there is none."""

    def __init__(self, *, cases: Sequence[ConsumptionCase] = (), next_page_token: bytes = b"") -> None:
        self.cases = list(cases)
        self.next_page_token = next_page_token


class AnswerConsumptionRequest(Message):
    """Answers a question."""

    __slots__ = ("app", "transaction_id", "answer")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "transaction_id", "uint64", False, None),
        (3, "answer", "ConsumptionAnswer", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    transaction_id: int
    """The purchase."""

    answer: Optional[ConsumptionAnswer]
    """What the App Store is told."""

    def __init__(
            self, *, app: Optional[AppRef] = None, transaction_id: int = 0, answer: Optional[ConsumptionAnswer] = None,
    ) -> None:
        self.app = app
        self.transaction_id = transaction_id
        self.answer = answer


class AnswerConsumptionResponse(Message):
    """The answer is stored."""

    __slots__ = ("position", )
    _fields = (
        (1, "position", "Position", False, None),
    )

    position: Optional[Position]
    """Where the store stands with it."""

    def __init__(self, *, position: Optional[Position] = None) -> None:
        self.position = position


class ReconcileRequest(Message):
    """Asks the App Store now, or how far that is."""

    __slots__ = ("app", "dry_run", "everything", "run")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "dry_run", "bool", False, None),
        (3, "everything", "bool", False, None),
        (4, "run", "uint64", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    dry_run: bool
    """Nothing is changed: what differs is only listed."""

    everything: bool
    """Every notification that the App Store still has, and every subscription, rather than those that failed or ended.
    """

    run: int
    """How far this run is; 0 begins one. One that is under way with the same flags goes on instead; with other flags the call is
    refused (RECONCILE_RUNNING).
    """

    def __init__(
            self, *, app: Optional[AppRef] = None, dry_run: bool = False, everything: bool = False, run: int = 0,
    ) -> None:
        self.app = app
        self.dry_run = dry_run
        self.everything = everything
        self.run = run


class ReconcileResponse(Message):
    """How far it is."""

    __slots__ = (
            "run", "done", "differences", "more_count", "notification_count", "subscription_count", "history_count",
            "problem",
    )
    _fields = (
        (1, "run", "uint64", False, None),
        (2, "done", "bool", False, None),
        (3, "differences", "ReconcileDifference", True, None),
        (4, "more_count", "uint32", False, None),
        (5, "notification_count", "uint32", False, None),
        (6, "subscription_count", "uint32", False, None),
        (7, "history_count", "uint32", False, None),
        (8, "problem", "string", False, None),
    )

    run: int
    """Its number, for the next call."""

    done: bool
    """It has ended."""

    differences: List[ReconcileDifference]
    """What no notification had told, or the App Store refuses to be told, at most 1,000."""

    more_count: int
    """Further differences, which are only counted."""

    notification_count: int
    """Notifications that were read."""

    subscription_count: int
    """Subscriptions that were asked about."""

    history_count: int
    """Histories of customers that were read."""

    problem: str
    """What the App Store or the store did not answer, so the run is not complete; empty for nothing. It is tried again later.
    """

    def __init__(
            self, *, run: int = 0, done: bool = False, differences: Sequence[ReconcileDifference] = (),
            more_count: int = 0, notification_count: int = 0, subscription_count: int = 0, history_count: int = 0,
            problem: str = "",
    ) -> None:
        self.run = run
        self.done = done
        self.differences = list(differences)
        self.more_count = more_count
        self.notification_count = notification_count
        self.subscription_count = subscription_count
        self.history_count = history_count
        self.problem = problem


class ReconcileDifference(Message):
    """What no notification had told, or the App Store refuses to be told."""

    __slots__ = ("source", "original_transaction_id", "message")
    _fields = (
        (1, "source", "string", False, None),
        (2, "original_transaction_id", "uint64", False, None),
        (3, "message", "string", False, None),
    )

    source: str
    """How it was found: `notification`, `subscription` or `history`. `update`, in dry runs: the App Store refuses an update of a purchase.
    """

    original_transaction_id: int
    """The subscription, or the first transaction of what was told; of an update its transaction; 0 where that is not known.
    """

    message: str
    """What is different, for people."""

    def __init__(self, *, source: str = "", original_transaction_id: int = 0, message: str = "") -> None:
        self.source = source
        self.original_transaction_id = original_transaction_id
        self.message = message


class ListNotificationsRequest(Message):
    """Asks for notifications."""

    __slots__ = ("page_size", "page_token")
    _fields = (
        (1, "page_size", "uint32", False, None),
        (2, "page_token", "bytes", False, None),
    )

    page_size: int
    """At most this many; 0 for 100."""

    page_token: bytes
    """From `next_page_token` of the page before."""

    def __init__(self, *, page_size: int = 0, page_token: bytes = b"") -> None:
        self.page_size = page_size
        self.page_token = page_token


class ReceivedNotification(Message):
    """A notification that was taken, and what became of it."""

    __slots__ = (
            "id", "received_at_ms", "bundle_id", "notification_type", "subtype", "news_count", "stale_count",
            "duplicate_count", "revision",
    )
    _fields = (
        (1, "id", "string", False, None),
        (2, "received_at_ms", "int64", False, None),
        (3, "bundle_id", "string", False, None),
        (4, "notification_type", "string", False, None),
        (5, "subtype", "string", False, None),
        (6, "news_count", "uint32", False, None),
        (7, "stale_count", "uint32", False, None),
        (8, "duplicate_count", "uint32", False, None),
        (9, "revision", "uint64", False, None),
    )

    id: str
    """Its identifier, for GetSignedPayload."""

    received_at_ms: int
    """When it came, in milliseconds since the Unix epoch."""

    bundle_id: str
    """The bundle identifier that it names."""

    notification_type: str
    """Apple's type."""

    subtype: str
    """Apple's subtype; empty for none."""

    news_count: int
    """Values in it that changed something."""

    stale_count: int
    """Values in it that were older than what was known. They were kept, because they tell about the past."""

    duplicate_count: int
    """Values in it that were known."""

    revision: int
    """The revision that took it."""

    def __init__(
            self, *, id: str = "", received_at_ms: int = 0, bundle_id: str = "", notification_type: str = "",
            subtype: str = "", news_count: int = 0, stale_count: int = 0, duplicate_count: int = 0, revision: int = 0,
    ) -> None:
        self.id = id
        self.received_at_ms = received_at_ms
        self.bundle_id = bundle_id
        self.notification_type = notification_type
        self.subtype = subtype
        self.news_count = news_count
        self.stale_count = stale_count
        self.duplicate_count = duplicate_count
        self.revision = revision


class ListNotificationsResponse(Message):
    """Notifications."""

    __slots__ = ("notifications", "next_page_token")
    _fields = (
        (1, "notifications", "ReceivedNotification", True, None),
        (2, "next_page_token", "bytes", False, None),
    )

    notifications: List[ReceivedNotification]
    """By the time of their signature, oldest first."""

    next_page_token: bytes
    """For the next page; empty if there is none."""

    def __init__(self, *, notifications: Sequence[ReceivedNotification] = (), next_page_token: bytes = b"") -> None:
        self.notifications = list(notifications)
        self.next_page_token = next_page_token


class GetSignedPayloadRequest(Message):
    """Asks for a notification or a dead letter."""

    __slots__ = ("id", )
    _fields = (
        (1, "id", "string", False, None),
    )

    id: str
    """Which one: `id` of either."""

    def __init__(self, *, id: str = "") -> None:
        self.id = id


class GetSignedPayloadResponse(Message):
    """A value as it came."""

    __slots__ = ("signed_payload", )
    _fields = (
        (1, "signed_payload", "string", False, None),
    )

    signed_payload: str
    """Compact JWS."""

    def __init__(self, *, signed_payload: str = "") -> None:
        self.signed_payload = signed_payload


class FindCustomersRequest(Message):
    """Asks for customers."""

    __slots__ = ("app", "text", "kinds", "page_size")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "text", "string", False, None),
        (3, "kinds", "CustomerNameKind", True, None),
        (4, "page_size", "uint32", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    text: str
    """The beginning of a key, a whole name of another kind, or an e-mail address, of which only the hash is looked up: 1 to 255 bytes.
    """

    kinds: List[CustomerNameKind]
    """Kinds of names that are tried; empty for all."""

    page_size: int
    """At most this many customers, up to 100; 0 for 20."""

    def __init__(
            self, *, app: Optional[AppRef] = None, text: str = "", kinds: Sequence[CustomerNameKind] = (),
            page_size: int = 0,
    ) -> None:
        self.app = app
        self.text = text
        self.kinds = list(kinds)
        self.page_size = page_size


class FoundCustomer(Message):
    """A customer who was found, and by what name."""

    __slots__ = ("account", "unclaimed", "kind", "name", "original_transaction_id")
    _fields = (
        (1, "account", "string", False, None),
        (2, "unclaimed", "bool", False, None),
        (3, "kind", "CustomerNameKind", False, None),
        (4, "name", "string", False, None),
        (5, "original_transaction_id", "uint64", False, None),
    )

    account: str
    """The caller's key of the account; empty for an unclaimed one, which no caller can name."""

    unclaimed: bool
    """What was reported belongs to no account that is known."""

    kind: CustomerNameKind
    """The kind of the name that matched."""

    name: str
    """The whole name that matched."""

    original_transaction_id: int
    """The purchase that the name leads to, by its first transaction; 0 for none."""

    def __init__(
            self, *, account: str = "", unclaimed: bool = False, kind: CustomerNameKind = CustomerNameKind.UNSPECIFIED,
            name: str = "", original_transaction_id: int = 0,
    ) -> None:
        self.account = account
        self.unclaimed = unclaimed
        self.kind = kind
        self.name = name
        self.original_transaction_id = original_transaction_id


class FindCustomersResponse(Message):
    """Customers."""

    __slots__ = ("customers", "has_more")
    _fields = (
        (1, "customers", "FoundCustomer", True, None),
        (2, "has_more", "bool", False, None),
    )

    customers: List[FoundCustomer]
    """Whole names first, then keys in bytewise order."""

    has_more: bool
    """More keys begin so."""

    def __init__(self, *, customers: Sequence[FoundCustomer] = (), has_more: bool = False) -> None:
        self.customers = list(customers)
        self.has_more = has_more


class CustomerNote(Message):
    """A note beside a customer."""

    __slots__ = ("id", "at_ms", "author", "text")
    _fields = (
        (1, "id", "uint64", False, None),
        (2, "at_ms", "int64", False, None),
        (3, "author", "string", False, None),
        (4, "text", "string", False, None),
    )

    id: int
    """Its number, unique in the store."""

    at_ms: int
    """When it was written, on the app's clock, in milliseconds since the Unix epoch."""

    author: str
    """Subject of the credentials that wrote it."""

    text: str
    """The text."""

    def __init__(self, *, id: int = 0, at_ms: int = 0, author: str = "", text: str = "") -> None:
        self.id = id
        self.at_ms = at_ms
        self.author = author
        self.text = text


class AddNoteRequest(Message):
    """Writes a note."""

    __slots__ = ("app", "account", "text", "idempotency_key")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "text", "string", False, None),
        (4, "idempotency_key", "bytes", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account, which must be known: 1 to 255 bytes."""

    text: str
    """The text: 1 to 2,000 bytes."""

    idempotency_key: bytes
    """Makes the call safe to repeat. Up to 64 bytes."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", text: str = "", idempotency_key: bytes = b"",
    ) -> None:
        self.app = app
        self.account = account
        self.text = text
        self.idempotency_key = idempotency_key


class AddNoteResponse(Message):
    """It is written."""

    __slots__ = ("position", "note_id")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "note_id", "uint64", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    note_id: int
    """The note's number."""

    def __init__(self, *, position: Optional[Position] = None, note_id: int = 0) -> None:
        self.position = position
        self.note_id = note_id


class ListNotesRequest(Message):
    """Asks for the notes beside a customer."""

    __slots__ = ("app", "account")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes."""

    def __init__(self, *, app: Optional[AppRef] = None, account: str = "") -> None:
        self.app = app
        self.account = account


class ListNotesResponse(Message):
    """The notes beside a customer."""

    __slots__ = ("notes", )
    _fields = (
        (1, "notes", "CustomerNote", True, None),
    )

    notes: List[CustomerNote]
    """Oldest first, at most 100."""

    def __init__(self, *, notes: Sequence[CustomerNote] = ()) -> None:
        self.notes = list(notes)


class DeleteNoteRequest(Message):
    """Deletes a note."""

    __slots__ = ("app", "account", "note_id")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "note_id", "uint64", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes."""

    note_id: int
    """The note's number."""

    def __init__(self, *, app: Optional[AppRef] = None, account: str = "", note_id: int = 0) -> None:
        self.app = app
        self.account = account
        self.note_id = note_id


class DeleteNoteResponse(Message):
    """It is deleted, or there was none."""

    __slots__ = ("position", )
    _fields = (
        (1, "position", "Position", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    def __init__(self, *, position: Optional[Position] = None) -> None:
        self.position = position


class FindAccountRequest(Message):
    """Asks for an account. Exactly one of the last three fields is set."""

    __slots__ = ("app", "transaction_id", "app_account_token", "app_transaction_id")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "transaction_id", "uint64", False, None),
        (3, "app_account_token", "string", False, None),
        (4, "app_transaction_id", "string", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    transaction_id: int
    """Any transaction, or original transaction, of the account."""

    app_account_token: str
    """The app's own UUID for its customer."""

    app_transaction_id: str
    """Apple's number of the customer in this app."""

    def __init__(
            self, *, app: Optional[AppRef] = None, transaction_id: int = 0, app_account_token: str = "",
            app_transaction_id: str = "",
    ) -> None:
        self.app = app
        self.transaction_id = transaction_id
        self.app_account_token = app_account_token
        self.app_transaction_id = app_transaction_id


class FindAccountResponse(Message):
    """An account."""

    __slots__ = ("account", "unclaimed", "original_transaction_ids")
    _fields = (
        (1, "account", "string", False, None),
        (2, "unclaimed", "bool", False, None),
        (3, "original_transaction_ids", "string", True, None),
    )

    account: str
    """The caller's key of the account; empty for an unclaimed one, which no caller can name."""

    unclaimed: bool
    """What was reported belongs to no account that is known."""

    original_transaction_ids: List[str]
    """The original transactions of the account, in decimal digits as Apple writes them: those that were reported, and in a test app
    those of its subscriptions and of its products without an end.
    """

    def __init__(
            self, *, account: str = "", unclaimed: bool = False, original_transaction_ids: Sequence[str] = (),
    ) -> None:
        self.account = account
        self.unclaimed = unclaimed
        self.original_transaction_ids = list(original_transaction_ids)


class ListUnclaimedRequest(Message):
    """Asks for purchases that need somebody."""

    __slots__ = ("app", "page_size", "page_token")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "page_size", "uint32", False, None),
        (3, "page_token", "bytes", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    page_size: int
    """At most this many accounts are looked at; 0 for 100."""

    page_token: bytes
    """From `next_page_token` of the page before."""

    def __init__(self, *, app: Optional[AppRef] = None, page_size: int = 0, page_token: bytes = b"") -> None:
        self.app = app
        self.page_size = page_size
        self.page_token = page_token


class UnclaimedPurchase(Message):
    """A purchase that needs somebody."""

    __slots__ = (
            "original_transaction_id", "product_id", "account", "unclaimed", "overdue", "app_account_tokens",
            "app_transaction_ids", "original_purchase_date_ms", "expiration_date_ms", "state",
    )
    _fields = (
        (1, "original_transaction_id", "string", False, None),
        (2, "product_id", "string", False, None),
        (3, "account", "string", False, None),
        (4, "unclaimed", "bool", False, None),
        (5, "overdue", "bool", False, None),
        (6, "app_account_tokens", "string", True, None),
        (7, "app_transaction_ids", "string", True, None),
        (8, "original_purchase_date_ms", "int64", False, None),
        (9, "expiration_date_ms", "int64", False, "end"),
        (10, "state", "RenewalState", False, None),
    )

    original_transaction_id: str
    """The original transaction, in decimal digits as Apple writes it."""

    product_id: str
    """The product that it is about now; empty where only renewal information came."""

    account: str
    """The caller's key of its account; empty where it belongs to no account that is known."""

    unclaimed: bool
    """It belongs to no account that is known."""

    overdue: bool
    """Its renewal was awaited for the app's leeway, and nothing was reported."""

    app_account_tokens: List[str]
    """The app's own UUIDs for the customer, as reported, the newest first."""

    app_transaction_ids: List[str]
    """Apple's numbers of the customer in this app, as reported, the newest first."""

    original_purchase_date_ms: int
    """When it was bought first, in milliseconds since the Unix epoch."""

    expiration_date_ms: Optional[int]
    """When the latest period that was reported ends, in milliseconds since the Unix epoch."""

    state: RenewalState
    """Of a subscription; unspecified for another purchase."""

    def __init__(
            self, *, original_transaction_id: str = "", product_id: str = "", account: str = "",
            unclaimed: bool = False, overdue: bool = False, app_account_tokens: Sequence[str] = (),
            app_transaction_ids: Sequence[str] = (), original_purchase_date_ms: int = 0,
            expiration_date_ms: Optional[int] = None, state: RenewalState = RenewalState.UNSPECIFIED,
    ) -> None:
        self.original_transaction_id = original_transaction_id
        self.product_id = product_id
        self.account = account
        self.unclaimed = unclaimed
        self.overdue = overdue
        self.app_account_tokens = list(app_account_tokens)
        self.app_transaction_ids = list(app_transaction_ids)
        self.original_purchase_date_ms = original_purchase_date_ms
        self.expiration_date_ms = expiration_date_ms
        self.state = state


class ListUnclaimedResponse(Message):
    """Purchases that need somebody."""

    __slots__ = ("purchases", "next_page_token")
    _fields = (
        (1, "purchases", "UnclaimedPurchase", True, None),
        (2, "next_page_token", "bytes", False, None),
    )

    purchases: List[UnclaimedPurchase]
    """By account, then by original purchase date."""

    next_page_token: bytes
    """For the next page; empty if there is none."""

    def __init__(self, *, purchases: Sequence[UnclaimedPurchase] = (), next_page_token: bytes = b"") -> None:
        self.purchases = list(purchases)
        self.next_page_token = next_page_token


class AttachAliasRequest(Message):
    """Attaches a name to an account. Exactly one of the last three fields is set."""

    __slots__ = ("app", "account", "app_account_token", "app_transaction_id", "email_sha256")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "app_account_token", "string", False, None),
        (4, "app_transaction_id", "string", False, None),
        (5, "email_sha256", "string", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account, which is opened if there is none."""

    app_account_token: str
    """The app's own UUID for its customer."""

    app_transaction_id: str
    """Apple's number of the customer in this app."""

    email_sha256: str
    """SHA-256 of the customer's e-mail address, trimmed and in lower case: 64 hexadecimal digits. Only FindCustomers uses it.
    """

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", app_account_token: str = "",
            app_transaction_id: str = "", email_sha256: str = "",
    ) -> None:
        self.app = app
        self.account = account
        self.app_account_token = app_account_token
        self.app_transaction_id = app_transaction_id
        self.email_sha256 = email_sha256


class AttachAliasResponse(Message):
    """It is attached."""

    __slots__ = ("position", "moved_count", "previous_account")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "moved_count", "uint32", False, None),
        (3, "previous_account", "string", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    moved_count: int
    """Original transactions that changed their account."""

    previous_account: str
    """The key of the account whose name it was. Empty: it was nobody's, or that account's already."""

    def __init__(
            self, *, position: Optional[Position] = None, moved_count: int = 0, previous_account: str = "",
    ) -> None:
        self.position = position
        self.moved_count = moved_count
        self.previous_account = previous_account


class DetachAliasRequest(Message):
    """Detaches a name. Exactly one of the last three fields is set."""

    __slots__ = ("app", "app_account_token", "app_transaction_id", "email_sha256")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "app_account_token", "string", False, None),
        (3, "app_transaction_id", "string", False, None),
        (4, "email_sha256", "string", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    app_account_token: str
    """The app's own UUID for its customer."""

    app_transaction_id: str
    """Apple's number of the customer in this app."""

    email_sha256: str
    """SHA-256 of the customer's e-mail address, as it was attached."""

    def __init__(
            self, *, app: Optional[AppRef] = None, app_account_token: str = "", app_transaction_id: str = "",
            email_sha256: str = "",
    ) -> None:
        self.app = app
        self.app_account_token = app_account_token
        self.app_transaction_id = app_transaction_id
        self.email_sha256 = email_sha256


class DetachAliasResponse(Message):
    """It is detached."""

    __slots__ = ("position", "moved_count", "previous_account")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "moved_count", "uint32", False, None),
        (3, "previous_account", "string", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    moved_count: int
    """Original transactions that changed their account."""

    previous_account: str
    """The key of the account whose name it was."""

    def __init__(
            self, *, position: Optional[Position] = None, moved_count: int = 0, previous_account: str = "",
    ) -> None:
        self.position = position
        self.moved_count = moved_count
        self.previous_account = previous_account


class MoveTransactionRequest(Message):
    """Moves an original transaction."""

    __slots__ = ("app", "original_transaction_id", "account")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "original_transaction_id", "uint64", False, None),
        (3, "account", "string", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    original_transaction_id: int
    """The original transaction."""

    account: str
    """The caller's key of the account that gets it, which is opened if there is none."""

    def __init__(self, *, app: Optional[AppRef] = None, original_transaction_id: int = 0, account: str = "") -> None:
        self.app = app
        self.original_transaction_id = original_transaction_id
        self.account = account


class MoveTransactionResponse(Message):
    """It is moved."""

    __slots__ = ("position", "moved_count", "previous_account")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "moved_count", "uint32", False, None),
        (3, "previous_account", "string", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    moved_count: int
    """Original transactions that changed their account."""

    previous_account: str
    """The key of the account that had it. Empty: it was unclaimed, or that account's already."""

    def __init__(
            self, *, position: Optional[Position] = None, moved_count: int = 0, previous_account: str = "",
    ) -> None:
        self.position = position
        self.moved_count = moved_count
        self.previous_account = previous_account


class MergeAccountsRequest(Message):
    """Merges two accounts."""

    __slots__ = ("app", "account", "into_account")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "into_account", "string", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account that ends. From now on it names the other account."""

    into_account: str
    """The caller's key of the account that gets everything."""

    def __init__(self, *, app: Optional[AppRef] = None, account: str = "", into_account: str = "") -> None:
        self.app = app
        self.account = account
        self.into_account = into_account


class MergeAccountsResponse(Message):
    """They are merged."""

    __slots__ = ("position", "moved_count")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "moved_count", "uint32", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    moved_count: int
    """Original transactions that changed their account."""

    def __init__(self, *, position: Optional[Position] = None, moved_count: int = 0) -> None:
        self.position = position
        self.moved_count = moved_count


class EraseAccountRequest(Message):
    """Erases an account."""

    __slots__ = ("app", "account")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account. It may be opened again, as another account."""

    def __init__(self, *, app: Optional[AppRef] = None, account: str = "") -> None:
        self.app = app
        self.account = account


class EraseAccountResponse(Message):
    """It is erased."""

    __slots__ = ("position", "fact_count")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "fact_count", "uint64", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    fact_count: int
    """Facts that the account had."""

    def __init__(self, *, position: Optional[Position] = None, fact_count: int = 0) -> None:
        self.position = position
        self.fact_count = fact_count


class ExportAccountRequest(Message):
    """Reads everything of an account."""

    __slots__ = ("app", "account")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account."""

    def __init__(self, *, app: Optional[AppRef] = None, account: str = "") -> None:
        self.app = app
        self.account = account


class ExportAccountResponse(Message):
    """An account as the store has it."""

    __slots__ = (
            "keys", "app_account_tokens", "app_transaction_ids", "account", "transactions", "next_page_token",
            "grants", "notes", "email_sha256s",
    )
    _fields = (
        (1, "keys", "string", True, None),
        (2, "app_account_tokens", "string", True, None),
        (3, "app_transaction_ids", "string", True, None),
        (4, "account", "InspectAccountResponse", False, None),
        (5, "transactions", "TransactionResult", True, None),
        (6, "next_page_token", "bytes", False, None),
        (7, "grants", "GrantSummary", True, None),
        (8, "notes", "CustomerNote", True, None),
        (9, "email_sha256s", "string", True, None),
    )

    keys: List[str]
    """Keys that callers use for the account."""

    app_account_tokens: List[str]
    """The app's own UUIDs for the customer."""

    app_transaction_ids: List[str]
    """Apple's numbers of the customer in this app."""

    account: Optional[InspectAccountResponse]
    """What the account has, by groups and products."""

    transactions: List[TransactionResult]
    """Transactions, oldest first, at most 1,000."""

    next_page_token: bytes
    """Goes on with ListTransactions and its `include_finished_consumables`; empty after the last one."""

    grants: List[GrantSummary]
    """Granted entitlements."""

    notes: List[CustomerNote]
    """Notes, oldest first."""

    email_sha256s: List[str]
    """SHA-256 of e-mail addresses that were attached."""

    def __init__(
            self, *, keys: Sequence[str] = (), app_account_tokens: Sequence[str] = (),
            app_transaction_ids: Sequence[str] = (), account: Optional[InspectAccountResponse] = None,
            transactions: Sequence[TransactionResult] = (), next_page_token: bytes = b"",
            grants: Sequence[GrantSummary] = (), notes: Sequence[CustomerNote] = (), email_sha256s: Sequence[str] = (),
    ) -> None:
        self.keys = list(keys)
        self.app_account_tokens = list(app_account_tokens)
        self.app_transaction_ids = list(app_transaction_ids)
        self.account = account
        self.transactions = list(transactions)
        self.next_page_token = next_page_token
        self.grants = list(grants)
        self.notes = list(notes)
        self.email_sha256s = list(email_sha256s)


class GrantSummary(Message):
    """A granted entitlement of an account."""

    __slots__ = ("name", "until_ms", "reason", "since_ms", "tier")
    _fields = (
        (1, "name", "string", False, None),
        (2, "until_ms", "int64", False, "end"),
        (3, "reason", "string", False, None),
        (4, "since_ms", "int64", False, None),
        (5, "tier", "string", False, None),
    )

    name: str
    """The entitlement."""

    until_ms: Optional[int]
    """When it ends, in milliseconds since the Unix epoch."""

    reason: str
    """As the caller gave it."""

    since_ms: int
    """When it was granted, in milliseconds since the Unix epoch."""

    tier: str
    """What the app calls this kind of the entitlement, such as `premium`; empty for none."""

    def __init__(
            self, *, name: str = "", until_ms: Optional[int] = None, reason: str = "", since_ms: int = 0,
            tier: str = "",
    ) -> None:
        self.name = name
        self.until_ms = until_ms
        self.reason = reason
        self.since_ms = since_ms
        self.tier = tier


class GrantEntitlementRequest(Message):
    """Grants a named entitlement."""

    __slots__ = ("app", "account", "name", "until_ms", "reason", "idempotency_key", "tier")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "name", "string", False, None),
        (4, "until_ms", "int64", False, "end"),
        (5, "reason", "string", False, None),
        (6, "idempotency_key", "bytes", False, None),
        (7, "tier", "string", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account, which is opened if there is none."""

    name: str
    """The entitlement: 1 to 64 bytes. It need not stand in the app's file."""

    until_ms: Optional[int]
    """When it ends, in milliseconds since the Unix epoch."""

    reason: str
    """For the record; up to 255 bytes."""

    idempotency_key: bytes
    """Makes the call safe to repeat. Up to 64 bytes."""

    tier: str
    """One of the entitlement's tiers in the app's file, such as `premium`; empty: the grant adds time and no tier. A grant never takes
    a higher tier away.
    """

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", name: str = "", until_ms: Optional[int] = None,
            reason: str = "", idempotency_key: bytes = b"", tier: str = "",
    ) -> None:
        self.app = app
        self.account = account
        self.name = name
        self.until_ms = until_ms
        self.reason = reason
        self.idempotency_key = idempotency_key
        self.tier = tier


class GrantEntitlementResponse(Message):
    """It is granted."""

    __slots__ = ("position", "known_names")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "known_names", "string", True, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    known_names: List[str]
    """If the app has named entitlements and the granted name is none of them: those names. The granted name may be misspelt.
    """

    def __init__(self, *, position: Optional[Position] = None, known_names: Sequence[str] = ()) -> None:
        self.position = position
        self.known_names = list(known_names)


class RevokeGrantRequest(Message):
    """Ends a grant."""

    __slots__ = ("app", "account", "name")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "name", "string", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account."""

    name: str
    """The entitlement."""

    def __init__(self, *, app: Optional[AppRef] = None, account: str = "", name: str = "") -> None:
        self.app = app
        self.account = account
        self.name = name


class RevokeGrantResponse(Message):
    """It has ended, or there was none."""

    __slots__ = ("position", )
    _fields = (
        (1, "position", "Position", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    def __init__(self, *, position: Optional[Position] = None) -> None:
        self.position = position


class ListAuditRequest(Message):
    """Asks for the audit trail."""

    __slots__ = ("after_revision", "page_size")
    _fields = (
        (1, "after_revision", "uint64", False, None),
        (2, "page_size", "uint32", False, None),
    )

    after_revision: int
    """Changes after this revision; 0 for all."""

    page_size: int
    """At most this many; 0 for 100. The next page begins after the last revision of this one."""

    def __init__(self, *, after_revision: int = 0, page_size: int = 0) -> None:
        self.after_revision = after_revision
        self.page_size = page_size


class AuditLine(Message):
    """An administrative or test change."""

    __slots__ = ("revision", "at_ms", "subject", "address", "method", "what", "bundle_id", "environment", "account")
    _fields = (
        (1, "revision", "uint64", False, None),
        (2, "at_ms", "int64", False, None),
        (3, "subject", "string", False, None),
        (4, "address", "string", False, None),
        (5, "method", "string", False, None),
        (6, "what", "string", False, None),
        (7, "bundle_id", "string", False, None),
        (8, "environment", "string", False, None),
        (9, "account", "string", False, None),
    )

    revision: int
    """The revision that it made."""

    at_ms: int
    """When it was asked for, in milliseconds since the Unix epoch."""

    subject: str
    """Who asked: subject and key of the credentials."""

    address: str
    """The caller's IPv4 address, or the network of an IPv6 address; empty for the server's own machine."""

    method: str
    """The method's path."""

    what: str
    """The operation within the method, or what it was about."""

    bundle_id: str
    """Bundle identifier of the app; empty for a change of the store itself."""

    environment: str
    """Its environment; empty for a change of the store itself."""

    account: str
    """The key of the account that was changed, as it is now: after a merger that of the account's owner, empty once the account is
    erased, and for a change of none.
    """

    def __init__(
            self, *, revision: int = 0, at_ms: int = 0, subject: str = "", address: str = "", method: str = "",
            what: str = "", bundle_id: str = "", environment: str = "", account: str = "",
    ) -> None:
        self.revision = revision
        self.at_ms = at_ms
        self.subject = subject
        self.address = address
        self.method = method
        self.what = what
        self.bundle_id = bundle_id
        self.environment = environment
        self.account = account


class ListAuditResponse(Message):
    """The audit trail."""

    __slots__ = ("entries", "has_more")
    _fields = (
        (1, "entries", "AuditLine", True, None),
        (2, "has_more", "bool", False, None),
    )

    entries: List[AuditLine]
    """Oldest first."""

    has_more: bool
    """There are more."""

    def __init__(self, *, entries: Sequence[AuditLine] = (), has_more: bool = False) -> None:
        self.entries = list(entries)
        self.has_more = has_more


class AsOf(Message):
    """The moment of a read. Absent: now."""

    __slots__ = ("at_ms", "known_at_revision")
    _fields = (
        (1, "at_ms", "int64", False, "instant"),
        (2, "known_at_revision", "uint64", False, None),
    )

    at_ms: Optional[int]
    """An instant in the past or future, in milliseconds since the Unix epoch: the same rules, applied at that instant.
    """

    known_at_revision: int
    """Uses only facts up to this revision; 0: all facts known now."""

    def __init__(self, *, at_ms: Optional[int] = None, known_at_revision: int = 0) -> None:
        self.at_ms = at_ms
        self.known_at_revision = known_at_revision


class Products(Message):
    """The success value of ProductsTask."""

    __slots__ = ("products", "unavailable_ids")
    _fields = (
        (1, "products", "Product", True, None),
        (2, "unavailable_ids", "string", True, None),
    )

    products: List[Product]
    """In the order of the request."""

    unavailable_ids: List[str]
    """Identifiers that the catalogue does not have, in the order of the request."""

    def __init__(self, *, products: Sequence[Product] = (), unavailable_ids: Sequence[str] = ()) -> None:
        self.products = list(products)
        self.unavailable_ids = list(unavailable_ids)


class CurrentEntitlement(Message):
    """The success value of CurrentEntitlementTask."""

    __slots__ = ("transaction", )
    _fields = (
        (1, "transaction", "TransactionResult", False, None),
    )

    transaction: Optional[TransactionResult]
    """Absent: not entitled. Present with a `verification_error`: the transaction would entitle, but is not trusted, so the
    account is not entitled.
    """

    def __init__(self, *, transaction: Optional[TransactionResult] = None) -> None:
        self.transaction = transaction


class ProductsTaskRequest(Message):
    """Asks for products."""

    __slots__ = ("app", "product_ids", "locale", "storefront", "resume_token", "at_least")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "product_ids", "string", True, None),
        (3, "locale", "string", False, None),
        (4, "storefront", "string", False, None),
        (5, "resume_token", "bytes", False, None),
        (6, "at_least", "Position", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    product_ids: List[str]
    """Product identifiers, none empty; duplicates are collapsed. No identifiers have no products: the answer is an empty success.
    """

    locale: str
    """Locale such as `en_US`; empty for the app's."""

    storefront: str
    """ISO 3166-1 alpha-3; empty for the app's."""

    resume_token: bytes
    """The token of the last value of an earlier call with the same parameters; empty to begin."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    def __init__(
            self, *, app: Optional[AppRef] = None, product_ids: Sequence[str] = (), locale: str = "",
            storefront: str = "", resume_token: bytes = b"", at_least: Optional[Position] = None,
    ) -> None:
        self.app = app
        self.product_ids = list(product_ids)
        self.locale = locale
        self.storefront = storefront
        self.resume_token = resume_token
        self.at_least = at_least


class ProductsTaskResponse(Message):
    """A state of ProductsTask."""

    __slots__ = ("loading", "failure", "success", "unchanged", "info", "bookmark")
    _fields = (
        (1, "loading", "Loading", False, "state"),
        (2, "failure", "Failure", False, "state"),
        (3, "success", "Products", False, "state"),
        (4, "unchanged", "Unchanged", False, "state"),
        (5, "info", "ValueInfo", False, None),
        (15, "bookmark", "Bookmark", False, None),
    )

    loading: Optional[Loading]
    """The first message."""

    failure: Optional[Failure]
    """No value now."""

    success: Optional[Products]
    """The value."""

    unchanged: Optional[Unchanged]
    """The token's value is still current."""

    info: Optional[ValueInfo]
    """Position and cause of the value; absent with `loading`."""

    bookmark: Optional[Bookmark]
    """Alone in its message: up to where this stream has said everything."""

    def __init__(
            self, *, loading: Optional[Loading] = None, failure: Optional[Failure] = None,
            success: Optional[Products] = None, unchanged: Optional[Unchanged] = None,
            info: Optional[ValueInfo] = None, bookmark: Optional[Bookmark] = None,
    ) -> None:
        self.loading = loading
        self.failure = failure
        self.success = success
        self.unchanged = unchanged
        self.info = info
        self.bookmark = bookmark


class SubscriptionStatusTaskRequest(Message):
    """Asks for the statuses of an account in a group."""

    __slots__ = ("app", "account", "group_id", "resume_token", "at_least", "include_jws", "all_groups")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "group_id", "string", False, None),
        (4, "resume_token", "bytes", False, None),
        (5, "at_least", "Position", False, None),
        (6, "include_jws", "bool", False, None),
        (7, "all_groups", "bool", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes."""

    group_id: str
    """Subscription group, not empty unless `all_groups` is set. An unknown one has no statuses."""

    resume_token: bytes
    """The token of the last value of an earlier call with the same parameters; empty to begin."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    include_jws: bool
    """Whether test apps fill `jws`."""

    all_groups: bool
    """The statuses of all groups, as StoreKit's `Status.all`. `group_id` is then empty."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", group_id: str = "", resume_token: bytes = b"",
            at_least: Optional[Position] = None, include_jws: bool = False, all_groups: bool = False,
    ) -> None:
        self.app = app
        self.account = account
        self.group_id = group_id
        self.resume_token = resume_token
        self.at_least = at_least
        self.include_jws = include_jws
        self.all_groups = all_groups


class SubscriptionStatusTaskResponse(Message):
    """A state of SubscriptionStatusTask."""

    __slots__ = ("loading", "failure", "success", "unchanged", "info", "bookmark")
    _fields = (
        (1, "loading", "Loading", False, "state"),
        (2, "failure", "Failure", False, "state"),
        (3, "success", "SubscriptionStatuses", False, "state"),
        (4, "unchanged", "Unchanged", False, "state"),
        (5, "info", "ValueInfo", False, None),
        (15, "bookmark", "Bookmark", False, None),
    )

    loading: Optional[Loading]
    """The first message."""

    failure: Optional[Failure]
    """No value now."""

    success: Optional[SubscriptionStatuses]
    """The value."""

    unchanged: Optional[Unchanged]
    """The token's value is still current."""

    info: Optional[ValueInfo]
    """Position and cause of the value; absent with `loading`."""

    bookmark: Optional[Bookmark]
    """Alone in its message: up to where this stream has said everything."""

    def __init__(
            self, *, loading: Optional[Loading] = None, failure: Optional[Failure] = None,
            success: Optional[SubscriptionStatuses] = None, unchanged: Optional[Unchanged] = None,
            info: Optional[ValueInfo] = None, bookmark: Optional[Bookmark] = None,
    ) -> None:
        self.loading = loading
        self.failure = failure
        self.success = success
        self.unchanged = unchanged
        self.info = info
        self.bookmark = bookmark


class NamedEntitlement(Message):
    """An entitlement by its name in the app."""

    __slots__ = (
            "name", "active", "until_ms", "lifetime", "will_renew", "state", "since_ms", "origin", "product_id",
            "tier", "ownership_type", "sandbox", "reason", "renewal_unknown",
    )
    _fields = (
        (1, "name", "string", False, None),
        (2, "active", "bool", False, None),
        (3, "until_ms", "int64", False, "end"),
        (4, "lifetime", "bool", False, None),
        (5, "will_renew", "bool", False, None),
        (6, "state", "RenewalState", False, None),
        (7, "since_ms", "int64", False, "begin"),
        (8, "origin", "EntitlementOrigin", False, None),
        (9, "product_id", "string", False, None),
        (10, "tier", "string", False, None),
        (11, "ownership_type", "OwnershipType", False, None),
        (12, "sandbox", "bool", False, None),
        (13, "reason", "string", False, None),
        (14, "renewal_unknown", "bool", False, None),
    )

    name: str
    """Its name in the file of entitlements, or of the grant."""

    active: bool
    """The account has it now."""

    until_ms: Optional[int]
    """When it ends unless it renews, in milliseconds since the Unix epoch; in the past for one that has ended."""

    lifetime: bool
    """It has no end."""

    will_renew: bool
    """The subscription that gives it renews."""

    state: RenewalState
    """State of that subscription; unspecified for another source."""

    since_ms: Optional[int]
    """When it began, in milliseconds since the Unix epoch."""

    origin: EntitlementOrigin
    """What gives it, or gave it last."""

    product_id: str
    """The product that gives it; empty for a grant."""

    tier: str
    """What the app calls this kind of it, such as `premium`; empty for none."""

    ownership_type: OwnershipType
    """Whether the customer bought it, or shares it."""

    sandbox: bool
    """It is not of the App Store's production."""

    reason: str
    """One word on why it is so, such as `subscribed`, `purchased`, `granted`, `expired`, `unverified` or `never`."""

    renewal_unknown: bool
    """Whether it renews is unknown, because no renewal information was reported. `will_renew` is then true while it is active.
    """

    def __init__(
            self, *, name: str = "", active: bool = False, until_ms: Optional[int] = None, lifetime: bool = False,
            will_renew: bool = False, state: RenewalState = RenewalState.UNSPECIFIED, since_ms: Optional[int] = None,
            origin: EntitlementOrigin = EntitlementOrigin.UNSPECIFIED, product_id: str = "", tier: str = "",
            ownership_type: OwnershipType = OwnershipType.UNSPECIFIED, sandbox: bool = False, reason: str = "",
            renewal_unknown: bool = False,
    ) -> None:
        self.name = name
        self.active = active
        self.until_ms = until_ms
        self.lifetime = lifetime
        self.will_renew = will_renew
        self.state = state
        self.since_ms = since_ms
        self.origin = origin
        self.product_id = product_id
        self.tier = tier
        self.ownership_type = ownership_type
        self.sandbox = sandbox
        self.reason = reason
        self.renewal_unknown = renewal_unknown


class NamedEntitlements(Message):
    """The success value of EntitlementsTask."""

    __slots__ = ("entitlements", )
    _fields = (
        (1, "entitlements", "NamedEntitlement", True, None),
    )

    entitlements: List[NamedEntitlement]
    """By name: one for each name of the app's file, and one for each other name that was granted."""

    def __init__(self, *, entitlements: Sequence[NamedEntitlement] = ()) -> None:
        self.entitlements = list(entitlements)


class EntitlementsTaskRequest(Message):
    """Asks for the named entitlements of an account."""

    __slots__ = ("app", "account", "resume_token", "at_least")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (4, "resume_token", "bytes", False, None),
        (5, "at_least", "Position", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes."""

    resume_token: bytes
    """The token of the last value of an earlier call with the same parameters; empty to begin."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", resume_token: bytes = b"",
            at_least: Optional[Position] = None,
    ) -> None:
        self.app = app
        self.account = account
        self.resume_token = resume_token
        self.at_least = at_least


class EntitlementsTaskResponse(Message):
    """A state of EntitlementsTask."""

    __slots__ = ("loading", "failure", "success", "unchanged", "info", "bookmark")
    _fields = (
        (1, "loading", "Loading", False, "state"),
        (2, "failure", "Failure", False, "state"),
        (3, "success", "NamedEntitlements", False, "state"),
        (4, "unchanged", "Unchanged", False, "state"),
        (5, "info", "ValueInfo", False, None),
        (15, "bookmark", "Bookmark", False, None),
    )

    loading: Optional[Loading]
    """The first message."""

    failure: Optional[Failure]
    """No value now."""

    success: Optional[NamedEntitlements]
    """The value."""

    unchanged: Optional[Unchanged]
    """The token's value is still current."""

    info: Optional[ValueInfo]
    """Position and cause of the value; absent with `loading`."""

    bookmark: Optional[Bookmark]
    """Alone in its message: up to where this stream has said everything."""

    def __init__(
            self, *, loading: Optional[Loading] = None, failure: Optional[Failure] = None,
            success: Optional[NamedEntitlements] = None, unchanged: Optional[Unchanged] = None,
            info: Optional[ValueInfo] = None, bookmark: Optional[Bookmark] = None,
    ) -> None:
        self.loading = loading
        self.failure = failure
        self.success = success
        self.unchanged = unchanged
        self.info = info
        self.bookmark = bookmark


class GetEntitlementsRequest(Message):
    """Asks once for the named entitlements of an account."""

    __slots__ = ("app", "account", "as_of", "at_least")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "as_of", "AsOf", False, None),
        (5, "at_least", "Position", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes."""

    as_of: Optional[AsOf]
    """The moment; absent: now."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", as_of: Optional[AsOf] = None,
            at_least: Optional[Position] = None,
    ) -> None:
        self.app = app
        self.account = account
        self.as_of = as_of
        self.at_least = at_least


class GetPassRequest(Message):
    """Asks for a pass."""

    __slots__ = ("app", "account", "at_least")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "at_least", "Position", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    def __init__(self, *, app: Optional[AppRef] = None, account: str = "", at_least: Optional[Position] = None) -> None:
        self.app = app
        self.account = account
        self.at_least = at_least


class GetPassResponse(Message):
    """A pass."""

    __slots__ = ("position", "pass_", "expires_at_ms")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "pass_", "string", False, None),
        (3, "expires_at_ms", "int64", False, None),
    )

    position: Optional[Position]
    """Where the answer stands."""

    pass_: str
    """A compact JWS of the type JWT, signed with ES256: `iss`, `aud` (the bundle ID), `sub` (the account), `env`, `iat`, `exp`,
    `entitlements`.
    """

    expires_at_ms: int
    """When it ends, by the app's clock, in milliseconds since the Unix epoch."""

    def __init__(self, *, position: Optional[Position] = None, pass_: str = "", expires_at_ms: int = 0) -> None:
        self.position = position
        self.pass_ = pass_
        self.expires_at_ms = expires_at_ms


class GetEntitlementsResponse(Message):
    """The named entitlements of an account."""

    __slots__ = ("failure", "success", "info")
    _fields = (
        (2, "failure", "Failure", False, "state"),
        (3, "success", "NamedEntitlements", False, "state"),
        (5, "info", "ValueInfo", False, None),
    )

    failure: Optional[Failure]
    """No value now."""

    success: Optional[NamedEntitlements]
    """The value."""

    info: Optional[ValueInfo]
    """Position of the value."""

    def __init__(
            self, *, failure: Optional[Failure] = None, success: Optional[NamedEntitlements] = None,
            info: Optional[ValueInfo] = None,
    ) -> None:
        self.failure = failure
        self.success = success
        self.info = info


class CurrentEntitlementTaskRequest(Message):
    """Asks for the entitlement of an account to a product."""

    __slots__ = ("app", "account", "product_id", "resume_token", "at_least", "include_jws")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "product_id", "string", False, None),
        (4, "resume_token", "bytes", False, None),
        (5, "at_least", "Position", False, None),
        (6, "include_jws", "bool", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes."""

    product_id: str
    """Product, not empty. No account is entitled to an unknown one."""

    resume_token: bytes
    """The token of the last value of an earlier call with the same parameters; empty to begin."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    include_jws: bool
    """Whether test apps fill `jws`."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", product_id: str = "", resume_token: bytes = b"",
            at_least: Optional[Position] = None, include_jws: bool = False,
    ) -> None:
        self.app = app
        self.account = account
        self.product_id = product_id
        self.resume_token = resume_token
        self.at_least = at_least
        self.include_jws = include_jws


class CurrentEntitlementTaskResponse(Message):
    """A state of CurrentEntitlementTask."""

    __slots__ = ("loading", "failure", "success", "unchanged", "info", "bookmark")
    _fields = (
        (1, "loading", "Loading", False, "state"),
        (2, "failure", "Failure", False, "state"),
        (3, "success", "CurrentEntitlement", False, "state"),
        (4, "unchanged", "Unchanged", False, "state"),
        (5, "info", "ValueInfo", False, None),
        (15, "bookmark", "Bookmark", False, None),
    )

    loading: Optional[Loading]
    """The first message."""

    failure: Optional[Failure]
    """No value now."""

    success: Optional[CurrentEntitlement]
    """The value."""

    unchanged: Optional[Unchanged]
    """The token's value is still current."""

    info: Optional[ValueInfo]
    """Position and cause of the value; absent with `loading`."""

    bookmark: Optional[Bookmark]
    """Alone in its message: up to where this stream has said everything."""

    def __init__(
            self, *, loading: Optional[Loading] = None, failure: Optional[Failure] = None,
            success: Optional[CurrentEntitlement] = None, unchanged: Optional[Unchanged] = None,
            info: Optional[ValueInfo] = None, bookmark: Optional[Bookmark] = None,
    ) -> None:
        self.loading = loading
        self.failure = failure
        self.success = success
        self.unchanged = unchanged
        self.info = info
        self.bookmark = bookmark


class GetProductsRequest(Message):
    """Asks for products once."""

    __slots__ = ("app", "product_ids", "locale", "storefront", "at_least")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "product_ids", "string", True, None),
        (3, "locale", "string", False, None),
        (4, "storefront", "string", False, None),
        (6, "at_least", "Position", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    product_ids: List[str]
    """Product identifiers, none empty; duplicates are collapsed. No identifiers have no products: the answer is an empty success.
    """

    locale: str
    """Locale such as `en_US`; empty for the app's."""

    storefront: str
    """ISO 3166-1 alpha-3; empty for the app's."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    def __init__(
            self, *, app: Optional[AppRef] = None, product_ids: Sequence[str] = (), locale: str = "",
            storefront: str = "", at_least: Optional[Position] = None,
    ) -> None:
        self.app = app
        self.product_ids = list(product_ids)
        self.locale = locale
        self.storefront = storefront
        self.at_least = at_least


class GetProductsResponse(Message):
    """Products, numbered as in ProductsTaskResponse."""

    __slots__ = ("failure", "success", "info")
    _fields = (
        (2, "failure", "Failure", False, "state"),
        (3, "success", "Products", False, "state"),
        (5, "info", "ValueInfo", False, None),
    )

    failure: Optional[Failure]
    """No value now."""

    success: Optional[Products]
    """The value."""

    info: Optional[ValueInfo]
    """Where the value stands."""

    def __init__(
            self, *, failure: Optional[Failure] = None, success: Optional[Products] = None,
            info: Optional[ValueInfo] = None,
    ) -> None:
        self.failure = failure
        self.success = success
        self.info = info


class GetImageRequest(Message):
    """Asks for an image."""

    __slots__ = ("app", "image_id", "known_hash", "at_least")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "image_id", "string", False, None),
        (3, "known_hash", "bytes", False, None),
        (6, "at_least", "Position", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    image_id: str
    """`promotional_image_id` of a product."""

    known_hash: bytes
    """The `content_hash` of the bytes that the caller already has; empty for none."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    def __init__(
            self, *, app: Optional[AppRef] = None, image_id: str = "", known_hash: bytes = b"",
            at_least: Optional[Position] = None,
    ) -> None:
        self.app = app
        self.image_id = image_id
        self.known_hash = known_hash
        self.at_least = at_least


class GetImageResponse(Message):
    """An image."""

    __slots__ = ("content_hash", "content_type", "unchanged", "content")
    _fields = (
        (1, "content_hash", "bytes", False, None),
        (2, "content_type", "string", False, None),
        (3, "unchanged", "bool", False, None),
        (4, "content", "bytes", False, None),
    )

    content_hash: bytes
    """SHA-256 of the image, 32 bytes: `promotional_image_hash` of its products."""

    content_type: str
    """`image/png` or `image/jpeg`."""

    unchanged: bool
    """True if `known_hash` is current: `content` is left out."""

    content: bytes
    """The image."""

    def __init__(
            self, *, content_hash: bytes = b"", content_type: str = "", unchanged: bool = False, content: bytes = b"",
    ) -> None:
        self.content_hash = content_hash
        self.content_type = content_type
        self.unchanged = unchanged
        self.content = content


class GetSubscriptionStatusRequest(Message):
    """Asks for the statuses of an account in a group once."""

    __slots__ = ("app", "account", "group_id", "at_least", "as_of", "include_jws", "all_groups")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "group_id", "string", False, None),
        (5, "at_least", "Position", False, None),
        (6, "as_of", "AsOf", False, None),
        (7, "include_jws", "bool", False, None),
        (8, "all_groups", "bool", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes."""

    group_id: str
    """Subscription group, not empty unless `all_groups` is set."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    as_of: Optional[AsOf]
    """Which moment; absent: now."""

    include_jws: bool
    """Whether test apps fill `jws`."""

    all_groups: bool
    """The statuses of all groups, as StoreKit's `Status.all`. `group_id` is then empty."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", group_id: str = "",
            at_least: Optional[Position] = None, as_of: Optional[AsOf] = None, include_jws: bool = False,
            all_groups: bool = False,
    ) -> None:
        self.app = app
        self.account = account
        self.group_id = group_id
        self.at_least = at_least
        self.as_of = as_of
        self.include_jws = include_jws
        self.all_groups = all_groups


class GetSubscriptionStatusResponse(Message):
    """Statuses, numbered as in SubscriptionStatusTaskResponse."""

    __slots__ = ("failure", "success", "info")
    _fields = (
        (2, "failure", "Failure", False, "state"),
        (3, "success", "SubscriptionStatuses", False, "state"),
        (5, "info", "ValueInfo", False, None),
    )

    failure: Optional[Failure]
    """No value now."""

    success: Optional[SubscriptionStatuses]
    """The value."""

    info: Optional[ValueInfo]
    """Where the value stands."""

    def __init__(
            self, *, failure: Optional[Failure] = None, success: Optional[SubscriptionStatuses] = None,
            info: Optional[ValueInfo] = None,
    ) -> None:
        self.failure = failure
        self.success = success
        self.info = info


class GetCurrentEntitlementRequest(Message):
    """Asks for the entitlement of an account to a product once."""

    __slots__ = ("app", "account", "product_id", "at_least", "as_of", "include_jws")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "product_id", "string", False, None),
        (5, "at_least", "Position", False, None),
        (6, "as_of", "AsOf", False, None),
        (7, "include_jws", "bool", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes."""

    product_id: str
    """Product."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    as_of: Optional[AsOf]
    """Which moment; absent: now."""

    include_jws: bool
    """Whether test apps fill `jws`."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", product_id: str = "",
            at_least: Optional[Position] = None, as_of: Optional[AsOf] = None, include_jws: bool = False,
    ) -> None:
        self.app = app
        self.account = account
        self.product_id = product_id
        self.at_least = at_least
        self.as_of = as_of
        self.include_jws = include_jws


class GetCurrentEntitlementResponse(Message):
    """The entitlement, numbered as in CurrentEntitlementTaskResponse."""

    __slots__ = ("failure", "success", "info")
    _fields = (
        (2, "failure", "Failure", False, "state"),
        (3, "success", "CurrentEntitlement", False, "state"),
        (5, "info", "ValueInfo", False, None),
    )

    failure: Optional[Failure]
    """No value now."""

    success: Optional[CurrentEntitlement]
    """The value."""

    info: Optional[ValueInfo]
    """Where the value stands."""

    def __init__(
            self, *, failure: Optional[Failure] = None, success: Optional[CurrentEntitlement] = None,
            info: Optional[ValueInfo] = None,
    ) -> None:
        self.failure = failure
        self.success = success
        self.info = info


class ListCurrentEntitlementsRequest(Message):
    """Asks for all entitlements of an account."""

    __slots__ = ("app", "account", "at_least", "as_of", "include_jws")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (5, "at_least", "Position", False, None),
        (6, "as_of", "AsOf", False, None),
        (7, "include_jws", "bool", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    as_of: Optional[AsOf]
    """Which moment; absent: now."""

    include_jws: bool
    """Whether test apps fill `jws`."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", at_least: Optional[Position] = None,
            as_of: Optional[AsOf] = None, include_jws: bool = False,
    ) -> None:
        self.app = app
        self.account = account
        self.at_least = at_least
        self.as_of = as_of
        self.include_jws = include_jws


class ListCurrentEntitlementsResponse(Message):
    """All entitlements of an account."""

    __slots__ = ("transactions", "info")
    _fields = (
        (1, "transactions", "TransactionResult", True, None),
        (5, "info", "ValueInfo", False, None),
    )

    transactions: List[TransactionResult]
    """One for each entitled product and owner, by product identifier, own before shared. One with a `verification_error` would
    entitle, but is not trusted, so it does not.
    """

    info: Optional[ValueInfo]
    """Where the answer stands."""

    def __init__(self, *, transactions: Sequence[TransactionResult] = (), info: Optional[ValueInfo] = None) -> None:
        self.transactions = list(transactions)
        self.info = info


class ListPlanOptionsRequest(Message):
    """Asks for plan options."""

    __slots__ = ("app", "account", "group_id", "locale", "at_least")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "group_id", "string", False, None),
        (4, "locale", "string", False, None),
        (5, "at_least", "Position", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes."""

    group_id: str
    """Subscription group."""

    locale: str
    """Locale such as `en_US`; empty for the app's."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", group_id: str = "", locale: str = "",
            at_least: Optional[Position] = None,
    ) -> None:
        self.app = app
        self.account = account
        self.group_id = group_id
        self.locale = locale
        self.at_least = at_least


class PlanOption(Message):
    """A plan that the account can choose."""

    __slots__ = ("product", "relation", "takes_effect_at_renewal", "preferred", "offer")
    _fields = (
        (1, "product", "Product", False, None),
        (2, "relation", "PlanRelation", False, None),
        (3, "takes_effect_at_renewal", "bool", False, None),
        (4, "preferred", "bool", False, None),
        (5, "offer", "TransactionOffer", False, None),
    )

    product: Optional[Product]
    """The product."""

    relation: PlanRelation
    """Its relation to the account's current plan."""

    takes_effect_at_renewal: bool
    """True if the choice takes effect at the next renewal, not now."""

    preferred: bool
    """True for the plan of the next period."""

    offer: Optional[TransactionOffer]
    """The offer that would apply now; absent for none, and while the account's eligibility is unknown."""

    def __init__(
            self, *, product: Optional[Product] = None, relation: PlanRelation = PlanRelation.UNSPECIFIED,
            takes_effect_at_renewal: bool = False, preferred: bool = False, offer: Optional[TransactionOffer] = None,
    ) -> None:
        self.product = product
        self.relation = relation
        self.takes_effect_at_renewal = takes_effect_at_renewal
        self.preferred = preferred
        self.offer = offer


class ListPlanOptionsResponse(Message):
    """The plans of a group."""

    __slots__ = ("options", "position", "not_in_catalog", "introductory_eligibility")
    _fields = (
        (1, "options", "PlanOption", True, None),
        (2, "position", "Position", False, None),
        (3, "not_in_catalog", "bool", False, None),
        (4, "introductory_eligibility", "Eligibility", False, None),
    )

    options: List[PlanOption]
    """By level of service, then in the order of the catalogue."""

    position: Optional[Position]
    """Where the answer stands."""

    not_in_catalog: bool
    """The catalogue has no such group."""

    introductory_eligibility: Eligibility
    """Whether the account is eligible for an introductory offer in the group."""

    def __init__(
            self, *, options: Sequence[PlanOption] = (), position: Optional[Position] = None,
            not_in_catalog: bool = False, introductory_eligibility: Eligibility = Eligibility.UNSPECIFIED,
    ) -> None:
        self.options = list(options)
        self.position = position
        self.not_in_catalog = not_in_catalog
        self.introductory_eligibility = introductory_eligibility


class GetOfferEligibilityRequest(Message):
    """Asks for the eligibility of offers."""

    __slots__ = ("app", "account", "product_id", "group_id", "at_least")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "product_id", "string", False, None),
        (4, "group_id", "string", False, None),
        (5, "at_least", "Position", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes."""

    product_id: str
    """Only offers of this product; empty for all of the group."""

    group_id: str
    """Subscription group; may be left out with a product."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", product_id: str = "", group_id: str = "",
            at_least: Optional[Position] = None,
    ) -> None:
        self.app = app
        self.account = account
        self.product_id = product_id
        self.group_id = group_id
        self.at_least = at_least


class OfferEligibility(Message):
    """Whether the account may have an offer."""

    __slots__ = ("product_id", "type", "offer_id", "eligible", "reason", "message", "billing_plan", "eligibility")
    _fields = (
        (1, "product_id", "string", False, None),
        (2, "type", "OfferType", False, None),
        (3, "offer_id", "string", False, None),
        (4, "eligible", "bool", False, None),
        (5, "reason", "string", False, None),
        (6, "message", "string", False, None),
        (7, "billing_plan", "BillingPlanType", False, None),
        (8, "eligibility", "Eligibility", False, None),
    )

    product_id: str
    """The product."""

    type: OfferType
    """Which kind."""

    offer_id: str
    """The offer's identifier; for a code, its reference name; empty for introductory."""

    eligible: bool
    """Whether; false while it is unknown: see `eligibility`."""

    reason: str
    """The reason code, from the table in proto/README.md."""

    message: str
    """For people."""

    billing_plan: BillingPlanType
    """The billing plan of the offer, if the product has several: each may have an introductory offer."""

    eligibility: Eligibility
    """Whether, or that it is unknown."""

    def __init__(
            self, *, product_id: str = "", type: OfferType = OfferType.UNSPECIFIED, offer_id: str = "",
            eligible: bool = False, reason: str = "", message: str = "",
            billing_plan: BillingPlanType = BillingPlanType.UNSPECIFIED,
            eligibility: Eligibility = Eligibility.UNSPECIFIED,
    ) -> None:
        self.product_id = product_id
        self.type = type
        self.offer_id = offer_id
        self.eligible = eligible
        self.reason = reason
        self.message = message
        self.billing_plan = billing_plan
        self.eligibility = eligibility


class GetOfferEligibilityResponse(Message):
    """The eligibility of offers."""

    __slots__ = ("introductory_eligible", "offers", "position", "not_in_catalog", "introductory_eligibility")
    _fields = (
        (1, "introductory_eligible", "bool", False, None),
        (2, "offers", "OfferEligibility", True, None),
        (3, "position", "Position", False, None),
        (4, "not_in_catalog", "bool", False, None),
        (5, "introductory_eligibility", "Eligibility", False, None),
    )

    introductory_eligible: bool
    """Whether the account is eligible for an introductory offer in the group, even if the group has none. False while it is
    unknown: see `introductory_eligibility`.
    """

    offers: List[OfferEligibility]
    """The offers of the products; win-back offers best first."""

    position: Optional[Position]
    """Where the answer stands."""

    not_in_catalog: bool
    """The catalogue has no such group or product, so nobody is eligible."""

    introductory_eligibility: Eligibility
    """Whether the account is eligible for an introductory offer in the group, or that it is unknown."""

    def __init__(
            self, *, introductory_eligible: bool = False, offers: Sequence[OfferEligibility] = (),
            position: Optional[Position] = None, not_in_catalog: bool = False,
            introductory_eligibility: Eligibility = Eligibility.UNSPECIFIED,
    ) -> None:
        self.introductory_eligible = introductory_eligible
        self.offers = list(offers)
        self.position = position
        self.not_in_catalog = not_in_catalog
        self.introductory_eligibility = introductory_eligibility


class GetAppPoliciesRequest(Message):
    """Asks for policies."""

    __slots__ = ("app", "locale")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "locale", "string", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    locale: str
    """Locale such as `en_US`; empty for the app's."""

    def __init__(self, *, app: Optional[AppRef] = None, locale: str = "") -> None:
        self.app = app
        self.locale = locale


class GetAppPoliciesResponse(Message):
    """The app's policies."""

    __slots__ = (
            "licence_agreement", "privacy_policy_text", "privacy_policy_url", "privacy_policy_locale", "shows_dialogs",
    )
    _fields = (
        (1, "licence_agreement", "string", False, None),
        (2, "privacy_policy_text", "string", False, None),
        (3, "privacy_policy_url", "string", False, None),
        (4, "privacy_policy_locale", "string", False, None),
        (5, "shows_dialogs", "bool", False, None),
    )

    licence_agreement: str
    """Text of the licence agreement; empty for none."""

    privacy_policy_text: str
    """Text of the privacy policy; empty for none."""

    privacy_policy_url: str
    """Address of the privacy policy; empty for none."""

    privacy_policy_locale: str
    """The locale of the selected privacy policy."""

    shows_dialogs: bool
    """The app's setting of dialogs: a client that sells shows a payment sheet, and asks the customer before it buys."""

    def __init__(
            self, *, licence_agreement: str = "", privacy_policy_text: str = "", privacy_policy_url: str = "",
            privacy_policy_locale: str = "", shows_dialogs: bool = False,
    ) -> None:
        self.licence_agreement = licence_agreement
        self.privacy_policy_text = privacy_policy_text
        self.privacy_policy_url = privacy_policy_url
        self.privacy_policy_locale = privacy_policy_locale
        self.shows_dialogs = shows_dialogs


class ExplainRequest(Message):
    """Asks why."""

    __slots__ = (
            "app", "account", "group_id", "product_id", "as_of", "at_least", "locale", "utc_offset_minutes", "suppose",
            "with_history",
    )
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "group_id", "string", False, "about"),
        (4, "product_id", "string", False, "about"),
        (5, "as_of", "AsOf", False, None),
        (6, "at_least", "Position", False, None),
        (7, "locale", "string", False, None),
        (8, "utc_offset_minutes", "int32", False, None),
        (9, "suppose", "Supposition", False, None),
        (10, "with_history", "bool", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes."""

    group_id: Optional[str]
    """The statuses of a group."""

    product_id: Optional[str]
    """The entitlement to a product."""

    as_of: Optional[AsOf]
    """Which moment; absent: now."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    locale: str
    """Language of the texts for people, such as `de` or `de_AT`. Empty, or a language that the server has no texts in: English.
    """

    utc_offset_minutes: int
    """Where the reader's clock stands, in minutes east of UTC: -1080 to 1080. Days and times in the texts for people are of this clock.
    """

    suppose: Optional[Supposition]
    """An event that has not happened. The answer has, beside what is, what would be. Nothing is changed."""

    with_history: bool
    """Also what happened. Only of a question about everything that the account has."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", group_id: Optional[str] = None,
            product_id: Optional[str] = None, as_of: Optional[AsOf] = None, at_least: Optional[Position] = None,
            locale: str = "", utc_offset_minutes: int = 0, suppose: Optional[Supposition] = None,
            with_history: bool = False,
    ) -> None:
        self.app = app
        self.account = account
        self.group_id = group_id
        self.product_id = product_id
        self.as_of = as_of
        self.at_least = at_least
        self.locale = locale
        self.utc_offset_minutes = utc_offset_minutes
        self.suppose = suppose
        self.with_history = with_history


class Supposition(Message):
    """An event that has not happened."""

    __slots__ = ("event", "product_id", "original_transaction_id", "price_milliunits")
    _fields = (
        (1, "event", "SupposedEvent", False, None),
        (2, "product_id", "string", False, None),
        (3, "original_transaction_id", "uint64", False, None),
        (4, "price_milliunits", "int64", False, None),
    )

    event: SupposedEvent
    """The event."""

    product_id: str
    """The product that the customer changes to, for a change of plan; empty for other events."""

    original_transaction_id: int
    """The first transaction of the subscription, or the purchase. 0: the one that counts."""

    price_milliunits: int
    """The new price, for a rise of the price, in thousandths of the currency's unit. 0: a tenth more."""

    def __init__(
            self, *, event: SupposedEvent = SupposedEvent.UNSPECIFIED, product_id: str = "",
            original_transaction_id: int = 0, price_milliunits: int = 0,
    ) -> None:
        self.event = event
        self.product_id = product_id
        self.original_transaction_id = original_transaction_id
        self.price_milliunits = price_milliunits


class ExpectedChange(Message):
    """A change that time alone brings."""

    __slots__ = ("at_ms", "message", "kind", "original_transaction_id", "grant")
    _fields = (
        (1, "at_ms", "int64", False, None),
        (2, "message", "string", False, None),
        (3, "kind", "ForecastKind", False, None),
        (4, "original_transaction_id", "uint64", False, None),
        (5, "grant", "string", False, None),
    )

    at_ms: int
    """When, in milliseconds since the Unix epoch."""

    message: str
    """What, for people, without its instant."""

    kind: ForecastKind
    """Unspecified for the end of a grant."""

    original_transaction_id: int
    """The first transaction of the line; 0 for the end of a grant."""

    grant: str
    """The grant that ends; empty for a line."""

    def __init__(
            self, *, at_ms: int = 0, message: str = "", kind: ForecastKind = ForecastKind.UNSPECIFIED,
            original_transaction_id: int = 0, grant: str = "",
    ) -> None:
        self.at_ms = at_ms
        self.message = message
        self.kind = kind
        self.original_transaction_id = original_transaction_id
        self.grant = grant


class ExplainedGrant(Message):
    """An entitlement that an administrator granted."""

    __slots__ = ("name", "granted_by", "reason", "since_ms", "until_ms", "tier", "message")
    _fields = (
        (1, "name", "string", False, None),
        (2, "granted_by", "string", False, None),
        (3, "reason", "string", False, None),
        (4, "since_ms", "int64", False, None),
        (5, "until_ms", "int64", False, "end"),
        (6, "tier", "string", False, None),
        (7, "message", "string", False, None),
    )

    name: str
    """The entitlement."""

    granted_by: str
    """Subject of the credentials that granted it. Empty where it is not known, and for credentials of one account."""

    reason: str
    """As it was given. Empty for credentials of one account."""

    since_ms: int
    """When it was granted, in milliseconds since the Unix epoch."""

    until_ms: Optional[int]
    """When it ends, in milliseconds since the Unix epoch."""

    tier: str
    """What the app calls this kind of the entitlement, such as `premium`; empty for none."""

    message: str
    """When, by whom and why, for people."""

    def __init__(
            self, *, name: str = "", granted_by: str = "", reason: str = "", since_ms: int = 0,
            until_ms: Optional[int] = None, tier: str = "", message: str = "",
    ) -> None:
        self.name = name
        self.granted_by = granted_by
        self.reason = reason
        self.since_ms = since_ms
        self.until_ms = until_ms
        self.tier = tier
        self.message = message


class HistoryEntry(Message):
    """Something that happened to an account. What comes later changes nothing of it."""

    __slots__ = ("at_ms", "message", "kind", "transaction_id", "by", "account")
    _fields = (
        (1, "at_ms", "int64", False, None),
        (2, "message", "string", False, None),
        (3, "kind", "HistoryKind", False, None),
        (4, "transaction_id", "uint64", False, None),
        (5, "by", "string", False, None),
        (6, "account", "string", False, None),
    )

    at_ms: int
    """When, in milliseconds since the Unix epoch."""

    message: str
    """What happened and who did it, for people, without its instant."""

    kind: HistoryKind
    """For programs."""

    transaction_id: int
    """The purchase or period that it is about; 0 for none."""

    by: str
    """Subject of the credentials that did it. Empty where it is not known, and for credentials of one account."""

    account: str
    """The key of the other account of a move or a sharing. Empty for none, and for credentials of one account."""

    def __init__(
            self, *, at_ms: int = 0, message: str = "", kind: HistoryKind = HistoryKind.UNSPECIFIED,
            transaction_id: int = 0, by: str = "", account: str = "",
    ) -> None:
        self.at_ms = at_ms
        self.message = message
        self.kind = kind
        self.transaction_id = transaction_id
        self.by = by
        self.account = account


class SupposedOutcome(Message):
    """What would be after an event that has not happened."""

    __slots__ = ("summary", "entitled", "changes")
    _fields = (
        (1, "summary", "string", False, None),
        (2, "entitled", "bool", False, None),
        (3, "changes", "ExpectedChange", True, None),
    )

    summary: str
    """What the account would have, in sentences that can be read to the customer."""

    entitled: bool
    """Whether the account would be entitled."""

    changes: List[ExpectedChange]
    """The next changes that time alone would bring, at most three, soonest first."""

    def __init__(self, *, summary: str = "", entitled: bool = False, changes: Sequence[ExpectedChange] = ()) -> None:
        self.summary = summary
        self.entitled = entitled
        self.changes = list(changes)


class ExplainedFact(Message):
    """A fact that decided."""

    __slots__ = ("transaction_id", "field", "value")
    _fields = (
        (1, "transaction_id", "uint64", False, None),
        (2, "field", "string", False, None),
        (3, "value", "string", False, None),
    )

    transaction_id: int
    """The transaction."""

    field: str
    """The field's name in the contract, such as `expiration_date_ms`."""

    value: str
    """The field's value, as a text."""

    def __init__(self, *, transaction_id: int = 0, field: str = "", value: str = "") -> None:
        self.transaction_id = transaction_id
        self.field = field
        self.value = value


class Explanation(Message):
    """Why one line or owned product is in its state."""

    __slots__ = (
            "rule", "message", "original_transaction_id", "state", "entitled", "facts", "next_change", "next_message",
    )
    _fields = (
        (1, "rule", "string", False, None),
        (2, "message", "string", False, None),
        (3, "original_transaction_id", "uint64", False, "line"),
        (4, "state", "RenewalState", False, None),
        (5, "entitled", "bool", False, None),
        (6, "facts", "ExplainedFact", True, None),
        (7, "next_change", "Forecast", False, None),
        (8, "next_message", "string", False, None),
    )

    rule: str
    """The rule's code, from the table in proto/README.md."""

    message: str
    """The rule and its facts, as a sentence."""

    original_transaction_id: Optional[int]
    """The first transaction of the line."""

    state: RenewalState
    """The line's state; unspecified without a line."""

    entitled: bool
    """Whether this one entitles."""

    facts: List[ExplainedFact]
    """What decided."""

    next_change: Optional[Forecast]
    """The next automatic change; absent for none."""

    next_message: str
    """That, for people."""

    def __init__(
            self, *, rule: str = "", message: str = "", original_transaction_id: Optional[int] = None,
            state: RenewalState = RenewalState.UNSPECIFIED, entitled: bool = False,
            facts: Sequence[ExplainedFact] = (), next_change: Optional[Forecast] = None, next_message: str = "",
    ) -> None:
        self.rule = rule
        self.message = message
        self.original_transaction_id = original_transaction_id
        self.state = state
        self.entitled = entitled
        self.facts = list(facts)
        self.next_change = next_change
        self.next_message = next_message


class ExplainResponse(Message):
    """Why."""

    __slots__ = (
            "message", "entitled", "explanations", "position", "not_in_catalog", "summary", "changes", "grants",
            "supposed", "history", "history_is_cut",
    )
    _fields = (
        (1, "message", "string", False, None),
        (2, "entitled", "bool", False, None),
        (3, "explanations", "Explanation", True, None),
        (4, "position", "Position", False, None),
        (5, "not_in_catalog", "bool", False, None),
        (6, "summary", "string", False, None),
        (7, "changes", "ExpectedChange", True, None),
        (8, "grants", "ExplainedGrant", True, None),
        (9, "supposed", "SupposedOutcome", False, None),
        (10, "history", "HistoryEntry", True, None),
        (11, "history_is_cut", "bool", False, None),
    )

    message: str
    """The answer in one sentence."""

    entitled: bool
    """Whether the account is entitled. A grant counts if it gives what the subscriptions of the group give."""

    explanations: List[Explanation]
    """One for each grant, line or transaction considered; the one that counts is first."""

    position: Optional[Position]
    """Where the answer stands."""

    not_in_catalog: bool
    """The account owns nothing there, and the catalogue has no such group or product."""

    summary: str
    """What the account has, in sentences that can be read to the customer."""

    changes: List[ExpectedChange]
    """The next changes that time alone brings, at most three, soonest first."""

    grants: List[ExplainedGrant]
    """What administrators granted, also what has ended since. Only of a question about everything that the account has.
    """

    supposed: Optional[SupposedOutcome]
    """What would be after the supposed event. Absent without one."""

    history: List[HistoryEntry]
    """What happened, newest first, at most 200 entries. Absent unless it was asked for."""

    history_is_cut: bool
    """Older entries of the history were left out. It is empty for an account with more facts than one read goes through.
    """

    def __init__(
            self, *, message: str = "", entitled: bool = False, explanations: Sequence[Explanation] = (),
            position: Optional[Position] = None, not_in_catalog: bool = False, summary: str = "",
            changes: Sequence[ExpectedChange] = (), grants: Sequence[ExplainedGrant] = (),
            supposed: Optional[SupposedOutcome] = None, history: Sequence[HistoryEntry] = (),
            history_is_cut: bool = False,
    ) -> None:
        self.message = message
        self.entitled = entitled
        self.explanations = list(explanations)
        self.position = position
        self.not_in_catalog = not_in_catalog
        self.summary = summary
        self.changes = list(changes)
        self.grants = list(grants)
        self.supposed = supposed
        self.history = list(history)
        self.history_is_cut = history_is_cut


class AppChangesRequest(Message):
    """Asks for the changes of an app."""

    __slots__ = ("app", "cursor", "from_oldest", "causes", "group_ids", "product_ids", "entitlements_only", "at_least")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "cursor", "bytes", False, None),
        (3, "from_oldest", "bool", False, None),
        (4, "causes", "Cause", True, None),
        (5, "group_ids", "string", True, None),
        (6, "product_ids", "string", True, None),
        (7, "entitlements_only", "bool", False, None),
        (8, "at_least", "Position", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    cursor: bytes
    """The cursor of the last change of an earlier call: all later changes follow. Empty: changes from now on. In each case the
    first message has only a cursor, that of the place where the changes begin.
    """

    from_oldest: bool
    """Without a cursor: begins with the oldest change that a cursor may stand before, not with the next one."""

    causes: List[Cause]
    """Only changes with one of these causes; empty for all."""

    group_ids: List[str]
    """Only changes of statuses in one of these groups, or of one of `product_ids`; both empty for all."""

    product_ids: List[str]
    """Only changes of entitlements to one of these products, of consumables among them, or of statuses in one of `group_ids`; both
    empty for all.
    """

    entitlements_only: bool
    """Only changes of an entitlement: an account may use something from now on, no longer, or by another transaction.
    """

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    def __init__(
            self, *, app: Optional[AppRef] = None, cursor: bytes = b"", from_oldest: bool = False,
            causes: Sequence[Cause] = (), group_ids: Sequence[str] = (), product_ids: Sequence[str] = (),
            entitlements_only: bool = False, at_least: Optional[Position] = None,
    ) -> None:
        self.app = app
        self.cursor = cursor
        self.from_oldest = from_oldest
        self.causes = list(causes)
        self.group_ids = list(group_ids)
        self.product_ids = list(product_ids)
        self.entitlements_only = entitlements_only
        self.at_least = at_least


class EntitlementChange(Message):
    """The entitlement of an account to a product after a change."""

    __slots__ = ("product_id", "transaction")
    _fields = (
        (1, "product_id", "string", False, None),
        (2, "transaction", "TransactionResult", False, None),
    )

    product_id: str
    """The product."""

    transaction: Optional[TransactionResult]
    """The transaction that entitles now. Absent: not entitled."""

    def __init__(self, *, product_id: str = "", transaction: Optional[TransactionResult] = None) -> None:
        self.product_id = product_id
        self.transaction = transaction


class AppStoreNotification(Message):
    """A notification of the App Store that was about an account."""

    __slots__ = ("type", "subtype", "uuid", "signed_at_ms", "transaction_id")
    _fields = (
        (1, "type", "string", False, None),
        (2, "subtype", "string", False, None),
        (3, "uuid", "string", False, None),
        (4, "signed_at_ms", "int64", False, None),
        (5, "transaction_id", "uint64", False, None),
    )

    type: str
    """Apple's type, such as `DID_RENEW`."""

    subtype: str
    """Apple's subtype, such as `BILLING_RECOVERY`; empty for none."""

    uuid: str
    """Apple's UUID, the same in each retry."""

    signed_at_ms: int
    """When Apple signed it, in milliseconds since the Unix epoch."""

    transaction_id: int
    """The transaction inside; 0 for none."""

    def __init__(
            self, *, type: str = "", subtype: str = "", uuid: str = "", signed_at_ms: int = 0, transaction_id: int = 0,
    ) -> None:
        self.type = type
        self.subtype = subtype
        self.uuid = uuid
        self.signed_at_ms = signed_at_ms
        self.transaction_id = transaction_id


class ConsumptionRequest(Message):
    """The App Store asks the app about a purchase that its customer wants refunded. The app answers by Apple's Send Consumption
    Information.
    """

    __slots__ = ("transaction_id", "reason", "deadline_ms")
    _fields = (
        (1, "transaction_id", "uint64", False, None),
        (2, "reason", "string", False, None),
        (3, "deadline_ms", "int64", False, None),
    )

    transaction_id: int
    """The purchase."""

    reason: str
    """Apple's word for the customer's reason, such as `UNINTENDED_PURCHASE`; empty where Apple gave none."""

    deadline_ms: int
    """Until when Apple takes an answer, in milliseconds since the Unix epoch: twelve hours after the request was signed.
    """

    def __init__(self, *, transaction_id: int = 0, reason: str = "", deadline_ms: int = 0) -> None:
        self.transaction_id = transaction_id
        self.reason = reason
        self.deadline_ms = deadline_ms


class AppChangesResponse(Message):
    """One change of an account. A change whose values are too long for a message has neither statuses nor entitlements: read the
    account. A message without a cause, statuses and entitlements and without an account has only a cursor:
    nothing that the call asks for has happened up to there.
    """

    __slots__ = (
            "account", "cause", "groups", "entitlements", "position", "commit_time_ms", "origin_client_id", "cursor",
            "notification", "consumption_request", "consumables", "bookmark",
    )
    _fields = (
        (1, "account", "string", False, None),
        (2, "cause", "Cause", False, None),
        (3, "groups", "GroupStatuses", True, None),
        (4, "entitlements", "EntitlementChange", True, None),
        (5, "position", "Position", False, None),
        (6, "commit_time_ms", "int64", False, None),
        (7, "origin_client_id", "bytes", False, None),
        (8, "cursor", "bytes", False, None),
        (9, "notification", "AppStoreNotification", False, None),
        (10, "consumption_request", "ConsumptionRequest", False, None),
        (11, "consumables", "TransactionResult", True, None),
        (15, "bookmark", "Bookmark", False, None),
    )

    account: str
    """The caller's key of the account, the first in bytewise order if it has several. Empty: the app itself has changed, its
    catalogue, its clock or a setting, as `cause` says.
    """

    cause: Cause
    """Why. Unspecified for a change that no value shows, such as Finish."""

    groups: List[GroupStatuses]
    """Every group in which a status has changed, with all of its statuses."""

    entitlements: List[EntitlementChange]
    """Every product to which the entitlement has changed."""

    position: Optional[Position]
    """The revision, and the instant on the app's clock. A change by time has the revision before it. Positions never decrease.
    """

    commit_time_ms: int
    """When the revision was committed; of a change by time, when the account's last change was. In milliseconds since the
    Unix epoch.
    """

    origin_client_id: bytes
    """The `client_id` of the connection that caused it; empty for the store itself."""

    cursor: bytes
    """Opaque. A new call that sends it gets the changes after this one."""

    notification: Optional[AppStoreNotification]
    """The notification that brought the change. Absent for a change that came otherwise. A notification that changed no value, such
    as REFUND_DECLINED, has a message of its own.
    """

    consumption_request: Optional[ConsumptionRequest]
    """The question that the notification asks; absent for none."""

    consumables: List[TransactionResult]
    """Consumables that were bought, refunded or given back. They are in no list of entitlements."""

    bookmark: Optional[Bookmark]
    """Alone in its message: up to where this stream has said everything."""

    def __init__(
            self, *, account: str = "", cause: Cause = Cause.UNSPECIFIED, groups: Sequence[GroupStatuses] = (),
            entitlements: Sequence[EntitlementChange] = (), position: Optional[Position] = None,
            commit_time_ms: int = 0, origin_client_id: bytes = b"", cursor: bytes = b"",
            notification: Optional[AppStoreNotification] = None,
            consumption_request: Optional[ConsumptionRequest] = None, consumables: Sequence[TransactionResult] = (),
            bookmark: Optional[Bookmark] = None,
    ) -> None:
        self.account = account
        self.cause = cause
        self.groups = list(groups)
        self.entitlements = list(entitlements)
        self.position = position
        self.commit_time_ms = commit_time_ms
        self.origin_client_id = origin_client_id
        self.cursor = cursor
        self.notification = notification
        self.consumption_request = consumption_request
        self.consumables = list(consumables)
        self.bookmark = bookmark


class AppEntitlementsRequest(Message):
    """Asks for a copy of an app's named entitlements."""

    __slots__ = ("app", "resume_token", "names", "shard", "shard_count", "at_least")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "resume_token", "bytes", False, None),
        (3, "names", "string", True, None),
        (4, "shard", "uint32", False, None),
        (5, "shard_count", "uint32", False, None),
        (6, "at_least", "Position", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    resume_token: bytes
    """The newest resume token of a copy that was complete: its changes go on. Of another store, app, catalogue, list of names or
    shard, or too old: the stream begins a new copy. Empty: a new copy.
    """

    names: List[str]
    """Only these names, at most 1,024; empty for all. A name that the app does not have gives no entry."""

    shard: int
    """Only accounts of this shard, from 0. The shard of an account is the CRC-32 of its key (the checksum of zlib, gzip and PNG)
    modulo `shard_count`.
    """

    shard_count: int
    """The number of shards, at most 256. 0 and 1: the copy has every account."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    def __init__(
            self, *, app: Optional[AppRef] = None, resume_token: bytes = b"", names: Sequence[str] = (),
            shard: int = 0, shard_count: int = 0, at_least: Optional[Position] = None,
    ) -> None:
        self.app = app
        self.resume_token = resume_token
        self.names = list(names)
        self.shard = shard
        self.shard_count = shard_count
        self.at_least = at_least


class EntitlementGrade(Message):
    """A name, and one of its tiers."""

    __slots__ = ("name", "tier")
    _fields = (
        (1, "name", "string", False, None),
        (2, "tier", "string", False, None),
    )

    name: str
    """The entitlement's name."""

    tier: str
    """The tier in the app's file of entitlements; empty for none."""

    def __init__(self, *, name: str = "", tier: str = "") -> None:
        self.name = name
        self.tier = tier


class EntitlementsClock(Message):
    """The app's clock at an instant of the server's clock. It runs as fast as that one, or stands still."""

    __slots__ = ("app_time_ms", "server_time_ms", "frozen", "test_app")
    _fields = (
        (1, "app_time_ms", "int64", False, None),
        (2, "server_time_ms", "int64", False, None),
        (3, "frozen", "bool", False, None),
        (4, "test_app", "bool", False, None),
    )

    app_time_ms: int
    """The app's clock, in milliseconds since the Unix epoch."""

    server_time_ms: int
    """The server's wall clock at the same moment, in milliseconds since the Unix epoch."""

    frozen: bool
    """The app's clock stands still until a message has another clock."""

    test_app: bool
    """Perch itself is the store of this app."""

    def __init__(
            self, *, app_time_ms: int = 0, server_time_ms: int = 0, frozen: bool = False, test_app: bool = False,
    ) -> None:
        self.app_time_ms = app_time_ms
        self.server_time_ms = server_time_ms
        self.frozen = frozen
        self.test_app = test_app


class EntitlementsBegin(Message):
    """The beginning of a copy, or of the changes of one that goes on. The first message of each call."""

    __slots__ = ("resumed", "grades", "names", "clock")
    _fields = (
        (1, "resumed", "bool", False, None),
        (2, "grades", "EntitlementGrade", True, None),
        (3, "names", "string", True, None),
        (4, "clock", "EntitlementsClock", False, None),
    )

    resumed: bool
    """The copy of the resume token goes on: its entries stay, and there is no `end`. False: a new copy."""

    grades: List[EntitlementGrade]
    """The grades of the app's file of entitlements, by the number that stands for each in a batch."""

    names: List[str]
    """The names that the app's file has, whether the call asks for them or not."""

    clock: Optional[EntitlementsClock]
    """The app's clock. Segments are on it."""

    def __init__(
            self, *, resumed: bool = False, grades: Sequence[EntitlementGrade] = (), names: Sequence[str] = (),
            clock: Optional[EntitlementsClock] = None,
    ) -> None:
        self.resumed = resumed
        self.grades = list(grades)
        self.names = list(names)
        self.clock = clock


class EntitlementsBatch(Message):
    """Entries of some accounts, each whole: what it has replaces everything that the copy had of it, its aliases too. An entry goes before
    an alias of the same name. A key that has become an alias comes as an entry without segments.

    The columns have fixed widths, so that a reader decodes them with slices of its language, without a message for each account.
    Column i of an account is at place i; the segments of an account are neighbours, by name, and in order within a name. The first
    segment of a name has begun; each later one begins where the one before ends. A name is entitled by its first segment whose end
    is later than the app's clock, if that has a reason. Grace and leeway are in the segments.
    """

    __slots__ = (
            "keys", "key_ends", "segment_ends", "grades", "untils", "reasons", "aliases", "alias_ends",
            "alias_accounts", "more_grades", "position", "commit_time_ms", "resume_token", "clock",
    )
    _fields = (
        (1, "keys", "bytes", False, None),
        (2, "key_ends", "fixed32", True, None),
        (3, "segment_ends", "fixed32", True, None),
        (4, "grades", "fixed32", True, None),
        (5, "untils", "sfixed64", True, None),
        (6, "reasons", "bytes", False, None),
        (7, "aliases", "bytes", False, None),
        (8, "alias_ends", "fixed32", True, None),
        (9, "alias_accounts", "fixed32", True, None),
        (10, "more_grades", "EntitlementGrade", True, None),
        (11, "position", "Position", False, None),
        (12, "commit_time_ms", "int64", False, None),
        (13, "resume_token", "bytes", False, None),
        (14, "clock", "EntitlementsClock", False, None),
    )

    keys: bytes
    """The keys of the accounts, one after another."""

    key_ends: List[int]
    """Where each key ends in `keys`."""

    segment_ends: List[int]
    """Where the segments of each account end among all segments. An account without one has nothing any more."""

    grades: List[int]
    """Of each segment: the place of its grade in `begin.grades`; beyond them, in `more_grades` of this message."""

    untils: List[int]
    """Of each segment: the instant of the app's clock at which it ends, in milliseconds since the Unix epoch. 2^63 - 1: never by
    itself.
    """

    reasons: bytes
    """Of each segment: its `EntitlementReason`, in one byte."""

    aliases: bytes
    """Other keys of the accounts, one after another: the keys of merged accounts, then names that `AttachAlias` or a report has given to a
    customer, by which reads find the account too. Hashes of e-mail addresses are not among them. Of an account at most 1,000, the first
    in bytewise order.
    """

    alias_ends: List[int]
    """Where each alias ends in `aliases`."""

    alias_accounts: List[int]
    """Of each alias: the place of its account in this message, ascending."""

    more_grades: List[EntitlementGrade]
    """Grades that the app's file of entitlements does not have: those of grants."""

    position: Optional[Position]
    """Of a change: where the copy stands after it. Positions never decrease. Absent until `end`."""

    commit_time_ms: int
    """Of a change: when it was committed, in milliseconds since the Unix epoch. A batch of several changes has that of the last.
    """

    resume_token: bytes
    """Of a change: a new call that sends it goes on after this batch."""

    clock: Optional[EntitlementsClock]
    """The app's clock was moved, stopped or started. Absent: it runs on as before."""

    def __init__(
            self, *, keys: bytes = b"", key_ends: Sequence[int] = (), segment_ends: Sequence[int] = (),
            grades: Sequence[int] = (), untils: Sequence[int] = (), reasons: bytes = b"", aliases: bytes = b"",
            alias_ends: Sequence[int] = (), alias_accounts: Sequence[int] = (),
            more_grades: Sequence[EntitlementGrade] = (), position: Optional[Position] = None, commit_time_ms: int = 0,
            resume_token: bytes = b"", clock: Optional[EntitlementsClock] = None,
    ) -> None:
        self.keys = keys
        self.key_ends = list(key_ends)
        self.segment_ends = list(segment_ends)
        self.grades = list(grades)
        self.untils = list(untils)
        self.reasons = reasons
        self.aliases = aliases
        self.alias_ends = list(alias_ends)
        self.alias_accounts = list(alias_accounts)
        self.more_grades = list(more_grades)
        self.position = position
        self.commit_time_ms = commit_time_ms
        self.resume_token = resume_token
        self.clock = clock


class EntitlementsEnd(Message):
    """The copy is complete."""

    __slots__ = ("position", "resume_token")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "resume_token", "bytes", False, None),
    )

    position: Optional[Position]
    """Where it stands."""

    resume_token: bytes
    """A new call that sends it goes on from here."""

    def __init__(self, *, position: Optional[Position] = None, resume_token: bytes = b"") -> None:
        self.position = position
        self.resume_token = resume_token


class AppEntitlementsResponse(Message):
    """A part of a copy."""

    __slots__ = ("begin", "accounts", "end", "bookmark")
    _fields = (
        (1, "begin", "EntitlementsBegin", False, "part"),
        (2, "accounts", "EntitlementsBatch", False, "part"),
        (3, "end", "EntitlementsEnd", False, "part"),
        (15, "bookmark", "Bookmark", False, None),
    )

    begin: Optional[EntitlementsBegin]
    """A copy begins."""

    accounts: Optional[EntitlementsBatch]
    """Entries of a copy, or a change. Without accounts: nothing that the call asks for has happened up to its position.
    """

    end: Optional[EntitlementsEnd]
    """The copy is complete."""

    bookmark: Optional[Bookmark]
    """Alone in its message: up to where this stream has said everything, and the server's time."""

    def __init__(
            self, *, begin: Optional[EntitlementsBegin] = None, accounts: Optional[EntitlementsBatch] = None,
            end: Optional[EntitlementsEnd] = None, bookmark: Optional[Bookmark] = None,
    ) -> None:
        self.begin = begin
        self.accounts = accounts
        self.end = end
        self.bookmark = bookmark


class SubmitTransactionRequest(Message):
    """Signed values for one app."""

    __slots__ = ("app", "signed_values", "account", "idempotency_key")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "signed_values", "string", True, None),
        (3, "account", "string", False, None),
        (4, "idempotency_key", "bytes", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    signed_values: List[str]
    """Compact JWS, as they came from Apple; up to 50."""

    account: str
    """The caller's key of the account that bought. The app's claim policy decides where another account has the purchase.
    Empty: appAccountToken and the aliases of accounts decide.
    """

    idempotency_key: bytes
    """Makes the call safe to repeat. Up to 64 bytes."""

    def __init__(
            self, *, app: Optional[AppRef] = None, signed_values: Sequence[str] = (), account: str = "",
            idempotency_key: bytes = b"",
    ) -> None:
        self.app = app
        self.signed_values = list(signed_values)
        self.account = account
        self.idempotency_key = idempotency_key


class SubmitTransactionResponse(Message):
    """What became of a submission."""

    __slots__ = ("position", "news_count", "stale_count", "duplicate_count", "refused")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "news_count", "uint32", False, None),
        (3, "stale_count", "uint32", False, None),
        (4, "duplicate_count", "uint32", False, None),
        (5, "refused", "RefusedValue", True, None),
    )

    position: Optional[Position]
    """Where the store stands with it."""

    news_count: int
    """Values that changed something."""

    stale_count: int
    """Values that are older than what is known. They are kept, because they tell about the past."""

    duplicate_count: int
    """Values that were known."""

    refused: List[RefusedValue]
    """Values that were not taken, in the order of the request. The others were."""

    def __init__(
            self, *, position: Optional[Position] = None, news_count: int = 0, stale_count: int = 0,
            duplicate_count: int = 0, refused: Sequence[RefusedValue] = (),
    ) -> None:
        self.position = position
        self.news_count = news_count
        self.stale_count = stale_count
        self.duplicate_count = duplicate_count
        self.refused = list(refused)


class RefusedValue(Message):
    """A value of a submission that was not taken."""

    __slots__ = ("index", "reason", "message")
    _fields = (
        (1, "index", "uint32", False, None),
        (2, "reason", "string", False, None),
        (3, "message", "string", False, None),
    )

    index: int
    """Its place in `signed_values`, from 0."""

    reason: str
    """A word of the table of errors."""

    message: str
    """That as a sentence. It quotes nothing of the value."""

    def __init__(self, *, index: int = 0, reason: str = "", message: str = "") -> None:
        self.index = index
        self.reason = reason
        self.message = message


class SubmitNotificationRequest(Message):
    """A notification, with Apple's name of its field."""

    __slots__ = ("signed_payload", )
    _fields = (
        (1, "signed_payload", "string", False, None),
    )

    signed_payload: str
    """Compact JWS."""

    def __init__(self, *, signed_payload: str = "") -> None:
        self.signed_payload = signed_payload


class SubmitNotificationResponse(Message):
    """What became of a notification."""

    __slots__ = ("position", "news_count", "stale_count", "duplicate_count")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "news_count", "uint32", False, None),
        (3, "stale_count", "uint32", False, None),
        (4, "duplicate_count", "uint32", False, None),
    )

    position: Optional[Position]
    """Where the store stands with it."""

    news_count: int
    """Values that changed something."""

    stale_count: int
    """Values that are older than what is known."""

    duplicate_count: int
    """Values that were known."""

    def __init__(
            self, *, position: Optional[Position] = None, news_count: int = 0, stale_count: int = 0,
            duplicate_count: int = 0,
    ) -> None:
        self.position = position
        self.news_count = news_count
        self.stale_count = stale_count
        self.duplicate_count = duplicate_count


class PurchaseRequest(Message):
    """Buys a product."""

    __slots__ = ("app", "account", "order", "idempotency_key", "include_jws", "confirmed")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "order", "PurchaseOrder", False, None),
        (8, "idempotency_key", "bytes", False, None),
        (9, "include_jws", "bool", False, None),
        (10, "confirmed", "bool", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes. An account that does not exist is created."""

    order: Optional[PurchaseOrder]
    """The order."""

    idempotency_key: bytes
    """Makes the call safe to repeat: the same key gives the same answer for seven days. Up to 64 bytes."""

    include_jws: bool
    """Whether test apps fill `jws`."""

    confirmed: bool
    """The customer has agreed in the client's own payment sheet: the app's dialogs do not ask again."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", order: Optional[PurchaseOrder] = None,
            idempotency_key: bytes = b"", include_jws: bool = False, confirmed: bool = False,
    ) -> None:
        self.app = app
        self.account = account
        self.order = order
        self.idempotency_key = idempotency_key
        self.include_jws = include_jws
        self.confirmed = confirmed


class PurchaseResponse(Message):
    """The result of a purchase."""

    __slots__ = ("position", "result", "transaction", "already_held", "pending_number")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "result", "PurchaseResult", False, None),
        (3, "transaction", "TransactionResult", False, None),
        (4, "already_held", "bool", False, None),
        (5, "pending_number", "uint64", False, None),
    )

    position: Optional[Position]
    """The position of the change. A read with this `at_least` sees the change."""

    result: PurchaseResult
    """The result."""

    transaction: Optional[TransactionResult]
    """Present with success."""

    already_held: bool
    """True if the account already held the transaction and nothing was charged."""

    pending_number: int
    """The number of a pending purchase."""

    def __init__(
            self, *, position: Optional[Position] = None, result: PurchaseResult = PurchaseResult.UNSPECIFIED,
            transaction: Optional[TransactionResult] = None, already_held: bool = False, pending_number: int = 0,
    ) -> None:
        self.position = position
        self.result = result
        self.transaction = transaction
        self.already_held = already_held
        self.pending_number = pending_number


class FinishRequest(Message):
    """Marks a transaction as delivered."""

    __slots__ = ("app", "account", "transaction_id", "idempotency_key")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "transaction_id", "uint64", False, None),
        (4, "idempotency_key", "bytes", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account."""

    transaction_id: int
    """The transaction."""

    idempotency_key: bytes
    """Makes the call safe to repeat. Up to 64 bytes."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", transaction_id: int = 0,
            idempotency_key: bytes = b"",
    ) -> None:
        self.app = app
        self.account = account
        self.transaction_id = transaction_id
        self.idempotency_key = idempotency_key


class FinishResponse(Message):
    """The transaction is finished."""

    __slots__ = ("position", )
    _fields = (
        (1, "position", "Position", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    def __init__(self, *, position: Optional[Position] = None) -> None:
        self.position = position


class ListTransactionsRequest(Message):
    """Asks for a page of transactions."""

    __slots__ = (
            "app", "account", "product_id", "include_finished_consumables", "page_size", "page_token", "at_least",
            "include_jws",
    )
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "product_id", "string", False, None),
        (4, "include_finished_consumables", "bool", False, None),
        (5, "page_size", "uint32", False, None),
        (6, "page_token", "bytes", False, None),
        (7, "at_least", "Position", False, None),
        (8, "include_jws", "bool", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account."""

    product_id: str
    """Only of this product; empty for all."""

    include_finished_consumables: bool
    """Finished consumables too (SKIncludeConsumableInAppPurchaseHistory)."""

    page_size: int
    """Maximum number of entries: up to 500; 0 means 100."""

    page_token: bytes
    """The token of the previous page; empty to begin."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    include_jws: bool
    """Whether test apps fill `jws`."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", product_id: str = "",
            include_finished_consumables: bool = False, page_size: int = 0, page_token: bytes = b"",
            at_least: Optional[Position] = None, include_jws: bool = False,
    ) -> None:
        self.app = app
        self.account = account
        self.product_id = product_id
        self.include_finished_consumables = include_finished_consumables
        self.page_size = page_size
        self.page_token = page_token
        self.at_least = at_least
        self.include_jws = include_jws


class ListTransactionsResponse(Message):
    """A page of transactions."""

    __slots__ = ("transactions", "next_page_token", "position", "not_in_catalog")
    _fields = (
        (1, "transactions", "TransactionResult", True, None),
        (2, "next_page_token", "bytes", False, None),
        (3, "position", "Position", False, None),
        (4, "not_in_catalog", "bool", False, None),
    )

    transactions: List[TransactionResult]
    """Oldest first."""

    next_page_token: bytes
    """Empty on the last page."""

    position: Optional[Position]
    """Where the answer stands."""

    not_in_catalog: bool
    """The request names a product, the page is empty, and the catalogue has no such product."""

    def __init__(
            self, *, transactions: Sequence[TransactionResult] = (), next_page_token: bytes = b"",
            position: Optional[Position] = None, not_in_catalog: bool = False,
    ) -> None:
        self.transactions = list(transactions)
        self.next_page_token = next_page_token
        self.position = position
        self.not_in_catalog = not_in_catalog


class ListUnfinishedRequest(Message):
    """Asks for the unfinished transactions."""

    __slots__ = ("app", "account", "page_size", "page_token", "at_least", "include_jws")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "page_size", "uint32", False, None),
        (4, "page_token", "bytes", False, None),
        (5, "at_least", "Position", False, None),
        (6, "include_jws", "bool", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account."""

    page_size: int
    """Maximum number of entries: up to 500; 0 means 100."""

    page_token: bytes
    """The token of the previous page; empty to begin."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    include_jws: bool
    """Whether test apps fill `jws`."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", page_size: int = 0, page_token: bytes = b"",
            at_least: Optional[Position] = None, include_jws: bool = False,
    ) -> None:
        self.app = app
        self.account = account
        self.page_size = page_size
        self.page_token = page_token
        self.at_least = at_least
        self.include_jws = include_jws


class ListUnfinishedResponse(Message):
    """A page of unfinished transactions."""

    __slots__ = ("transactions", "next_page_token", "position")
    _fields = (
        (1, "transactions", "TransactionResult", True, None),
        (2, "next_page_token", "bytes", False, None),
        (3, "position", "Position", False, None),
    )

    transactions: List[TransactionResult]
    """Oldest first."""

    next_page_token: bytes
    """Empty on the last page."""

    position: Optional[Position]
    """Where the answer stands."""

    def __init__(
            self, *, transactions: Sequence[TransactionResult] = (), next_page_token: bytes = b"",
            position: Optional[Position] = None,
    ) -> None:
        self.transactions = list(transactions)
        self.next_page_token = next_page_token
        self.position = position


class GetLatestTransactionRequest(Message):
    """Asks for the newest transaction of a product."""

    __slots__ = ("app", "account", "product_id", "at_least", "include_jws")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "product_id", "string", False, None),
        (4, "at_least", "Position", False, None),
        (5, "include_jws", "bool", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account."""

    product_id: str
    """The product."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    include_jws: bool
    """Whether test apps fill `jws`."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", product_id: str = "",
            at_least: Optional[Position] = None, include_jws: bool = False,
    ) -> None:
        self.app = app
        self.account = account
        self.product_id = product_id
        self.at_least = at_least
        self.include_jws = include_jws


class GetLatestTransactionResponse(Message):
    """The newest transaction of a product."""

    __slots__ = ("transaction", "position", "not_in_catalog")
    _fields = (
        (1, "transaction", "TransactionResult", False, None),
        (2, "position", "Position", False, None),
        (3, "not_in_catalog", "bool", False, None),
    )

    transaction: Optional[TransactionResult]
    """Absent if there is none."""

    position: Optional[Position]
    """Where the answer stands."""

    not_in_catalog: bool
    """There is no transaction, and the catalogue has no such product."""

    def __init__(
            self, *, transaction: Optional[TransactionResult] = None, position: Optional[Position] = None,
            not_in_catalog: bool = False,
    ) -> None:
        self.transaction = transaction
        self.position = position
        self.not_in_catalog = not_in_catalog


class TransactionUpdatesRequest(Message):
    """Asks for the events of an account."""

    __slots__ = ("app", "account", "cursor", "at_least", "include_jws")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "cursor", "bytes", False, None),
        (4, "at_least", "Position", False, None),
        (5, "include_jws", "bool", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account."""

    cursor: bytes
    """The cursor of the last event of an earlier call. The first message repeats it, without a transaction, as soon as the
    server has accepted it; all later events follow. Empty: unfinished transactions come first, without a cursor, then new
    events.
    """

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    include_jws: bool
    """Whether test apps fill `jws`."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", cursor: bytes = b"",
            at_least: Optional[Position] = None, include_jws: bool = False,
    ) -> None:
        self.app = app
        self.account = account
        self.cursor = cursor
        self.at_least = at_least
        self.include_jws = include_jws


class TransactionUpdatesResponse(Message):
    """One event, or the position at which new events begin."""

    __slots__ = ("transaction", "kind", "cursor", "revision", "commit_time_ms", "origin_client_id", "bookmark")
    _fields = (
        (1, "transaction", "TransactionResult", False, None),
        (2, "kind", "TransactionEventKind", False, None),
        (3, "cursor", "bytes", False, None),
        (4, "revision", "uint64", False, None),
        (5, "commit_time_ms", "int64", False, None),
        (6, "origin_client_id", "bytes", False, None),
        (15, "bookmark", "Bookmark", False, None),
    )

    transaction: Optional[TransactionResult]
    """The transaction after the event. Absent in one message of each call, whose cursor is the position at which new events
    begin: the first message after a cursor, else the one that ends the unfinished transactions.
    """

    kind: TransactionEventKind
    """What happened."""

    cursor: bytes
    """Opaque. A new call that sends it gets the events after this one."""

    revision: int
    """Its revision."""

    commit_time_ms: int
    """When it was committed, in milliseconds since the Unix epoch."""

    origin_client_id: bytes
    """The `client_id` of the connection that caused it; empty for the store itself."""

    bookmark: Optional[Bookmark]
    """Alone in its message: up to where this stream has said everything."""

    def __init__(
            self, *, transaction: Optional[TransactionResult] = None,
            kind: TransactionEventKind = TransactionEventKind.UNSPECIFIED, cursor: bytes = b"", revision: int = 0,
            commit_time_ms: int = 0, origin_client_id: bytes = b"", bookmark: Optional[Bookmark] = None,
    ) -> None:
        self.transaction = transaction
        self.kind = kind
        self.cursor = cursor
        self.revision = revision
        self.commit_time_ms = commit_time_ms
        self.origin_client_id = origin_client_id
        self.bookmark = bookmark


class SyncRequest(Message):
    """Restores."""

    __slots__ = ("app", "account", "idempotency_key")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "idempotency_key", "bytes", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account."""

    idempotency_key: bytes
    """Makes the call safe to repeat. Up to 64 bytes."""

    def __init__(self, *, app: Optional[AppRef] = None, account: str = "", idempotency_key: bytes = b"") -> None:
        self.app = app
        self.account = account
        self.idempotency_key = idempotency_key


class SyncResponse(Message):
    """Everything is there."""

    __slots__ = ("position", )
    _fields = (
        (1, "position", "Position", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    def __init__(self, *, position: Optional[Position] = None) -> None:
        self.position = position


class RequestRefundRequest(Message):
    """Asks for a refund."""

    __slots__ = ("app", "account", "transaction_id", "reason", "text", "idempotency_key")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "transaction_id", "uint64", False, None),
        (4, "reason", "RevocationReason", False, None),
        (5, "text", "string", False, None),
        (6, "idempotency_key", "bytes", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account."""

    transaction_id: int
    """Which transaction."""

    reason: RevocationReason
    """Why; unspecified means other."""

    text: str
    """The customer's text. `REJECT` with the reason other is declined."""

    idempotency_key: bytes
    """Makes the call safe to repeat. Up to 64 bytes."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", transaction_id: int = 0,
            reason: RevocationReason = RevocationReason.UNSPECIFIED, text: str = "", idempotency_key: bytes = b"",
    ) -> None:
        self.app = app
        self.account = account
        self.transaction_id = transaction_id
        self.reason = reason
        self.text = text
        self.idempotency_key = idempotency_key


class RequestRefundResponse(Message):
    """What became of it."""

    __slots__ = ("position", "approved", "transaction")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "approved", "bool", False, None),
        (3, "transaction", "TransactionResult", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    approved: bool
    """Whether the refund was approved."""

    transaction: Optional[TransactionResult]
    """The transaction, revoked or unchanged."""

    def __init__(
            self, *, position: Optional[Position] = None, approved: bool = False,
            transaction: Optional[TransactionResult] = None,
    ) -> None:
        self.position = position
        self.approved = approved
        self.transaction = transaction


class RedeemOfferCodeRequest(Message):
    """Redeems an offer code."""

    __slots__ = ("app", "account", "code", "product_id", "idempotency_key")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "code", "string", False, None),
        (4, "product_id", "string", False, None),
        (5, "idempotency_key", "bytes", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account. An account that does not exist is created."""

    code: str
    """A code of the offer, or the offer's reference name."""

    product_id: str
    """The product, if several have a code of that name; otherwise empty."""

    idempotency_key: bytes
    """Makes the call safe to repeat. Up to 64 bytes."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", code: str = "", product_id: str = "",
            idempotency_key: bytes = b"",
    ) -> None:
        self.app = app
        self.account = account
        self.code = code
        self.product_id = product_id
        self.idempotency_key = idempotency_key


class RedeemOfferCodeResponse(Message):
    """It is redeemed."""

    __slots__ = ("position", "transaction", "applies_at_renewal")
    _fields = (
        (1, "position", "Position", False, None),
        (2, "transaction", "TransactionResult", False, None),
        (3, "applies_at_renewal", "bool", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    transaction: Optional[TransactionResult]
    """The new transaction, or the current one while the offer waits for the next period. It arrives on TransactionUpdates
    too.
    """

    applies_at_renewal: bool
    """The offer applies from the next period."""

    def __init__(
            self, *, position: Optional[Position] = None, transaction: Optional[TransactionResult] = None,
            applies_at_renewal: bool = False,
    ) -> None:
        self.position = position
        self.transaction = transaction
        self.applies_at_renewal = applies_at_renewal


class ManageSubscriptionsRequest(Message):
    """Switches renewal on or off."""

    __slots__ = ("app", "account", "product_id", "auto_renew", "idempotency_key")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "product_id", "string", False, None),
        (4, "auto_renew", "bool", False, None),
        (5, "idempotency_key", "bytes", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account."""

    product_id: str
    """The product of the account's subscription."""

    auto_renew: bool
    """On or off."""

    idempotency_key: bytes
    """Makes the call safe to repeat. Up to 64 bytes."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", product_id: str = "", auto_renew: bool = False,
            idempotency_key: bytes = b"",
    ) -> None:
        self.app = app
        self.account = account
        self.product_id = product_id
        self.auto_renew = auto_renew
        self.idempotency_key = idempotency_key


class ManageSubscriptionsResponse(Message):
    """It is switched."""

    __slots__ = ("position", )
    _fields = (
        (1, "position", "Position", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    def __init__(self, *, position: Optional[Position] = None) -> None:
        self.position = position


class ResolveBillingIssueRequest(Message):
    """Resolves a billing issue."""

    __slots__ = ("app", "account", "product_id", "idempotency_key")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "product_id", "string", False, None),
        (4, "idempotency_key", "bytes", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account."""

    product_id: str
    """The product of the account's subscription."""

    idempotency_key: bytes
    """Makes the call safe to repeat. Up to 64 bytes."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", product_id: str = "",
            idempotency_key: bytes = b"",
    ) -> None:
        self.app = app
        self.account = account
        self.product_id = product_id
        self.idempotency_key = idempotency_key


class ResolveBillingIssueResponse(Message):
    """It is resolved."""

    __slots__ = ("position", )
    _fields = (
        (1, "position", "Position", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    def __init__(self, *, position: Optional[Position] = None) -> None:
        self.position = position


class AnswerPriceIncreaseRequest(Message):
    """Answers a price increase."""

    __slots__ = ("app", "account", "product_id", "agrees", "idempotency_key")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "product_id", "string", False, None),
        (4, "agrees", "bool", False, None),
        (5, "idempotency_key", "bytes", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account."""

    product_id: str
    """The product of the account's subscription."""

    agrees: bool
    """Whether the customer agrees. Without consent the subscription ends with its period."""

    idempotency_key: bytes
    """Makes the call safe to repeat. Up to 64 bytes."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", product_id: str = "", agrees: bool = False,
            idempotency_key: bytes = b"",
    ) -> None:
        self.app = app
        self.account = account
        self.product_id = product_id
        self.agrees = agrees
        self.idempotency_key = idempotency_key


class AnswerPriceIncreaseResponse(Message):
    """It is answered."""

    __slots__ = ("position", )
    _fields = (
        (1, "position", "Position", False, None),
    )

    position: Optional[Position]
    """Where the change stands."""

    def __init__(self, *, position: Optional[Position] = None) -> None:
        self.position = position


class GetAppTransactionRequest(Message):
    """Asks for the app transaction."""

    __slots__ = ("app", "account", "at_least", "include_jws")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (3, "at_least", "Position", False, None),
        (4, "include_jws", "bool", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    include_jws: bool
    """Whether test apps fill `jws`."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", at_least: Optional[Position] = None,
            include_jws: bool = False,
    ) -> None:
        self.app = app
        self.account = account
        self.at_least = at_least
        self.include_jws = include_jws


class GetAppTransactionResponse(Message):
    """The app transaction."""

    __slots__ = (
            "app_transaction_id", "bundle_id", "environment", "verification_error", "position", "can_make_payments",
            "jws", "original_app_version", "original_purchase_date_ms", "original_platform", "payments_forbidden",
            "payments_eligibility",
    )
    _fields = (
        (1, "app_transaction_id", "string", False, None),
        (2, "bundle_id", "string", False, None),
        (3, "environment", "Environment", False, None),
        (4, "verification_error", "VerificationError", False, None),
        (5, "position", "Position", False, None),
        (6, "can_make_payments", "bool", False, None),
        (7, "jws", "string", False, None),
        (8, "original_app_version", "string", False, None),
        (9, "original_purchase_date_ms", "int64", False, "original_purchase"),
        (10, "original_platform", "AppPlatform", False, None),
        (11, "payments_forbidden", "bool", False, None),
        (15, "payments_eligibility", "Eligibility", False, None),
    )

    app_transaction_id: str
    """Unique for each account and app. Empty where it is not known: no report of the App Store has said it."""

    bundle_id: str
    """The app."""

    environment: Environment
    """Its store."""

    verification_error: VerificationError
    """Unspecified: verified."""

    position: Optional[Position]
    """Where the answer stands."""

    can_make_payments: bool
    """Whether the account may make payments, as StoreKit's `canMakePayments`. False while payments of a test account are
    forbidden (`set_payments`): every purchase is then refused with `PURCHASE_NOT_ALLOWED`. False too while its charges are
    set to fail: every paid purchase is then refused so.
    """

    jws: str
    """The signed form (compact JWS), if the request asked for it and the app is a test app."""

    original_app_version: str
    """The version that the customer got first; empty: unknown, as in apps whose purchases the App Store reports."""

    original_purchase_date_ms: Optional[int]
    """When the customer got the app first, in milliseconds since the Unix epoch."""

    original_platform: AppPlatform
    """On what; unspecified: unknown."""

    payments_forbidden: bool
    """Payments of the account are forbidden, whatever becomes of its charges."""

    payments_eligibility: Eligibility
    """Whether the account may make payments, or that it is unknown: the App Store says it on the device only."""

    def __init__(
            self, *, app_transaction_id: str = "", bundle_id: str = "",
            environment: Environment = Environment.UNSPECIFIED,
            verification_error: VerificationError = VerificationError.UNSPECIFIED, position: Optional[Position] = None,
            can_make_payments: bool = False, jws: str = "", original_app_version: str = "",
            original_purchase_date_ms: Optional[int] = None, original_platform: AppPlatform = AppPlatform.UNSPECIFIED,
            payments_forbidden: bool = False, payments_eligibility: Eligibility = Eligibility.UNSPECIFIED,
    ) -> None:
        self.app_transaction_id = app_transaction_id
        self.bundle_id = bundle_id
        self.environment = environment
        self.verification_error = verification_error
        self.position = position
        self.can_make_payments = can_make_payments
        self.jws = jws
        self.original_app_version = original_app_version
        self.original_purchase_date_ms = original_purchase_date_ms
        self.original_platform = original_platform
        self.payments_forbidden = payments_forbidden
        self.payments_eligibility = payments_eligibility


class PurchaseIntentsRequest(Message):
    """Asks for purchase intents."""

    __slots__ = ("app", "account", "resume_token", "at_least")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (4, "resume_token", "bytes", False, None),
        (5, "at_least", "Position", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes."""

    resume_token: bytes
    """The token of the last value of an earlier call with the same parameters; empty to begin."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", resume_token: bytes = b"",
            at_least: Optional[Position] = None,
    ) -> None:
        self.app = app
        self.account = account
        self.resume_token = resume_token
        self.at_least = at_least


class PurchaseIntentList(Message):
    """All purchase intents that wait."""

    __slots__ = ("intents", )
    _fields = (
        (1, "intents", "PurchaseIntent", True, None),
    )

    intents: List[PurchaseIntent]
    """Oldest first. An intent disappears when its product is bought, or when it is ended."""

    def __init__(self, *, intents: Sequence[PurchaseIntent] = ()) -> None:
        self.intents = list(intents)


class PurchaseIntentsResponse(Message):
    """A state of PurchaseIntents."""

    __slots__ = ("loading", "failure", "success", "unchanged", "info", "bookmark")
    _fields = (
        (1, "loading", "Loading", False, "state"),
        (2, "failure", "Failure", False, "state"),
        (3, "success", "PurchaseIntentList", False, "state"),
        (4, "unchanged", "Unchanged", False, "state"),
        (5, "info", "ValueInfo", False, None),
        (15, "bookmark", "Bookmark", False, None),
    )

    loading: Optional[Loading]
    """The first message."""

    failure: Optional[Failure]
    """No value now."""

    success: Optional[PurchaseIntentList]
    """The value."""

    unchanged: Optional[Unchanged]
    """The token's value is still current."""

    info: Optional[ValueInfo]
    """Position and cause of the value; absent with `loading`."""

    bookmark: Optional[Bookmark]
    """Alone in its message: up to where this stream has said everything."""

    def __init__(
            self, *, loading: Optional[Loading] = None, failure: Optional[Failure] = None,
            success: Optional[PurchaseIntentList] = None, unchanged: Optional[Unchanged] = None,
            info: Optional[ValueInfo] = None, bookmark: Optional[Bookmark] = None,
    ) -> None:
        self.loading = loading
        self.failure = failure
        self.success = success
        self.unchanged = unchanged
        self.info = info
        self.bookmark = bookmark


class MessagesRequest(Message):
    """Asks for messages."""

    __slots__ = ("app", "account", "resume_token", "at_least")
    _fields = (
        (1, "app", "AppRef", False, None),
        (2, "account", "string", False, None),
        (4, "resume_token", "bytes", False, None),
        (5, "at_least", "Position", False, None),
    )

    app: Optional[AppRef]
    """The app."""

    account: str
    """The caller's key of the account: 1 to 255 bytes."""

    resume_token: bytes
    """The token of the last value of an earlier call with the same parameters; empty to begin."""

    at_least: Optional[Position]
    """The server answers when it has reached this position."""

    def __init__(
            self, *, app: Optional[AppRef] = None, account: str = "", resume_token: bytes = b"",
            at_least: Optional[Position] = None,
    ) -> None:
        self.app = app
        self.account = account
        self.resume_token = resume_token
        self.at_least = at_least


class StoreMessage(Message):
    """A message that the customer sees once. Equal messages are one message: a reminder has a later `since_ms`."""

    __slots__ = ("reason", "since_ms", "original_transaction_id", "product_id", "offer_id", "price")
    _fields = (
        (1, "reason", "MessageReason", False, None),
        (2, "since_ms", "int64", False, None),
        (3, "original_transaction_id", "uint64", False, "line"),
        (4, "product_id", "string", False, None),
        (5, "offer_id", "string", False, None),
        (6, "price", "Money", False, None),
    )

    reason: MessageReason
    """Why."""

    since_ms: int
    """Instant from which the message is shown, in milliseconds since the Unix epoch."""

    original_transaction_id: Optional[int]
    """The first transaction of the line concerned."""

    product_id: str
    """The product concerned; empty for none."""

    offer_id: str
    """The win-back offer; empty for none."""

    price: Optional[Money]
    """Of a price increase that waits: the new price of a period. Absent where it is not known."""

    def __init__(
            self, *, reason: MessageReason = MessageReason.UNSPECIFIED, since_ms: int = 0,
            original_transaction_id: Optional[int] = None, product_id: str = "", offer_id: str = "",
            price: Optional[Money] = None,
    ) -> None:
        self.reason = reason
        self.since_ms = since_ms
        self.original_transaction_id = original_transaction_id
        self.product_id = product_id
        self.offer_id = offer_id
        self.price = price


class StoreMessages(Message):
    """All messages that matter now."""

    __slots__ = ("messages", )
    _fields = (
        (1, "messages", "StoreMessage", True, None),
    )

    messages: List[StoreMessage]
    """Oldest first."""

    def __init__(self, *, messages: Sequence[StoreMessage] = ()) -> None:
        self.messages = list(messages)


class MessagesResponse(Message):
    """A state of Messages."""

    __slots__ = ("loading", "failure", "success", "unchanged", "info", "bookmark")
    _fields = (
        (1, "loading", "Loading", False, "state"),
        (2, "failure", "Failure", False, "state"),
        (3, "success", "StoreMessages", False, "state"),
        (4, "unchanged", "Unchanged", False, "state"),
        (5, "info", "ValueInfo", False, None),
        (15, "bookmark", "Bookmark", False, None),
    )

    loading: Optional[Loading]
    """The first message."""

    failure: Optional[Failure]
    """No value now."""

    success: Optional[StoreMessages]
    """The value."""

    unchanged: Optional[Unchanged]
    """The token's value is still current."""

    info: Optional[ValueInfo]
    """Position and cause of the value; absent with `loading`."""

    bookmark: Optional[Bookmark]
    """Alone in its message: up to where this stream has said everything."""

    def __init__(
            self, *, loading: Optional[Loading] = None, failure: Optional[Failure] = None,
            success: Optional[StoreMessages] = None, unchanged: Optional[Unchanged] = None,
            info: Optional[ValueInfo] = None, bookmark: Optional[Bookmark] = None,
    ) -> None:
        self.loading = loading
        self.failure = failure
        self.success = success
        self.unchanged = unchanged
        self.info = info
        self.bookmark = bookmark


class WatchEntry(Message):
    """One watch: the request of a streaming method."""

    __slots__ = (
            "products_task", "subscription_status_task", "current_entitlement_task", "entitlements_task",
            "purchase_intents", "messages", "transaction_updates", "app_changes",
    )
    _fields = (
        (2, "products_task", "ProductsTaskRequest", False, "request"),
        (3, "subscription_status_task", "SubscriptionStatusTaskRequest", False, "request"),
        (4, "current_entitlement_task", "CurrentEntitlementTaskRequest", False, "request"),
        (5, "entitlements_task", "EntitlementsTaskRequest", False, "request"),
        (6, "purchase_intents", "PurchaseIntentsRequest", False, "request"),
        (7, "messages", "MessagesRequest", False, "request"),
        (8, "transaction_updates", "TransactionUpdatesRequest", False, "request"),
        (9, "app_changes", "AppChangesRequest", False, "request"),
    )

    products_task: Optional[ProductsTaskRequest]
    """As ProductsTask."""

    subscription_status_task: Optional[SubscriptionStatusTaskRequest]
    """As SubscriptionStatusTask."""

    current_entitlement_task: Optional[CurrentEntitlementTaskRequest]
    """As CurrentEntitlementTask."""

    entitlements_task: Optional[EntitlementsTaskRequest]
    """As EntitlementsTask."""

    purchase_intents: Optional[PurchaseIntentsRequest]
    """As PurchaseIntents."""

    messages: Optional[MessagesRequest]
    """As Messages."""

    transaction_updates: Optional[TransactionUpdatesRequest]
    """As TransactionUpdates."""

    app_changes: Optional[AppChangesRequest]
    """As AppChanges."""

    def __init__(
            self, *, products_task: Optional[ProductsTaskRequest] = None,
            subscription_status_task: Optional[SubscriptionStatusTaskRequest] = None,
            current_entitlement_task: Optional[CurrentEntitlementTaskRequest] = None,
            entitlements_task: Optional[EntitlementsTaskRequest] = None,
            purchase_intents: Optional[PurchaseIntentsRequest] = None, messages: Optional[MessagesRequest] = None,
            transaction_updates: Optional[TransactionUpdatesRequest] = None,
            app_changes: Optional[AppChangesRequest] = None,
    ) -> None:
        self.products_task = products_task
        self.subscription_status_task = subscription_status_task
        self.current_entitlement_task = current_entitlement_task
        self.entitlements_task = entitlements_task
        self.purchase_intents = purchase_intents
        self.messages = messages
        self.transaction_updates = transaction_updates
        self.app_changes = app_changes


class WatchRequest(Message):
    """Asks for several watches."""

    __slots__ = ("watches", )
    _fields = (
        (1, "watches", "WatchEntry", True, None),
    )

    watches: List[WatchEntry]
    """1 to 256 watches, of any apps and accounts that the caller may read."""

    def __init__(self, *, watches: Sequence[WatchEntry] = ()) -> None:
        self.watches = list(watches)


class WatchResponse(Message):
    """A message of one watch, or a bookmark of all."""

    __slots__ = (
            "watch", "products_task", "subscription_status_task", "current_entitlement_task", "entitlements_task",
            "purchase_intents", "messages", "transaction_updates", "app_changes", "bookmark",
    )
    _fields = (
        (1, "watch", "uint32", False, None),
        (2, "products_task", "ProductsTaskResponse", False, "response"),
        (3, "subscription_status_task", "SubscriptionStatusTaskResponse", False, "response"),
        (4, "current_entitlement_task", "CurrentEntitlementTaskResponse", False, "response"),
        (5, "entitlements_task", "EntitlementsTaskResponse", False, "response"),
        (6, "purchase_intents", "PurchaseIntentsResponse", False, "response"),
        (7, "messages", "MessagesResponse", False, "response"),
        (8, "transaction_updates", "TransactionUpdatesResponse", False, "response"),
        (9, "app_changes", "AppChangesResponse", False, "response"),
        (15, "bookmark", "Bookmark", False, None),
    )

    watch: int
    """The place of the watch in the request, from 0."""

    products_task: Optional[ProductsTaskResponse]
    """Of ProductsTask."""

    subscription_status_task: Optional[SubscriptionStatusTaskResponse]
    """Of SubscriptionStatusTask."""

    current_entitlement_task: Optional[CurrentEntitlementTaskResponse]
    """Of CurrentEntitlementTask."""

    entitlements_task: Optional[EntitlementsTaskResponse]
    """Of EntitlementsTask."""

    purchase_intents: Optional[PurchaseIntentsResponse]
    """Of PurchaseIntents."""

    messages: Optional[MessagesResponse]
    """Of Messages."""

    transaction_updates: Optional[TransactionUpdatesResponse]
    """Of TransactionUpdates."""

    app_changes: Optional[AppChangesResponse]
    """Of AppChanges."""

    bookmark: Optional[Bookmark]
    """Alone in its message: up to where every watch of this call has said everything. With `perch-groups` it also follows each
    change, so the values between two bookmarks agree.
    """

    def __init__(
            self, *, watch: int = 0, products_task: Optional[ProductsTaskResponse] = None,
            subscription_status_task: Optional[SubscriptionStatusTaskResponse] = None,
            current_entitlement_task: Optional[CurrentEntitlementTaskResponse] = None,
            entitlements_task: Optional[EntitlementsTaskResponse] = None,
            purchase_intents: Optional[PurchaseIntentsResponse] = None, messages: Optional[MessagesResponse] = None,
            transaction_updates: Optional[TransactionUpdatesResponse] = None,
            app_changes: Optional[AppChangesResponse] = None, bookmark: Optional[Bookmark] = None,
    ) -> None:
        self.watch = watch
        self.products_task = products_task
        self.subscription_status_task = subscription_status_task
        self.current_entitlement_task = current_entitlement_task
        self.entitlements_task = entitlements_task
        self.purchase_intents = purchase_intents
        self.messages = messages
        self.transaction_updates = transaction_updates
        self.app_changes = app_changes
        self.bookmark = bookmark


__all__ = (
        "AccountSummary", "AddNoteRequest", "AddNoteResponse", "AdvanceToBoundary", "AnswerConsumptionRequest",
        "AnswerConsumptionResponse", "AnswerPriceIncreaseOperation", "AnswerPriceIncreaseRequest",
        "AnswerPriceIncreaseResponse", "App", "AppChangesRequest", "AppChangesResponse", "AppEntitlementsRequest",
        "AppEntitlementsResponse", "AppPlatform", "AppRef", "AppSetting", "AppStoreNotification", "AsOf",
        "AttachAliasRequest", "AttachAliasResponse", "AuditLine", "BackupRequest", "BackupResponse", "BillingPlan",
        "BillingPlanType", "Bookmark", "CatalogImage", "CatalogImageInfo", "CatalogSummary", "CatalogWarning", "Cause",
        "ChargeOutcome", "CheckCatalogRequest", "CheckCatalogResponse", "ClearTransactionsOperation", "Clock",
        "CommitmentInfo", "ConfigureRequest", "ConfigureResponse", "ConsumptionAnswer", "ConsumptionCase",
        "ConsumptionDelivery", "ConsumptionRequest", "ConsumptionState", "CreateIntentOperation", "CurrentEntitlement",
        "CurrentEntitlementTaskRequest", "CurrentEntitlementTaskResponse", "CustomerNameKind", "CustomerNote",
        "DeadLetter", "DecidePurchaseOperation", "DeclineRefundOperation", "DeleteNoteRequest", "DeleteNoteResponse",
        "DeleteTransactionOperation", "DetachAliasRequest", "DetachAliasResponse", "DropDeadLetterRequest",
        "DropDeadLetterResponse", "EffectiveReason", "Eligibility", "EndIntentOperation", "EntitlementChange",
        "EntitlementGrade", "EntitlementOrigin", "EntitlementReason", "EntitlementsBatch", "EntitlementsBegin",
        "EntitlementsClock", "EntitlementsEnd", "EntitlementsTaskRequest", "EntitlementsTaskResponse", "Environment",
        "EraseAccountRequest", "EraseAccountResponse", "ExpectedChange", "ExpirationReason", "ExpireOperation",
        "ExplainRequest", "ExplainResponse", "ExplainedFact", "ExplainedGrant", "Explanation", "ExportAccountRequest",
        "ExportAccountResponse", "ExtendRenewalOperation", "Failure", "FamilyShare", "FindAccountRequest",
        "FindAccountResponse", "FindCustomersRequest", "FindCustomersResponse", "Finding", "FinishRequest",
        "FinishResponse", "Forecast", "ForecastKind", "FoundCustomer", "FreezeClock", "GetAppPoliciesRequest",
        "GetAppPoliciesResponse", "GetAppTransactionRequest", "GetAppTransactionResponse", "GetCatalogRequest",
        "GetCatalogResponse", "GetClockRequest", "GetClockResponse", "GetCurrentEntitlementRequest",
        "GetCurrentEntitlementResponse", "GetEntitlementsRequest", "GetEntitlementsResponse", "GetImageRequest",
        "GetImageResponse", "GetLatestTransactionRequest", "GetLatestTransactionResponse",
        "GetOfferEligibilityRequest", "GetOfferEligibilityResponse", "GetPassRequest", "GetPassResponse",
        "GetProductsRequest", "GetProductsResponse", "GetServerStatusRequest", "GetServerStatusResponse",
        "GetSettingsRequest", "GetSettingsResponse", "GetSignedPayloadRequest", "GetSignedPayloadResponse",
        "GetSubscriptionStatusRequest", "GetSubscriptionStatusResponse", "GrantEntitlementRequest",
        "GrantEntitlementResponse", "GrantSummary", "GroupEffective", "GroupStatuses", "HistoryEntry", "HistoryKind",
        "InspectAccountRequest", "InspectAccountResponse", "IntroductoryEligibility", "ListAccountsRequest",
        "ListAccountsResponse", "ListAppsRequest", "ListAppsResponse", "ListAuditRequest", "ListAuditResponse",
        "ListConsumptionRequest", "ListConsumptionResponse", "ListCurrentEntitlementsRequest",
        "ListCurrentEntitlementsResponse", "ListDeadLettersRequest", "ListDeadLettersResponse", "ListNotesRequest",
        "ListNotesResponse", "ListNotificationsRequest", "ListNotificationsResponse", "ListPlanOptionsRequest",
        "ListPlanOptionsResponse", "ListTransactionsRequest", "ListTransactionsResponse", "ListUnclaimedRequest",
        "ListUnclaimedResponse", "ListUnfinishedRequest", "ListUnfinishedResponse", "LoadCatalogRequest",
        "LoadCatalogResponse", "Loading", "ManageSubscriptionsRequest", "ManageSubscriptionsResponse",
        "MergeAccountsRequest", "MergeAccountsResponse", "MessageReason", "MessagesRequest", "MessagesResponse",
        "Metric", "MishapKind", "Money", "MoveTransactionRequest", "MoveTransactionResponse", "NamedEntitlement",
        "NamedEntitlements", "OfferCode", "OfferConsoleCodeRequest", "OfferConsoleCodeResponse", "OfferEdit",
        "OfferEligibility", "OfferPaymentMode", "OfferType", "OperateRequest", "OperateResponse", "OperationTarget",
        "OrderMishapRequest", "OrderMishapResponse", "OwnershipType", "PendingPurchase", "PendingReason", "Period",
        "PeriodUnit", "PlanOption", "PlanRelation", "Position", "PostMessageOperation", "PriceConsent",
        "PriceIncreaseStatus", "Product", "ProductEdit", "ProductType", "Products", "ProductsTaskRequest",
        "ProductsTaskResponse", "PurchaseIntent", "PurchaseIntentList", "PurchaseIntentsRequest",
        "PurchaseIntentsResponse", "PurchaseOffer", "PurchaseOrder", "PurchaseRequest", "PurchaseResponse",
        "PurchaseResult", "RaisePriceOperation", "ReceivedNotification", "ReconcileDifference", "ReconcileRequest",
        "ReconcileResponse", "RedeemConsoleCodeRequest", "RedeemConsoleCodeResponse", "RedeemOfferCodeRequest",
        "RedeemOfferCodeResponse", "RedeemedOffer", "RefundOperation", "RefundPreference", "RefusedValue",
        "RenewOperation", "RenewalBehaviour", "RenewalInfo", "RenewalInfoResult", "RenewalState",
        "RequestConsumptionOperation", "RequestRefundRequest", "RequestRefundResponse", "ResolveBillingIssueRequest",
        "ResolveBillingIssueResponse", "ResolveBillingOperation", "ResumeClock", "RetryDeadLetterRequest",
        "RetryDeadLetterResponse", "ReverseRefundOperation", "Revocation", "RevocationReason", "RevocationType",
        "RevokeGrantRequest", "RevokeGrantResponse", "RevokeTokenRequest", "RevokeTokenResponse",
        "SetAppTransactionOperation", "SetAutoRenewOperation", "SetChargesOperation", "SetClockRequest",
        "SetClockResponse", "SetPaymentsOperation", "SetStorefrontOperation", "ShareOperation", "SimulatedError",
        "StopSharingOperation", "StoreKitApi", "StoreKitError", "StoreMessage", "StoreMessages", "StoreOperation",
        "Storefront", "SubmitNotificationRequest", "SubmitNotificationResponse", "SubmitTransactionRequest",
        "SubmitTransactionResponse", "SubscriptionInfo", "SubscriptionOffer", "SubscriptionStatus",
        "SubscriptionStatusTaskRequest", "SubscriptionStatusTaskResponse", "SubscriptionStatuses", "SupposedEvent",
        "SupposedOutcome", "Supposition", "SyncRequest", "SyncResponse", "Transaction", "TransactionEventKind",
        "TransactionOffer", "TransactionReason", "TransactionResult", "TransactionUpdatesRequest",
        "TransactionUpdatesResponse", "Unchanged", "UnclaimedPurchase", "ValueInfo", "VerificationError", "WatchEntry",
        "WatchRequest", "WatchResponse", "WinBackRule",
)
