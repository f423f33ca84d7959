import PerchBase
import PerchCLI
import Testing

private let anyLength = ValueKind.duration(0...Int64.max)
private let anySize = ValueKind.bytes(0...Int64.max)

@Suite struct `values that people write` {
    @Test(
        arguments: [
            ("0", 0), ("500ms", 500), ("30s", 30_000), ("90m", 5_400_000), ("1h30m", 5_400_000), ("2d", 172_800_000),
            ("1w", 604_800_000), ("1d1ms", 86_400_001),
        ] as [(String, Int64)])
    func `durations have a unit`(_ text: String, _ milliseconds: Int64) throws {
        #expect(try anyLength.parse(text) == .number(milliseconds))
    }

    @Test(arguments: [
        ("", "is \"\", it should be a duration such as 500ms, 30s, 1h30m or 2d"),
        ("30", "is \"30\", which has no unit; there are ms, s, m, h, d, w, mo, y"),
        ("s", "is \"s\", it should be a duration such as 500ms, 30s, 1h30m or 2d"),
        ("-5s", "is \"-5s\", it should be a duration such as 500ms, 30s, 1h30m or 2d"),
        ("1.5h", "is \"1.5h\", which has no unit; there are ms, s, m, h, d, w, mo, y"),
        ("5 s", "is \"5 s\", which has no unit; there are ms, s, m, h, d, w, mo, y"),
        ("5S", "is \"5S\", and \"S\" is no unit of time; there are ms, s, m, h, d, w, mo, y"),
        ("1h30", "is \"1h30\", which has no unit; there are ms, s, m, h, d, w, mo, y"),
        ("1mo", "is \"1mo\", and a calendar month has no fixed length; write days, such as 30d"),
        ("1y", "is \"1y\", and a calendar month has no fixed length; write days, such as 30d"),
        ("9223372036854775807w", "is \"9223372036854775807w\", which is longer than can be counted"),
        ("9223372036854775807ms1ms", "is \"9223372036854775807ms1ms\", which is longer than can be counted"),
        (
            "99999999999999999999s",
            "is \"99999999999999999999s\", it should be a duration such as 500ms, 30s, 1h30m or 2d"
        ),
        ("٣s", "is \"٣s\", it should be a duration such as 500ms, 30s, 1h30m or 2d"),
    ])
    func `a text that is no duration is refused`(_ text: String, _ message: String) {
        let error = #expect(throws: ValueKind.Mismatch.self) { try anyLength.parse(text) }
        #expect(error?.description == message)
    }

    @Test func `a calendar duration keeps months apart from what has a fixed length`() throws {
        #expect(
            try ValueKind.calendarDuration.parse("1y2mo3d")
                == .duration(CalendarDuration(months: 14, milliseconds: 3 * 86_400_000)))
    }

    @Test(
        arguments: [
            ("0", 0), ("65536", 65_536), ("64KiB", 65_536), ("256MiB", 268_435_456), ("1GiB", 1 << 30),
            ("4MB", 4_000_000),
            ("10B", 10),
        ] as [(String, Int64)])
    func `sizes are bytes or have a unit`(_ text: String, _ bytes: Int64) throws {
        #expect(try anySize.parse(text) == .number(bytes))
    }

    @Test(
        arguments: [
            ("", nil), ("MiB", nil), ("-1", nil), ("1.5MiB", nil), ("64 KiB", nil), ("4mb", "4MB"), ("4m", "4MiB"),
            ("9223372036854775807GiB", nil), ("1TiB", nil),
        ] as [(String, String?)])
    func `a text that is no size is refused`(_ text: String, _ suggestion: String?) {
        let error = #expect(throws: ValueKind.Mismatch.self) { try anySize.parse(text) }
        #expect(error?.suggestion == suggestion)
    }

    @Test func `bounds are shown in the unit of the input`() {
        let size = #expect(throws: ValueKind.Mismatch.self) { try ValueKind.bytes(65_536...1_048_576).parse("1") }
        #expect(size?.description == "is \"1\", it can be from 64KiB to 1MiB")
        let length = #expect(throws: ValueKind.Mismatch.self) { try ValueKind.duration(1_000...90_000).parse("2m") }
        #expect(length?.description == "is \"2m\", it can be from 1s to 1m30s")
        let count = #expect(throws: ValueKind.Mismatch.self) { try ValueKind.count(1...Int64.max).parse("0") }
        #expect(count?.description == "is \"0\", it can be at least 1")
    }

    @Test(arguments: [
        Wrong(
            .address, "http://127.0.0.1:7447/x", "it should be HOST:PORT such as 127.0.0.1:7447, without http://",
            suggesting: "127.0.0.1:7447"),
        Wrong(.address, "localhost", "it should be HOST:PORT such as 127.0.0.1:7447", suggesting: "localhost:7447"),
        Wrong(
            .listenAddress, "7500", "it should be ADDRESS:PORT such as 127.0.0.1:7447", suggesting: "127.0.0.1:7500"),
        Wrong(
            .listenAddress, "localhost:7500",
            "it should be ADDRESS:PORT such as 127.0.0.1:7447: a server listens on an address, not on a name",
            suggesting: "127.0.0.1:7500"),
        Wrong(.listenAddressOrSwitch, "yes", "it should be on, off, or ADDRESS:PORT such as 127.0.0.1:7448"),
        Wrong(
            .listenAddressOrSwitch, "perch.internal:7500",
            "it should be on, off, or ADDRESS:PORT such as 127.0.0.1:7448: a server listens on an address, not on a name; "
                + "0.0.0.0:7500 is every IPv4 address of this machine"),
        Wrong(
            .storefront(orWord: nil), "GER",
            "it should be a country code of three capital letters (ISO 3166-1 alpha-3) such as USA", suggesting: "DEU"),
        Wrong(
            .storefront(orWord: "app"), "de",
            "it should be a country code of three capital letters (ISO 3166-1 alpha-3) such as USA, or `app`",
            suggesting: "DEU"),
        Wrong(.uuid, "123", "it should be a UUID such as 123e4567-e89b-12d3-a456-426614174000"),
    ])
    func `a value of the wrong form is refused with the form and a valid value`(_ wrong: Wrong) {
        let error = #expect(throws: ValueKind.Mismatch.self) { try wrong.kind.parse(wrong.text) }
        #expect(error?.description == "is \"\(wrong.text)\", \(wrong.expected)")
        #expect(error?.suggestion == wrong.suggestion)
    }

    struct Wrong: Sendable {
        var kind: ValueKind
        var text: String
        var expected: String
        var suggestion: String?

        init(_ kind: ValueKind, _ text: String, _ expected: String, suggesting suggestion: String? = nil) {
            self.kind = kind
            self.text = text
            self.expected = expected
            self.suggestion = suggestion
        }
    }

    @Test(
        arguments: [
            (.address, "perch.internal:7447"), (.address, "[::1]:7447"), (.listenAddress, "[::]:0"),
            (.listenAddress, ":7447"), (.listenAddressOrSwitch, "on"), (.storefront(orWord: "app"), "app"),
            (.storefront(orWord: nil), "DEU"), (.uuid, "123E4567-e89b-12d3-a456-426614174000"),
        ] as [(ValueKind, String)])
    func `a value of the right form is accepted unchanged`(_ kind: ValueKind, _ text: String) throws {
        #expect(try kind.parse(text) == .text(text))
    }

    @Test func `a rate of time is a name or a number, and becomes the name`() throws {
        #expect(try ValueKind.timeRate.parse("1002") == .text("oneRenewalEveryMinute"))
        #expect(try ValueKind.timeRate.parse("oneRenewalEveryMinute") == .text("oneRenewalEveryMinute"))
        #expect(throws: ValueKind.Mismatch.self) { try ValueKind.timeRate.parse("14") }
    }

    @Test func `an instant is a date, or a date and a time in UTC`() throws {
        #expect(try ValueKind.instant.parse("1970-01-02") == .number(86_400_000))
        #expect(try ValueKind.instant.parse("1970-01-01T00:00:01.5Z") == .number(1_500))
        for text in ["1970-1-1", "1970-01-01T00:00:00", "1970-13-01", "1970-01-01T24:00:00Z", "now", "0"] {
            #expect(throws: ValueKind.Mismatch.self, "\(text)") { try ValueKind.instant.parse(text) }
        }
    }
}

@Suite struct `moments` {
    @Test(arguments: [
        ("2026-11-21T09:30:00Z", Value.number(1_795_253_400_000)),
        ("10m", .duration(CalendarDuration(milliseconds: 600_000))),
        ("+10m", .duration(CalendarDuration(milliseconds: 600_000))),
        ("-2d", .duration(CalendarDuration(milliseconds: -172_800_000))),
        ("-1mo1h", .duration(CalendarDuration(months: -1, milliseconds: -3_600_000))),
    ])
    func `moments are instants or distances from now`(_ text: String, _ value: Value) throws {
        #expect(try ValueKind.moment.parse(text) == value)
    }

    @Test(arguments: ["", "-", "--2d", "30", "tomorrow", "- 2d", "2d-"])
    func `invalid moments are refused with both forms`(_ text: String) {
        let error = #expect(throws: ValueKind.Mismatch.self) { try ValueKind.moment.parse(text) }
        #expect(
            error?.description
                == "is \"\(text)\", it should be a UTC time such as 2026-11-21T09:30:00Z, a date, or a distance from now such as "
                + "10m or -2d")
    }
}
