import PerchBase
import PerchModel
import PerchWire

struct Backup: ServerMethod {
    typealias Answer = BackupSummary

    let asked: BackupRequest

    var auditNote: AuditNote { .audited(printable(self.asked.path)) }

    func check() throws(CallRefusal) {
        try Check.present(self.asked.path, "path")
        guard self.asked.path.utf8.first == UInt8(ascii: "/") else {
            throw CallRefusal(
                .fieldInvalid, "path is not absolute; the server's working directory is not the caller's",
                details: [.field("path")])
        }
    }

    func control(_ context: MethodContext) -> ControlRequest {
        .backup(path: self.asked.path, audit: context.entry(self.auditNote, .backup))
    }
}
