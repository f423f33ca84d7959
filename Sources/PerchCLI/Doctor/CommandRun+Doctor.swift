import PerchBase
import PerchClient
import PerchSQLite
import PerchWire

import struct PerchClient.Metric
import struct PerchClient.ServerStatus

extension CommandRun {
    /// `perch doctor`
    func examine() async throws -> ExitCode {
        var findings = [
            Examination.descriptors(), Examination.clock(), Judgement.sqlite(version: SQLiteLibrary.version),
        ]
        findings += Examination.credentials(self.settings.text("credentials-file"))
        let status = try await self.askServer(&findings)
        findings += Examination.disks(store: self.settings.text("store"), isAnswered: status != nil)

        try self.printer.print { json in
            json.message(
                .getServerStatus(status?.message(findings) ?? PerchWire.ServerStatus(findings: findings.map(\.finding)))
            )
        } text: { writer in
            let metrics = self.settings.flag("metrics") ? status.map { writer.metrics($0.metrics) } ?? [] : []
            return metrics + writer.findings(findings)
        }
        return findings.contains { $0.level == .problem } ? .failure : .success
    }

    /// `perch nodes`
    func listNodes() async throws {
        let client = try self.makeClient()
        defer { client.close() }
        let status = try await client.serverStatus()
        let findings = status.findings.filter { $0.subject == "node" }.map { DoctorFinding($0) }
        guard !findings.isEmpty else {
            throw CommandFailure(
                .failure,
                "this server has its store alone; several nodes share one on PostgreSQL: perch serve --store postgres://USER@HOST/DATABASE"
            )
        }
        try self.printer.print { json in
            json.message(.getServerStatus(PerchWire.ServerStatus(findings: findings.map(\.finding))))
        } text: { writer in
            findings.flatMap { writer.finding($0) }
        }
    }

    private func askServer(_ findings: inout [DoctorFinding]) async throws -> ServerStatus? {
        let server = self.settings.text("server") ?? ""
        do throws(PerchError) {
            let client = try self.makeClient()
            defer { client.close() }
            let status = try await client.serverStatus()
            findings.append(
                DoctorFinding(
                    .ok, "server", "perch \(printable(status.version)) at \(server), revision \(status.revision)"))
            findings += status.findings.map { DoctorFinding($0) }
            return status
        } catch {
            findings.append(
                error.reason == .connectFailed
                    ? Examination.port(server, "\(error)") : Judgement.unanswered(server, error))
            return nil
        }
    }
}

extension TextWriter {
    /// The gravest last, above the verdict, where a terminal shows it.
    func findings(_ values: [DoctorFinding]) -> [String] {
        let levels: [DoctorFinding.Level] = [.ok, .warning, .problem]
        let lines = levels.flatMap { level in values.filter { $0.level == level }.flatMap { self.finding($0) } }
        return lines + ["", self.verdict(values)]
    }

    private func verdict(_ values: [DoctorFinding]) -> String {
        func count(_ level: DoctorFinding.Level, _ word: String) -> String {
            let number = values.count { $0.level == level }
            return number == 0 ? "no \(word)s" : counted(number, word)
        }
        let text = "\(count(.problem, "problem")), \(count(.warning, "warning")) in \(values.count) checks"
        if values.contains(where: { $0.level == .problem }) { return self.paint(.red, text) }
        return self.paint(values.contains { $0.level == .warning } ? .yellow : .green, text)
    }

    func finding(_ value: DoctorFinding) -> [String] {
        let level: String
        switch value.level {
        case .ok: level = self.paint(.green, "ok     ")
        case .warning: level = self.paint(.yellow, "warning")
        case .problem: level = self.paint(.red, "problem")
        }
        let line = "\(level)  \(printable(value.subject).padded(to: 20))  \(printable(value.message))"
        return value.remedy.isEmpty ? [line] : [line, "                               -> \(printable(value.remedy))"]
    }

    func metrics(_ values: [Metric]) -> [String] {
        values.map { metric in
            let labels = metric.labels.isEmpty ? "" : "{\(printable(metric.labels))}"
            return "\(printable(metric.name))\(labels) \(Self.number(metric.value))"
        }
    }

    /// Whole numbers without a fraction: most metrics are counts.
    static func number(_ value: Double) -> String {
        Int64(exactly: value).map { String($0) } ?? String(value)
    }
}
