// Generated from proto/ by `make proto`. Do not edit: change the contract, proto/swift.map or proto/generator/.
// swift-format-ignore-file

import CPerchProto

extension Perch__V1__AppRef: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__app_ref__init(message) }
}
extension Perch__V1__Position: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__position__init(message) }
}
extension Perch__V1__Money: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__money__init(message) }
}
extension Perch__V1__Storefront: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__storefront__init(message) }
}
extension Perch__V1__Period: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__period__init(message) }
}
extension Perch__V1__Environment: CEnumeration {}
extension Perch__V1__PeriodUnit: CEnumeration {}
extension Perch__V1__OfferType: CEnumeration {}
extension Perch__V1__OfferPaymentMode: CEnumeration {}
extension Perch__V1__BillingPlanType: CEnumeration {}
extension Perch__V1__VerificationError: CEnumeration {}
extension Perch__V1__Eligibility: CEnumeration {}
extension Perch__V1__SubscriptionOffer: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__subscription_offer__init(message) }
}
extension Perch__V1__BillingPlan: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__billing_plan__init(message) }
}
extension Perch__V1__SubscriptionInfo: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__subscription_info__init(message) }
}
extension Perch__V1__Product: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__product__init(message) }
}
extension Perch__V1__ProductType: CEnumeration {}
extension Perch__V1__Revocation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__revocation__init(message) }
}
extension Perch__V1__TransactionOffer: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__transaction_offer__init(message) }
}
extension Perch__V1__CommitmentInfo: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__commitment_info__init(message) }
}
extension Perch__V1__Transaction: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__transaction__init(message) }
}
extension Perch__V1__TransactionResult: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__transaction_result__init(message) }
}
extension Perch__V1__OwnershipType: CEnumeration {}
extension Perch__V1__TransactionReason: CEnumeration {}
extension Perch__V1__RevocationReason: CEnumeration {}
extension Perch__V1__RevocationType: CEnumeration {}
extension Perch__V1__OperationTarget: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__operation_target__init(message) }
}
extension Perch__V1__PurchaseOffer: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__purchase_offer__init(message) }
}
extension Perch__V1__PurchaseOrder: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__purchase_order__init(message) }
}
extension Perch__V1__RefundOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__refund_operation__init(message) }
}
extension Perch__V1__ReverseRefundOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__reverse_refund_operation__init(message) }
}
extension Perch__V1__DeclineRefundOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__decline_refund_operation__init(message) }
}
extension Perch__V1__RequestConsumptionOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__request_consumption_operation__init(message) }
}
extension Perch__V1__RenewOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__renew_operation__init(message) }
}
extension Perch__V1__ExpireOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__expire_operation__init(message) }
}
extension Perch__V1__SetAutoRenewOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__set_auto_renew_operation__init(message) }
}
extension Perch__V1__ResolveBillingOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__resolve_billing_operation__init(message) }
}
extension Perch__V1__SetChargesOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__set_charges_operation__init(message) }
}
extension Perch__V1__RaisePriceOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__raise_price_operation__init(message) }
}
extension Perch__V1__AnswerPriceIncreaseOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__answer_price_increase_operation__init(message) }
}
extension Perch__V1__ExtendRenewalOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__extend_renewal_operation__init(message) }
}
extension Perch__V1__ShareOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__share_operation__init(message) }
}
extension Perch__V1__StopSharingOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__stop_sharing_operation__init(message) }
}
extension Perch__V1__DecidePurchaseOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__decide_purchase_operation__init(message) }
}
extension Perch__V1__DeleteTransactionOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__delete_transaction_operation__init(message) }
}
extension Perch__V1__ClearTransactionsOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__clear_transactions_operation__init(message) }
}
extension Perch__V1__CreateIntentOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__create_intent_operation__init(message) }
}
extension Perch__V1__EndIntentOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__end_intent_operation__init(message) }
}
extension Perch__V1__SetStorefrontOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__set_storefront_operation__init(message) }
}
extension Perch__V1__PostMessageOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__post_message_operation__init(message) }
}
extension Perch__V1__SetPaymentsOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__set_payments_operation__init(message) }
}
extension Perch__V1__SetAppTransactionOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__set_app_transaction_operation__init(message) }
}
extension Perch__V1__StoreOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__store_operation__init(message) }
}
extension Perch__V1__PendingPurchase: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__pending_purchase__init(message) }
}
extension Perch__V1__PurchaseIntent: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__purchase_intent__init(message) }
}
extension Perch__V1__SimulatedError: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__simulated_error__init(message) }
}
extension Perch__V1__ProductEdit: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__product_edit__init(message) }
}
extension Perch__V1__OfferEdit: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__offer_edit__init(message) }
}
extension Perch__V1__OfferCode: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__offer_code__init(message) }
}
extension Perch__V1__WinBackRule: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__win_back_rule__init(message) }
}
extension Perch__V1__AppSetting: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__app_setting__init(message) }
}
extension Perch__V1__IntroductoryEligibility: CEnumeration {}
extension Perch__V1__RenewalBehaviour: CEnumeration {}
extension Perch__V1__PurchaseResult: CEnumeration {}
extension Perch__V1__ChargeOutcome: CEnumeration {}
extension Perch__V1__PriceConsent: CEnumeration {}
extension Perch__V1__AppPlatform: CEnumeration {}
extension Perch__V1__PendingReason: CEnumeration {}
extension Perch__V1__StoreKitApi: CEnumeration {}
extension Perch__V1__StoreKitError: CEnumeration {}
extension Perch__V1__RenewalInfo: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__renewal_info__init(message) }
}
extension Perch__V1__RenewalInfoResult: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__renewal_info_result__init(message) }
}
extension Perch__V1__SubscriptionStatus: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__subscription_status__init(message) }
}
extension Perch__V1__GroupEffective: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__group_effective__init(message) }
}
extension Perch__V1__SubscriptionStatuses: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__subscription_statuses__init(message) }
}
extension Perch__V1__GroupStatuses: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__group_statuses__init(message) }
}
extension Perch__V1__RenewalState: CEnumeration {}
extension Perch__V1__ExpirationReason: CEnumeration {}
extension Perch__V1__PriceIncreaseStatus: CEnumeration {}
extension Perch__V1__EffectiveReason: CEnumeration {}
extension Perch__V1__Loading: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__loading__init(message) }
}
extension Perch__V1__Failure: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__failure__init(message) }
}
extension Perch__V1__Unchanged: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__unchanged__init(message) }
}
extension Perch__V1__Bookmark: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__bookmark__init(message) }
}
extension Perch__V1__Forecast: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__forecast__init(message) }
}
extension Perch__V1__ValueInfo: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__value_info__init(message) }
}
extension Perch__V1__Cause: CEnumeration {}
extension Perch__V1__ForecastKind: CEnumeration {}
extension Perch__V1__OrderMishapRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__order_mishap_request__init(message) }
}
extension Perch__V1__OrderMishapResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__order_mishap_response__init(message) }
}
extension Perch__V1__OperateRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__operate_request__init(message) }
}
extension Perch__V1__OperateResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__operate_response__init(message) }
}
extension Perch__V1__InspectAccountRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__inspect_account_request__init(message) }
}
extension Perch__V1__FamilyShare: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__family_share__init(message) }
}
extension Perch__V1__RedeemedOffer: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__redeemed_offer__init(message) }
}
extension Perch__V1__InspectAccountResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__inspect_account_response__init(message) }
}
extension Perch__V1__ListAccountsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_accounts_request__init(message) }
}
extension Perch__V1__AccountSummary: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__account_summary__init(message) }
}
extension Perch__V1__ListAccountsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_accounts_response__init(message) }
}
extension Perch__V1__ConfigureRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__configure_request__init(message) }
}
extension Perch__V1__ConfigureResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__configure_response__init(message) }
}
extension Perch__V1__GetSettingsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_settings_request__init(message) }
}
extension Perch__V1__GetSettingsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_settings_response__init(message) }
}
extension Perch__V1__GetClockRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_clock_request__init(message) }
}
extension Perch__V1__Clock: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__clock__init(message) }
}
extension Perch__V1__GetClockResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_clock_response__init(message) }
}
extension Perch__V1__FreezeClock: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__freeze_clock__init(message) }
}
extension Perch__V1__ResumeClock: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__resume_clock__init(message) }
}
extension Perch__V1__AdvanceToBoundary: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__advance_to_boundary__init(message) }
}
extension Perch__V1__SetClockRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__set_clock_request__init(message) }
}
extension Perch__V1__SetClockResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__set_clock_response__init(message) }
}
extension Perch__V1__MishapKind: CEnumeration {}
extension Perch__V1__App: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__app__init(message) }
}
extension Perch__V1__ListAppsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_apps_request__init(message) }
}
extension Perch__V1__ListAppsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_apps_response__init(message) }
}
extension Perch__V1__CatalogWarning: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__catalog_warning__init(message) }
}
extension Perch__V1__CatalogSummary: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__catalog_summary__init(message) }
}
extension Perch__V1__CatalogImage: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__catalog_image__init(message) }
}
extension Perch__V1__CheckCatalogRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__check_catalog_request__init(message) }
}
extension Perch__V1__CheckCatalogResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__check_catalog_response__init(message) }
}
extension Perch__V1__LoadCatalogRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__load_catalog_request__init(message) }
}
extension Perch__V1__LoadCatalogResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__load_catalog_response__init(message) }
}
extension Perch__V1__GetCatalogRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_catalog_request__init(message) }
}
extension Perch__V1__CatalogImageInfo: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__catalog_image_info__init(message) }
}
extension Perch__V1__GetCatalogResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_catalog_response__init(message) }
}
extension Perch__V1__GetServerStatusRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_server_status_request__init(message) }
}
extension Perch__V1__Metric: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__metric__init(message) }
}
extension Perch__V1__Finding: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__finding__init(message) }
}
extension Perch__V1__GetServerStatusResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_server_status_response__init(message) }
}
extension Perch__V1__BackupRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__backup_request__init(message) }
}
extension Perch__V1__BackupResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__backup_response__init(message) }
}
extension Perch__V1__RevokeTokenRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__revoke_token_request__init(message) }
}
extension Perch__V1__RevokeTokenResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__revoke_token_response__init(message) }
}
extension Perch__V1__OfferConsoleCodeRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__offer_console_code_request__init(message) }
}
extension Perch__V1__OfferConsoleCodeResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__offer_console_code_response__init(message) }
}
extension Perch__V1__RedeemConsoleCodeRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__redeem_console_code_request__init(message) }
}
extension Perch__V1__RedeemConsoleCodeResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__redeem_console_code_response__init(message) }
}
extension Perch__V1__DeadLetter: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__dead_letter__init(message) }
}
extension Perch__V1__ListDeadLettersRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_dead_letters_request__init(message) }
}
extension Perch__V1__ListDeadLettersResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_dead_letters_response__init(message) }
}
extension Perch__V1__RetryDeadLetterRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__retry_dead_letter_request__init(message) }
}
extension Perch__V1__RetryDeadLetterResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__retry_dead_letter_response__init(message) }
}
extension Perch__V1__DropDeadLetterRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__drop_dead_letter_request__init(message) }
}
extension Perch__V1__DropDeadLetterResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__drop_dead_letter_response__init(message) }
}
extension Perch__V1__ConsumptionAnswer: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__consumption_answer__init(message) }
}
extension Perch__V1__ConsumptionCase: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__consumption_case__init(message) }
}
extension Perch__V1__ListConsumptionRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_consumption_request__init(message) }
}
extension Perch__V1__ListConsumptionResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_consumption_response__init(message) }
}
extension Perch__V1__AnswerConsumptionRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__answer_consumption_request__init(message) }
}
extension Perch__V1__AnswerConsumptionResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__answer_consumption_response__init(message) }
}
extension Perch__V1__ReconcileRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__reconcile_request__init(message) }
}
extension Perch__V1__ReconcileResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__reconcile_response__init(message) }
}
extension Perch__V1__ReconcileDifference: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__reconcile_difference__init(message) }
}
extension Perch__V1__ListNotificationsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_notifications_request__init(message) }
}
extension Perch__V1__ReceivedNotification: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__received_notification__init(message) }
}
extension Perch__V1__ListNotificationsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_notifications_response__init(message) }
}
extension Perch__V1__GetSignedPayloadRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_signed_payload_request__init(message) }
}
extension Perch__V1__GetSignedPayloadResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_signed_payload_response__init(message) }
}
extension Perch__V1__FindCustomersRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__find_customers_request__init(message) }
}
extension Perch__V1__FoundCustomer: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__found_customer__init(message) }
}
extension Perch__V1__FindCustomersResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__find_customers_response__init(message) }
}
extension Perch__V1__CustomerNote: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__customer_note__init(message) }
}
extension Perch__V1__AddNoteRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__add_note_request__init(message) }
}
extension Perch__V1__AddNoteResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__add_note_response__init(message) }
}
extension Perch__V1__ListNotesRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_notes_request__init(message) }
}
extension Perch__V1__ListNotesResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_notes_response__init(message) }
}
extension Perch__V1__DeleteNoteRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__delete_note_request__init(message) }
}
extension Perch__V1__DeleteNoteResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__delete_note_response__init(message) }
}
extension Perch__V1__FindAccountRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__find_account_request__init(message) }
}
extension Perch__V1__FindAccountResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__find_account_response__init(message) }
}
extension Perch__V1__ListUnclaimedRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_unclaimed_request__init(message) }
}
extension Perch__V1__UnclaimedPurchase: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__unclaimed_purchase__init(message) }
}
extension Perch__V1__ListUnclaimedResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_unclaimed_response__init(message) }
}
extension Perch__V1__AttachAliasRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__attach_alias_request__init(message) }
}
extension Perch__V1__AttachAliasResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__attach_alias_response__init(message) }
}
extension Perch__V1__DetachAliasRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__detach_alias_request__init(message) }
}
extension Perch__V1__DetachAliasResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__detach_alias_response__init(message) }
}
extension Perch__V1__MoveTransactionRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__move_transaction_request__init(message) }
}
extension Perch__V1__MoveTransactionResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__move_transaction_response__init(message) }
}
extension Perch__V1__MergeAccountsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__merge_accounts_request__init(message) }
}
extension Perch__V1__MergeAccountsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__merge_accounts_response__init(message) }
}
extension Perch__V1__EraseAccountRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__erase_account_request__init(message) }
}
extension Perch__V1__EraseAccountResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__erase_account_response__init(message) }
}
extension Perch__V1__ExportAccountRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__export_account_request__init(message) }
}
extension Perch__V1__ExportAccountResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__export_account_response__init(message) }
}
extension Perch__V1__GrantSummary: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__grant_summary__init(message) }
}
extension Perch__V1__GrantEntitlementRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__grant_entitlement_request__init(message) }
}
extension Perch__V1__GrantEntitlementResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__grant_entitlement_response__init(message) }
}
extension Perch__V1__RevokeGrantRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__revoke_grant_request__init(message) }
}
extension Perch__V1__RevokeGrantResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__revoke_grant_response__init(message) }
}
extension Perch__V1__ListAuditRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_audit_request__init(message) }
}
extension Perch__V1__AuditLine: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__audit_line__init(message) }
}
extension Perch__V1__ListAuditResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_audit_response__init(message) }
}
extension Perch__V1__ConsumptionDelivery: CEnumeration {}
extension Perch__V1__RefundPreference: CEnumeration {}
extension Perch__V1__ConsumptionState: CEnumeration {}
extension Perch__V1__CustomerNameKind: CEnumeration {}
extension Perch__V1__AsOf: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__as_of__init(message) }
}
extension Perch__V1__Products: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__products__init(message) }
}
extension Perch__V1__CurrentEntitlement: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__current_entitlement__init(message) }
}
extension Perch__V1__ProductsTaskRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__products_task_request__init(message) }
}
extension Perch__V1__ProductsTaskResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__products_task_response__init(message) }
}
extension Perch__V1__SubscriptionStatusTaskRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__subscription_status_task_request__init(message) }
}
extension Perch__V1__SubscriptionStatusTaskResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__subscription_status_task_response__init(message) }
}
extension Perch__V1__NamedEntitlement: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__named_entitlement__init(message) }
}
extension Perch__V1__NamedEntitlements: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__named_entitlements__init(message) }
}
extension Perch__V1__EntitlementsTaskRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__entitlements_task_request__init(message) }
}
extension Perch__V1__EntitlementsTaskResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__entitlements_task_response__init(message) }
}
extension Perch__V1__GetEntitlementsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_entitlements_request__init(message) }
}
extension Perch__V1__GetPassRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_pass_request__init(message) }
}
extension Perch__V1__GetPassResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_pass_response__init(message) }
}
extension Perch__V1__GetEntitlementsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_entitlements_response__init(message) }
}
extension Perch__V1__CurrentEntitlementTaskRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__current_entitlement_task_request__init(message) }
}
extension Perch__V1__CurrentEntitlementTaskResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__current_entitlement_task_response__init(message) }
}
extension Perch__V1__GetProductsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_products_request__init(message) }
}
extension Perch__V1__GetProductsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_products_response__init(message) }
}
extension Perch__V1__GetImageRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_image_request__init(message) }
}
extension Perch__V1__GetImageResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_image_response__init(message) }
}
extension Perch__V1__GetSubscriptionStatusRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_subscription_status_request__init(message) }
}
extension Perch__V1__GetSubscriptionStatusResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_subscription_status_response__init(message) }
}
extension Perch__V1__GetCurrentEntitlementRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_current_entitlement_request__init(message) }
}
extension Perch__V1__GetCurrentEntitlementResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_current_entitlement_response__init(message) }
}
extension Perch__V1__ListCurrentEntitlementsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_current_entitlements_request__init(message) }
}
extension Perch__V1__ListCurrentEntitlementsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_current_entitlements_response__init(message) }
}
extension Perch__V1__ListPlanOptionsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_plan_options_request__init(message) }
}
extension Perch__V1__PlanOption: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__plan_option__init(message) }
}
extension Perch__V1__ListPlanOptionsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_plan_options_response__init(message) }
}
extension Perch__V1__GetOfferEligibilityRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_offer_eligibility_request__init(message) }
}
extension Perch__V1__OfferEligibility: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__offer_eligibility__init(message) }
}
extension Perch__V1__GetOfferEligibilityResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_offer_eligibility_response__init(message) }
}
extension Perch__V1__GetAppPoliciesRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_app_policies_request__init(message) }
}
extension Perch__V1__GetAppPoliciesResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_app_policies_response__init(message) }
}
extension Perch__V1__ExplainRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__explain_request__init(message) }
}
extension Perch__V1__Supposition: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__supposition__init(message) }
}
extension Perch__V1__ExpectedChange: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__expected_change__init(message) }
}
extension Perch__V1__ExplainedGrant: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__explained_grant__init(message) }
}
extension Perch__V1__HistoryEntry: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__history_entry__init(message) }
}
extension Perch__V1__SupposedOutcome: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__supposed_outcome__init(message) }
}
extension Perch__V1__ExplainedFact: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__explained_fact__init(message) }
}
extension Perch__V1__Explanation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__explanation__init(message) }
}
extension Perch__V1__ExplainResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__explain_response__init(message) }
}
extension Perch__V1__AppChangesRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__app_changes_request__init(message) }
}
extension Perch__V1__EntitlementChange: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__entitlement_change__init(message) }
}
extension Perch__V1__AppStoreNotification: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__app_store_notification__init(message) }
}
extension Perch__V1__ConsumptionRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__consumption_request__init(message) }
}
extension Perch__V1__AppChangesResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__app_changes_response__init(message) }
}
extension Perch__V1__AppEntitlementsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__app_entitlements_request__init(message) }
}
extension Perch__V1__EntitlementGrade: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__entitlement_grade__init(message) }
}
extension Perch__V1__EntitlementsClock: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__entitlements_clock__init(message) }
}
extension Perch__V1__EntitlementsBegin: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__entitlements_begin__init(message) }
}
extension Perch__V1__EntitlementsBatch: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__entitlements_batch__init(message) }
}
extension Perch__V1__EntitlementsEnd: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__entitlements_end__init(message) }
}
extension Perch__V1__AppEntitlementsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__app_entitlements_response__init(message) }
}
extension Perch__V1__EntitlementOrigin: CEnumeration {}
extension Perch__V1__PlanRelation: CEnumeration {}
extension Perch__V1__SupposedEvent: CEnumeration {}
extension Perch__V1__HistoryKind: CEnumeration {}
extension Perch__V1__EntitlementReason: CEnumeration {}
extension Perch__V1__SubmitTransactionRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__submit_transaction_request__init(message) }
}
extension Perch__V1__SubmitTransactionResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__submit_transaction_response__init(message) }
}
extension Perch__V1__RefusedValue: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__refused_value__init(message) }
}
extension Perch__V1__SubmitNotificationRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__submit_notification_request__init(message) }
}
extension Perch__V1__SubmitNotificationResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__submit_notification_response__init(message) }
}
extension Perch__V1__PurchaseRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__purchase_request__init(message) }
}
extension Perch__V1__PurchaseResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__purchase_response__init(message) }
}
extension Perch__V1__FinishRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__finish_request__init(message) }
}
extension Perch__V1__FinishResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__finish_response__init(message) }
}
extension Perch__V1__ListTransactionsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_transactions_request__init(message) }
}
extension Perch__V1__ListTransactionsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_transactions_response__init(message) }
}
extension Perch__V1__ListUnfinishedRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_unfinished_request__init(message) }
}
extension Perch__V1__ListUnfinishedResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_unfinished_response__init(message) }
}
extension Perch__V1__GetLatestTransactionRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_latest_transaction_request__init(message) }
}
extension Perch__V1__GetLatestTransactionResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_latest_transaction_response__init(message) }
}
extension Perch__V1__TransactionUpdatesRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__transaction_updates_request__init(message) }
}
extension Perch__V1__TransactionUpdatesResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__transaction_updates_response__init(message) }
}
extension Perch__V1__SyncRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__sync_request__init(message) }
}
extension Perch__V1__SyncResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__sync_response__init(message) }
}
extension Perch__V1__RequestRefundRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__request_refund_request__init(message) }
}
extension Perch__V1__RequestRefundResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__request_refund_response__init(message) }
}
extension Perch__V1__RedeemOfferCodeRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__redeem_offer_code_request__init(message) }
}
extension Perch__V1__RedeemOfferCodeResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__redeem_offer_code_response__init(message) }
}
extension Perch__V1__ManageSubscriptionsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__manage_subscriptions_request__init(message) }
}
extension Perch__V1__ManageSubscriptionsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__manage_subscriptions_response__init(message) }
}
extension Perch__V1__ResolveBillingIssueRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__resolve_billing_issue_request__init(message) }
}
extension Perch__V1__ResolveBillingIssueResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__resolve_billing_issue_response__init(message) }
}
extension Perch__V1__AnswerPriceIncreaseRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__answer_price_increase_request__init(message) }
}
extension Perch__V1__AnswerPriceIncreaseResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__answer_price_increase_response__init(message) }
}
extension Perch__V1__GetAppTransactionRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_app_transaction_request__init(message) }
}
extension Perch__V1__GetAppTransactionResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_app_transaction_response__init(message) }
}
extension Perch__V1__PurchaseIntentsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__purchase_intents_request__init(message) }
}
extension Perch__V1__PurchaseIntentList: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__purchase_intent_list__init(message) }
}
extension Perch__V1__PurchaseIntentsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__purchase_intents_response__init(message) }
}
extension Perch__V1__MessagesRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__messages_request__init(message) }
}
extension Perch__V1__StoreMessage: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__store_message__init(message) }
}
extension Perch__V1__StoreMessages: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__store_messages__init(message) }
}
extension Perch__V1__MessagesResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__messages_response__init(message) }
}
extension Perch__V1__TransactionEventKind: CEnumeration {}
extension Perch__V1__MessageReason: CEnumeration {}
extension Perch__V1__WatchEntry: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__watch_entry__init(message) }
}
extension Perch__V1__WatchRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__watch_request__init(message) }
}
extension Perch__V1__WatchResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__watch_response__init(message) }
}
extension Perch__Wire__V1__Hello: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__wire__v1__hello__init(message) }
}
extension Perch__Wire__V1__Limits: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__wire__v1__limits__init(message) }
}
extension Perch__Wire__V1__Welcome: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__wire__v1__welcome__init(message) }
}
extension Perch__Wire__V1__Metadata: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__wire__v1__metadata__init(message) }
}
extension Perch__Wire__V1__Call: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__wire__v1__call__init(message) }
}
extension Perch__Wire__V1__StatusDetail: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__wire__v1__status_detail__init(message) }
}
extension Perch__Wire__V1__Status: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__wire__v1__status__init(message) }
}
extension Perch__Wire__V1__Beat: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__wire__v1__beat__init(message) }
}
extension Perch__Wire__V1__Drain: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__wire__v1__drain__init(message) }
}
extension Perch__Wire__V1__Encoding: CEnumeration {}

extension MessageScan {
    /// The description of every message, by its full name. Safe, because they are constants of the C library.
    nonisolated(unsafe) static let descriptions: [String: UnsafePointer<ProtobufCMessageDescriptor>] = [
        "perch.v1.AppRef": Perch__V1__AppRef.descriptor,
        "perch.v1.Position": Perch__V1__Position.descriptor,
        "perch.v1.Money": Perch__V1__Money.descriptor,
        "perch.v1.Storefront": Perch__V1__Storefront.descriptor,
        "perch.v1.Period": Perch__V1__Period.descriptor,
        "perch.v1.SubscriptionOffer": Perch__V1__SubscriptionOffer.descriptor,
        "perch.v1.BillingPlan": Perch__V1__BillingPlan.descriptor,
        "perch.v1.SubscriptionInfo": Perch__V1__SubscriptionInfo.descriptor,
        "perch.v1.Product": Perch__V1__Product.descriptor,
        "perch.v1.Revocation": Perch__V1__Revocation.descriptor,
        "perch.v1.TransactionOffer": Perch__V1__TransactionOffer.descriptor,
        "perch.v1.CommitmentInfo": Perch__V1__CommitmentInfo.descriptor,
        "perch.v1.Transaction": Perch__V1__Transaction.descriptor,
        "perch.v1.TransactionResult": Perch__V1__TransactionResult.descriptor,
        "perch.v1.OperationTarget": Perch__V1__OperationTarget.descriptor,
        "perch.v1.PurchaseOffer": Perch__V1__PurchaseOffer.descriptor,
        "perch.v1.PurchaseOrder": Perch__V1__PurchaseOrder.descriptor,
        "perch.v1.RefundOperation": Perch__V1__RefundOperation.descriptor,
        "perch.v1.ReverseRefundOperation": Perch__V1__ReverseRefundOperation.descriptor,
        "perch.v1.DeclineRefundOperation": Perch__V1__DeclineRefundOperation.descriptor,
        "perch.v1.RequestConsumptionOperation": Perch__V1__RequestConsumptionOperation.descriptor,
        "perch.v1.RenewOperation": Perch__V1__RenewOperation.descriptor,
        "perch.v1.ExpireOperation": Perch__V1__ExpireOperation.descriptor,
        "perch.v1.SetAutoRenewOperation": Perch__V1__SetAutoRenewOperation.descriptor,
        "perch.v1.ResolveBillingOperation": Perch__V1__ResolveBillingOperation.descriptor,
        "perch.v1.SetChargesOperation": Perch__V1__SetChargesOperation.descriptor,
        "perch.v1.RaisePriceOperation": Perch__V1__RaisePriceOperation.descriptor,
        "perch.v1.AnswerPriceIncreaseOperation": Perch__V1__AnswerPriceIncreaseOperation.descriptor,
        "perch.v1.ExtendRenewalOperation": Perch__V1__ExtendRenewalOperation.descriptor,
        "perch.v1.ShareOperation": Perch__V1__ShareOperation.descriptor,
        "perch.v1.StopSharingOperation": Perch__V1__StopSharingOperation.descriptor,
        "perch.v1.DecidePurchaseOperation": Perch__V1__DecidePurchaseOperation.descriptor,
        "perch.v1.DeleteTransactionOperation": Perch__V1__DeleteTransactionOperation.descriptor,
        "perch.v1.ClearTransactionsOperation": Perch__V1__ClearTransactionsOperation.descriptor,
        "perch.v1.CreateIntentOperation": Perch__V1__CreateIntentOperation.descriptor,
        "perch.v1.EndIntentOperation": Perch__V1__EndIntentOperation.descriptor,
        "perch.v1.SetStorefrontOperation": Perch__V1__SetStorefrontOperation.descriptor,
        "perch.v1.PostMessageOperation": Perch__V1__PostMessageOperation.descriptor,
        "perch.v1.SetPaymentsOperation": Perch__V1__SetPaymentsOperation.descriptor,
        "perch.v1.SetAppTransactionOperation": Perch__V1__SetAppTransactionOperation.descriptor,
        "perch.v1.StoreOperation": Perch__V1__StoreOperation.descriptor,
        "perch.v1.PendingPurchase": Perch__V1__PendingPurchase.descriptor,
        "perch.v1.PurchaseIntent": Perch__V1__PurchaseIntent.descriptor,
        "perch.v1.SimulatedError": Perch__V1__SimulatedError.descriptor,
        "perch.v1.ProductEdit": Perch__V1__ProductEdit.descriptor,
        "perch.v1.OfferEdit": Perch__V1__OfferEdit.descriptor,
        "perch.v1.OfferCode": Perch__V1__OfferCode.descriptor,
        "perch.v1.WinBackRule": Perch__V1__WinBackRule.descriptor,
        "perch.v1.AppSetting": Perch__V1__AppSetting.descriptor,
        "perch.v1.RenewalInfo": Perch__V1__RenewalInfo.descriptor,
        "perch.v1.RenewalInfoResult": Perch__V1__RenewalInfoResult.descriptor,
        "perch.v1.SubscriptionStatus": Perch__V1__SubscriptionStatus.descriptor,
        "perch.v1.GroupEffective": Perch__V1__GroupEffective.descriptor,
        "perch.v1.SubscriptionStatuses": Perch__V1__SubscriptionStatuses.descriptor,
        "perch.v1.GroupStatuses": Perch__V1__GroupStatuses.descriptor,
        "perch.v1.Loading": Perch__V1__Loading.descriptor,
        "perch.v1.Failure": Perch__V1__Failure.descriptor,
        "perch.v1.Unchanged": Perch__V1__Unchanged.descriptor,
        "perch.v1.Bookmark": Perch__V1__Bookmark.descriptor,
        "perch.v1.Forecast": Perch__V1__Forecast.descriptor,
        "perch.v1.ValueInfo": Perch__V1__ValueInfo.descriptor,
        "perch.v1.OrderMishapRequest": Perch__V1__OrderMishapRequest.descriptor,
        "perch.v1.OrderMishapResponse": Perch__V1__OrderMishapResponse.descriptor,
        "perch.v1.OperateRequest": Perch__V1__OperateRequest.descriptor,
        "perch.v1.OperateResponse": Perch__V1__OperateResponse.descriptor,
        "perch.v1.InspectAccountRequest": Perch__V1__InspectAccountRequest.descriptor,
        "perch.v1.FamilyShare": Perch__V1__FamilyShare.descriptor,
        "perch.v1.RedeemedOffer": Perch__V1__RedeemedOffer.descriptor,
        "perch.v1.InspectAccountResponse": Perch__V1__InspectAccountResponse.descriptor,
        "perch.v1.ListAccountsRequest": Perch__V1__ListAccountsRequest.descriptor,
        "perch.v1.AccountSummary": Perch__V1__AccountSummary.descriptor,
        "perch.v1.ListAccountsResponse": Perch__V1__ListAccountsResponse.descriptor,
        "perch.v1.ConfigureRequest": Perch__V1__ConfigureRequest.descriptor,
        "perch.v1.ConfigureResponse": Perch__V1__ConfigureResponse.descriptor,
        "perch.v1.GetSettingsRequest": Perch__V1__GetSettingsRequest.descriptor,
        "perch.v1.GetSettingsResponse": Perch__V1__GetSettingsResponse.descriptor,
        "perch.v1.GetClockRequest": Perch__V1__GetClockRequest.descriptor,
        "perch.v1.Clock": Perch__V1__Clock.descriptor,
        "perch.v1.GetClockResponse": Perch__V1__GetClockResponse.descriptor,
        "perch.v1.FreezeClock": Perch__V1__FreezeClock.descriptor,
        "perch.v1.ResumeClock": Perch__V1__ResumeClock.descriptor,
        "perch.v1.AdvanceToBoundary": Perch__V1__AdvanceToBoundary.descriptor,
        "perch.v1.SetClockRequest": Perch__V1__SetClockRequest.descriptor,
        "perch.v1.SetClockResponse": Perch__V1__SetClockResponse.descriptor,
        "perch.v1.App": Perch__V1__App.descriptor,
        "perch.v1.ListAppsRequest": Perch__V1__ListAppsRequest.descriptor,
        "perch.v1.ListAppsResponse": Perch__V1__ListAppsResponse.descriptor,
        "perch.v1.CatalogWarning": Perch__V1__CatalogWarning.descriptor,
        "perch.v1.CatalogSummary": Perch__V1__CatalogSummary.descriptor,
        "perch.v1.CatalogImage": Perch__V1__CatalogImage.descriptor,
        "perch.v1.CheckCatalogRequest": Perch__V1__CheckCatalogRequest.descriptor,
        "perch.v1.CheckCatalogResponse": Perch__V1__CheckCatalogResponse.descriptor,
        "perch.v1.LoadCatalogRequest": Perch__V1__LoadCatalogRequest.descriptor,
        "perch.v1.LoadCatalogResponse": Perch__V1__LoadCatalogResponse.descriptor,
        "perch.v1.GetCatalogRequest": Perch__V1__GetCatalogRequest.descriptor,
        "perch.v1.CatalogImageInfo": Perch__V1__CatalogImageInfo.descriptor,
        "perch.v1.GetCatalogResponse": Perch__V1__GetCatalogResponse.descriptor,
        "perch.v1.GetServerStatusRequest": Perch__V1__GetServerStatusRequest.descriptor,
        "perch.v1.Metric": Perch__V1__Metric.descriptor,
        "perch.v1.Finding": Perch__V1__Finding.descriptor,
        "perch.v1.GetServerStatusResponse": Perch__V1__GetServerStatusResponse.descriptor,
        "perch.v1.BackupRequest": Perch__V1__BackupRequest.descriptor,
        "perch.v1.BackupResponse": Perch__V1__BackupResponse.descriptor,
        "perch.v1.RevokeTokenRequest": Perch__V1__RevokeTokenRequest.descriptor,
        "perch.v1.RevokeTokenResponse": Perch__V1__RevokeTokenResponse.descriptor,
        "perch.v1.OfferConsoleCodeRequest": Perch__V1__OfferConsoleCodeRequest.descriptor,
        "perch.v1.OfferConsoleCodeResponse": Perch__V1__OfferConsoleCodeResponse.descriptor,
        "perch.v1.RedeemConsoleCodeRequest": Perch__V1__RedeemConsoleCodeRequest.descriptor,
        "perch.v1.RedeemConsoleCodeResponse": Perch__V1__RedeemConsoleCodeResponse.descriptor,
        "perch.v1.DeadLetter": Perch__V1__DeadLetter.descriptor,
        "perch.v1.ListDeadLettersRequest": Perch__V1__ListDeadLettersRequest.descriptor,
        "perch.v1.ListDeadLettersResponse": Perch__V1__ListDeadLettersResponse.descriptor,
        "perch.v1.RetryDeadLetterRequest": Perch__V1__RetryDeadLetterRequest.descriptor,
        "perch.v1.RetryDeadLetterResponse": Perch__V1__RetryDeadLetterResponse.descriptor,
        "perch.v1.DropDeadLetterRequest": Perch__V1__DropDeadLetterRequest.descriptor,
        "perch.v1.DropDeadLetterResponse": Perch__V1__DropDeadLetterResponse.descriptor,
        "perch.v1.ConsumptionAnswer": Perch__V1__ConsumptionAnswer.descriptor,
        "perch.v1.ConsumptionCase": Perch__V1__ConsumptionCase.descriptor,
        "perch.v1.ListConsumptionRequest": Perch__V1__ListConsumptionRequest.descriptor,
        "perch.v1.ListConsumptionResponse": Perch__V1__ListConsumptionResponse.descriptor,
        "perch.v1.AnswerConsumptionRequest": Perch__V1__AnswerConsumptionRequest.descriptor,
        "perch.v1.AnswerConsumptionResponse": Perch__V1__AnswerConsumptionResponse.descriptor,
        "perch.v1.ReconcileRequest": Perch__V1__ReconcileRequest.descriptor,
        "perch.v1.ReconcileResponse": Perch__V1__ReconcileResponse.descriptor,
        "perch.v1.ReconcileDifference": Perch__V1__ReconcileDifference.descriptor,
        "perch.v1.ListNotificationsRequest": Perch__V1__ListNotificationsRequest.descriptor,
        "perch.v1.ReceivedNotification": Perch__V1__ReceivedNotification.descriptor,
        "perch.v1.ListNotificationsResponse": Perch__V1__ListNotificationsResponse.descriptor,
        "perch.v1.GetSignedPayloadRequest": Perch__V1__GetSignedPayloadRequest.descriptor,
        "perch.v1.GetSignedPayloadResponse": Perch__V1__GetSignedPayloadResponse.descriptor,
        "perch.v1.FindCustomersRequest": Perch__V1__FindCustomersRequest.descriptor,
        "perch.v1.FoundCustomer": Perch__V1__FoundCustomer.descriptor,
        "perch.v1.FindCustomersResponse": Perch__V1__FindCustomersResponse.descriptor,
        "perch.v1.CustomerNote": Perch__V1__CustomerNote.descriptor,
        "perch.v1.AddNoteRequest": Perch__V1__AddNoteRequest.descriptor,
        "perch.v1.AddNoteResponse": Perch__V1__AddNoteResponse.descriptor,
        "perch.v1.ListNotesRequest": Perch__V1__ListNotesRequest.descriptor,
        "perch.v1.ListNotesResponse": Perch__V1__ListNotesResponse.descriptor,
        "perch.v1.DeleteNoteRequest": Perch__V1__DeleteNoteRequest.descriptor,
        "perch.v1.DeleteNoteResponse": Perch__V1__DeleteNoteResponse.descriptor,
        "perch.v1.FindAccountRequest": Perch__V1__FindAccountRequest.descriptor,
        "perch.v1.FindAccountResponse": Perch__V1__FindAccountResponse.descriptor,
        "perch.v1.ListUnclaimedRequest": Perch__V1__ListUnclaimedRequest.descriptor,
        "perch.v1.UnclaimedPurchase": Perch__V1__UnclaimedPurchase.descriptor,
        "perch.v1.ListUnclaimedResponse": Perch__V1__ListUnclaimedResponse.descriptor,
        "perch.v1.AttachAliasRequest": Perch__V1__AttachAliasRequest.descriptor,
        "perch.v1.AttachAliasResponse": Perch__V1__AttachAliasResponse.descriptor,
        "perch.v1.DetachAliasRequest": Perch__V1__DetachAliasRequest.descriptor,
        "perch.v1.DetachAliasResponse": Perch__V1__DetachAliasResponse.descriptor,
        "perch.v1.MoveTransactionRequest": Perch__V1__MoveTransactionRequest.descriptor,
        "perch.v1.MoveTransactionResponse": Perch__V1__MoveTransactionResponse.descriptor,
        "perch.v1.MergeAccountsRequest": Perch__V1__MergeAccountsRequest.descriptor,
        "perch.v1.MergeAccountsResponse": Perch__V1__MergeAccountsResponse.descriptor,
        "perch.v1.EraseAccountRequest": Perch__V1__EraseAccountRequest.descriptor,
        "perch.v1.EraseAccountResponse": Perch__V1__EraseAccountResponse.descriptor,
        "perch.v1.ExportAccountRequest": Perch__V1__ExportAccountRequest.descriptor,
        "perch.v1.ExportAccountResponse": Perch__V1__ExportAccountResponse.descriptor,
        "perch.v1.GrantSummary": Perch__V1__GrantSummary.descriptor,
        "perch.v1.GrantEntitlementRequest": Perch__V1__GrantEntitlementRequest.descriptor,
        "perch.v1.GrantEntitlementResponse": Perch__V1__GrantEntitlementResponse.descriptor,
        "perch.v1.RevokeGrantRequest": Perch__V1__RevokeGrantRequest.descriptor,
        "perch.v1.RevokeGrantResponse": Perch__V1__RevokeGrantResponse.descriptor,
        "perch.v1.ListAuditRequest": Perch__V1__ListAuditRequest.descriptor,
        "perch.v1.AuditLine": Perch__V1__AuditLine.descriptor,
        "perch.v1.ListAuditResponse": Perch__V1__ListAuditResponse.descriptor,
        "perch.v1.AsOf": Perch__V1__AsOf.descriptor,
        "perch.v1.Products": Perch__V1__Products.descriptor,
        "perch.v1.CurrentEntitlement": Perch__V1__CurrentEntitlement.descriptor,
        "perch.v1.ProductsTaskRequest": Perch__V1__ProductsTaskRequest.descriptor,
        "perch.v1.ProductsTaskResponse": Perch__V1__ProductsTaskResponse.descriptor,
        "perch.v1.SubscriptionStatusTaskRequest": Perch__V1__SubscriptionStatusTaskRequest.descriptor,
        "perch.v1.SubscriptionStatusTaskResponse": Perch__V1__SubscriptionStatusTaskResponse.descriptor,
        "perch.v1.NamedEntitlement": Perch__V1__NamedEntitlement.descriptor,
        "perch.v1.NamedEntitlements": Perch__V1__NamedEntitlements.descriptor,
        "perch.v1.EntitlementsTaskRequest": Perch__V1__EntitlementsTaskRequest.descriptor,
        "perch.v1.EntitlementsTaskResponse": Perch__V1__EntitlementsTaskResponse.descriptor,
        "perch.v1.GetEntitlementsRequest": Perch__V1__GetEntitlementsRequest.descriptor,
        "perch.v1.GetPassRequest": Perch__V1__GetPassRequest.descriptor,
        "perch.v1.GetPassResponse": Perch__V1__GetPassResponse.descriptor,
        "perch.v1.GetEntitlementsResponse": Perch__V1__GetEntitlementsResponse.descriptor,
        "perch.v1.CurrentEntitlementTaskRequest": Perch__V1__CurrentEntitlementTaskRequest.descriptor,
        "perch.v1.CurrentEntitlementTaskResponse": Perch__V1__CurrentEntitlementTaskResponse.descriptor,
        "perch.v1.GetProductsRequest": Perch__V1__GetProductsRequest.descriptor,
        "perch.v1.GetProductsResponse": Perch__V1__GetProductsResponse.descriptor,
        "perch.v1.GetImageRequest": Perch__V1__GetImageRequest.descriptor,
        "perch.v1.GetImageResponse": Perch__V1__GetImageResponse.descriptor,
        "perch.v1.GetSubscriptionStatusRequest": Perch__V1__GetSubscriptionStatusRequest.descriptor,
        "perch.v1.GetSubscriptionStatusResponse": Perch__V1__GetSubscriptionStatusResponse.descriptor,
        "perch.v1.GetCurrentEntitlementRequest": Perch__V1__GetCurrentEntitlementRequest.descriptor,
        "perch.v1.GetCurrentEntitlementResponse": Perch__V1__GetCurrentEntitlementResponse.descriptor,
        "perch.v1.ListCurrentEntitlementsRequest": Perch__V1__ListCurrentEntitlementsRequest.descriptor,
        "perch.v1.ListCurrentEntitlementsResponse": Perch__V1__ListCurrentEntitlementsResponse.descriptor,
        "perch.v1.ListPlanOptionsRequest": Perch__V1__ListPlanOptionsRequest.descriptor,
        "perch.v1.PlanOption": Perch__V1__PlanOption.descriptor,
        "perch.v1.ListPlanOptionsResponse": Perch__V1__ListPlanOptionsResponse.descriptor,
        "perch.v1.GetOfferEligibilityRequest": Perch__V1__GetOfferEligibilityRequest.descriptor,
        "perch.v1.OfferEligibility": Perch__V1__OfferEligibility.descriptor,
        "perch.v1.GetOfferEligibilityResponse": Perch__V1__GetOfferEligibilityResponse.descriptor,
        "perch.v1.GetAppPoliciesRequest": Perch__V1__GetAppPoliciesRequest.descriptor,
        "perch.v1.GetAppPoliciesResponse": Perch__V1__GetAppPoliciesResponse.descriptor,
        "perch.v1.ExplainRequest": Perch__V1__ExplainRequest.descriptor,
        "perch.v1.Supposition": Perch__V1__Supposition.descriptor,
        "perch.v1.ExpectedChange": Perch__V1__ExpectedChange.descriptor,
        "perch.v1.ExplainedGrant": Perch__V1__ExplainedGrant.descriptor,
        "perch.v1.HistoryEntry": Perch__V1__HistoryEntry.descriptor,
        "perch.v1.SupposedOutcome": Perch__V1__SupposedOutcome.descriptor,
        "perch.v1.ExplainedFact": Perch__V1__ExplainedFact.descriptor,
        "perch.v1.Explanation": Perch__V1__Explanation.descriptor,
        "perch.v1.ExplainResponse": Perch__V1__ExplainResponse.descriptor,
        "perch.v1.AppChangesRequest": Perch__V1__AppChangesRequest.descriptor,
        "perch.v1.EntitlementChange": Perch__V1__EntitlementChange.descriptor,
        "perch.v1.AppStoreNotification": Perch__V1__AppStoreNotification.descriptor,
        "perch.v1.ConsumptionRequest": Perch__V1__ConsumptionRequest.descriptor,
        "perch.v1.AppChangesResponse": Perch__V1__AppChangesResponse.descriptor,
        "perch.v1.AppEntitlementsRequest": Perch__V1__AppEntitlementsRequest.descriptor,
        "perch.v1.EntitlementGrade": Perch__V1__EntitlementGrade.descriptor,
        "perch.v1.EntitlementsClock": Perch__V1__EntitlementsClock.descriptor,
        "perch.v1.EntitlementsBegin": Perch__V1__EntitlementsBegin.descriptor,
        "perch.v1.EntitlementsBatch": Perch__V1__EntitlementsBatch.descriptor,
        "perch.v1.EntitlementsEnd": Perch__V1__EntitlementsEnd.descriptor,
        "perch.v1.AppEntitlementsResponse": Perch__V1__AppEntitlementsResponse.descriptor,
        "perch.v1.SubmitTransactionRequest": Perch__V1__SubmitTransactionRequest.descriptor,
        "perch.v1.SubmitTransactionResponse": Perch__V1__SubmitTransactionResponse.descriptor,
        "perch.v1.RefusedValue": Perch__V1__RefusedValue.descriptor,
        "perch.v1.SubmitNotificationRequest": Perch__V1__SubmitNotificationRequest.descriptor,
        "perch.v1.SubmitNotificationResponse": Perch__V1__SubmitNotificationResponse.descriptor,
        "perch.v1.PurchaseRequest": Perch__V1__PurchaseRequest.descriptor,
        "perch.v1.PurchaseResponse": Perch__V1__PurchaseResponse.descriptor,
        "perch.v1.FinishRequest": Perch__V1__FinishRequest.descriptor,
        "perch.v1.FinishResponse": Perch__V1__FinishResponse.descriptor,
        "perch.v1.ListTransactionsRequest": Perch__V1__ListTransactionsRequest.descriptor,
        "perch.v1.ListTransactionsResponse": Perch__V1__ListTransactionsResponse.descriptor,
        "perch.v1.ListUnfinishedRequest": Perch__V1__ListUnfinishedRequest.descriptor,
        "perch.v1.ListUnfinishedResponse": Perch__V1__ListUnfinishedResponse.descriptor,
        "perch.v1.GetLatestTransactionRequest": Perch__V1__GetLatestTransactionRequest.descriptor,
        "perch.v1.GetLatestTransactionResponse": Perch__V1__GetLatestTransactionResponse.descriptor,
        "perch.v1.TransactionUpdatesRequest": Perch__V1__TransactionUpdatesRequest.descriptor,
        "perch.v1.TransactionUpdatesResponse": Perch__V1__TransactionUpdatesResponse.descriptor,
        "perch.v1.SyncRequest": Perch__V1__SyncRequest.descriptor,
        "perch.v1.SyncResponse": Perch__V1__SyncResponse.descriptor,
        "perch.v1.RequestRefundRequest": Perch__V1__RequestRefundRequest.descriptor,
        "perch.v1.RequestRefundResponse": Perch__V1__RequestRefundResponse.descriptor,
        "perch.v1.RedeemOfferCodeRequest": Perch__V1__RedeemOfferCodeRequest.descriptor,
        "perch.v1.RedeemOfferCodeResponse": Perch__V1__RedeemOfferCodeResponse.descriptor,
        "perch.v1.ManageSubscriptionsRequest": Perch__V1__ManageSubscriptionsRequest.descriptor,
        "perch.v1.ManageSubscriptionsResponse": Perch__V1__ManageSubscriptionsResponse.descriptor,
        "perch.v1.ResolveBillingIssueRequest": Perch__V1__ResolveBillingIssueRequest.descriptor,
        "perch.v1.ResolveBillingIssueResponse": Perch__V1__ResolveBillingIssueResponse.descriptor,
        "perch.v1.AnswerPriceIncreaseRequest": Perch__V1__AnswerPriceIncreaseRequest.descriptor,
        "perch.v1.AnswerPriceIncreaseResponse": Perch__V1__AnswerPriceIncreaseResponse.descriptor,
        "perch.v1.GetAppTransactionRequest": Perch__V1__GetAppTransactionRequest.descriptor,
        "perch.v1.GetAppTransactionResponse": Perch__V1__GetAppTransactionResponse.descriptor,
        "perch.v1.PurchaseIntentsRequest": Perch__V1__PurchaseIntentsRequest.descriptor,
        "perch.v1.PurchaseIntentList": Perch__V1__PurchaseIntentList.descriptor,
        "perch.v1.PurchaseIntentsResponse": Perch__V1__PurchaseIntentsResponse.descriptor,
        "perch.v1.MessagesRequest": Perch__V1__MessagesRequest.descriptor,
        "perch.v1.StoreMessage": Perch__V1__StoreMessage.descriptor,
        "perch.v1.StoreMessages": Perch__V1__StoreMessages.descriptor,
        "perch.v1.MessagesResponse": Perch__V1__MessagesResponse.descriptor,
        "perch.v1.WatchEntry": Perch__V1__WatchEntry.descriptor,
        "perch.v1.WatchRequest": Perch__V1__WatchRequest.descriptor,
        "perch.v1.WatchResponse": Perch__V1__WatchResponse.descriptor,
        "perch.wire.v1.Hello": Perch__Wire__V1__Hello.descriptor,
        "perch.wire.v1.Limits": Perch__Wire__V1__Limits.descriptor,
        "perch.wire.v1.Welcome": Perch__Wire__V1__Welcome.descriptor,
        "perch.wire.v1.Metadata": Perch__Wire__V1__Metadata.descriptor,
        "perch.wire.v1.Call": Perch__Wire__V1__Call.descriptor,
        "perch.wire.v1.StatusDetail": Perch__Wire__V1__StatusDetail.descriptor,
        "perch.wire.v1.Status": Perch__Wire__V1__Status.descriptor,
        "perch.wire.v1.Beat": Perch__Wire__V1__Beat.descriptor,
        "perch.wire.v1.Drain": Perch__Wire__V1__Drain.descriptor,
    ]
}
