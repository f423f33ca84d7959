import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchWire
import Testing

/// However much the kernel accepts of a write, the reader gets every byte once and in order.
@Suite struct WriteTests {
    /// Runs a products watch whose first write after the call is accepted only up to `offset` bytes.
    private func bytes(of catalogue: Catalogue, cutAt offset: Int?, thenAtMost rest: Int = .max) -> [UInt8] {
        var setup = World.Setup()
        setup.catalogue = catalogue
        setup.sendBufferBytes = 1 << 20
        let limits = Box<[Int]>([])
        var conditions = SimulatedLoop.Conditions()
        conditions.writeBytes = { limits.value.isEmpty ? rest : limits.value.removeFirst() }
        let world = World(setup, conditions: conditions)
        let client = world.welcomedClient()
        client.keepsBytes = true
        // One watch only, because the end of a group may differ with the pace of its reader.
        client.ping()
        client.ping([8, 7, 6, 5, 4, 3, 2, 1])
        client.call(.products(["gold"]))
        client.call(.getProducts(ProductsRequest(productIDs: ["coins"])))
        if let offset { limits.value = [offset] }
        world.settle()
        world.checkInvariants()
        return client.bytes
    }

    @Test(arguments: [16, 3_900, 4_096, 6_000, 70_000])
    func `a short write at any byte changes no byte of the stream`(jsonBytes: Int) {
        let catalogue = TestShop.catalogue(jsonBytes: jsonBytes)
        let whole = self.bytes(of: catalogue, cutAt: nil)
        #expect(whole.count > jsonBytes)
        // Every place near the edges of frames, and some between.
        let edges = Array(0..<40) + Array((whole.count - 40)..<whole.count)
        let between = stride(from: 40, to: whole.count - 40, by: max(1, whole.count / 40))
        for offset in edges + Array(between) {
            let cut = self.bytes(of: catalogue, cutAt: offset)
            let isSame = cut == whole
            let difference = zip(cut, whole).enumerated().first { $0.element.0 != $0.element.1 }?.offset
            #expect(
                isSame, "cut at byte \(offset) of \(whole.count): \(cut.count) bytes, others from \(difference ?? -1)")
            if !isSame { return }
        }
    }

    @Test(arguments: [1, 2, 3, 5, 9, 100])
    func `writes of a few bytes each change no byte of the stream`(step: Int) {
        let catalogue = TestShop.catalogue(jsonBytes: 5_000)
        let whole = self.bytes(of: catalogue, cutAt: nil)
        let isSame = self.bytes(of: catalogue, cutAt: nil, thenAtMost: step) == whole
        #expect(isSame)
    }

    @Test(arguments: [1, Limits.watchersBeforeAnswers, Limits.watchersBeforeAnswers + 1])
    func `few watchers are written to before the caller of the change`(count: Int) {
        let world = World()
        let watchers = (0..<count).map { _ in world.welcomedClient() }
        let buyers = (0..<2).map { _ in world.welcomedClient() }
        for watcher in watchers { watcher.call(.status()) }
        world.settle()

        for (buyer, product) in zip(buyers, ["silver", "gold"]) {
            buyer.call(.buy(product))
            _ = world.deliver(buyer)
        }
        world.turn()
        world.runStore()
        world.turn()

        let written = world.loops[0].written
        let buying = buyers.map(\.socket.number)
        #expect(Set(written).count == written.count)
        #expect(Set(written) == Set(watchers.map(\.socket.number) + buying))
        #expect(count > Limits.watchersBeforeAnswers ? written.starts(with: buying) : written.suffix(2) == buying[...])
    }

    @Test func `frames that do not fit into one write come with the next`() {
        var setup = World.Setup()
        setup.catalogue = TestShop.catalogue(jsonBytes: 60_000)
        setup.sendBufferBytes = 8 << 20
        let world = World(setup)
        let client = world.welcomedClient()
        let streams = (0..<40).map { client.call(.products([TestShop.all[$0 % 6]], locale: "en_\(100 + $0)")) }
        world.settle()
        for stream in streams { #expect(client.products(on: stream).last?.value?.products.count == 1) }
        #expect(world.loops[0].core.counters.bytesOut > 40 * 60_000)
        world.checkNothingIsLeft()
    }

    @Test func `a long value is compressed only for clients that read zlib`() {
        var setup = World.Setup()
        setup.catalogue = TestShop.catalogue(names: ["gold": String(repeating: "gold ", count: 400)])
        let world = World(setup)
        let plain = world.welcomedClient()
        let packed = world.welcomedClient(accepts: [.zlib])
        let first = plain.call(.products(["gold"]))
        let second = packed.call(.products(["gold"]))
        world.settle()
        #expect(plain.compressedFrameCount == 0)
        #expect(packed.compressedFrameCount == 1)
        #expect(plain.products(on: first).last?.value == packed.products(on: second).last?.value)
        #expect(world.loops[0].core.counters.valuesCompressed == 1)
        world.checkNothingIsLeft()
    }

    @Test func `a value too long for a frame is a failure of that watch, not of the server`() {
        var setup = World.Setup()
        let large = (0..<20).map { index in
            CatalogueProduct(
                id: "large\(index)", type: .consumable, referenceName: "", price: Money(milliunits: 1, currency: "USD"),
                isFamilyShareable: false, localizations: [], json: [UInt8](repeating: 0x7B, count: 250_000))
        }
        setup.catalogue = TestShop.catalogue(extra: large)
        let world = World(setup)
        let client = world.welcomedClient()
        let all = client.call(.products(large.map(\.id)))
        let one = client.call(.products(["gold"]))
        world.settle()
        #expect(client.products(on: all).last?.failure?.reason == "LOAD_FAILED")
        #expect(client.products(on: one).last?.value != nil)
        world.checkNothingIsLeft()
    }
}
