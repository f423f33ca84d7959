import CPerchProto

/// A structure that protobuf-c generated.
protocol CMessage {
    var base: ProtobufCMessage { get }
    init()
    /// Sets every field to its default, and the pointer to the message's description.
    static func prepare(_ message: UnsafeMutablePointer<Self>)
}

extension CMessage {
    /// What protobuf-c knows of this message: its fields, their numbers and types.
    static var descriptor: UnsafePointer<ProtobufCMessageDescriptor> {
        var message = Self()
        Self.prepare(&message)
        return message.base.descriptor
    }
}

/// An enumeration that protobuf-c generated. Any number can be stored in it.
protocol CEnumeration {
    init(rawValue: UInt32)
    var rawValue: UInt32 { get }
}

extension Perch__V1__App: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__app__init(message) }
}
extension Perch__V1__ListAppsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_apps_request__init(message) }
}
extension Perch__V1__ListAppsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_apps_response__init(message) }
}
extension Perch__V1__CatalogImage: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__catalog_image__init(message) }
}
extension Perch__V1__CatalogImageInfo: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__catalog_image_info__init(message) }
}
extension Perch__V1__GetImageRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_image_request__init(message) }
}
extension Perch__V1__GetImageResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_image_response__init(message) }
}
extension Perch__V1__CatalogWarning: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__catalog_warning__init(message) }
}
extension Perch__V1__CatalogSummary: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__catalog_summary__init(message) }
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
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__subscription_status_task_request__init(message)
    }
}
extension Perch__V1__SubscriptionStatusTaskResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__subscription_status_task_response__init(message)
    }
}
extension Perch__V1__CurrentEntitlementTaskRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__current_entitlement_task_request__init(message)
    }
}
extension Perch__V1__CurrentEntitlementTaskResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__current_entitlement_task_response__init(message)
    }
}
extension Perch__V1__GetProductsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_products_request__init(message) }
}
extension Perch__V1__GetProductsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_products_response__init(message) }
}
extension Perch__V1__GetSubscriptionStatusRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__get_subscription_status_request__init(message)
    }
}
extension Perch__V1__GetSubscriptionStatusResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__get_subscription_status_response__init(message)
    }
}
extension Perch__V1__GetCurrentEntitlementRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__get_current_entitlement_request__init(message)
    }
}
extension Perch__V1__GetCurrentEntitlementResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__get_current_entitlement_response__init(message)
    }
}
extension Perch__V1__ListCurrentEntitlementsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__list_current_entitlements_request__init(message)
    }
}
extension Perch__V1__ListCurrentEntitlementsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__list_current_entitlements_response__init(message)
    }
}
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
extension Perch__V1__Loading: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__loading__init(message) }
}
extension Perch__V1__Failure: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__failure__init(message) }
}
extension Perch__V1__Unchanged: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__unchanged__init(message) }
}
extension Perch__V1__Forecast: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__forecast__init(message) }
}
extension Perch__V1__ValueInfo: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__value_info__init(message) }
}
extension Perch__V1__RenewalInfo: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__renewal_info__init(message) }
}
extension Perch__V1__RenewalInfoResult: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__renewal_info_result__init(message) }
}
extension Perch__V1__SubscriptionStatus: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__subscription_status__init(message) }
}
extension Perch__V1__SubscriptionStatuses: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__subscription_statuses__init(message) }
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
extension Perch__V1__PurchaseOffer: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__purchase_offer__init(message) }
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
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__get_latest_transaction_request__init(message)
    }
}
extension Perch__V1__GetLatestTransactionResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__get_latest_transaction_response__init(message)
    }
}
extension Perch__V1__TransactionUpdatesRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__transaction_updates_request__init(message) }
}
extension Perch__V1__TransactionUpdatesResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__transaction_updates_response__init(message)
    }
}
extension Perch__V1__AsOf: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__as_of__init(message) }
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
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__get_offer_eligibility_request__init(message)
    }
}
extension Perch__V1__OfferEligibility: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__offer_eligibility__init(message) }
}
extension Perch__V1__GetOfferEligibilityResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__get_offer_eligibility_response__init(message)
    }
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
extension Perch__V1__ExplainedFact: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__explained_fact__init(message) }
}
extension Perch__V1__Explanation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__explanation__init(message) }
}
extension Perch__V1__ExplainResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__explain_response__init(message) }
}
extension Perch__V1__OperationTarget: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__operation_target__init(message) }
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
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__request_consumption_operation__init(message)
    }
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
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__answer_price_increase_operation__init(message)
    }
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
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__delete_transaction_operation__init(message)
    }
}
extension Perch__V1__ClearTransactionsOperation: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__clear_transactions_operation__init(message)
    }
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
extension Perch__V1__WinBackRule: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__win_back_rule__init(message) }
}
extension Perch__V1__AppSetting: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__app_setting__init(message) }
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
extension Perch__V1__GroupStatuses: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__group_statuses__init(message) }
}
extension Perch__V1__InspectAccountResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__inspect_account_response__init(message) }
}
extension Perch__V1__ListAccountsRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__list_accounts_request__init(message) }
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
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__manage_subscriptions_request__init(message)
    }
}
extension Perch__V1__ManageSubscriptionsResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__manage_subscriptions_response__init(message)
    }
}
extension Perch__V1__GetAppTransactionRequest: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) { perch__v1__get_app_transaction_request__init(message) }
}
extension Perch__V1__GetAppTransactionResponse: CMessage {
    static func prepare(_ message: UnsafeMutablePointer<Self>) {
        perch__v1__get_app_transaction_response__init(message)
    }
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

extension Perch__V1__Environment: CEnumeration {}
extension Perch__V1__PeriodUnit: CEnumeration {}
extension Perch__V1__OfferType: CEnumeration {}
extension Perch__V1__OfferPaymentMode: CEnumeration {}
extension Perch__V1__BillingPlanType: CEnumeration {}
extension Perch__V1__VerificationError: CEnumeration {}
extension Perch__V1__ProductType: CEnumeration {}
extension Perch__V1__Cause: CEnumeration {}
extension Perch__V1__ForecastKind: CEnumeration {}
extension Perch__V1__RenewalState: CEnumeration {}
extension Perch__V1__ExpirationReason: CEnumeration {}
extension Perch__V1__PriceIncreaseStatus: CEnumeration {}
extension Perch__V1__EffectiveReason: CEnumeration {}
extension Perch__V1__OwnershipType: CEnumeration {}
extension Perch__V1__TransactionReason: CEnumeration {}
extension Perch__V1__RevocationReason: CEnumeration {}
extension Perch__V1__RevocationType: CEnumeration {}
extension Perch__V1__PurchaseResult: CEnumeration {}
extension Perch__V1__TransactionEventKind: CEnumeration {}
extension Perch__V1__PlanRelation: CEnumeration {}
extension Perch__V1__IntroductoryEligibility: CEnumeration {}
extension Perch__V1__RenewalBehaviour: CEnumeration {}
extension Perch__V1__ChargeOutcome: CEnumeration {}
extension Perch__V1__PriceConsent: CEnumeration {}
extension Perch__V1__PendingReason: CEnumeration {}
extension Perch__V1__StoreKitApi: CEnumeration {}
extension Perch__V1__StoreKitError: CEnumeration {}
extension Perch__V1__MessageReason: CEnumeration {}
extension Perch__Wire__V1__Encoding: CEnumeration {}
