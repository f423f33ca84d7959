package import PerchBase

/// Something that entitles an account for a stretch of time: a period, a grace period, a purchase, a grant.
///
/// A source has no name, no tier and no leeway: the app's mapping gives them, so a new mapping changes no source.
/// `EntitlementPlan` makes segments of the sources of an account.
package struct EntitlementSource: Hashable, Sendable {
    package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// A period of a subscription.
        case subscribed = 1
        /// A grace period after a failed charge.
        case inGracePeriod = 2
        /// A period is over, and its renewal is awaited. The app's leeway counts from `shown`.
        case awaited = 3
        /// A purchase that does not expire.
        case purchased = 4
        /// A grant.
        case granted = 5
    }

    package var kind: Kind
    /// The product. Of a grant: the name of the entitlement.
    package var productID: String
    /// The subscription group of the line. Of a grant: its tier. Empty for a purchase.
    package var groupID: String
    /// The product whose group in the catalogue is that of the line, instead of `groupID`; empty: `groupID` decides.
    package var groupProductID = ""
    /// The line or purchase, by its place in the account.
    package var line: UInt32
    /// It entitles from this instant on. `distantPast`: it has begun.
    package var from: Instant
    /// It entitles to this instant, without it. `distantFuture`: only a fact ends it.
    package var end: Instant
    /// The end that readers see. Of `awaited`: where the leeway begins; `distantFuture` if the leeway does not bound it.
    package var shown: Instant

    package init(
        _ kind: Kind, productID: String, groupID: String, groupProductID: String = "", line: UInt32,
        from: Instant = .distantPast, end: Instant = .distantFuture, shown: Instant = .distantFuture
    ) {
        self.kind = kind
        self.productID = productID
        self.groupID = groupID
        self.groupProductID = groupProductID
        self.line = line
        self.from = from
        self.end = end
        self.shown = shown
    }

    /// The end under a leeway; nil: the leeway has no end.
    func end(leewayMilliseconds: Int64?) -> Instant {
        guard self.kind == .awaited, let leeway = leewayMilliseconds else { return self.end }
        return min(self.end, self.shown.advanced(byMilliseconds: leeway))
    }
}

extension AccountRecord {
    /// Everything that entitles the account at `now` or later if nothing happens, whatever the leeway.
    package func entitlementSources(after now: Instant) -> [EntitlementSource] {
        var sources: [EntitlementSource] = []
        for transaction in self.owned {
            sources.append(
                EntitlementSource(
                    .purchased, productID: transaction.productID, groupID: "", line: UInt32(sources.count)))
        }
        for line in self.lines { sources += line.entitlementSources(line: UInt32(sources.count), after: now) }
        if self.hasRareFields {
            for original in self.reported?.originals ?? [] {
                sources += original.entitlementSources(line: UInt32(sources.count), after: now)
            }
            for grant in self.grants where grant.until.map({ now < $0 }) ?? true {
                let until = grant.until ?? .distantFuture
                sources.append(
                    EntitlementSource(
                        .granted, productID: grant.name, groupID: grant.tier, line: UInt32(sources.count), end: until,
                        shown: until))
            }
        }
        return sources
    }
}

extension Line {
    /// The stretches in which `state(at:leewayMilliseconds:)` entitles.
    fileprivate func entitlementSources(line: UInt32, after now: Instant) -> [EntitlementSource] {
        var sources: [EntitlementSource] = []
        let cut = self.latest.revocation?.date ?? .distantFuture
        func add(_ kind: EntitlementSource.Kind, from: Instant, to end: Instant, shown: Instant) {
            let end = min(end, cut)
            guard from < end, now < end else { return }
            sources.append(
                EntitlementSource(
                    kind, productID: self.latest.productID, groupID: self.groupID, line: line, from: from, end: end,
                    shown: shown))
        }
        add(.subscribed, from: .distantPast, to: self.boundary, shown: self.boundary)
        if self.awaitsAttempt {
            add(.awaited, from: self.boundary, to: .distantFuture, shown: self.boundary)
        } else if let grace = self.retry?.graceUntil {
            add(.inGracePeriod, from: self.boundary, to: grace, shown: grace)
        }
        return sources
    }
}

extension ReportedOriginal {
    /// The stretches in which `entitling(at:leewayMilliseconds:)` has a transaction.
    fileprivate func entitlementSources(line: UInt32, after now: Instant) -> [EntitlementSource] {
        guard self.isSubscription else { return self.purchaseSources(line: line, after: now) }
        var sources: [EntitlementSource] = []
        let last = self.periods.last?.reported
        // Without a leeway, and with one that never ends: what differs between the two is awaited.
        let instants = Set(self.instants(leewayMilliseconds: 0)).sorted()
        for (place, from) in instants.enumerated() {
            let end = place + 1 < instants.count ? instants[place + 1] : .distantFuture
            guard now < end, from < .distantFuture,
                let bounded = self.standing(at: from, leewayMilliseconds: 0),
                let standing = bounded.state.isEntitled
                    ? bounded : self.standing(at: from, leewayMilliseconds: .max),
                standing.state.isEntitled
            else { continue }
            let transaction = standing.transaction
            var source = EntitlementSource(
                .subscribed, productID: transaction.productID, groupID: last?.subscriptionGroupID ?? "",
                groupProductID: last?.productID ?? "", line: line, from: from, end: end,
                shown: transaction.expirationDate ?? .distantFuture)
            if standing.state == .inGracePeriod {
                source.kind = .inGracePeriod
                source.shown = self.renewal?.info.gracePeriodExpirationDate ?? .distantFuture
            } else if standing.awaitsNews {
                source.kind = .awaited
                source.shown = bounded.state.isEntitled ? .distantFuture : self.leewayStart(at: from)
            }
            if let before = sources.last, before.continues(as: source) {
                sources[sources.count - 1].end = end
            } else {
                sources.append(source)
            }
        }
        return sources
    }

    private func purchaseSources(line: UInt32, after now: Instant) -> [EntitlementSource] {
        self.periods.compactMap { register in
            let transaction = register.reported
            let end = transaction.revocation?.date ?? .distantFuture
            guard transaction.productType == .nonConsumable || transaction.productType == .nonRenewable, now < end,
                transaction.purchaseDate < end
            else { return nil }
            return EntitlementSource(
                .purchased, productID: transaction.productID, groupID: "", line: line, from: transaction.purchaseDate,
                end: end)
        }
    }
}

extension EntitlementSource {
    /// Whether the next source of the line says the same, from the end of this one on.
    fileprivate func continues(as next: EntitlementSource) -> Bool {
        var same = next
        (same.from, same.end) = (self.from, self.end)
        return same == self && self.end == next.from
    }
}
