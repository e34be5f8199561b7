import Foundation
import Groundwork

/// APIs that demand to know where the caller is, or its telephone number (MAG 6.5).
extension GatewayCore {
    /// `GET /lab/place/anywhere` answers where the caller is; `/lab/place/nowhere` serves no location at all.
    func place(_ request: WireRequest, now: Date) throws -> WireResponse {
        _ = try bearer(of: request, at: .place, scope: nil, now: now)
        guard let text = request.header("geo-location") else { return Self.missing("location data") }
        guard let (latitude, longitude) = Self.place(text) else {
            throw GatewayFault(Endpoint.place.errorPrefix + 103, "invalid_request", "geo-location is malformed")
        }
        guard request.path.hasSuffix("/anywhere") else { return Self.unsupported("location") }
        return .json(["latitude": .number(latitude), "longitude": .number(longitude), "header": .string(text)])
    }

    /// `GET /lab/telephone/anyone` answers with the caller's number; `/lab/telephone/nobody` serves no number at all.
    func telephone(_ request: WireRequest, now: Date) throws -> WireResponse {
        _ = try bearer(of: request, at: .telephone, scope: nil, now: now)
        guard let number = request.header("msisdn") else { return Self.missing("MSISDN data") }
        guard request.path.hasSuffix("/anyone") else { return Self.unsupported("MSISDN") }
        return .json(["number": .string(number)])
    }

    /// Two numbers with six decimals, as `%f,%f` writes them.
    private static func place(_ text: String) -> (Double, Double)? {
        guard let match = text.wholeMatch(of: /(-?[0-9]{1,2}\.[0-9]{6}),(-?[0-9]{1,3}\.[0-9]{6})/),
            let latitude = Double(match.1), let longitude = Double(match.2), abs(latitude) <= 90, abs(longitude) <= 180
        else { return nil }
        return (latitude, longitude)
    }

    private static func missing(_ what: String) -> WireResponse {
        .json(["error": "invalid_request", "error_description": .string("Missing \(what)")], status: 449)
    }

    private static func unsupported(_ what: String) -> WireResponse {
        .json(
            ["error": "access_denied", "error_description": .string("The given \(what) is not supported")], status: 448)
    }
}
