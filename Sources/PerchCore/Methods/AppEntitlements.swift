import PerchBase
import PerchModel
import PerchWire

struct AppEntitlements: MethodHandler {
    typealias Answer = CopyPart

    let asked: AppEntitlementsRequest

    func check() throws(CallRefusal) {
        guard self.asked.names.count <= Limits.entitlementRulesMax else {
            throw CallRefusal(
                .fieldInvalid,
                "the call asks for \(self.asked.names.count) names, the limit is \(Limits.entitlementRulesMax); ask for all",
                details: [
                    .field("names"), .found(Int64(self.asked.names.count)), .limit(Int64(Limits.entitlementRulesMax)),
                ])
        }
        let (shard, count) = (self.asked.shard, self.asked.shardCount)
        guard count <= Limits.copyShardsMax else {
            throw CallRefusal(
                .fieldInvalid, "shard_count is \(count), the limit is \(Limits.copyShardsMax)",
                details: [.field("shard_count"), .found(Int64(count)), .limit(Int64(Limits.copyShardsMax))])
        }
        guard shard < max(count, 1) else {
            throw CallRefusal(
                .fieldInvalid,
                "shard is \(shard), and shard_count is \(count): shards are numbered from 0 to \(max(count, 1) - 1)",
                details: [.field("shard"), .found(Int64(shard))])
        }
    }

    func begin(_ context: MethodContext) -> Step { .copy(self.asked) }
}
