// Runs the room Bluetooth alone and prints what it sees, one JSON object a line, for the tests in the virtual board.
//
//   bluetooth-probe COMMAND [--transport kernel|bluez|auto] [--adapter hci0] [--private] [OPTION…]
//
//   --private                under addresses that change
//   status                   what `doctor` would show
//   serve                    a service on the air until it is ended; what a central writes before EOM is answered by
//   "0"
//     --name NAME            in the scan response
//     --answer TEXT          in place of "0"
//     --encrypted            asks for a bonded, encrypted connection
//     --hang-up MARK         hangs up on a central that writes MARK
//     --times N              stops after N answers
//   login                    finds such a service, writes a request in pieces of 20 bytes, waits for the answer
//     --times N              one after the other, each with a scan and a connection of its own (1)
//     --address A[/random]   connects without a scan
//     --seconds S            patience for each step (20)
//     --answer-seconds S     for the answer (as for each step)
//     --conduct flood|silent|vanish|garbage|linger
//                            in place of a request: writes without an end, nothing at all until it is hung up, ends the
//                            process in the middle, what is no request, or the whole of it and no hanging up before the
//                            peripheral does
import Bluetooth
import Glibc
import Groundwork

/// What the command line says.
struct Options {
    private var values: [String: String] = [:]

    init(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let name = rest.popFirst() {
            guard name.hasPrefix("--") else { continue }
            values[String(name.dropFirst(2))] =
                ["--encrypted", "--private"].contains(name) ? "" : rest.popFirst() ?? ""
        }
    }

    subscript(_ name: String) -> String? { values[name] }
    func number(_ name: String, _ usual: Int) -> Int { values[name].flatMap { Int($0) } ?? usual }
}

/// The service and the characteristic of all probes.
enum Probe {
    static let service = BluetoothUUID("7d1f0b6e-52c3-4c0a-9f6e-1c61a2b7d001")!
    static let characteristic = BluetoothUUID("7d1f0b6e-52c3-4c0a-9f6e-1c61a2b7d002")!
    static let end = Array("EOM".utf8)
}

guard CommandLine.arguments.count > 1 else {
    say("usage", ["text": "bluetooth-probe status|serve|login [OPTION…]"])
    exit(64)
}
let options = Options(CommandLine.arguments[2...])
do {
    let transport = await makeTransport(
        options["transport"] ?? "kernel", adapter: options["adapter"] ?? "",
        isPrivate: options["private"] != nil)
    switch CommandLine.arguments[1] {
    case "status": say("status", await transport.status().json)
    case "serve": try await serve(over: transport, options)
    case "login": try await login(over: transport, options)
    default: exit(64)
    }
    await transport.close()
    say("ended")
} catch let error as any Explained {
    say("failed", error)
    exit(1)
}

extension AdapterStatus {
    var json: [String: JSON] {
        [
            "transport": .string(transport.rawValue), "adapter": adapter.map { .string($0) } ?? .null,
            "address": address.map { .string("\($0)") } ?? .null, "powered": .bool(isPowered),
            "low-energy": .bool(supportsLowEnergy),
            "blocked": .bool(isBlocked), "advertises": .bool(canAdvertise), "scans": .bool(canScan),
            "fault": fault.map { .string($0.code) } ?? .null, "message": fault.map { .string($0.message) } ?? .null,
        ]
    }
}
