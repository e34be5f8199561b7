import Foundation
import Groundwork

/// E14 and E15: the devices of a user, and what a device stores about itself (MAG 6.9, MAG checklist 66).
extension GatewayCore {
    /// The devices that a user has registered or is logged in on; for a token without a user, the calling device.
    func deviceList(_ request: WireRequest, now: Date) throws -> WireResponse {
        let token = try bearer(of: request, at: .deviceList, scope: nil, now: now)
        let devices = state.devices.values.filter { device in
            device.magIdentifier == token.magIdentifier || token.user != nil && device.user == token.user
        }
        return .json([
            "devices": .array(
                devices.sorted { $0.registeredAt < $1.registeredAt }.map { device in
                    [
                        "device_id": .string(device.deviceID), "device_name": .string(device.name),
                        "mag_identifier": .string(device.magIdentifier), "status": .string(device.status.rawValue),
                        "registered": .integer(device.registeredAt.epochSeconds),
                    ]
                })
        ])
    }

    mutating func deviceMetadata(_ request: WireRequest, now: Date) throws -> WireResponse {
        let endpoint = Endpoint.deviceMetadata
        let device = try bearer(of: request, at: endpoint, scope: nil, now: now).magIdentifier
        let segment = request.path.dropFirst(endpoint.path.count + 1)
        let name = PercentEncoding.decode(segment.utf8).flatMap { String(validating: $0, as: UTF8.self) } ?? ""
        let held = state.kept.metadata[device] ?? [:]
        let absent = GatewayFault(
            endpoint.errorPrefix + 156, status: 404, "invalid_request", "The attribute does not exist")
        switch request.method {
        case "PUT":
            guard segment.isEmpty, let body = try? JSON(parsing: request.body), let name = body["name"]?.string,
                let value = body["value"]?.string, !name.isEmpty
            else { throw GatewayFault(endpoint.errorPrefix + 103, "invalid_request", "A name or a value is missing") }
            guard held[name] != nil || held.count < LabServices.attributeLimit else {
                throw GatewayFault(
                    endpoint.errorPrefix + 155, "invalid_request", "The device has as many attributes as it may have")
            }
            state.kept.metadata[device, default: [:]][name] = value
            return .json(["name": .string(name), "value": .string(value)])
        case "GET" where segment.isEmpty:
            return .json(
                .array(
                    held.sorted { $0.key < $1.key }.map { ["name": .string($0.key), "value": .string($0.value)] }))
        case "GET":
            guard let value = held[name] else { throw absent }
            return .json(["name": .string(name), "value": .string(value)])
        default:
            guard segment.isEmpty || held[name] != nil else { throw absent }
            if segment.isEmpty {
                state.kept.metadata[device] = nil
            } else {
                state.kept.metadata[device]?[name] = nil
            }
            // One of the clients expects text (MAG quirk Q5).
            return .text("")
        }
    }
}
