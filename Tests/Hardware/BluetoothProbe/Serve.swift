import Bluetooth
import Groundwork

/// A service on the air; every central has a request of its own.
func serve(over transport: any BluetoothTransport, _ options: Options) async throws {
    let characteristic = LocalCharacteristic(
        uuid: Probe.characteristic, properties: [.writeWithoutResponse, .write, .notify, .indicate],
        requiresEncryption: options["encrypted"] != nil)
    let peripheral = try await transport.serve(
        LocalService(uuid: Probe.service, characteristics: [characteristic]),
        advertising: Advertisement(service: Probe.service, localName: options["name"]))
    let hangUp = options["hang-up"].map { Array($0.utf8) }
    let answer = Array((options["answer"] ?? "0").utf8)
    var left = options.number("times", .max)
    var requests: [CentralID: [UInt8]] = [:]
    for await event in peripheral.events {
        switch event {
        case .started: say("started")
        case .interrupted(let error): say("interrupted", error)
        case .connected(let central):
            requests[central] = []
            say("connected", ["central": .string("\(central)")])
        case .disconnected(let central):
            requests[central] = nil
            say("disconnected", ["central": .string("\(central)")])
        case .subscribed(let central, _, let mode):
            say("subscribed", ["central": .string("\(central)"), "mode": .string("\(mode)")])
        case .unsubscribed(let central, _): say("unsubscribed", ["central": .string("\(central)")])
        case .written(let central, _, let value) where value == hangUp:
            await peripheral.disconnect(central)
            say("hung-up", ["central": .string("\(central)")])
        case .written(let central, _, let value) where value == Probe.end:
            let request = requests.updateValue([], forKey: central) ?? []
            say(
                "request",
                [
                    "central": .string("\(central)"), "bytes": .integer(Int64(request.count)),
                    "text": .string(String(decoding: request.prefix(60), as: UTF8.self)),
                ])
            do {
                try await peripheral.notify(answer, to: central, characteristic: Probe.characteristic)
                say("answered", ["central": .string("\(central)")])
            } catch {
                say("unanswered", error)
            }
            left -= 1
            if left == 0 { await peripheral.stop() }
        case .written(let central, _, let value):
            requests[central]? += value
            // The room bounds what waits, its reader what it keeps.
            guard let request = requests[central], request.count > 4096 else { continue }
            requests[central] = nil
            await peripheral.disconnect(central)
            say("flooded", ["central": .string("\(central)")])
        }
    }
}
