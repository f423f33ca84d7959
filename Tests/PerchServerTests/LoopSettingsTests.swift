import PerchBase
import PerchCore
import Testing

@testable import PerchServer

@Suite struct `the settings of a loop` {
    @Test func `the settings of a loop are the server's, each of them`() {
        let counts: [(WritableKeyPath<ServerSettings, Int>, KeyPath<CoreSettings, Int>)] = [
            (\.frameBytesMax, \.frameBytesMax), (\.callsPerConnectionMax, \.callsPerConnectionMax),
            (\.handshakesMax, \.handshakesMax), (\.partialFramesBytesMax, \.partialFramesBytesMax),
            (\.callsBytesMax, \.callsBytesMax), (\.dyingConnectionsMax, \.dyingConnectionsMax),
            (\.handshakesBytesMax, \.handshakesBytesMax),
            (\.unidentifiedFrameBytesMax, \.unidentifiedFrameBytesMax),
            (\.connectionsPerAddressMax, \.connectionsPerAddressMax),
            (\.connectionsPerIdentityMax, \.connectionsPerIdentityMax),
        ]
        let times: [(WritableKeyPath<ServerSettings, Int64>, KeyPath<CoreSettings, Int64>)] = [
            (\.writeStallMilliseconds, \.writeStallMilliseconds), (\.lingerMilliseconds, \.lingerMilliseconds),
            (\.drainMilliseconds, \.drainMilliseconds), (\.helloTimeoutMilliseconds, \.helloTimeoutMilliseconds),
            (\.firstByteTimeoutMilliseconds, \.firstByteTimeoutMilliseconds),
            (\.frameTimeoutMilliseconds, \.frameTimeoutMilliseconds),
            (\.streamAgeMilliseconds, \.streamAgeMilliseconds),
            (\.connectionAgeMilliseconds, \.connectionAgeMilliseconds),
        ]
        for (setting, inLoop) in counts {
            var settings = ServerSettings()
            settings[keyPath: setting] += 11
            #expect(CoreSettings(settings, loops: 1)[keyPath: inLoop] == settings[keyPath: setting])
        }
        for (setting, inLoop) in times {
            var settings = ServerSettings()
            settings[keyPath: setting] += 11
            #expect(CoreSettings(settings, loops: 1)[keyPath: inLoop] == settings[keyPath: setting])
        }
        var settings = ServerSettings()
        settings.returnAfterMilliseconds = 7_001
        #expect(CoreSettings(settings, loops: 1).returnAfterMilliseconds == 7_001)
        settings.version = "9"
        #expect(CoreSettings(settings, loops: 1).serverVersion == "9")
        settings.origins = ["https://app.example.com"]
        #expect(CoreSettings(settings, loops: 1).origins == settings.origins)
    }

    /// As many may die at once as is set, however many loops there are; but each loop lets one.
    @Test(arguments: [(1_024, 1, 1_024), (1_024, 3, 342), (2, 2, 1), (1, 64, 1)])
    func `divide those that die among the loops`(_ all: Int, _ loops: Int, _ each: Int) {
        var settings = ServerSettings()
        settings.dyingConnectionsMax = all
        #expect(CoreSettings(settings, loops: loops).dyingConnectionsMax == each)
    }

    /// Beyond sixteen loops each still has space for one longest frame.
    @Test(arguments: [(1, 64 << 20), (2, 32 << 20), (64, Limits.frameBytesMax + Limits.readBytes)])
    func `divide the budgets of unfinished peers among the loops`(_ loops: Int, _ partialFrames: Int) {
        let settings = CoreSettings(ServerSettings(), loops: loops)
        #expect(settings.handshakesMax == Limits.handshakesMax / loops)
        #expect(settings.handshakesBytesMax == Limits.handshakesBytesMax / loops)
        #expect(settings.partialFramesBytesMax == partialFrames)
    }

    @Test func `keep connections of a small process for peers that are known`() {
        let settings = CoreSettings(ServerSettings(), loops: 2, connections: 960)
        #expect(settings.handshakesMax == 240 && settings.dyingConnectionsMax == 120)
    }
}
