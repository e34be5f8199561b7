import Synchronization
import Testing

@testable import Bluetooth

@Suite("A scan of bluetoothd's")
struct DaemonScanTests {
    @Test("a scan is asked for once, and ended at once when it runs")
    func running() {
        var scan = DaemonScan()
        let asked = [scan.want(), scan.want()]
        #expect(asked == [.ask(call: 1), .isAsked])
        let ends = scan.answered(1, isRunning: true)
        #expect(!ends)
        let again = scan.want()
        #expect(again == .isRunning)
        let ended = [scan.end(), scan.end()]
        #expect(ended == [true, false])
    }

    @Test("a scan wanted no longer while bluetoothd begins it is ended once it has begun")
    func beginning() {
        var scan = DaemonScan()
        _ = scan.want()
        let early = scan.end()
        #expect(!early)
        let late = [scan.answered(1, isRunning: true), scan.end()]
        #expect(late == [true, false])
    }

    @Test("a scan wanted no longer is not ended where bluetoothd did not begin it")
    func refusedAndUnwanted() {
        var scan = DaemonScan()
        _ = (scan.want(), scan.end())
        let ends = scan.answered(1, isRunning: false)
        #expect(!ends)
        let next = scan.want()
        #expect(next == .ask(call: 2))
    }

    @Test("a scan wanted no longer is ended even where it was being begun anew")
    func renewed() {
        var scan = DaemonScan()
        _ = (scan.want(), scan.answered(1, isRunning: true))
        let call = scan.renew()
        let ended = [scan.end(), scan.answered(call, isRunning: true)]
        #expect(ended == [false, true])
    }

    @Test("a scan goes on when it is wanted again before it was ended")
    func wantedAgain() {
        var scan = DaemonScan()
        _ = (scan.want(), scan.end())
        let again = scan.want()
        #expect(again == .isAsked)
        let ended = [scan.answered(1, isRunning: true), scan.end()]
        #expect(ended == [false, true])
    }

    @Test("a scan is asked for again after a failure")
    func failed() {
        var scan = DaemonScan()
        _ = (scan.want(), scan.answered(1, isRunning: false))
        let ends = scan.end()
        #expect(!ends)
        let next = scan.want()
        #expect(next == .ask(call: 2))
    }

    @Test("a scan of a bluetoothd that has gone has nothing to end, and its late answer is ignored")
    func gone() {
        var scan = DaemonScan()
        _ = scan.want()
        scan.forget()
        let next = scan.want()
        #expect(next == .ask(call: 2))
        for isRunning in [true, false] {
            let ends = scan.answered(1, isRunning: isRunning)
            #expect(!ends)
            let state = scan.want()
            #expect(state == .isAsked, "its answer is still missing")
        }
        let ended = [scan.answered(2, isRunning: true), scan.end()]
        #expect(ended == [false, true])
    }

    @Test("a scan that fails to begin fails for every search of that time, and the next search asks again")
    func sharedFailure() async {
        let bluez = BlueZ(adapter: "hci0")
        let failure = BusFailure(name: "org.bluez.Error.NotReady", text: "")
        let shared = await bluez.searchTwice(answering: failure)
        #expect(shared.failures == [failure, failure])
        #expect(shared.calls == 1)
        let next = await bluez.searchTwice(answering: nil)
        #expect(next.failures == [nil, nil])
        #expect(next.calls == 1)
    }
}

extension BlueZ {
    /// Begins a second search while bluetoothd is being asked for the scan of the first.
    ///
    /// The tasks run one after the other, in the order in which they are created: all are on the queue of this actor.
    fileprivate func searchTwice(answering failure: BusFailure?) async -> (failures: [BusFailure?], calls: Int) {
        let (answers, answer) = AsyncStream.makeStream(of: BusFailure?.self)
        let calls = Mutex(0)
        let searches = (1...2).map { _ in
            Task {
                await startDiscovery(on: "/org/bluez/hci0") {
                    calls.withLock { $0 += 1 }
                    for await failure in answers { return failure }
                    return nil
                }
            }
        }
        let bluetoothd = Task {
            answer.yield(failure)
            answer.finish()
            return wantedAdapter
        }
        _ = await bluetoothd.value
        return ([await searches[0].value, await searches[1].value], calls.withLock { $0 })
    }
}
