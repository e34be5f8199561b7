import Cryptography
import Foundation
import Groundwork

/// The lab's own API for bodies of any length, and for refusals of an API itself.
extension GatewayCore {
    /// The longest file, in bytes.
    private static let fileLimit = 64 << 20

    /// `GET /lab/file/{bytes}`: the same content each time, a byte for each place, with `Range` and `If-Range` (RFC
    /// 9110 section 14). `?break-after=N` breaks the connection after N bytes of the body; `?version=V` names another
    /// version of it.
    func file(_ request: WireRequest, now: Date) throws -> WireResponse {
        _ = try bearer(of: request, at: .file, scope: nil, now: now)
        guard let length = Int(request.path.dropFirst(Endpoint.file.path.count + 1)),
            (0...Self.fileLimit).contains(length), let query = Parameters(query: request.query)
        else {
            throw GatewayFault(
                Endpoint.file.errorPrefix + 103, status: 400, "invalid_request", "The length of the file is not valid")
        }
        let tag = "\"\(length)-\(query["version"] ?? "1")\""
        var response = WireResponse(
            status: 200,
            headers: [("Content-Type", "application/octet-stream"), ("ETag", tag), ("Accept-Ranges", "bytes")])
        var start = 0
        if let range = request.header("range"), request.header("if-range") ?? tag == tag,
            range.hasPrefix("bytes="), range.hasSuffix("-"), let first = Int(range.dropFirst(6).dropLast())
        {
            guard first < length else {
                response.status = 416
                response.headers.append(("Content-Range", "bytes */\(length)"))
                return response
            }
            start = first
            response.status = 206
            response.headers.append(("Content-Range", "bytes \(start)-\(length - 1)/\(length)"))
        }
        response.body = LabFile.content(from: start, to: length)
        response.breaksAfter = query["break-after"].flatMap { Int($0) }
        return response
    }

    /// `POST /lab/upload`
    func upload(_ request: WireRequest, now: Date) throws -> WireResponse {
        let token = try bearer(of: request, at: .upload, scope: nil, now: now)
        let type = request.header("content-type") ?? ""
        var members: [String: JSON] = [
            "method": .string(request.method), "type": .string(type), "user": token.user.map(JSON.string) ?? .null,
            "length": .integer(Int64(request.body.count)), "sha256": .string(Hex.encode(SHA256.hash(request.body))),
        ]
        let mark = "multipart/form-data; boundary="
        if type.hasPrefix(mark) {
            guard let parts = Multipart.parts(of: request.body, boundary: String(type.dropFirst(mark.count))) else {
                throw GatewayFault(
                    Endpoint.upload.errorPrefix + 103, status: 400, "invalid_request", "The multipart body is not valid"
                )
            }
            members["parts"] = .array(parts.map(\.json))
        }
        return .json(.object(members))
    }

    /// `GET /lab/refuse/{number}`: as an API behind the gateway refuses for its own reasons.
    func refuse(_ request: WireRequest, now: Date) throws -> WireResponse {
        _ = try bearer(of: request, at: .refuse, scope: nil, now: now)
        let number = Int(request.path.dropFirst(Endpoint.refuse.path.count + 1)) ?? 0
        var response = GatewayFault(number, status: 403, "access_denied", "The API refuses for its own reasons")
            .response
        response.headers.append(("X-Reason", "none of your business"))
        return response
    }
}

/// The parts of a `multipart/form-data` body (RFC 7578).
enum Multipart {
    struct Part {
        let disposition: String
        let type: String?
        let body: ArraySlice<UInt8>

        var json: JSON {
            [
                "disposition": .string(disposition), "type": type.map(JSON.string) ?? .null,
                "length": .integer(Int64(body.count)), "sha256": .string(Hex.encode(SHA256.hash(Array(body)))),
            ]
        }
    }

    /// - Returns: `nil` unless the body is parts with delimiters between and the closing one at the end.
    static func parts(of body: [UInt8], boundary: String) -> [Part]? {
        let delimiter = Array("\r\n--\(boundary)".utf8)
        // Each delimiter begins with a line break but the first.
        let text = Array("\r\n".utf8) + body
        var places: [Int] = []
        var place = 0
        while place + delimiter.count <= text.count {
            // Compared byte by byte only where it may begin: a body of many MiB has to be quick.
            guard text[place] == 13, text[place..<place + delimiter.count].elementsEqual(delimiter) else {
                place += 1
                continue
            }
            places.append(place)
            place += delimiter.count
        }
        guard let last = places.last, text[(last + delimiter.count)...].elementsEqual("--\r\n".utf8) else { return nil }
        var parts: [Part] = []
        for (start, end) in zip(places, places.dropFirst()) {
            guard let part = part(text[start + delimiter.count..<end]) else { return nil }
            parts.append(part)
        }
        return parts
    }

    private static func part(_ bytes: ArraySlice<UInt8>) -> Part? {
        guard bytes.starts(with: "\r\n".utf8) else { return nil }
        var rest = bytes.dropFirst(2)
        var fields: [String: String] = [:]
        while let end = rest.firstIndex(of: 13), rest[end...].starts(with: "\r\n".utf8) {
            let line = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[(end + 2)...]
            guard !line.isEmpty else {
                return fields["content-disposition"].map {
                    Part(disposition: $0, type: fields["content-type"], body: rest)
                }
            }
            guard let colon = line.firstIndex(of: ":") else { return nil }
            fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmed
        }
        return nil
    }
}
