import PerchWire

struct EntitlementsTask: WatchMethod {
    let asked: AccountWatchRequest

    var view: ViewKey { .entitlements }
}
