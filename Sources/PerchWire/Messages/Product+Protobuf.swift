import CPerchProto
import PerchBase
import PerchModel

extension SubscriptionOffer {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubscriptionOffer>, _ arena: Arena) {
        message.pointee.id = arena.text(self.id)
        message.pointee.type = .init(self.type)
        message.pointee.payment_mode = .init(self.paymentMode)
        if !self.price.isBlank { message.pointee.price = arena.message { self.price.write(to: $0, arena) } }
        message.pointee.display_price = arena.text(self.displayPrice)
        if !self.period.isBlank { message.pointee.period = arena.message { self.period.write(to: $0, arena) } }
        message.pointee.period_count = UInt32(bitPattern: self.periodCount)
        message.pointee.billing_plan = .init(self.billingPlan)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SubscriptionOffer>) {
        self.init(
            id: String(wire: message.pointee.id), type: OfferType(message.pointee.type),
            paymentMode: PaymentMode(message.pointee.payment_mode),
            price: read(message.pointee.price) { Money($0) } ?? .blank,
            period: read(message.pointee.period) { Period($0) } ?? .blank,
            periodCount: Int32(bitPattern: message.pointee.period_count))
        self.displayPrice = String(wire: message.pointee.display_price)
        self.billingPlan = BillingPlanType(message.pointee.billing_plan)
    }
}

extension BillingPlan {
    func write(to message: UnsafeMutablePointer<Perch__V1__BillingPlan>, _ arena: Arena) {
        message.pointee.type = .init(self.type)
        if !self.price.isBlank { message.pointee.price = arena.message { self.price.write(to: $0, arena) } }
        message.pointee.display_price = arena.text(self.displayPrice)
        if !self.commitmentPrice.isBlank {
            message.pointee.commitment_price = arena.message { self.commitmentPrice.write(to: $0, arena) }
        }
        message.pointee.commitment_display_price = arena.text(self.commitmentDisplayPrice)
        message.pointee.charge_count = self.chargeCount
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__BillingPlan>) {
        self.init(
            type: BillingPlanType(message.pointee.type), price: read(message.pointee.price) { Money($0) } ?? .blank,
            commitmentPrice: read(message.pointee.commitment_price) { Money($0) } ?? .blank,
            chargeCount: message.pointee.charge_count)
        self.displayPrice = String(wire: message.pointee.display_price)
        self.commitmentDisplayPrice = String(wire: message.pointee.commitment_display_price)
    }
}

extension SubscriptionInfo {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubscriptionInfo>, _ arena: Arena) {
        message.pointee.group_id = arena.text(self.groupID)
        message.pointee.group_display_name = arena.text(self.groupDisplayName)
        message.pointee.group_level = UInt32(bitPattern: self.groupLevel)
        if !self.period.isBlank { message.pointee.period = arena.message { self.period.write(to: $0, arena) } }
        (message.pointee.n_introductory_offers, message.pointee.introductory_offers) = arena.list(
            self.introductoryOffers
        ) { $0.write(to: $1, arena) }
        (message.pointee.n_promotional_offers, message.pointee.promotional_offers) = arena.list(
            self.promotionalOffers
        ) { $0.write(to: $1, arena) }
        (message.pointee.n_win_back_offers, message.pointee.win_back_offers) = arena.list(
            self.winBackOffers
        ) { $0.write(to: $1, arena) }
        (message.pointee.n_billing_plans, message.pointee.billing_plans) = arena.list(
            self.billingPlans
        ) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SubscriptionInfo>) {
        self.init(
            groupID: String(wire: message.pointee.group_id),
            groupDisplayName: String(wire: message.pointee.group_display_name),
            groupLevel: Int32(bitPattern: message.pointee.group_level),
            period: read(message.pointee.period) { Period($0) } ?? .blank)
        self.introductoryOffers = readList(
            message.pointee.n_introductory_offers, message.pointee.introductory_offers
        ) { SubscriptionOffer($0) }
        self.promotionalOffers = readList(
            message.pointee.n_promotional_offers, message.pointee.promotional_offers
        ) { SubscriptionOffer($0) }
        self.winBackOffers = readList(
            message.pointee.n_win_back_offers, message.pointee.win_back_offers
        ) { SubscriptionOffer($0) }
        self.billingPlans = readList(
            message.pointee.n_billing_plans, message.pointee.billing_plans
        ) { BillingPlan($0) }
    }
}

extension Product {
    /// What a product is read as that a peer left out.
    static var blank: Product {
        Product(
            id: "", type: .unspecified, displayName: "", description: "", price: .blank, displayPrice: "",
            isFamilyShareable: false, storefront: .blank)
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__Product>, _ arena: Arena) {
        message.pointee.id = arena.text(self.id)
        message.pointee.type = .init(self.type)
        message.pointee.display_name = arena.text(self.displayName)
        message.pointee.description = arena.text(self.description)
        if !self.price.isBlank { message.pointee.price = arena.message { self.price.write(to: $0, arena) } }
        message.pointee.display_price = arena.text(self.displayPrice)
        message.pointee.is_family_shareable = self.isFamilyShareable ? 1 : 0
        message.pointee.promotional_image_id = arena.text(self.promotionalImageID)
        if let subscription = self.subscription {
            message.pointee.subscription = arena.message { subscription.write(to: $0, arena) }
        }
        if !self.storefront.isBlank {
            message.pointee.storefront = arena.message { self.storefront.write(to: $0, arena) }
        }
        message.pointee.json_representation = arena.bytes(self.jsonRepresentation)
        message.pointee.promotional_image_hash = arena.bytes(self.promotionalImageHash)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Product>) {
        self.init(
            id: String(wire: message.pointee.id), type: ProductType(message.pointee.type),
            displayName: String(wire: message.pointee.display_name),
            description: String(wire: message.pointee.description),
            price: read(message.pointee.price) { Money($0) } ?? .blank,
            displayPrice: String(wire: message.pointee.display_price),
            isFamilyShareable: message.pointee.is_family_shareable != 0,
            storefront: read(message.pointee.storefront) { Storefront($0) } ?? .blank)
        self.promotionalImageID = String(wire: message.pointee.promotional_image_id)
        self.subscription = read(message.pointee.subscription) { SubscriptionInfo($0) }
        self.jsonRepresentation = [UInt8](message.pointee.json_representation)
        self.promotionalImageHash = [UInt8](message.pointee.promotional_image_hash)
    }
}

extension Products {
    func write(to message: UnsafeMutablePointer<Perch__V1__Products>, _ arena: Arena) {
        (message.pointee.n_products, message.pointee.products) = arena.list(self.products) { $0.write(to: $1, arena) }
        (message.pointee.n_unavailable_ids, message.pointee.unavailable_ids) = arena.texts(self.unavailableIDs)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Products>) {
        self.init(
            products: readList(message.pointee.n_products, message.pointee.products) { Product($0) },
            unavailableIDs: readTexts(message.pointee.n_unavailable_ids, message.pointee.unavailable_ids))
    }
}
