/// One input of untrusted bytes: the code that receives the fuzzer's input, and the properties that must hold for it.
///
/// `run` may refuse its bytes by returning. It traps where something does not hold, and so does everything below it.
package protocol FuzzTarget: AnyObject, SendableMetatype {
    /// As `make fuzz TARGET=…` and the folder of its corpus call it.
    static var name: String { get }

    /// The source folders whose code it is there to reach, for the figures of its coverage.
    static var reaches: [String] { get }

    /// Initial inputs: valid ones, which a fuzzer would take long to find.
    static func seeds() -> [[UInt8]]

    init()

    /// Whether the input was accepted by all checks: code behind a refusal is not reached.
    @discardableResult
    func run(_ bytes: [UInt8]) -> Bool
}

/// All there are. A new target is a file in `Targets/`, and a line here.
package let fuzzTargets: [any FuzzTarget.Type] = [
    FramesTarget.self, MessagesTarget.self, InflateTarget.self, TokensTarget.self, SessionTarget.self,
    CatalogueTarget.self, SettingsTarget.self, BlobsTarget.self, ScenarioTarget.self, HTTPTarget.self,
    CredentialsTarget.self, TLSTarget.self, WebTarget.self, SignedValuesTarget.self, PayloadsTarget.self,
    CertificatesTarget.self, FoldTarget.self,
]

/// The failure of a target: what does not hold, in a line that a fuzzer prints.
func hold(_ isSo: Bool, _ what: @autoclosure () -> String) {
    if !isSo { fatalError("fuzz: \(what())") }
}
