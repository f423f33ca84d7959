import PerchStore

/// A medium whose free space the test decides.
final class ScriptedMedium: StoreMaintenance {
    var hasRoom = true
    let figures = StorageFigures()

    func beginCopy(at path: String) throws(CopyFault) -> any StorageCopy { throw CopyFault("nothing to copy") }
    func checkpoint() {}
}
