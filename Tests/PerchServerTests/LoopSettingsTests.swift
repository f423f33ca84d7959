import PerchBase
import PerchCore
import Testing

@testable import PerchServer

@Suite struct `the settings of a loop` {
    @Test func `are the server's, each of them`() {
        let counts: [(WritableKeyPath<ServerSettings, Int>, KeyPath<CoreSettings, Int>)] = [
            (\.frameBytesMax, \.frameBytesMax), (\.callsPerConnectionMax, \.callsPerConnectionMax),
            (\.handshakesMax, \.handshakesMax), (\.partialFramesBytesMax, \.partialFramesBytesMax),
            (\.callsBytesMax, \.callsBytesMax), (\.dyingConnectionsMax, \.dyingConnectionsMax),
            (\.connectionsPerAddressMax, \.connectionsPerAddressMax),
            (\.connectionsPerIdentityMax, \.connectionsPerIdentityMax),
        ]
        let times: [(WritableKeyPath<ServerSettings, Int64>, KeyPath<CoreSettings, Int64>)] = [
            (\.writeStallMilliseconds, \.writeStallMilliseconds), (\.lingerMilliseconds, \.lingerMilliseconds),
            (\.drainMilliseconds, \.drainMilliseconds), (\.helloTimeoutMilliseconds, \.helloTimeoutMilliseconds),
            (\.firstByteTimeoutMilliseconds, \.firstByteTimeoutMilliseconds),
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
        settings.version = "9"
        #expect(CoreSettings(settings, loops: 1).serverVersion == "9")
    }

    /// As many may die at once as is set, however many loops there are; but each loop lets one.
    @Test(arguments: [(1_024, 1, 1_024), (1_024, 3, 342), (2, 2, 1), (1, 64, 1)])
    func `divide those that die among the loops`(_ all: Int, _ loops: Int, _ each: Int) {
        var settings = ServerSettings()
        settings.dyingConnectionsMax = all
        #expect(CoreSettings(settings, loops: loops).dyingConnectionsMax == each)
    }
}
