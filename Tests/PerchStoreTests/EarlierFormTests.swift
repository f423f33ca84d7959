import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

@Suite struct `Blobs of earlier forms` {
    @Test func `a record of form 1 is read, and written in the earliest form that nodes beside this one read`() throws {
        let bytes = EarlierForm.bytes(EarlierForm.recordInForm1)
        #expect(bytes[0] == 1)
        let read = try AccountRecord(unsealing: bytes, of: 7)
        #expect(contents(read) == contents(EarlierForm.record))
        #expect(read.lines[0].preference == "silver.yearly")
        #expect(read.lines[0].preferredBillingPlan == .unspecified, "it did not say, and was charged up front")
        let written = read.sealed()
        #expect(written[0] == 4)
        #expect(contents(try AccountRecord(unsealing: written, of: 7)) == contents(read))
    }

    @Test func `a record with something that form 5 added is written in form 5`() throws {
        var record = try AccountRecord(unsealing: EarlierForm.bytes(EarlierForm.recordInForm3), of: 7)
        #expect(record.sealed()[0] == 4)
        record.arePaymentsForbidden = true
        let written = record.sealed()
        #expect(written[0] == 5)
        #expect(contents(try AccountRecord(unsealing: written, of: 7)) == contents(record))
    }

    @Test func `an app's settings of form 4 are read, and those that form 5 added are written in form 5`() throws {
        for (wanted, form) in [(false, 4), (true, 5)] as [(Bool, UInt8)] {
            var settings = AppSettings()
            settings.finishesAtAppStore = wanted
            let store = try ReportedStore(
                on: MemoryStorage(identity: StoreIdentity(high: 1, low: 2)), settings: settings)
            let app = try #require(store.engine.apps[1])
            let bytes = app.sealed()
            #expect(bytes[0] == form)
            let read = try StoredAppState.unsealed(
                bytes, app: 1, revision: app.state.revision, catalogueRevision: app.state.catalogueRevision,
                catalogue: app.state.catalogue)
            #expect(read.state.settings == settings)
        }
    }

    @Test func `a record of form 2 is read, with no extension and no refund request`() throws {
        let bytes = EarlierForm.bytes(EarlierForm.recordInForm2)
        #expect(bytes[0] == 2)
        let read = try AccountRecord(unsealing: bytes, of: 7)
        #expect(contents(read) == contents(EarlierForm.recordOfForm2))
        #expect(read.extensions.isEmpty && read.refundRequests.isEmpty)
    }

    @Test func `a record of form 3 is read, with nothing reported`() throws {
        let bytes = EarlierForm.bytes(EarlierForm.recordInForm3)
        #expect(bytes[0] == 3)
        let read = try AccountRecord(unsealing: bytes, of: 7)
        #expect(contents(read) == contents(EarlierForm.recordOfForm2))
        #expect(read.reported == nil)
    }

    @Test(arguments: EarlierForm.bodies.indices)
    func `a fact of form 1 is read`(_ index: Int) throws {
        let bytes = EarlierForm.bytes(EarlierForm.factsInForm1[index])
        #expect(bytes[0] == 1)
        let read = try StoredFact(unsealing: bytes, at: EventPlace(revision: 12, ordinal: 0), account: 7)
        #expect(contents(read) == contents(EarlierForm.fact(EarlierForm.bodies[index])))
    }
}
