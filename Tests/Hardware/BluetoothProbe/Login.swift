import Bluetooth
import Glibc
import Groundwork

/// Finds the service, asks and waits for the answer, as often as wanted.
func login(over transport: any BluetoothTransport, _ options: Options) async throws {
    for round in 1...max(options.number("times", 1), 1) {
        let start = ContinuousClock.now
        let address: BluetoothAddress
        if let given = options["address"] {
            let parts = given.split(separator: "/")
            address = BluetoothAddress(String(parts[0]), kind: parts.count > 1 ? .random : .public)!
        } else {
            address = try await find(over: transport, patience: .seconds(options.number("seconds", 20)))
        }
        let found = start.duration(to: .now)
        try await talk(to: address, over: transport, options)
        say(
            "round",
            [
                "number": .integer(Int64(round)), "found-after": .integer(found.milliseconds),
                "took": .integer(start.duration(to: .now).milliseconds),
            ])
    }
}

/// The first peripheral that is seen.
private func find(over transport: any BluetoothTransport, patience: Duration) async throws -> BluetoothAddress {
    let sightings = try await transport.scan(for: Probe.service)
    let found: BluetoothAddress? = try await within(patience) {
        for try await sighting in sightings {
            say(
                "sighted",
                [
                    "address": .string("\(sighting.address)"), "rssi": .integer(Int64(sighting.rssi)),
                    "name": sighting.name.map { .string($0) } ?? .null,
                ])
            return sighting.address
        }
        return nil
    }
    guard let found else { throw BluetoothError.timedOut(operation: "find the service") }
    return found
}

private func talk(to address: BluetoothAddress, over transport: any BluetoothTransport, _ options: Options) async throws
{
    let patience = Duration.seconds(options.number("seconds", 20))
    let remote = try await transport.connect(to: address, timeout: patience)
    say("connected", ["address": .string("\(address)")])
    if options["conduct"] == "silent" { return await waitForHangUp(of: remote) }
    guard let characteristic = try await remote.discover(service: Probe.service, characteristic: Probe.characteristic)
    else {
        throw BluetoothError.failed(operation: "discover", reason: "the characteristic is not there")
    }
    let isSubscribed = try await remote.subscribe(characteristic)
    say("discovered", ["mtu": .integer(Int64(await remote.mtu)), "subscribed": .bool(isSubscribed)])
    switch options["conduct"] {
    case "flood":
        // Until the peripheral hangs up.
        for _ in 0..<100_000 {
            do {
                try await remote.write([UInt8](repeating: 0x78, count: 20), to: characteristic, withResponse: false)
            } catch {
                say("flood-ended", error)
                break
            }
        }
        return await remote.close()
    case "vanish":
        try await remote.write(Array("{\"provider_url\":\"".utf8), to: characteristic, withResponse: false)
        say("vanishing")
        exit(0)
    case "garbage":
        try await remote.write([0xff, 0x00, 0x80], to: characteristic, withResponse: false)
    default:
        let url = "https://gateway.example/auth/device/authorization/1234567890"
        let request = JSON.object(["provider_url": .string(url), "device_name": "probe"]).bytes
        for start in stride(from: 0, to: request.count, by: 20) {
            let piece = Array(request[start..<min(start + 20, request.count)])
            try await remote.write(piece, to: characteristic, withResponse: false)
        }
    }
    try await remote.write(Probe.end, to: characteristic, withResponse: false)
    let values = remote.values
    let answer = try await within(.seconds(options.number("answer-seconds", options.number("seconds", 20)))) {
        for await value in values { return value.bytes as [UInt8]? }
        return nil
    }
    guard let answer else { throw BluetoothError.timedOut(operation: "wait for the answer") }
    say("answer", ["text": .string(String(decoding: answer, as: UTF8.self))])
    if options["conduct"] == "linger" { return await waitForHangUp(of: remote) }
    await remote.close()
}

private func waitForHangUp(of remote: any RemotePeripheral) async {
    for await _ in remote.values {}
    say("hung-up")
    await remote.close()
}

/// `nil` when time has run out first.
private func within<Value: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value?
) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try await Task.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}
