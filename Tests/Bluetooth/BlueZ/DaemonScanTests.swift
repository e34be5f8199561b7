import Testing

@testable import Bluetooth

@Suite("A scan of bluetoothd's")
struct DaemonScanTests {
    @Test("is asked for once, and ended at once when it runs")
    func running() {
        var scan = DaemonScan()
        let asked = [scan.want(), scan.want(), scan.answered()]
        #expect(asked == [true, false, false])
        #expect(scan.isWanted)
        let ended = [scan.end(), scan.end()]
        #expect(ended == [true, false])
        #expect(!scan.isWanted)
    }

    @Test("is ended when bluetoothd has begun it, which refuses before")
    func beginning() {
        var scan = DaemonScan()
        _ = scan.want()
        let early = scan.end()
        #expect(!early)
        #expect(!scan.isWanted)
        let late = [scan.answered(), scan.end()]
        #expect(late == [true, false])
    }

    @Test("is ended then also where it was being begun anew")
    func renewed() {
        var scan = DaemonScan()
        _ = (scan.want(), scan.answered())
        scan.renew()
        let ended = [scan.end(), scan.answered()]
        #expect(ended == [false, true])
    }

    @Test("goes on when it is wanted again before that")
    func wantedAgain() {
        var scan = DaemonScan()
        _ = (scan.want(), scan.end())
        let again = [scan.want(), scan.answered()]
        #expect(again == [false, false])
        #expect(scan.isWanted)
        let ended = scan.end()
        #expect(ended)
    }

    @Test("of a bluetoothd that has gone is nobody's to end")
    func gone() {
        var scan = DaemonScan()
        _ = scan.want()
        scan = DaemonScan()
        let ended = scan.answered()
        #expect(!ended)
        #expect(!scan.isWanted)
    }
}
