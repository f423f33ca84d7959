"""The methods of the contract, and typed calls of them.

Generated from proto/ by `make proto`. Do not edit: change the contract or proto/generator/python.py.
"""
# flake8: noqa
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any, Awaitable, Optional, Sequence, Union

from .. import v1
from .._method import Method, named_app
from .._watching import AsyncEvents, AsyncWatch, Events, Watch

PRODUCTS_TASK = Method(
        "/perch.v1.EntitlementService/ProductsTask", v1.ProductsTaskRequest, v1.ProductsTaskResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
SUBSCRIPTION_STATUS_TASK = Method(
        "/perch.v1.EntitlementService/SubscriptionStatusTask", v1.SubscriptionStatusTaskRequest,
        v1.SubscriptionStatusTaskResponse, is_safe=True, is_idempotent=False, is_keyed=False,
)
CURRENT_ENTITLEMENT_TASK = Method(
        "/perch.v1.EntitlementService/CurrentEntitlementTask", v1.CurrentEntitlementTaskRequest,
        v1.CurrentEntitlementTaskResponse, is_safe=True, is_idempotent=False, is_keyed=False,
)
ENTITLEMENTS_TASK = Method(
        "/perch.v1.EntitlementService/EntitlementsTask", v1.EntitlementsTaskRequest, v1.EntitlementsTaskResponse,
        is_safe=True, is_idempotent=False, is_keyed=False,
)
GET_ENTITLEMENTS = Method(
        "/perch.v1.EntitlementService/GetEntitlements", v1.GetEntitlementsRequest, v1.GetEntitlementsResponse,
        is_safe=True, is_idempotent=False, is_keyed=False,
)
GET_PASS = Method(
        "/perch.v1.EntitlementService/GetPass", v1.GetPassRequest, v1.GetPassResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
GET_PRODUCTS = Method(
        "/perch.v1.EntitlementService/GetProducts", v1.GetProductsRequest, v1.GetProductsResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
GET_IMAGE = Method(
        "/perch.v1.EntitlementService/GetImage", v1.GetImageRequest, v1.GetImageResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
GET_SUBSCRIPTION_STATUS = Method(
        "/perch.v1.EntitlementService/GetSubscriptionStatus", v1.GetSubscriptionStatusRequest,
        v1.GetSubscriptionStatusResponse, is_safe=True, is_idempotent=False, is_keyed=False,
)
GET_CURRENT_ENTITLEMENT = Method(
        "/perch.v1.EntitlementService/GetCurrentEntitlement", v1.GetCurrentEntitlementRequest,
        v1.GetCurrentEntitlementResponse, is_safe=True, is_idempotent=False, is_keyed=False,
)
LIST_CURRENT_ENTITLEMENTS = Method(
        "/perch.v1.EntitlementService/ListCurrentEntitlements", v1.ListCurrentEntitlementsRequest,
        v1.ListCurrentEntitlementsResponse, is_safe=True, is_idempotent=False, is_keyed=False,
)
LIST_PLAN_OPTIONS = Method(
        "/perch.v1.EntitlementService/ListPlanOptions", v1.ListPlanOptionsRequest, v1.ListPlanOptionsResponse,
        is_safe=True, is_idempotent=False, is_keyed=False,
)
GET_OFFER_ELIGIBILITY = Method(
        "/perch.v1.EntitlementService/GetOfferEligibility", v1.GetOfferEligibilityRequest,
        v1.GetOfferEligibilityResponse, is_safe=True, is_idempotent=False, is_keyed=False,
)
GET_APP_POLICIES = Method(
        "/perch.v1.EntitlementService/GetAppPolicies", v1.GetAppPoliciesRequest, v1.GetAppPoliciesResponse,
        is_safe=True, is_idempotent=False, is_keyed=False,
)
APP_CHANGES = Method(
        "/perch.v1.EntitlementService/AppChanges", v1.AppChangesRequest, v1.AppChangesResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
APP_ENTITLEMENTS = Method(
        "/perch.v1.EntitlementService/AppEntitlements", v1.AppEntitlementsRequest, v1.AppEntitlementsResponse,
        is_safe=True, is_idempotent=False, is_keyed=False,
)
EXPLAIN = Method(
        "/perch.v1.EntitlementService/Explain", v1.ExplainRequest, v1.ExplainResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
PURCHASE = Method(
        "/perch.v1.TransactionService/Purchase", v1.PurchaseRequest, v1.PurchaseResponse, is_safe=False,
        is_idempotent=False, is_keyed=True,
)
FINISH = Method(
        "/perch.v1.TransactionService/Finish", v1.FinishRequest, v1.FinishResponse, is_safe=False, is_idempotent=False,
        is_keyed=True,
)
LIST_TRANSACTIONS = Method(
        "/perch.v1.TransactionService/ListTransactions", v1.ListTransactionsRequest, v1.ListTransactionsResponse,
        is_safe=True, is_idempotent=False, is_keyed=False,
)
LIST_UNFINISHED = Method(
        "/perch.v1.TransactionService/ListUnfinished", v1.ListUnfinishedRequest, v1.ListUnfinishedResponse,
        is_safe=True, is_idempotent=False, is_keyed=False,
)
GET_LATEST_TRANSACTION = Method(
        "/perch.v1.TransactionService/GetLatestTransaction", v1.GetLatestTransactionRequest,
        v1.GetLatestTransactionResponse, is_safe=True, is_idempotent=False, is_keyed=False,
)
TRANSACTION_UPDATES = Method(
        "/perch.v1.TransactionService/TransactionUpdates", v1.TransactionUpdatesRequest, v1.TransactionUpdatesResponse,
        is_safe=True, is_idempotent=False, is_keyed=False,
)
SYNC = Method(
        "/perch.v1.TransactionService/Sync", v1.SyncRequest, v1.SyncResponse, is_safe=False, is_idempotent=False,
        is_keyed=True,
)
REQUEST_REFUND = Method(
        "/perch.v1.TransactionService/RequestRefund", v1.RequestRefundRequest, v1.RequestRefundResponse, is_safe=False,
        is_idempotent=False, is_keyed=True,
)
REDEEM_OFFER_CODE = Method(
        "/perch.v1.TransactionService/RedeemOfferCode", v1.RedeemOfferCodeRequest, v1.RedeemOfferCodeResponse,
        is_safe=False, is_idempotent=False, is_keyed=True,
)
MANAGE_SUBSCRIPTIONS = Method(
        "/perch.v1.TransactionService/ManageSubscriptions", v1.ManageSubscriptionsRequest,
        v1.ManageSubscriptionsResponse, is_safe=False, is_idempotent=False, is_keyed=True,
)
RESOLVE_BILLING_ISSUE = Method(
        "/perch.v1.TransactionService/ResolveBillingIssue", v1.ResolveBillingIssueRequest,
        v1.ResolveBillingIssueResponse, is_safe=False, is_idempotent=False, is_keyed=True,
)
ANSWER_PRICE_INCREASE = Method(
        "/perch.v1.TransactionService/AnswerPriceIncrease", v1.AnswerPriceIncreaseRequest,
        v1.AnswerPriceIncreaseResponse, is_safe=False, is_idempotent=False, is_keyed=True,
)
GET_APP_TRANSACTION = Method(
        "/perch.v1.TransactionService/GetAppTransaction", v1.GetAppTransactionRequest, v1.GetAppTransactionResponse,
        is_safe=True, is_idempotent=False, is_keyed=False,
)
PURCHASE_INTENTS = Method(
        "/perch.v1.TransactionService/PurchaseIntents", v1.PurchaseIntentsRequest, v1.PurchaseIntentsResponse,
        is_safe=True, is_idempotent=False, is_keyed=False,
)
MESSAGES = Method(
        "/perch.v1.TransactionService/Messages", v1.MessagesRequest, v1.MessagesResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
OPERATE = Method(
        "/perch.v1.TestStoreService/Operate", v1.OperateRequest, v1.OperateResponse, is_safe=False,
        is_idempotent=False, is_keyed=True,
)
INSPECT_ACCOUNT = Method(
        "/perch.v1.TestStoreService/InspectAccount", v1.InspectAccountRequest, v1.InspectAccountResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
LIST_ACCOUNTS = Method(
        "/perch.v1.TestStoreService/ListAccounts", v1.ListAccountsRequest, v1.ListAccountsResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
CONFIGURE = Method(
        "/perch.v1.TestStoreService/Configure", v1.ConfigureRequest, v1.ConfigureResponse, is_safe=False,
        is_idempotent=False, is_keyed=True,
)
GET_SETTINGS = Method(
        "/perch.v1.TestStoreService/GetSettings", v1.GetSettingsRequest, v1.GetSettingsResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
GET_CLOCK = Method(
        "/perch.v1.TestStoreService/GetClock", v1.GetClockRequest, v1.GetClockResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
SET_CLOCK = Method(
        "/perch.v1.TestStoreService/SetClock", v1.SetClockRequest, v1.SetClockResponse, is_safe=False,
        is_idempotent=False, is_keyed=False,
)
ORDER_MISHAP = Method(
        "/perch.v1.TestStoreService/OrderMishap", v1.OrderMishapRequest, v1.OrderMishapResponse, is_safe=False,
        is_idempotent=False, is_keyed=False,
)
LIST_APPS = Method(
        "/perch.v1.AdminService/ListApps", v1.ListAppsRequest, v1.ListAppsResponse, is_safe=True, is_idempotent=False,
        is_keyed=False,
)
CHECK_CATALOG = Method(
        "/perch.v1.AdminService/CheckCatalog", v1.CheckCatalogRequest, v1.CheckCatalogResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
LOAD_CATALOG = Method(
        "/perch.v1.AdminService/LoadCatalog", v1.LoadCatalogRequest, v1.LoadCatalogResponse, is_safe=False,
        is_idempotent=False, is_keyed=False,
)
GET_CATALOG = Method(
        "/perch.v1.AdminService/GetCatalog", v1.GetCatalogRequest, v1.GetCatalogResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
GET_SERVER_STATUS = Method(
        "/perch.v1.AdminService/GetServerStatus", v1.GetServerStatusRequest, v1.GetServerStatusResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
BACKUP = Method(
        "/perch.v1.AdminService/Backup", v1.BackupRequest, v1.BackupResponse, is_safe=False, is_idempotent=False,
        is_keyed=False,
)
REVOKE_TOKEN = Method(
        "/perch.v1.AdminService/RevokeToken", v1.RevokeTokenRequest, v1.RevokeTokenResponse, is_safe=False,
        is_idempotent=True, is_keyed=False,
)
OFFER_CONSOLE_CODE = Method(
        "/perch.v1.AdminService/OfferConsoleCode", v1.OfferConsoleCodeRequest, v1.OfferConsoleCodeResponse,
        is_safe=False, is_idempotent=False, is_keyed=False,
)
REDEEM_CONSOLE_CODE = Method(
        "/perch.v1.AdminService/RedeemConsoleCode", v1.RedeemConsoleCodeRequest, v1.RedeemConsoleCodeResponse,
        is_safe=False, is_idempotent=False, is_keyed=False,
)
FIND_ACCOUNT = Method(
        "/perch.v1.AdminService/FindAccount", v1.FindAccountRequest, v1.FindAccountResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
FIND_CUSTOMERS = Method(
        "/perch.v1.AdminService/FindCustomers", v1.FindCustomersRequest, v1.FindCustomersResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
ADD_NOTE = Method(
        "/perch.v1.AdminService/AddNote", v1.AddNoteRequest, v1.AddNoteResponse, is_safe=False, is_idempotent=False,
        is_keyed=True,
)
LIST_NOTES = Method(
        "/perch.v1.AdminService/ListNotes", v1.ListNotesRequest, v1.ListNotesResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
DELETE_NOTE = Method(
        "/perch.v1.AdminService/DeleteNote", v1.DeleteNoteRequest, v1.DeleteNoteResponse, is_safe=False,
        is_idempotent=True, is_keyed=False,
)
LIST_UNCLAIMED = Method(
        "/perch.v1.AdminService/ListUnclaimed", v1.ListUnclaimedRequest, v1.ListUnclaimedResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
ATTACH_ALIAS = Method(
        "/perch.v1.AdminService/AttachAlias", v1.AttachAliasRequest, v1.AttachAliasResponse, is_safe=False,
        is_idempotent=True, is_keyed=False,
)
DETACH_ALIAS = Method(
        "/perch.v1.AdminService/DetachAlias", v1.DetachAliasRequest, v1.DetachAliasResponse, is_safe=False,
        is_idempotent=True, is_keyed=False,
)
MOVE_TRANSACTION = Method(
        "/perch.v1.AdminService/MoveTransaction", v1.MoveTransactionRequest, v1.MoveTransactionResponse, is_safe=False,
        is_idempotent=True, is_keyed=False,
)
MERGE_ACCOUNTS = Method(
        "/perch.v1.AdminService/MergeAccounts", v1.MergeAccountsRequest, v1.MergeAccountsResponse, is_safe=False,
        is_idempotent=False, is_keyed=False,
)
ERASE_ACCOUNT = Method(
        "/perch.v1.AdminService/EraseAccount", v1.EraseAccountRequest, v1.EraseAccountResponse, is_safe=False,
        is_idempotent=False, is_keyed=False,
)
EXPORT_ACCOUNT = Method(
        "/perch.v1.AdminService/ExportAccount", v1.ExportAccountRequest, v1.ExportAccountResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
GRANT_ENTITLEMENT = Method(
        "/perch.v1.AdminService/GrantEntitlement", v1.GrantEntitlementRequest, v1.GrantEntitlementResponse,
        is_safe=False, is_idempotent=False, is_keyed=True,
)
REVOKE_GRANT = Method(
        "/perch.v1.AdminService/RevokeGrant", v1.RevokeGrantRequest, v1.RevokeGrantResponse, is_safe=False,
        is_idempotent=True, is_keyed=False,
)
LIST_AUDIT = Method(
        "/perch.v1.AdminService/ListAudit", v1.ListAuditRequest, v1.ListAuditResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
LIST_DEAD_LETTERS = Method(
        "/perch.v1.AdminService/ListDeadLetters", v1.ListDeadLettersRequest, v1.ListDeadLettersResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
RETRY_DEAD_LETTER = Method(
        "/perch.v1.AdminService/RetryDeadLetter", v1.RetryDeadLetterRequest, v1.RetryDeadLetterResponse, is_safe=False,
        is_idempotent=False, is_keyed=False,
)
DROP_DEAD_LETTER = Method(
        "/perch.v1.AdminService/DropDeadLetter", v1.DropDeadLetterRequest, v1.DropDeadLetterResponse, is_safe=False,
        is_idempotent=True, is_keyed=False,
)
LIST_CONSUMPTION = Method(
        "/perch.v1.AdminService/ListConsumption", v1.ListConsumptionRequest, v1.ListConsumptionResponse, is_safe=True,
        is_idempotent=False, is_keyed=False,
)
ANSWER_CONSUMPTION = Method(
        "/perch.v1.AdminService/AnswerConsumption", v1.AnswerConsumptionRequest, v1.AnswerConsumptionResponse,
        is_safe=False, is_idempotent=True, is_keyed=False,
)
RECONCILE = Method(
        "/perch.v1.AdminService/Reconcile", v1.ReconcileRequest, v1.ReconcileResponse, is_safe=False,
        is_idempotent=False, is_keyed=False,
)
LIST_NOTIFICATIONS = Method(
        "/perch.v1.AdminService/ListNotifications", v1.ListNotificationsRequest, v1.ListNotificationsResponse,
        is_safe=True, is_idempotent=False, is_keyed=False,
)
GET_SIGNED_PAYLOAD = Method(
        "/perch.v1.AdminService/GetSignedPayload", v1.GetSignedPayloadRequest, v1.GetSignedPayloadResponse,
        is_safe=True, is_idempotent=False, is_keyed=False,
)
SUBMIT_TRANSACTION = Method(
        "/perch.v1.IngestService/SubmitTransaction", v1.SubmitTransactionRequest, v1.SubmitTransactionResponse,
        is_safe=False, is_idempotent=True, is_keyed=True,
)
SUBMIT_NOTIFICATION = Method(
        "/perch.v1.IngestService/SubmitNotification", v1.SubmitNotificationRequest, v1.SubmitNotificationResponse,
        is_safe=False, is_idempotent=True, is_keyed=False,
)
WATCH = Method(
        "/perch.v1.WatchService/Watch", v1.WatchRequest, v1.WatchResponse, is_safe=True, is_idempotent=False,
        is_keyed=False,
)

METHODS = (
        PRODUCTS_TASK, SUBSCRIPTION_STATUS_TASK, CURRENT_ENTITLEMENT_TASK, ENTITLEMENTS_TASK, GET_ENTITLEMENTS,
        GET_PASS, GET_PRODUCTS, GET_IMAGE, GET_SUBSCRIPTION_STATUS, GET_CURRENT_ENTITLEMENT, LIST_CURRENT_ENTITLEMENTS,
        LIST_PLAN_OPTIONS, GET_OFFER_ELIGIBILITY, GET_APP_POLICIES, APP_CHANGES, APP_ENTITLEMENTS, EXPLAIN, PURCHASE,
        FINISH, LIST_TRANSACTIONS, LIST_UNFINISHED, GET_LATEST_TRANSACTION, TRANSACTION_UPDATES, SYNC, REQUEST_REFUND,
        REDEEM_OFFER_CODE, MANAGE_SUBSCRIPTIONS, RESOLVE_BILLING_ISSUE, ANSWER_PRICE_INCREASE, GET_APP_TRANSACTION,
        PURCHASE_INTENTS, MESSAGES, OPERATE, INSPECT_ACCOUNT, LIST_ACCOUNTS, CONFIGURE, GET_SETTINGS, GET_CLOCK,
        SET_CLOCK, ORDER_MISHAP, LIST_APPS, CHECK_CATALOG, LOAD_CATALOG, GET_CATALOG, GET_SERVER_STATUS, BACKUP,
        REVOKE_TOKEN, OFFER_CONSOLE_CODE, REDEEM_CONSOLE_CODE, FIND_ACCOUNT, FIND_CUSTOMERS, ADD_NOTE, LIST_NOTES,
        DELETE_NOTE, LIST_UNCLAIMED, ATTACH_ALIAS, DETACH_ALIAS, MOVE_TRANSACTION, MERGE_ACCOUNTS, ERASE_ACCOUNT,
        EXPORT_ACCOUNT, GRANT_ENTITLEMENT, REVOKE_GRANT, LIST_AUDIT, LIST_DEAD_LETTERS, RETRY_DEAD_LETTER,
        DROP_DEAD_LETTER, LIST_CONSUMPTION, ANSWER_CONSUMPTION, RECONCILE, LIST_NOTIFICATIONS, GET_SIGNED_PAYLOAD,
        SUBMIT_TRANSACTION, SUBMIT_NOTIFICATION, WATCH,
)


class Calls:
    """Every method of the contract that answers once, as a function with the fields of its request.

    `timeout` is in seconds; without one the client's holds. Calls that are safe to repeat are repeated within it. A call
    with an idempotency key gets a random one, unless you give it one of your own.
    """

    def _call(self, method: Method, request: Any, timeout: Optional[float]) -> Any:
        raise NotImplementedError

    def get_entitlements(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", as_of: Optional[v1.AsOf] = None,
            at_least: Optional[v1.Position] = None, timeout: Optional[float] = None,
    ) -> v1.GetEntitlementsResponse:
        """EntitlementsTask, once."""
        return self._call(GET_ENTITLEMENTS, v1.GetEntitlementsRequest(
                app=named_app(app), account=account, as_of=as_of, at_least=at_least,
        ), timeout)

    def get_pass(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "",
            at_least: Optional[v1.Position] = None, timeout: Optional[float] = None,
    ) -> v1.GetPassResponse:
        """The named entitlements of an account as a signed pass (compact JWS), which others verify without asking the server: its keys
        are at /.well-known/jwks.json. It ends at the next change that time alone makes, after 24 hours at the latest.
        """
        return self._call(GET_PASS, v1.GetPassRequest(app=named_app(app), account=account, at_least=at_least), timeout)

    def get_products(
            self, *, app: Union[v1.AppRef, str, None] = None, product_ids: Sequence[str] = (), locale: str = "",
            storefront: str = "", at_least: Optional[v1.Position] = None, timeout: Optional[float] = None,
    ) -> v1.GetProductsResponse:
        """ProductsTask, once."""
        return self._call(GET_PRODUCTS, v1.GetProductsRequest(
                app=named_app(app), product_ids=product_ids, locale=locale, storefront=storefront, at_least=at_least,
        ), timeout)

    def get_image(
            self, *, app: Union[v1.AppRef, str, None] = None, image_id: str = "", known_hash: bytes = b"",
            at_least: Optional[v1.Position] = None, timeout: Optional[float] = None,
    ) -> v1.GetImageResponse:
        """A promotional image of the catalogue, by the identifier in its product."""
        return self._call(GET_IMAGE, v1.GetImageRequest(
                app=named_app(app), image_id=image_id, known_hash=known_hash, at_least=at_least,
        ), timeout)

    def get_subscription_status(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", group_id: str = "",
            at_least: Optional[v1.Position] = None, as_of: Optional[v1.AsOf] = None, include_jws: bool = False,
            all_groups: bool = False, timeout: Optional[float] = None,
    ) -> v1.GetSubscriptionStatusResponse:
        """SubscriptionStatusTask, once."""
        return self._call(GET_SUBSCRIPTION_STATUS, v1.GetSubscriptionStatusRequest(
                app=named_app(app), account=account, group_id=group_id, at_least=at_least, as_of=as_of,
                include_jws=include_jws, all_groups=all_groups,
        ), timeout)

    def get_current_entitlement(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", product_id: str = "",
            at_least: Optional[v1.Position] = None, as_of: Optional[v1.AsOf] = None, include_jws: bool = False,
            timeout: Optional[float] = None,
    ) -> v1.GetCurrentEntitlementResponse:
        """CurrentEntitlementTask, once."""
        return self._call(GET_CURRENT_ENTITLEMENT, v1.GetCurrentEntitlementRequest(
                app=named_app(app), account=account, product_id=product_id, at_least=at_least, as_of=as_of,
                include_jws=include_jws,
        ), timeout)

    def list_current_entitlements(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "",
            at_least: Optional[v1.Position] = None, as_of: Optional[v1.AsOf] = None, include_jws: bool = False,
            timeout: Optional[float] = None,
    ) -> v1.ListCurrentEntitlementsResponse:
        """Everything that an account is entitled to, once."""
        return self._call(LIST_CURRENT_ENTITLEMENTS, v1.ListCurrentEntitlementsRequest(
                app=named_app(app), account=account, at_least=at_least, as_of=as_of, include_jws=include_jws,
        ), timeout)

    def list_plan_options(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", group_id: str = "", locale: str = "",
            at_least: Optional[v1.Position] = None, timeout: Optional[float] = None,
    ) -> v1.ListPlanOptionsResponse:
        """The products of a group, and the relation of each to the account's current plan."""
        return self._call(LIST_PLAN_OPTIONS, v1.ListPlanOptionsRequest(
                app=named_app(app), account=account, group_id=group_id, locale=locale, at_least=at_least,
        ), timeout)

    def get_offer_eligibility(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", product_id: str = "",
            group_id: str = "", at_least: Optional[v1.Position] = None, timeout: Optional[float] = None,
    ) -> v1.GetOfferEligibilityResponse:
        """The offers of a product or group, and the account's eligibility for each."""
        return self._call(GET_OFFER_ELIGIBILITY, v1.GetOfferEligibilityRequest(
                app=named_app(app), account=account, product_id=product_id, group_id=group_id, at_least=at_least,
        ), timeout)

    def get_app_policies(
            self, *, app: Union[v1.AppRef, str, None] = None, locale: str = "", timeout: Optional[float] = None,
    ) -> v1.GetAppPoliciesResponse:
        """The app's licence agreement and privacy policy."""
        return self._call(GET_APP_POLICIES, v1.GetAppPoliciesRequest(app=named_app(app), locale=locale), timeout)

    def explain(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", group_id: Optional[str] = None,
            product_id: Optional[str] = None, as_of: Optional[v1.AsOf] = None, at_least: Optional[v1.Position] = None,
            locale: str = "", utc_offset_minutes: int = 0, suppose: Optional[v1.Supposition] = None,
            with_history: bool = False, timeout: Optional[float] = None,
    ) -> v1.ExplainResponse:
        """Why an account is entitled, or not, and what will change automatically; as sentences that can be read to the customer too.
        """
        return self._call(EXPLAIN, v1.ExplainRequest(
                app=named_app(app), account=account, group_id=group_id, product_id=product_id, as_of=as_of,
                at_least=at_least, locale=locale, utc_offset_minutes=utc_offset_minutes, suppose=suppose,
                with_history=with_history,
        ), timeout)

    def purchase(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "",
            order: Optional[v1.PurchaseOrder] = None, idempotency_key: bytes = b"", include_jws: bool = False,
            confirmed: bool = False, timeout: Optional[float] = None,
    ) -> v1.PurchaseResponse:
        """Buys a product, as an app does. Test apps only."""
        return self._call(PURCHASE, v1.PurchaseRequest(
                app=named_app(app), account=account, order=order, idempotency_key=idempotency_key,
                include_jws=include_jws, confirmed=confirmed,
        ), timeout)

    def finish(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", transaction_id: int = 0,
            idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> v1.FinishResponse:
        """Marks a transaction as delivered. A second Finish changes nothing."""
        return self._call(FINISH, v1.FinishRequest(
                app=named_app(app), account=account, transaction_id=transaction_id, idempotency_key=idempotency_key,
        ), timeout)

    def list_transactions(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", product_id: str = "",
            include_finished_consumables: bool = False, page_size: int = 0, page_token: bytes = b"",
            at_least: Optional[v1.Position] = None, include_jws: bool = False, timeout: Optional[float] = None,
    ) -> v1.ListTransactionsResponse:
        """The transactions of an account, oldest first, a page at a time."""
        return self._call(LIST_TRANSACTIONS, v1.ListTransactionsRequest(
                app=named_app(app), account=account, product_id=product_id,
                include_finished_consumables=include_finished_consumables, page_size=page_size, page_token=page_token,
                at_least=at_least, include_jws=include_jws,
        ), timeout)

    def list_unfinished(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", page_size: int = 0,
            page_token: bytes = b"", at_least: Optional[v1.Position] = None, include_jws: bool = False,
            timeout: Optional[float] = None,
    ) -> v1.ListUnfinishedResponse:
        """The unfinished transactions, oldest first."""
        return self._call(LIST_UNFINISHED, v1.ListUnfinishedRequest(
                app=named_app(app), account=account, page_size=page_size, page_token=page_token, at_least=at_least,
                include_jws=include_jws,
        ), timeout)

    def get_latest_transaction(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", product_id: str = "",
            at_least: Optional[v1.Position] = None, include_jws: bool = False, timeout: Optional[float] = None,
    ) -> v1.GetLatestTransactionResponse:
        """The newest transaction of a product, revoked ones included."""
        return self._call(GET_LATEST_TRANSACTION, v1.GetLatestTransactionRequest(
                app=named_app(app), account=account, product_id=product_id, at_least=at_least, include_jws=include_jws,
        ), timeout)

    def sync(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", idempotency_key: bytes = b"",
            timeout: Optional[float] = None,
    ) -> v1.SyncResponse:
        """Restores purchases: delivers what waits for the customer's request. Never removes anything."""
        return self._call(SYNC, v1.SyncRequest(
                app=named_app(app), account=account, idempotency_key=idempotency_key,
        ), timeout)

    def request_refund(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", transaction_id: int = 0,
            reason: v1.RevocationReason = v1.RevocationReason.UNSPECIFIED, text: str = "",
            idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> v1.RequestRefundResponse:
        """Requests a refund, as a customer does: approved, unless the text says `REJECT`. Test apps only."""
        return self._call(REQUEST_REFUND, v1.RequestRefundRequest(
                app=named_app(app), account=account, transaction_id=transaction_id, reason=reason, text=text,
                idempotency_key=idempotency_key,
        ), timeout)

    def redeem_offer_code(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", code: str = "", product_id: str = "",
            idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> v1.RedeemOfferCodeResponse:
        """Redeems an offer code, as a customer does outside of a purchase. Test apps only."""
        return self._call(REDEEM_OFFER_CODE, v1.RedeemOfferCodeRequest(
                app=named_app(app), account=account, code=code, product_id=product_id, idempotency_key=idempotency_key,
        ), timeout)

    def manage_subscriptions(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", product_id: str = "",
            auto_renew: bool = False, idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> v1.ManageSubscriptionsResponse:
        """Switches renewal on or off, as a customer does in the subscriptions sheet. Test apps only."""
        return self._call(MANAGE_SUBSCRIPTIONS, v1.ManageSubscriptionsRequest(
                app=named_app(app), account=account, product_id=product_id, auto_renew=auto_renew,
                idempotency_key=idempotency_key,
        ), timeout)

    def resolve_billing_issue(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", product_id: str = "",
            idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> v1.ResolveBillingIssueResponse:
        """Resolves a billing issue, as a customer does who corrects the payment method: the store charges again, and the
        account's charges are no longer set to fail. Test apps only.
        """
        return self._call(RESOLVE_BILLING_ISSUE, v1.ResolveBillingIssueRequest(
                app=named_app(app), account=account, product_id=product_id, idempotency_key=idempotency_key,
        ), timeout)

    def answer_price_increase(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", product_id: str = "",
            agrees: bool = False, idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> v1.AnswerPriceIncreaseResponse:
        """Answers a price increase, as a customer does in the store's sheet. Test apps only."""
        return self._call(ANSWER_PRICE_INCREASE, v1.AnswerPriceIncreaseRequest(
                app=named_app(app), account=account, product_id=product_id, agrees=agrees,
                idempotency_key=idempotency_key,
        ), timeout)

    def get_app_transaction(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "",
            at_least: Optional[v1.Position] = None, include_jws: bool = False, timeout: Optional[float] = None,
    ) -> v1.GetAppTransactionResponse:
        """The record of the account's first use of the app."""
        return self._call(GET_APP_TRANSACTION, v1.GetAppTransactionRequest(
                app=named_app(app), account=account, at_least=at_least, include_jws=include_jws,
        ), timeout)

    def operate(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", idempotency_key: bytes = b"",
            operation: Optional[v1.StoreOperation] = None, timeout: Optional[float] = None,
    ) -> v1.OperateResponse:
        """Performs one operation on one account: buy, refund, renew, share, delete and so on. Answers after the commit.
        """
        return self._call(OPERATE, v1.OperateRequest(
                app=named_app(app), account=account, idempotency_key=idempotency_key, operation=operation,
        ), timeout)

    def inspect_account(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "",
            at_least: Optional[v1.Position] = None, timeout: Optional[float] = None,
    ) -> v1.InspectAccountResponse:
        """The store's record of an account."""
        return self._call(INSPECT_ACCOUNT, v1.InspectAccountRequest(
                app=named_app(app), account=account, at_least=at_least,
        ), timeout)

    def list_accounts(
            self, *, app: Union[v1.AppRef, str, None] = None, page_size: int = 0, page_token: bytes = b"",
            with_summaries: bool = False, timeout: Optional[float] = None,
    ) -> v1.ListAccountsResponse:
        """The accounts of the app, by key, a page at a time."""
        return self._call(LIST_ACCOUNTS, v1.ListAccountsRequest(
                app=named_app(app), page_size=page_size, page_token=page_token, with_summaries=with_summaries,
        ), timeout)

    def configure(
            self, *, app: Union[v1.AppRef, str, None] = None, settings: Sequence[v1.AppSetting] = (),
            idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> v1.ConfigureResponse:
        """Changes settings, armed failures and products of the app, all in one revision."""
        return self._call(CONFIGURE, v1.ConfigureRequest(
                app=named_app(app), settings=settings, idempotency_key=idempotency_key,
        ), timeout)

    def get_settings(
            self, *, app: Union[v1.AppRef, str, None] = None, timeout: Optional[float] = None,
    ) -> v1.GetSettingsResponse:
        """The app's settings and armed failures."""
        return self._call(GET_SETTINGS, v1.GetSettingsRequest(app=named_app(app)), timeout)

    def get_clock(
            self, *, app: Union[v1.AppRef, str, None] = None, timeout: Optional[float] = None,
    ) -> v1.GetClockResponse:
        """The app's clock and time rate."""
        return self._call(GET_CLOCK, v1.GetClockRequest(app=named_app(app)), timeout)

    def set_clock(
            self, *, app: Union[v1.AppRef, str, None] = None, freeze: Optional[v1.FreezeClock] = None,
            resume: Optional[v1.ResumeClock] = None, advance_by_ms: Optional[int] = None,
            advance_to_ms: Optional[int] = None, advance_to_boundary: Optional[v1.AdvanceToBoundary] = None,
            timeout: Optional[float] = None,
    ) -> v1.SetClockResponse:
        """Freezes, resumes or advances the app's clock. Answers after everything due up to the new instant is settled and
        pushed.
        """
        return self._call(SET_CLOCK, v1.SetClockRequest(
                app=named_app(app), freeze=freeze, resume=resume, advance_by_ms=advance_by_ms,
                advance_to_ms=advance_to_ms, advance_to_boundary=advance_to_boundary,
        ), timeout)

    def order_mishap(
            self, *, app: Union[v1.AppRef, str, None] = None, kind: v1.MishapKind = v1.MishapKind.UNSPECIFIED,
            times: int = 0, delay_ms: int = 0, path: str = "", timeout: Optional[float] = None,
    ) -> v1.OrderMishapResponse:
        """Lets something go wrong on purpose where the server is the App Store of other backends: with the next notifications of the
        app, or with the next requests of its backend. A server that stops forgets what has not gone wrong yet.
        """
        return self._call(ORDER_MISHAP, v1.OrderMishapRequest(
                app=named_app(app), kind=kind, times=times, delay_ms=delay_ms, path=path,
        ), timeout)

    def list_apps(self, *, timeout: Optional[float] = None) -> v1.ListAppsResponse:
        """The apps of this server."""
        return self._call(LIST_APPS, v1.ListAppsRequest(), timeout)

    def check_catalog(
            self, *, file: bytes = b"", images: Sequence[v1.CatalogImage] = (), entitlements: bytes = b"",
            timeout: Optional[float] = None,
    ) -> v1.CheckCatalogResponse:
        """Parses a catalogue file and reports its contents, without loading it."""
        return self._call(CHECK_CATALOG, v1.CheckCatalogRequest(
                file=file, images=images, entitlements=entitlements,
        ), timeout)

    def load_catalog(
            self, *, app: Union[v1.AppRef, str, None] = None, file: bytes = b"", source: str = "",
            images: Sequence[v1.CatalogImage] = (), entitlements: bytes = b"", timeout: Optional[float] = None,
    ) -> v1.LoadCatalogResponse:
        """Replaces an app's catalogue: one change, one revision, one push for each stream that it affects."""
        return self._call(LOAD_CATALOG, v1.LoadCatalogRequest(
                app=named_app(app), file=file, source=source, images=images, entitlements=entitlements,
        ), timeout)

    def get_catalog(
            self, *, app: Union[v1.AppRef, str, None] = None, timeout: Optional[float] = None,
    ) -> v1.GetCatalogResponse:
        """The contents of an app's catalogue."""
        return self._call(GET_CATALOG, v1.GetCatalogRequest(app=named_app(app)), timeout)

    def get_server_status(self, *, timeout: Optional[float] = None) -> v1.GetServerStatusResponse:
        """Connections, their cost, and every counter."""
        return self._call(GET_SERVER_STATUS, v1.GetServerStatusRequest(), timeout)

    def backup(self, *, path: str = "", timeout: Optional[float] = None) -> v1.BackupResponse:
        """Copies the store into a file on the server's machine while the server keeps working. One at a time."""
        return self._call(BACKUP, v1.BackupRequest(path=path), timeout)

    def revoke_token(
            self, *, token_id: str = "", expires_at_ms: int = 0, timeout: Optional[float] = None,
    ) -> v1.RevokeTokenResponse:
        """Revokes a token before its end. Its holder's streams end within five seconds."""
        return self._call(REVOKE_TOKEN, v1.RevokeTokenRequest(token_id=token_id, expires_at_ms=expires_at_ms), timeout)

    def offer_console_code(self, *, token: str = "", timeout: Optional[float] = None) -> v1.OfferConsoleCodeResponse:
        """Keeps a token for a browser, and returns a code for it. `perch console` puts the code into an address, where no token
        may be.
        """
        return self._call(OFFER_CONSOLE_CODE, v1.OfferConsoleCodeRequest(token=token), timeout)

    def redeem_console_code(self, *, code: str = "", timeout: Optional[float] = None) -> v1.RedeemConsoleCodeResponse:
        """Exchanges a code for its token. The code is the only credential."""
        return self._call(REDEEM_CONSOLE_CODE, v1.RedeemConsoleCodeRequest(code=code), timeout)

    def find_account(
            self, *, app: Union[v1.AppRef, str, None] = None, transaction_id: int = 0, app_account_token: str = "",
            app_transaction_id: str = "", timeout: Optional[float] = None,
    ) -> v1.FindAccountResponse:
        """The account of a transaction, or of a name that the App Store or the app gives a customer. In every environment.
        """
        return self._call(FIND_ACCOUNT, v1.FindAccountRequest(
                app=named_app(app), transaction_id=transaction_id, app_account_token=app_account_token,
                app_transaction_id=app_transaction_id,
        ), timeout)

    def find_customers(
            self, *, app: Union[v1.AppRef, str, None] = None, text: str = "",
            kinds: Sequence[v1.CustomerNameKind] = (), page_size: int = 0, timeout: Optional[float] = None,
    ) -> v1.FindCustomersResponse:
        """Customers by any name: the beginning of their key, or a whole name of another kind. Keys in other capitals follow those in the
        very capitals of the text. In every environment. Reads a bounded number of rows, however many accounts there are.
        """
        return self._call(FIND_CUSTOMERS, v1.FindCustomersRequest(
                app=named_app(app), text=text, kinds=kinds, page_size=page_size,
        ), timeout)

    def add_note(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", text: str = "",
            idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> v1.AddNoteResponse:
        """Writes a note beside a customer. A note changes nothing that the customer has, so the scope read is enough. In every environment.
        """
        return self._call(ADD_NOTE, v1.AddNoteRequest(
                app=named_app(app), account=account, text=text, idempotency_key=idempotency_key,
        ), timeout)

    def list_notes(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", timeout: Optional[float] = None,
    ) -> v1.ListNotesResponse:
        """The notes beside a customer."""
        return self._call(LIST_NOTES, v1.ListNotesRequest(app=named_app(app), account=account), timeout)

    def delete_note(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", note_id: int = 0,
            timeout: Optional[float] = None,
    ) -> v1.DeleteNoteResponse:
        """Deletes a note: an own one, or anybody's with the scope admin."""
        return self._call(DELETE_NOTE, v1.DeleteNoteRequest(
                app=named_app(app), account=account, note_id=note_id,
        ), timeout)

    def list_unclaimed(
            self, *, app: Union[v1.AppRef, str, None] = None, page_size: int = 0, page_token: bytes = b"",
            timeout: Optional[float] = None,
    ) -> v1.ListUnclaimedResponse:
        """Purchases that the App Store reported and that need somebody: those of no account that is known, and subscriptions whose
        renewal was awaited and never reported. A page looks at a limited number of accounts, so it may be empty and not the last.
        """
        return self._call(LIST_UNCLAIMED, v1.ListUnclaimedRequest(
                app=named_app(app), page_size=page_size, page_token=page_token,
        ), timeout)

    def attach_alias(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", app_account_token: str = "",
            app_transaction_id: str = "", email_sha256: str = "", timeout: Optional[float] = None,
    ) -> v1.AttachAliasResponse:
        """Says that a name of a customer belongs to an account from now on. What waited for it becomes the account's. The name is then another
        key of the account in calls, streams and copies, except the hash of an e-mail address. OWNED_BY_OTHER: it is the key of another account.
        """
        return self._call(ATTACH_ALIAS, v1.AttachAliasRequest(
                app=named_app(app), account=account, app_account_token=app_account_token,
                app_transaction_id=app_transaction_id, email_sha256=email_sha256,
        ), timeout)

    def detach_alias(
            self, *, app: Union[v1.AppRef, str, None] = None, app_account_token: str = "",
            app_transaction_id: str = "", email_sha256: str = "", timeout: Optional[float] = None,
    ) -> v1.DetachAliasResponse:
        """Takes a name of a customer from its account."""
        return self._call(DETACH_ALIAS, v1.DetachAliasRequest(
                app=named_app(app), app_account_token=app_account_token, app_transaction_id=app_transaction_id,
                email_sha256=email_sha256,
        ), timeout)

    def move_transaction(
            self, *, app: Union[v1.AppRef, str, None] = None, original_transaction_id: int = 0, account: str = "",
            timeout: Optional[float] = None,
    ) -> v1.MoveTransactionResponse:
        """Gives an original transaction, and what follows it, to an account, whatever the app's claim policy says."""
        return self._call(MOVE_TRANSACTION, v1.MoveTransactionRequest(
                app=named_app(app), original_transaction_id=original_transaction_id, account=account,
        ), timeout)

    def merge_accounts(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", into_account: str = "",
            timeout: Optional[float] = None,
    ) -> v1.MergeAccountsResponse:
        """Gives everything that one account has to another, and its key too: an anonymous customer has signed in. Both accounts
        change in one revision.
        """
        return self._call(MERGE_ACCOUNTS, v1.MergeAccountsRequest(
                app=named_app(app), account=account, into_account=into_account,
        ), timeout)

    def erase_account(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", timeout: Optional[float] = None,
    ) -> v1.EraseAccountResponse:
        """Erases an account: its transactions, facts, names and grants, and what waits or was kept about it. Its revisions stay, empty,
        so that cursors and tokens of others stay valid. Streams of the account get the value of one that owns nothing. Later
        reports about its purchases are not kept until a submission names an account for them. In every environment.
        """
        return self._call(ERASE_ACCOUNT, v1.EraseAccountRequest(app=named_app(app), account=account), timeout)

    def export_account(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", timeout: Optional[float] = None,
    ) -> v1.ExportAccountResponse:
        """Everything that the store knows of an account. In every environment."""
        return self._call(EXPORT_ACCOUNT, v1.ExportAccountRequest(app=named_app(app), account=account), timeout)

    def grant_entitlement(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", name: str = "",
            until_ms: Optional[int] = None, reason: str = "", idempotency_key: bytes = b"", tier: str = "",
            timeout: Optional[float] = None,
    ) -> v1.GrantEntitlementResponse:
        """Grants a named entitlement to an account, in every environment. It touches no purchase, and replaces an earlier grant of
        that name.
        """
        return self._call(GRANT_ENTITLEMENT, v1.GrantEntitlementRequest(
                app=named_app(app), account=account, name=name, until_ms=until_ms, reason=reason,
                idempotency_key=idempotency_key, tier=tier,
        ), timeout)

    def revoke_grant(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", name: str = "",
            timeout: Optional[float] = None,
    ) -> v1.RevokeGrantResponse:
        """Ends a grant."""
        return self._call(REVOKE_GRANT, v1.RevokeGrantRequest(app=named_app(app), account=account, name=name), timeout)

    def list_audit(
            self, *, after_revision: int = 0, page_size: int = 0, timeout: Optional[float] = None,
    ) -> v1.ListAuditResponse:
        """Administrative and test changes, oldest first: who asked for what, from where. Customers' purchases are not among them.
        """
        return self._call(LIST_AUDIT, v1.ListAuditRequest(after_revision=after_revision, page_size=page_size), timeout)

    def list_dead_letters(
            self, *, page_size: int = 0, page_token: bytes = b"", timeout: Optional[float] = None,
    ) -> v1.ListDeadLettersResponse:
        """Values whose signature was good and that were not taken, oldest first, a page at a time."""
        return self._call(LIST_DEAD_LETTERS, v1.ListDeadLettersRequest(
                page_size=page_size, page_token=page_token,
        ), timeout)

    def retry_dead_letter(self, *, id: str = "", timeout: Optional[float] = None) -> v1.RetryDeadLetterResponse:
        """Takes a dead letter once more. It is gone when that succeeds."""
        return self._call(RETRY_DEAD_LETTER, v1.RetryDeadLetterRequest(id=id), timeout)

    def drop_dead_letter(self, *, id: str = "", timeout: Optional[float] = None) -> v1.DropDeadLetterResponse:
        """Deletes a dead letter."""
        return self._call(DROP_DEAD_LETTER, v1.DropDeadLetterRequest(id=id), timeout)

    def list_consumption(
            self, *, app: Union[v1.AppRef, str, None] = None, page_size: int = 0, page_token: bytes = b"",
            timeout: Optional[float] = None,
    ) -> v1.ListConsumptionResponse:
        """What the App Store asks about purchases whose customers want refunds, in the order of the transactions, a page at a time. A
        question leaves the list a day after its deadline.
        """
        return self._call(LIST_CONSUMPTION, v1.ListConsumptionRequest(
                app=named_app(app), page_size=page_size, page_token=page_token,
        ), timeout)

    def answer_consumption(
            self, *, app: Union[v1.AppRef, str, None] = None, transaction_id: int = 0,
            answer: Optional[v1.ConsumptionAnswer] = None, timeout: Optional[float] = None,
    ) -> v1.AnswerConsumptionResponse:
        """Answers such a question. The answer is stored, and then sent to the App Store, again after a failure until the deadline.
        """
        return self._call(ANSWER_CONSUMPTION, v1.AnswerConsumptionRequest(
                app=named_app(app), transaction_id=transaction_id, answer=answer,
        ), timeout)

    def reconcile(
            self, *, app: Union[v1.AppRef, str, None] = None, dry_run: bool = False, everything: bool = False,
            run: int = 0, timeout: Optional[float] = None,
    ) -> v1.ReconcileResponse:
        """Asks the App Store now for what it did not deliver, or says how far that is. Of several nodes of one store the one that has the
        right to ask must be called; others refuse with `LEASE_WAIT`.
        """
        return self._call(RECONCILE, v1.ReconcileRequest(
                app=named_app(app), dry_run=dry_run, everything=everything, run=run,
        ), timeout)

    def list_notifications(
            self, *, page_size: int = 0, page_token: bytes = b"", timeout: Optional[float] = None,
    ) -> v1.ListNotificationsResponse:
        """Notifications of sandbox apps that were taken, oldest first, a page at a time: the latest 200. Those of production apps are
        not kept.
        """
        return self._call(LIST_NOTIFICATIONS, v1.ListNotificationsRequest(
                page_size=page_size, page_token=page_token,
        ), timeout)

    def get_signed_payload(self, *, id: str = "", timeout: Optional[float] = None) -> v1.GetSignedPayloadResponse:
        """A notification or a dead letter as it came."""
        return self._call(GET_SIGNED_PAYLOAD, v1.GetSignedPayloadRequest(id=id), timeout)

    def submit_transaction(
            self, *, app: Union[v1.AppRef, str, None] = None, signed_values: Sequence[str] = (), account: str = "",
            idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> v1.SubmitTransactionResponse:
        """Takes signed transactions, renewal information, app transactions and notifications, from the app or its backend.
        Answers after everything is durable. The order of values does not matter, and a repetition changes nothing. A value that cannot
        be taken is refused alone, and `refused` says which; the call fails where all are. Credentials for one account submit for that
        account alone: so an app submits for its own customer.
        """
        return self._call(SUBMIT_TRANSACTION, v1.SubmitTransactionRequest(
                app=named_app(app), signed_values=signed_values, account=account, idempotency_key=idempotency_key,
        ), timeout)

    def submit_notification(
            self, *, signed_payload: str = "", timeout: Optional[float] = None,
    ) -> v1.SubmitNotificationResponse:
        """Takes an App Store Server Notification, version 2, as Apple posts it. `POST /apple/notifications` of the listener
        `--apple-listen` is this call, without credentials: the signature says who sent it.
        """
        return self._call(SUBMIT_NOTIFICATION, v1.SubmitNotificationRequest(signed_payload=signed_payload), timeout)


class Watches:
    """Every stream of state, as a watch that comes back by itself.

    `fail_after`: seconds without the server after which the watch ends with the error. Without it the watch waits.
    """

    def _watch(self, method: Method, request: Any, fail_after: Optional[float]) -> Any:
        raise NotImplementedError

    def products(
            self, product_ids: Sequence[str], *, app: Union[v1.AppRef, str, None] = None, locale: str = "",
            storefront: str = "", at_least: Optional[v1.Position] = None, fail_after: Optional[float] = None,
    ) -> Watch[v1.Products]:
        """Products, and the identifiers that are unavailable."""
        return self._watch(PRODUCTS_TASK, v1.ProductsTaskRequest(
                app=named_app(app), product_ids=product_ids, locale=locale, storefront=storefront, at_least=at_least,
        ), fail_after)

    def subscription_status(
            self, account: str, *, app: Union[v1.AppRef, str, None] = None, group_id: str = "",
            at_least: Optional[v1.Position] = None, include_jws: bool = False, all_groups: bool = False,
            fail_after: Optional[float] = None,
    ) -> Watch[v1.SubscriptionStatuses]:
        """The statuses of an account in a subscription group."""
        return self._watch(SUBSCRIPTION_STATUS_TASK, v1.SubscriptionStatusTaskRequest(
                app=named_app(app), account=account, group_id=group_id, at_least=at_least, include_jws=include_jws,
                all_groups=all_groups,
        ), fail_after)

    def current_entitlement(
            self, account: str, *, app: Union[v1.AppRef, str, None] = None, product_id: str = "",
            at_least: Optional[v1.Position] = None, include_jws: bool = False, fail_after: Optional[float] = None,
    ) -> Watch[v1.CurrentEntitlement]:
        """The transaction that entitles an account to a product, or none."""
        return self._watch(CURRENT_ENTITLEMENT_TASK, v1.CurrentEntitlementTaskRequest(
                app=named_app(app), account=account, product_id=product_id, at_least=at_least, include_jws=include_jws,
        ), fail_after)

    def entitlements(
            self, account: str, *, app: Union[v1.AppRef, str, None] = None, at_least: Optional[v1.Position] = None,
            fail_after: Optional[float] = None,
    ) -> Watch[v1.NamedEntitlements]:
        """The account's entitlements by their names in the app, whatever gives them: a subscription, a purchase, a grant.
        """
        return self._watch(ENTITLEMENTS_TASK, v1.EntitlementsTaskRequest(
                app=named_app(app), account=account, at_least=at_least,
        ), fail_after)

    def purchase_intents(
            self, account: str, *, app: Union[v1.AppRef, str, None] = None, at_least: Optional[v1.Position] = None,
            fail_after: Optional[float] = None,
    ) -> Watch[v1.PurchaseIntentList]:
        """The purchases that a customer began outside the app, now and at each change."""
        return self._watch(PURCHASE_INTENTS, v1.PurchaseIntentsRequest(
                app=named_app(app), account=account, at_least=at_least,
        ), fail_after)

    def messages(
            self, account: str, *, app: Union[v1.AppRef, str, None] = None, at_least: Optional[v1.Position] = None,
            fail_after: Optional[float] = None,
    ) -> Watch[v1.StoreMessages]:
        """The store's valid messages for the customer, now and at each change."""
        return self._watch(MESSAGES, v1.MessagesRequest(
                app=named_app(app), account=account, at_least=at_least,
        ), fail_after)


class EventStreams:
    """Every stream of events, which skips nothing."""

    def _events(self, method: Method, request: Any, progress: bool, fail_after: Optional[float]) -> Any:
        raise NotImplementedError

    def changes(
            self, *, app: Union[v1.AppRef, str, None] = None, cursor: bytes = b"", from_oldest: bool = False,
            causes: Sequence[v1.Cause] = (), group_ids: Sequence[str] = (), product_ids: Sequence[str] = (),
            entitlements_only: bool = False, at_least: Optional[v1.Position] = None, progress: bool = False,
            fail_after: Optional[float] = None,
    ) -> Events[v1.AppChangesResponse]:
        """Every change of every account of an app, exactly once and in order, across reconnects. Services use it where they would
        otherwise want webhooks.

        Start with the stored cursor, and store `cursor` of each event when you have handled it. With `progress`, messages that
        have only a cursor are answered too: store those as well where events are rare.
        """
        return self._events(APP_CHANGES, v1.AppChangesRequest(
                app=named_app(app), cursor=cursor, from_oldest=from_oldest, causes=causes, group_ids=group_ids,
                product_ids=product_ids, entitlements_only=entitlements_only, at_least=at_least,
        ), progress, fail_after)

    def transaction_updates(
            self, account: str, *, app: Union[v1.AppRef, str, None] = None, cursor: bytes = b"",
            at_least: Optional[v1.Position] = None, include_jws: bool = False, progress: bool = False,
            fail_after: Optional[float] = None,
    ) -> Events[v1.TransactionUpdatesResponse]:
        """Each new or changed transaction, exactly once and in order, across reconnects.

        Start with the stored cursor, and store `cursor` of each event when you have handled it. With `progress`, messages that
        have only a cursor are answered too: store those as well where events are rare.
        """
        return self._events(TRANSACTION_UPDATES, v1.TransactionUpdatesRequest(
                app=named_app(app), account=account, cursor=cursor, at_least=at_least, include_jws=include_jws,
        ), progress, fail_after)


class AsyncCalls:
    """Every method of the contract that answers once, as a function with the fields of its request.

    `timeout` is in seconds; without one the client's holds. Calls that are safe to repeat are repeated within it. A call
    with an idempotency key gets a random one, unless you give it one of your own.
    """

    def _call(self, method: Method, request: Any, timeout: Optional[float]) -> Any:
        raise NotImplementedError

    def get_entitlements(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", as_of: Optional[v1.AsOf] = None,
            at_least: Optional[v1.Position] = None, timeout: Optional[float] = None,
    ) -> Awaitable[v1.GetEntitlementsResponse]:
        """EntitlementsTask, once."""
        return self._call(GET_ENTITLEMENTS, v1.GetEntitlementsRequest(
                app=named_app(app), account=account, as_of=as_of, at_least=at_least,
        ), timeout)

    def get_pass(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "",
            at_least: Optional[v1.Position] = None, timeout: Optional[float] = None,
    ) -> Awaitable[v1.GetPassResponse]:
        """The named entitlements of an account as a signed pass (compact JWS), which others verify without asking the server: its keys
        are at /.well-known/jwks.json. It ends at the next change that time alone makes, after 24 hours at the latest.
        """
        return self._call(GET_PASS, v1.GetPassRequest(app=named_app(app), account=account, at_least=at_least), timeout)

    def get_products(
            self, *, app: Union[v1.AppRef, str, None] = None, product_ids: Sequence[str] = (), locale: str = "",
            storefront: str = "", at_least: Optional[v1.Position] = None, timeout: Optional[float] = None,
    ) -> Awaitable[v1.GetProductsResponse]:
        """ProductsTask, once."""
        return self._call(GET_PRODUCTS, v1.GetProductsRequest(
                app=named_app(app), product_ids=product_ids, locale=locale, storefront=storefront, at_least=at_least,
        ), timeout)

    def get_image(
            self, *, app: Union[v1.AppRef, str, None] = None, image_id: str = "", known_hash: bytes = b"",
            at_least: Optional[v1.Position] = None, timeout: Optional[float] = None,
    ) -> Awaitable[v1.GetImageResponse]:
        """A promotional image of the catalogue, by the identifier in its product."""
        return self._call(GET_IMAGE, v1.GetImageRequest(
                app=named_app(app), image_id=image_id, known_hash=known_hash, at_least=at_least,
        ), timeout)

    def get_subscription_status(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", group_id: str = "",
            at_least: Optional[v1.Position] = None, as_of: Optional[v1.AsOf] = None, include_jws: bool = False,
            all_groups: bool = False, timeout: Optional[float] = None,
    ) -> Awaitable[v1.GetSubscriptionStatusResponse]:
        """SubscriptionStatusTask, once."""
        return self._call(GET_SUBSCRIPTION_STATUS, v1.GetSubscriptionStatusRequest(
                app=named_app(app), account=account, group_id=group_id, at_least=at_least, as_of=as_of,
                include_jws=include_jws, all_groups=all_groups,
        ), timeout)

    def get_current_entitlement(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", product_id: str = "",
            at_least: Optional[v1.Position] = None, as_of: Optional[v1.AsOf] = None, include_jws: bool = False,
            timeout: Optional[float] = None,
    ) -> Awaitable[v1.GetCurrentEntitlementResponse]:
        """CurrentEntitlementTask, once."""
        return self._call(GET_CURRENT_ENTITLEMENT, v1.GetCurrentEntitlementRequest(
                app=named_app(app), account=account, product_id=product_id, at_least=at_least, as_of=as_of,
                include_jws=include_jws,
        ), timeout)

    def list_current_entitlements(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "",
            at_least: Optional[v1.Position] = None, as_of: Optional[v1.AsOf] = None, include_jws: bool = False,
            timeout: Optional[float] = None,
    ) -> Awaitable[v1.ListCurrentEntitlementsResponse]:
        """Everything that an account is entitled to, once."""
        return self._call(LIST_CURRENT_ENTITLEMENTS, v1.ListCurrentEntitlementsRequest(
                app=named_app(app), account=account, at_least=at_least, as_of=as_of, include_jws=include_jws,
        ), timeout)

    def list_plan_options(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", group_id: str = "", locale: str = "",
            at_least: Optional[v1.Position] = None, timeout: Optional[float] = None,
    ) -> Awaitable[v1.ListPlanOptionsResponse]:
        """The products of a group, and the relation of each to the account's current plan."""
        return self._call(LIST_PLAN_OPTIONS, v1.ListPlanOptionsRequest(
                app=named_app(app), account=account, group_id=group_id, locale=locale, at_least=at_least,
        ), timeout)

    def get_offer_eligibility(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", product_id: str = "",
            group_id: str = "", at_least: Optional[v1.Position] = None, timeout: Optional[float] = None,
    ) -> Awaitable[v1.GetOfferEligibilityResponse]:
        """The offers of a product or group, and the account's eligibility for each."""
        return self._call(GET_OFFER_ELIGIBILITY, v1.GetOfferEligibilityRequest(
                app=named_app(app), account=account, product_id=product_id, group_id=group_id, at_least=at_least,
        ), timeout)

    def get_app_policies(
            self, *, app: Union[v1.AppRef, str, None] = None, locale: str = "", timeout: Optional[float] = None,
    ) -> Awaitable[v1.GetAppPoliciesResponse]:
        """The app's licence agreement and privacy policy."""
        return self._call(GET_APP_POLICIES, v1.GetAppPoliciesRequest(app=named_app(app), locale=locale), timeout)

    def explain(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", group_id: Optional[str] = None,
            product_id: Optional[str] = None, as_of: Optional[v1.AsOf] = None, at_least: Optional[v1.Position] = None,
            locale: str = "", utc_offset_minutes: int = 0, suppose: Optional[v1.Supposition] = None,
            with_history: bool = False, timeout: Optional[float] = None,
    ) -> Awaitable[v1.ExplainResponse]:
        """Why an account is entitled, or not, and what will change automatically; as sentences that can be read to the customer too.
        """
        return self._call(EXPLAIN, v1.ExplainRequest(
                app=named_app(app), account=account, group_id=group_id, product_id=product_id, as_of=as_of,
                at_least=at_least, locale=locale, utc_offset_minutes=utc_offset_minutes, suppose=suppose,
                with_history=with_history,
        ), timeout)

    def purchase(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "",
            order: Optional[v1.PurchaseOrder] = None, idempotency_key: bytes = b"", include_jws: bool = False,
            confirmed: bool = False, timeout: Optional[float] = None,
    ) -> Awaitable[v1.PurchaseResponse]:
        """Buys a product, as an app does. Test apps only."""
        return self._call(PURCHASE, v1.PurchaseRequest(
                app=named_app(app), account=account, order=order, idempotency_key=idempotency_key,
                include_jws=include_jws, confirmed=confirmed,
        ), timeout)

    def finish(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", transaction_id: int = 0,
            idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> Awaitable[v1.FinishResponse]:
        """Marks a transaction as delivered. A second Finish changes nothing."""
        return self._call(FINISH, v1.FinishRequest(
                app=named_app(app), account=account, transaction_id=transaction_id, idempotency_key=idempotency_key,
        ), timeout)

    def list_transactions(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", product_id: str = "",
            include_finished_consumables: bool = False, page_size: int = 0, page_token: bytes = b"",
            at_least: Optional[v1.Position] = None, include_jws: bool = False, timeout: Optional[float] = None,
    ) -> Awaitable[v1.ListTransactionsResponse]:
        """The transactions of an account, oldest first, a page at a time."""
        return self._call(LIST_TRANSACTIONS, v1.ListTransactionsRequest(
                app=named_app(app), account=account, product_id=product_id,
                include_finished_consumables=include_finished_consumables, page_size=page_size, page_token=page_token,
                at_least=at_least, include_jws=include_jws,
        ), timeout)

    def list_unfinished(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", page_size: int = 0,
            page_token: bytes = b"", at_least: Optional[v1.Position] = None, include_jws: bool = False,
            timeout: Optional[float] = None,
    ) -> Awaitable[v1.ListUnfinishedResponse]:
        """The unfinished transactions, oldest first."""
        return self._call(LIST_UNFINISHED, v1.ListUnfinishedRequest(
                app=named_app(app), account=account, page_size=page_size, page_token=page_token, at_least=at_least,
                include_jws=include_jws,
        ), timeout)

    def get_latest_transaction(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", product_id: str = "",
            at_least: Optional[v1.Position] = None, include_jws: bool = False, timeout: Optional[float] = None,
    ) -> Awaitable[v1.GetLatestTransactionResponse]:
        """The newest transaction of a product, revoked ones included."""
        return self._call(GET_LATEST_TRANSACTION, v1.GetLatestTransactionRequest(
                app=named_app(app), account=account, product_id=product_id, at_least=at_least, include_jws=include_jws,
        ), timeout)

    def sync(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", idempotency_key: bytes = b"",
            timeout: Optional[float] = None,
    ) -> Awaitable[v1.SyncResponse]:
        """Restores purchases: delivers what waits for the customer's request. Never removes anything."""
        return self._call(SYNC, v1.SyncRequest(
                app=named_app(app), account=account, idempotency_key=idempotency_key,
        ), timeout)

    def request_refund(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", transaction_id: int = 0,
            reason: v1.RevocationReason = v1.RevocationReason.UNSPECIFIED, text: str = "",
            idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> Awaitable[v1.RequestRefundResponse]:
        """Requests a refund, as a customer does: approved, unless the text says `REJECT`. Test apps only."""
        return self._call(REQUEST_REFUND, v1.RequestRefundRequest(
                app=named_app(app), account=account, transaction_id=transaction_id, reason=reason, text=text,
                idempotency_key=idempotency_key,
        ), timeout)

    def redeem_offer_code(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", code: str = "", product_id: str = "",
            idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> Awaitable[v1.RedeemOfferCodeResponse]:
        """Redeems an offer code, as a customer does outside of a purchase. Test apps only."""
        return self._call(REDEEM_OFFER_CODE, v1.RedeemOfferCodeRequest(
                app=named_app(app), account=account, code=code, product_id=product_id, idempotency_key=idempotency_key,
        ), timeout)

    def manage_subscriptions(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", product_id: str = "",
            auto_renew: bool = False, idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> Awaitable[v1.ManageSubscriptionsResponse]:
        """Switches renewal on or off, as a customer does in the subscriptions sheet. Test apps only."""
        return self._call(MANAGE_SUBSCRIPTIONS, v1.ManageSubscriptionsRequest(
                app=named_app(app), account=account, product_id=product_id, auto_renew=auto_renew,
                idempotency_key=idempotency_key,
        ), timeout)

    def resolve_billing_issue(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", product_id: str = "",
            idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> Awaitable[v1.ResolveBillingIssueResponse]:
        """Resolves a billing issue, as a customer does who corrects the payment method: the store charges again, and the
        account's charges are no longer set to fail. Test apps only.
        """
        return self._call(RESOLVE_BILLING_ISSUE, v1.ResolveBillingIssueRequest(
                app=named_app(app), account=account, product_id=product_id, idempotency_key=idempotency_key,
        ), timeout)

    def answer_price_increase(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", product_id: str = "",
            agrees: bool = False, idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> Awaitable[v1.AnswerPriceIncreaseResponse]:
        """Answers a price increase, as a customer does in the store's sheet. Test apps only."""
        return self._call(ANSWER_PRICE_INCREASE, v1.AnswerPriceIncreaseRequest(
                app=named_app(app), account=account, product_id=product_id, agrees=agrees,
                idempotency_key=idempotency_key,
        ), timeout)

    def get_app_transaction(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "",
            at_least: Optional[v1.Position] = None, include_jws: bool = False, timeout: Optional[float] = None,
    ) -> Awaitable[v1.GetAppTransactionResponse]:
        """The record of the account's first use of the app."""
        return self._call(GET_APP_TRANSACTION, v1.GetAppTransactionRequest(
                app=named_app(app), account=account, at_least=at_least, include_jws=include_jws,
        ), timeout)

    def operate(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", idempotency_key: bytes = b"",
            operation: Optional[v1.StoreOperation] = None, timeout: Optional[float] = None,
    ) -> Awaitable[v1.OperateResponse]:
        """Performs one operation on one account: buy, refund, renew, share, delete and so on. Answers after the commit.
        """
        return self._call(OPERATE, v1.OperateRequest(
                app=named_app(app), account=account, idempotency_key=idempotency_key, operation=operation,
        ), timeout)

    def inspect_account(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "",
            at_least: Optional[v1.Position] = None, timeout: Optional[float] = None,
    ) -> Awaitable[v1.InspectAccountResponse]:
        """The store's record of an account."""
        return self._call(INSPECT_ACCOUNT, v1.InspectAccountRequest(
                app=named_app(app), account=account, at_least=at_least,
        ), timeout)

    def list_accounts(
            self, *, app: Union[v1.AppRef, str, None] = None, page_size: int = 0, page_token: bytes = b"",
            with_summaries: bool = False, timeout: Optional[float] = None,
    ) -> Awaitable[v1.ListAccountsResponse]:
        """The accounts of the app, by key, a page at a time."""
        return self._call(LIST_ACCOUNTS, v1.ListAccountsRequest(
                app=named_app(app), page_size=page_size, page_token=page_token, with_summaries=with_summaries,
        ), timeout)

    def configure(
            self, *, app: Union[v1.AppRef, str, None] = None, settings: Sequence[v1.AppSetting] = (),
            idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> Awaitable[v1.ConfigureResponse]:
        """Changes settings, armed failures and products of the app, all in one revision."""
        return self._call(CONFIGURE, v1.ConfigureRequest(
                app=named_app(app), settings=settings, idempotency_key=idempotency_key,
        ), timeout)

    def get_settings(
            self, *, app: Union[v1.AppRef, str, None] = None, timeout: Optional[float] = None,
    ) -> Awaitable[v1.GetSettingsResponse]:
        """The app's settings and armed failures."""
        return self._call(GET_SETTINGS, v1.GetSettingsRequest(app=named_app(app)), timeout)

    def get_clock(
            self, *, app: Union[v1.AppRef, str, None] = None, timeout: Optional[float] = None,
    ) -> Awaitable[v1.GetClockResponse]:
        """The app's clock and time rate."""
        return self._call(GET_CLOCK, v1.GetClockRequest(app=named_app(app)), timeout)

    def set_clock(
            self, *, app: Union[v1.AppRef, str, None] = None, freeze: Optional[v1.FreezeClock] = None,
            resume: Optional[v1.ResumeClock] = None, advance_by_ms: Optional[int] = None,
            advance_to_ms: Optional[int] = None, advance_to_boundary: Optional[v1.AdvanceToBoundary] = None,
            timeout: Optional[float] = None,
    ) -> Awaitable[v1.SetClockResponse]:
        """Freezes, resumes or advances the app's clock. Answers after everything due up to the new instant is settled and
        pushed.
        """
        return self._call(SET_CLOCK, v1.SetClockRequest(
                app=named_app(app), freeze=freeze, resume=resume, advance_by_ms=advance_by_ms,
                advance_to_ms=advance_to_ms, advance_to_boundary=advance_to_boundary,
        ), timeout)

    def order_mishap(
            self, *, app: Union[v1.AppRef, str, None] = None, kind: v1.MishapKind = v1.MishapKind.UNSPECIFIED,
            times: int = 0, delay_ms: int = 0, path: str = "", timeout: Optional[float] = None,
    ) -> Awaitable[v1.OrderMishapResponse]:
        """Lets something go wrong on purpose where the server is the App Store of other backends: with the next notifications of the
        app, or with the next requests of its backend. A server that stops forgets what has not gone wrong yet.
        """
        return self._call(ORDER_MISHAP, v1.OrderMishapRequest(
                app=named_app(app), kind=kind, times=times, delay_ms=delay_ms, path=path,
        ), timeout)

    def list_apps(self, *, timeout: Optional[float] = None) -> Awaitable[v1.ListAppsResponse]:
        """The apps of this server."""
        return self._call(LIST_APPS, v1.ListAppsRequest(), timeout)

    def check_catalog(
            self, *, file: bytes = b"", images: Sequence[v1.CatalogImage] = (), entitlements: bytes = b"",
            timeout: Optional[float] = None,
    ) -> Awaitable[v1.CheckCatalogResponse]:
        """Parses a catalogue file and reports its contents, without loading it."""
        return self._call(CHECK_CATALOG, v1.CheckCatalogRequest(
                file=file, images=images, entitlements=entitlements,
        ), timeout)

    def load_catalog(
            self, *, app: Union[v1.AppRef, str, None] = None, file: bytes = b"", source: str = "",
            images: Sequence[v1.CatalogImage] = (), entitlements: bytes = b"", timeout: Optional[float] = None,
    ) -> Awaitable[v1.LoadCatalogResponse]:
        """Replaces an app's catalogue: one change, one revision, one push for each stream that it affects."""
        return self._call(LOAD_CATALOG, v1.LoadCatalogRequest(
                app=named_app(app), file=file, source=source, images=images, entitlements=entitlements,
        ), timeout)

    def get_catalog(
            self, *, app: Union[v1.AppRef, str, None] = None, timeout: Optional[float] = None,
    ) -> Awaitable[v1.GetCatalogResponse]:
        """The contents of an app's catalogue."""
        return self._call(GET_CATALOG, v1.GetCatalogRequest(app=named_app(app)), timeout)

    def get_server_status(self, *, timeout: Optional[float] = None) -> Awaitable[v1.GetServerStatusResponse]:
        """Connections, their cost, and every counter."""
        return self._call(GET_SERVER_STATUS, v1.GetServerStatusRequest(), timeout)

    def backup(self, *, path: str = "", timeout: Optional[float] = None) -> Awaitable[v1.BackupResponse]:
        """Copies the store into a file on the server's machine while the server keeps working. One at a time."""
        return self._call(BACKUP, v1.BackupRequest(path=path), timeout)

    def revoke_token(
            self, *, token_id: str = "", expires_at_ms: int = 0, timeout: Optional[float] = None,
    ) -> Awaitable[v1.RevokeTokenResponse]:
        """Revokes a token before its end. Its holder's streams end within five seconds."""
        return self._call(REVOKE_TOKEN, v1.RevokeTokenRequest(token_id=token_id, expires_at_ms=expires_at_ms), timeout)

    def offer_console_code(
            self, *, token: str = "", timeout: Optional[float] = None,
    ) -> Awaitable[v1.OfferConsoleCodeResponse]:
        """Keeps a token for a browser, and returns a code for it. `perch console` puts the code into an address, where no token
        may be.
        """
        return self._call(OFFER_CONSOLE_CODE, v1.OfferConsoleCodeRequest(token=token), timeout)

    def redeem_console_code(
            self, *, code: str = "", timeout: Optional[float] = None,
    ) -> Awaitable[v1.RedeemConsoleCodeResponse]:
        """Exchanges a code for its token. The code is the only credential."""
        return self._call(REDEEM_CONSOLE_CODE, v1.RedeemConsoleCodeRequest(code=code), timeout)

    def find_account(
            self, *, app: Union[v1.AppRef, str, None] = None, transaction_id: int = 0, app_account_token: str = "",
            app_transaction_id: str = "", timeout: Optional[float] = None,
    ) -> Awaitable[v1.FindAccountResponse]:
        """The account of a transaction, or of a name that the App Store or the app gives a customer. In every environment.
        """
        return self._call(FIND_ACCOUNT, v1.FindAccountRequest(
                app=named_app(app), transaction_id=transaction_id, app_account_token=app_account_token,
                app_transaction_id=app_transaction_id,
        ), timeout)

    def find_customers(
            self, *, app: Union[v1.AppRef, str, None] = None, text: str = "",
            kinds: Sequence[v1.CustomerNameKind] = (), page_size: int = 0, timeout: Optional[float] = None,
    ) -> Awaitable[v1.FindCustomersResponse]:
        """Customers by any name: the beginning of their key, or a whole name of another kind. Keys in other capitals follow those in the
        very capitals of the text. In every environment. Reads a bounded number of rows, however many accounts there are.
        """
        return self._call(FIND_CUSTOMERS, v1.FindCustomersRequest(
                app=named_app(app), text=text, kinds=kinds, page_size=page_size,
        ), timeout)

    def add_note(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", text: str = "",
            idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> Awaitable[v1.AddNoteResponse]:
        """Writes a note beside a customer. A note changes nothing that the customer has, so the scope read is enough. In every environment.
        """
        return self._call(ADD_NOTE, v1.AddNoteRequest(
                app=named_app(app), account=account, text=text, idempotency_key=idempotency_key,
        ), timeout)

    def list_notes(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", timeout: Optional[float] = None,
    ) -> Awaitable[v1.ListNotesResponse]:
        """The notes beside a customer."""
        return self._call(LIST_NOTES, v1.ListNotesRequest(app=named_app(app), account=account), timeout)

    def delete_note(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", note_id: int = 0,
            timeout: Optional[float] = None,
    ) -> Awaitable[v1.DeleteNoteResponse]:
        """Deletes a note: an own one, or anybody's with the scope admin."""
        return self._call(DELETE_NOTE, v1.DeleteNoteRequest(
                app=named_app(app), account=account, note_id=note_id,
        ), timeout)

    def list_unclaimed(
            self, *, app: Union[v1.AppRef, str, None] = None, page_size: int = 0, page_token: bytes = b"",
            timeout: Optional[float] = None,
    ) -> Awaitable[v1.ListUnclaimedResponse]:
        """Purchases that the App Store reported and that need somebody: those of no account that is known, and subscriptions whose
        renewal was awaited and never reported. A page looks at a limited number of accounts, so it may be empty and not the last.
        """
        return self._call(LIST_UNCLAIMED, v1.ListUnclaimedRequest(
                app=named_app(app), page_size=page_size, page_token=page_token,
        ), timeout)

    def attach_alias(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", app_account_token: str = "",
            app_transaction_id: str = "", email_sha256: str = "", timeout: Optional[float] = None,
    ) -> Awaitable[v1.AttachAliasResponse]:
        """Says that a name of a customer belongs to an account from now on. What waited for it becomes the account's. The name is then another
        key of the account in calls, streams and copies, except the hash of an e-mail address. OWNED_BY_OTHER: it is the key of another account.
        """
        return self._call(ATTACH_ALIAS, v1.AttachAliasRequest(
                app=named_app(app), account=account, app_account_token=app_account_token,
                app_transaction_id=app_transaction_id, email_sha256=email_sha256,
        ), timeout)

    def detach_alias(
            self, *, app: Union[v1.AppRef, str, None] = None, app_account_token: str = "",
            app_transaction_id: str = "", email_sha256: str = "", timeout: Optional[float] = None,
    ) -> Awaitable[v1.DetachAliasResponse]:
        """Takes a name of a customer from its account."""
        return self._call(DETACH_ALIAS, v1.DetachAliasRequest(
                app=named_app(app), app_account_token=app_account_token, app_transaction_id=app_transaction_id,
                email_sha256=email_sha256,
        ), timeout)

    def move_transaction(
            self, *, app: Union[v1.AppRef, str, None] = None, original_transaction_id: int = 0, account: str = "",
            timeout: Optional[float] = None,
    ) -> Awaitable[v1.MoveTransactionResponse]:
        """Gives an original transaction, and what follows it, to an account, whatever the app's claim policy says."""
        return self._call(MOVE_TRANSACTION, v1.MoveTransactionRequest(
                app=named_app(app), original_transaction_id=original_transaction_id, account=account,
        ), timeout)

    def merge_accounts(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", into_account: str = "",
            timeout: Optional[float] = None,
    ) -> Awaitable[v1.MergeAccountsResponse]:
        """Gives everything that one account has to another, and its key too: an anonymous customer has signed in. Both accounts
        change in one revision.
        """
        return self._call(MERGE_ACCOUNTS, v1.MergeAccountsRequest(
                app=named_app(app), account=account, into_account=into_account,
        ), timeout)

    def erase_account(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", timeout: Optional[float] = None,
    ) -> Awaitable[v1.EraseAccountResponse]:
        """Erases an account: its transactions, facts, names and grants, and what waits or was kept about it. Its revisions stay, empty,
        so that cursors and tokens of others stay valid. Streams of the account get the value of one that owns nothing. Later
        reports about its purchases are not kept until a submission names an account for them. In every environment.
        """
        return self._call(ERASE_ACCOUNT, v1.EraseAccountRequest(app=named_app(app), account=account), timeout)

    def export_account(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", timeout: Optional[float] = None,
    ) -> Awaitable[v1.ExportAccountResponse]:
        """Everything that the store knows of an account. In every environment."""
        return self._call(EXPORT_ACCOUNT, v1.ExportAccountRequest(app=named_app(app), account=account), timeout)

    def grant_entitlement(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", name: str = "",
            until_ms: Optional[int] = None, reason: str = "", idempotency_key: bytes = b"", tier: str = "",
            timeout: Optional[float] = None,
    ) -> Awaitable[v1.GrantEntitlementResponse]:
        """Grants a named entitlement to an account, in every environment. It touches no purchase, and replaces an earlier grant of
        that name.
        """
        return self._call(GRANT_ENTITLEMENT, v1.GrantEntitlementRequest(
                app=named_app(app), account=account, name=name, until_ms=until_ms, reason=reason,
                idempotency_key=idempotency_key, tier=tier,
        ), timeout)

    def revoke_grant(
            self, *, app: Union[v1.AppRef, str, None] = None, account: str = "", name: str = "",
            timeout: Optional[float] = None,
    ) -> Awaitable[v1.RevokeGrantResponse]:
        """Ends a grant."""
        return self._call(REVOKE_GRANT, v1.RevokeGrantRequest(app=named_app(app), account=account, name=name), timeout)

    def list_audit(
            self, *, after_revision: int = 0, page_size: int = 0, timeout: Optional[float] = None,
    ) -> Awaitable[v1.ListAuditResponse]:
        """Administrative and test changes, oldest first: who asked for what, from where. Customers' purchases are not among them.
        """
        return self._call(LIST_AUDIT, v1.ListAuditRequest(after_revision=after_revision, page_size=page_size), timeout)

    def list_dead_letters(
            self, *, page_size: int = 0, page_token: bytes = b"", timeout: Optional[float] = None,
    ) -> Awaitable[v1.ListDeadLettersResponse]:
        """Values whose signature was good and that were not taken, oldest first, a page at a time."""
        return self._call(LIST_DEAD_LETTERS, v1.ListDeadLettersRequest(
                page_size=page_size, page_token=page_token,
        ), timeout)

    def retry_dead_letter(
            self, *, id: str = "", timeout: Optional[float] = None,
    ) -> Awaitable[v1.RetryDeadLetterResponse]:
        """Takes a dead letter once more. It is gone when that succeeds."""
        return self._call(RETRY_DEAD_LETTER, v1.RetryDeadLetterRequest(id=id), timeout)

    def drop_dead_letter(
            self, *, id: str = "", timeout: Optional[float] = None,
    ) -> Awaitable[v1.DropDeadLetterResponse]:
        """Deletes a dead letter."""
        return self._call(DROP_DEAD_LETTER, v1.DropDeadLetterRequest(id=id), timeout)

    def list_consumption(
            self, *, app: Union[v1.AppRef, str, None] = None, page_size: int = 0, page_token: bytes = b"",
            timeout: Optional[float] = None,
    ) -> Awaitable[v1.ListConsumptionResponse]:
        """What the App Store asks about purchases whose customers want refunds, in the order of the transactions, a page at a time. A
        question leaves the list a day after its deadline.
        """
        return self._call(LIST_CONSUMPTION, v1.ListConsumptionRequest(
                app=named_app(app), page_size=page_size, page_token=page_token,
        ), timeout)

    def answer_consumption(
            self, *, app: Union[v1.AppRef, str, None] = None, transaction_id: int = 0,
            answer: Optional[v1.ConsumptionAnswer] = None, timeout: Optional[float] = None,
    ) -> Awaitable[v1.AnswerConsumptionResponse]:
        """Answers such a question. The answer is stored, and then sent to the App Store, again after a failure until the deadline.
        """
        return self._call(ANSWER_CONSUMPTION, v1.AnswerConsumptionRequest(
                app=named_app(app), transaction_id=transaction_id, answer=answer,
        ), timeout)

    def reconcile(
            self, *, app: Union[v1.AppRef, str, None] = None, dry_run: bool = False, everything: bool = False,
            run: int = 0, timeout: Optional[float] = None,
    ) -> Awaitable[v1.ReconcileResponse]:
        """Asks the App Store now for what it did not deliver, or says how far that is. Of several nodes of one store the one that has the
        right to ask must be called; others refuse with `LEASE_WAIT`.
        """
        return self._call(RECONCILE, v1.ReconcileRequest(
                app=named_app(app), dry_run=dry_run, everything=everything, run=run,
        ), timeout)

    def list_notifications(
            self, *, page_size: int = 0, page_token: bytes = b"", timeout: Optional[float] = None,
    ) -> Awaitable[v1.ListNotificationsResponse]:
        """Notifications of sandbox apps that were taken, oldest first, a page at a time: the latest 200. Those of production apps are
        not kept.
        """
        return self._call(LIST_NOTIFICATIONS, v1.ListNotificationsRequest(
                page_size=page_size, page_token=page_token,
        ), timeout)

    def get_signed_payload(
            self, *, id: str = "", timeout: Optional[float] = None,
    ) -> Awaitable[v1.GetSignedPayloadResponse]:
        """A notification or a dead letter as it came."""
        return self._call(GET_SIGNED_PAYLOAD, v1.GetSignedPayloadRequest(id=id), timeout)

    def submit_transaction(
            self, *, app: Union[v1.AppRef, str, None] = None, signed_values: Sequence[str] = (), account: str = "",
            idempotency_key: bytes = b"", timeout: Optional[float] = None,
    ) -> Awaitable[v1.SubmitTransactionResponse]:
        """Takes signed transactions, renewal information, app transactions and notifications, from the app or its backend.
        Answers after everything is durable. The order of values does not matter, and a repetition changes nothing. A value that cannot
        be taken is refused alone, and `refused` says which; the call fails where all are. Credentials for one account submit for that
        account alone: so an app submits for its own customer.
        """
        return self._call(SUBMIT_TRANSACTION, v1.SubmitTransactionRequest(
                app=named_app(app), signed_values=signed_values, account=account, idempotency_key=idempotency_key,
        ), timeout)

    def submit_notification(
            self, *, signed_payload: str = "", timeout: Optional[float] = None,
    ) -> Awaitable[v1.SubmitNotificationResponse]:
        """Takes an App Store Server Notification, version 2, as Apple posts it. `POST /apple/notifications` of the listener
        `--apple-listen` is this call, without credentials: the signature says who sent it.
        """
        return self._call(SUBMIT_NOTIFICATION, v1.SubmitNotificationRequest(signed_payload=signed_payload), timeout)


class AsyncWatches:
    """Every stream of state, as a watch that comes back by itself.

    `fail_after`: seconds without the server after which the watch ends with the error. Without it the watch waits.
    """

    def _watch(self, method: Method, request: Any, fail_after: Optional[float]) -> Any:
        raise NotImplementedError

    def products(
            self, product_ids: Sequence[str], *, app: Union[v1.AppRef, str, None] = None, locale: str = "",
            storefront: str = "", at_least: Optional[v1.Position] = None, fail_after: Optional[float] = None,
    ) -> AsyncWatch[v1.Products]:
        """Products, and the identifiers that are unavailable."""
        return self._watch(PRODUCTS_TASK, v1.ProductsTaskRequest(
                app=named_app(app), product_ids=product_ids, locale=locale, storefront=storefront, at_least=at_least,
        ), fail_after)

    def subscription_status(
            self, account: str, *, app: Union[v1.AppRef, str, None] = None, group_id: str = "",
            at_least: Optional[v1.Position] = None, include_jws: bool = False, all_groups: bool = False,
            fail_after: Optional[float] = None,
    ) -> AsyncWatch[v1.SubscriptionStatuses]:
        """The statuses of an account in a subscription group."""
        return self._watch(SUBSCRIPTION_STATUS_TASK, v1.SubscriptionStatusTaskRequest(
                app=named_app(app), account=account, group_id=group_id, at_least=at_least, include_jws=include_jws,
                all_groups=all_groups,
        ), fail_after)

    def current_entitlement(
            self, account: str, *, app: Union[v1.AppRef, str, None] = None, product_id: str = "",
            at_least: Optional[v1.Position] = None, include_jws: bool = False, fail_after: Optional[float] = None,
    ) -> AsyncWatch[v1.CurrentEntitlement]:
        """The transaction that entitles an account to a product, or none."""
        return self._watch(CURRENT_ENTITLEMENT_TASK, v1.CurrentEntitlementTaskRequest(
                app=named_app(app), account=account, product_id=product_id, at_least=at_least, include_jws=include_jws,
        ), fail_after)

    def entitlements(
            self, account: str, *, app: Union[v1.AppRef, str, None] = None, at_least: Optional[v1.Position] = None,
            fail_after: Optional[float] = None,
    ) -> AsyncWatch[v1.NamedEntitlements]:
        """The account's entitlements by their names in the app, whatever gives them: a subscription, a purchase, a grant.
        """
        return self._watch(ENTITLEMENTS_TASK, v1.EntitlementsTaskRequest(
                app=named_app(app), account=account, at_least=at_least,
        ), fail_after)

    def purchase_intents(
            self, account: str, *, app: Union[v1.AppRef, str, None] = None, at_least: Optional[v1.Position] = None,
            fail_after: Optional[float] = None,
    ) -> AsyncWatch[v1.PurchaseIntentList]:
        """The purchases that a customer began outside the app, now and at each change."""
        return self._watch(PURCHASE_INTENTS, v1.PurchaseIntentsRequest(
                app=named_app(app), account=account, at_least=at_least,
        ), fail_after)

    def messages(
            self, account: str, *, app: Union[v1.AppRef, str, None] = None, at_least: Optional[v1.Position] = None,
            fail_after: Optional[float] = None,
    ) -> AsyncWatch[v1.StoreMessages]:
        """The store's valid messages for the customer, now and at each change."""
        return self._watch(MESSAGES, v1.MessagesRequest(
                app=named_app(app), account=account, at_least=at_least,
        ), fail_after)


class AsyncEventStreams:
    """Every stream of events, which skips nothing."""

    def _events(self, method: Method, request: Any, progress: bool, fail_after: Optional[float]) -> Any:
        raise NotImplementedError

    def changes(
            self, *, app: Union[v1.AppRef, str, None] = None, cursor: bytes = b"", from_oldest: bool = False,
            causes: Sequence[v1.Cause] = (), group_ids: Sequence[str] = (), product_ids: Sequence[str] = (),
            entitlements_only: bool = False, at_least: Optional[v1.Position] = None, progress: bool = False,
            fail_after: Optional[float] = None,
    ) -> AsyncEvents[v1.AppChangesResponse]:
        """Every change of every account of an app, exactly once and in order, across reconnects. Services use it where they would
        otherwise want webhooks.

        Start with the stored cursor, and store `cursor` of each event when you have handled it. With `progress`, messages that
        have only a cursor are answered too: store those as well where events are rare.
        """
        return self._events(APP_CHANGES, v1.AppChangesRequest(
                app=named_app(app), cursor=cursor, from_oldest=from_oldest, causes=causes, group_ids=group_ids,
                product_ids=product_ids, entitlements_only=entitlements_only, at_least=at_least,
        ), progress, fail_after)

    def transaction_updates(
            self, account: str, *, app: Union[v1.AppRef, str, None] = None, cursor: bytes = b"",
            at_least: Optional[v1.Position] = None, include_jws: bool = False, progress: bool = False,
            fail_after: Optional[float] = None,
    ) -> AsyncEvents[v1.TransactionUpdatesResponse]:
        """Each new or changed transaction, exactly once and in order, across reconnects.

        Start with the stored cursor, and store `cursor` of each event when you have handled it. With `progress`, messages that
        have only a cursor are answered too: store those as well where events are rare.
        """
        return self._events(TRANSACTION_UPDATES, v1.TransactionUpdatesRequest(
                app=named_app(app), account=account, cursor=cursor, at_least=at_least, include_jws=include_jws,
        ), progress, fail_after)
