import PerchServer

extension CommandRun {
    /// `perch twin`
    func showTwin() throws {
        let facts: TwinFacts
        do throws(ServerError) {
            facts = try TwinFacts(directory: self.texts("DIRECTORY").first ?? "")
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
        let app = self.settings.text("app") ?? ""
        let values = [
            ("HTTPS_PROXY", facts.proxy), ("REQUESTS_CA_BUNDLE", facts.rootPath), ("APPLE_ROOT", facts.rootPath),
            ("APPLE_KEY_FILE", facts.keyPath), ("APPLE_KEY_ID", facts.keyID), ("APPLE_ISSUER_ID", facts.issuerID),
            ("APPLE_BUNDLE_ID", app),
        ]
        try self.printer.print { writer in
            for (name, value) in values where !value.isEmpty { writer.text(name, value) }
        } text: { _ in
            values.filter { !$0.1.isEmpty }.map { "export \($0.0)=\(Self.quotedForShell($0.1))" }
        }
    }

    private static func quotedForShell(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
