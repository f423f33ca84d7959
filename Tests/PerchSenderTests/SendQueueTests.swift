import PerchBase
import PerchSender
import Synchronization
import Testing

/// The decisions of the sender, on a clock of the test's.
@Suite struct `the queue of the sender` {
    private static let wall = Instant(milliseconds: 1_764_327_600_000)

    private static func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime.zero.advanced(byMilliseconds: milliseconds)
    }

    private static func request(_ name: String = "a", perThousandSeconds: Int64 = 25_000) -> SenderRequest {
        SenderRequest(.get, "https://example.com/", lane: SenderLane(name, perThousandSeconds: perThousandSeconds))
    }

    private static func answer(_ status: Int, retryAfter: String = "") -> SenderResult {
        var answer = SenderAnswer(status: status)
        answer.retryAfter = retryAfter
        return .success(answer)
    }

    /// Plays one lane from 0 on; a request that goes is answered at once. Returns when each went.
    private static func went(_ queue: inout SendQueue, until end: Int64) -> [Int64] {
        var times: [Int64] = []
        for now in 0...end {
            while let attempt = queue.next(now: Self.at(now)) {
                times.append(now)
                _ = queue.ended(attempt.number, Self.answer(200), now: Self.at(now), wall: Self.wall)
            }
        }
        return times
    }

    @Test func `a lane keeps its rate, also after a pause`() {
        var queue = SendQueue(seed: 1)
        for _ in 0..<60 { _ = queue.add(Self.request(), now: Self.at(0)) }
        let times = Self.went(&queue, until: 2_000)
        #expect(times.count == 51)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 40 })
        // No second holds more than its 25.
        for start in 0..<1_000 {
            #expect(times.filter { $0 >= Int64(start) && $0 < Int64(start) + 1_000 }.count <= 25)
        }
    }

    @Test func `lanes do not wait for each other`() {
        var queue = SendQueue(seed: 1)
        _ = queue.add(Self.request("slow", perThousandSeconds: 1), now: Self.at(0))
        _ = queue.add(Self.request("slow", perThousandSeconds: 1), now: Self.at(0))
        _ = queue.add(Self.request("fast"), now: Self.at(0))
        var names: Set<String> = []
        while let attempt = queue.next(now: Self.at(0)) { names.insert(attempt.request.lane.name) }
        #expect(names == ["slow", "fast"])
        #expect(queue.next(now: Self.at(999_999)) == nil)
        #expect(queue.next(now: Self.at(1_000_000))?.request.lane.name == "slow")
    }

    @Test func `a pause that the server asked for is the whole lane's, in Unix milliseconds`() {
        var queue = SendQueue(seed: 1)
        _ = queue.add(Self.request(), now: Self.at(0))
        _ = queue.add(Self.request(), now: Self.at(0))
        _ = queue.add(Self.request("other"), now: Self.at(0))
        var first: SendQueue.Attempt?
        while let attempt = queue.next(now: Self.at(0)) { if attempt.request.lane.name == "a" { first = attempt } }
        let until = String(Self.wall.milliseconds + 5_000)
        let result = first.flatMap {
            queue.ended($0.number, Self.answer(429, retryAfter: until), now: Self.at(10), wall: Self.wall)
        }
        #expect(result == nil)
        #expect(queue.next(now: Self.at(5_009)) == nil)
        #expect(queue.wake(now: Self.at(10)) == Self.at(5_010))
        // The one that was refused goes first.
        #expect(queue.next(now: Self.at(5_010))?.number == first?.number)
        #expect(queue.figures.throttles == 1)
    }

    @Test(
        arguments: [
            ("3", 3_000), ("0", 0), ("1764327601500", 1_500), ("1764327599000", 0), ("99999999999999", 3_600_000),
            ("7200", 3_600_000), ("soon", nil), ("-1", nil), ("", nil),
        ] as [(String, Int64?)])
    func `the texts of Retry-After`(_ text: String, _ expected: Int64?) {
        var answer = SenderAnswer(status: 429)
        answer.retryAfter = text
        #expect(SendQueue.pause(of: answer, wall: Self.wall) == expected)
    }

    @Test func `pauses double, are half random, and end with the last attempt`() {
        var spread: Set<Int64> = []
        for seed in 1...40 as ClosedRange<UInt64> {
            var queue = SendQueue(seed: seed)
            var request = Self.request()
            request.attemptsMax = 4
            _ = queue.add(request, now: Self.at(0))
            var now: Int64 = 0
            for (attempt, whole) in [(1, 1_000), (2, 2_000), (3, 4_000), (4, 0)] as [(Int, Int64)] {
                guard let begun = queue.next(now: Self.at(now)) else {
                    return #expect(Bool(false), "attempt \(attempt)")
                }
                let end = queue.ended(
                    begun.number, .failure(SenderFault(.connect, "")), now: Self.at(now), wall: Self.wall)
                guard attempt < 4 else {
                    #expect(end != nil)
                    break
                }
                #expect(end == nil)
                guard let wake = queue.wake(now: Self.at(now)) else { return #expect(Bool(false)) }
                let pause = wake.milliseconds(since: Self.at(now))
                #expect((whole / 2...whole).contains(pause))
                if attempt == 1 { spread.insert(pause) }
                now += pause
            }
            #expect(queue.count == 0)
        }
        #expect(spread.count > 20)
    }

    @Test(arguments: SenderFault.Kind.allCases)
    func `a fault that another attempt cannot change is final`(_ kind: SenderFault.Kind) {
        var queue = SendQueue(seed: 1)
        _ = queue.add(Self.request(), now: Self.at(0))
        let begun = queue.next(now: Self.at(0))
        let fault = SenderFault(kind, "")
        let end = begun.flatMap {
            queue.ended($0.number, .failure(fault), now: Self.at(0), wall: Self.wall)
        }
        let isFinal = [.url, .privateAddress, .certificate, .tooLong, .full, .stopped].contains(kind)
        #expect((end != nil) == isFinal)
    }

    @Test func `an answer goes again where the caller says that it is worth it`() {
        var queue = SendQueue(seed: 1)
        var request = Self.request()
        request.isRetried = { $0.status == 404 }
        for status in [400, 404] {
            _ = queue.add(request, now: Self.at(0))
            guard let begun = queue.next(now: Self.at(Int64(status) * 1_000)) else { return #expect(Bool(false)) }
            let end = queue.ended(
                begun.number, Self.answer(status), now: Self.at(Int64(status) * 1_000), wall: Self.wall)
            #expect((end == nil) == (status == 404))
        }
    }

    @Test func `the queue has a limit, and so have requests at once`() {
        var queue = SendQueue(seed: 1)
        let lane = SenderLane("a", perThousandSeconds: 1_000_000, burst: 100_000)
        for _ in 0..<Limits.senderQueueMax {
            #expect(queue.add(SenderRequest(.get, "https://example.com/", lane: lane), now: Self.at(0)) != nil)
        }
        #expect(queue.add(SenderRequest(.get, "https://example.com/", lane: lane), now: Self.at(0)) == nil)
        var begun = 0
        while queue.next(now: Self.at(0)) != nil { begun += 1 }
        #expect(begun == Limits.senderConnectionsMax)
        #expect(queue.removeAll().count == Limits.senderQueueMax)
    }

    @Test func `what is no longer wanted ends without an attempt, and costs the lane nothing`() {
        var queue = SendQueue(seed: 1)
        let wanted = Mutex<Set<Int>>([0, 1, 2, 3])
        var numbers: [UInt64] = []
        for one in 0..<4 {
            var request = Self.request(perThousandSeconds: 1_000)
            request.isWanted = { wanted.withLock { $0.contains(one) } }
            numbers += [queue.add(request, now: Self.at(0))].compactMap { $0 }
        }
        #expect(queue.next(now: Self.at(0))?.number == numbers[0])
        wanted.withLock { $0 = [2] }
        #expect(queue.next(now: Self.at(999)) == nil)
        // The second one would be next.
        #expect(queue.next(now: Self.at(1_000))?.number == numbers[2])
        #expect(queue.takeUnwanted() == [numbers[1]])
        // The fourth one waits for its turn, unless it is looked for.
        #expect(queue.takeUnwanted().isEmpty)
        queue.removeUnwanted()
        #expect(queue.takeUnwanted() == [numbers[3]])
        #expect(queue.wake(now: Self.at(1_000)) == nil)
        #expect(queue.figures.attempts == 2)
        // What is under way ends as it does; another attempt is not made.
        #expect(queue.ended(numbers[2], Self.answer(500), now: Self.at(1_000), wall: Self.wall) == nil)
        wanted.withLock { $0 = [] }
        #expect(queue.next(now: Self.at(100_000)) == nil)
        #expect(queue.takeUnwanted() == [numbers[2]])
        #expect(queue.count == 1)
    }
}

@Suite struct `addresses` {
    @Test(arguments: [
        ("17.253.144.10", true), ("8.8.8.8", true), ("2620:149:a0c::1", true), ("2a00:1450::1", true),
        ("0.0.0.0", false), ("10.255.255.255", false), ("11.0.0.0", true), ("100.64.0.0", false), ("100.128.0.0", true),
        ("127.0.0.1", false), ("169.254.0.1", false), ("172.15.255.255", true), ("172.16.0.0", false),
        ("172.31.255.255", false), ("172.32.0.0", true), ("192.0.0.8", false), ("192.0.2.1", false),
        ("192.168.1.1", false), ("198.18.0.1", false), ("198.20.0.0", true), ("198.51.100.1", false),
        ("203.0.113.1", false), ("224.0.0.1", false), ("240.0.0.1", false), ("255.255.255.255", false),
        ("::", false), ("::1", false), ("::ffff:127.0.0.1", false), ("::ffff:8.8.8.8", true), ("::7f00:1", false),
        ("64:ff9b::10.0.0.1", false), ("64:ff9b::8.8.8.8", true), ("2002:0a00:0001::", false),
        ("2002:0808:0808::", true),
        ("fc00::1", false), ("fd12::1", false), ("fe80::1", false), ("fec0::1", false), ("ff02::1", false),
        ("2001:db8::1", false), ("2001::1", false), ("3fff::1", false), ("5f00::1", false),
    ])
    func `are public or not`(_ address: String, _ expected: Bool) {
        #expect(CurlNetwork.isPublic(address) == expected, "\(address)")
    }

    @Test func `what is none`() { #expect(CurlNetwork.isPublic("example.com") == nil) }
}
