import Groundwork

#if DEBUG
import Glibc
import HTTPClient
import Synchronization

/// Records every answer of a server, so that `deploy/test` can check all answers against the OpenAPI document at
/// its end.
///
/// Active only if the environment variable `LATCHKEY_RECORD_ANSWERS` names a folder. Each server writes a file
/// whose first line is its document, and each further line an answer or an event. Only the kind is recorded of
/// values marked as sensitive and of members that the document does not describe. Exists in debug builds only:
/// nothing of it is in a release build.
final class AnswerRecord: Sendable {
    private let file: Int32
    private let lock = Mutex(())

    init?(of router: Router) {
        guard let folder = getenv("LATCHKEY_RECORD_ANSWERS").map({ String(cString: $0) }), !folder.isEmpty else {
            return nil
        }
        let path = "\(folder)/\(getpid())-\(Hex.encode((0..<8).map { _ in UInt8.random(in: 0...255) })).jsonl"
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { return nil }
        write(["document": router.openAPI])
    }

    deinit { close(file) }

    /// - Parameter route: the route of the request, if there is one.
    func write(
        _ answer: LocalResponse, to method: String, _ target: [UInt8], of route: Router.Route?, request: [UInt8]?
    ) {
        guard case .bytes(let bytes) = answer.body else { return }
        // Once, because each evaluation makes all of its schemas.
        let description = route?.description
        // Texts have no schema.
        if let type = answer.headers.first("Content-Type"), description?.texts.contains(type) == true { return }
        var line: [String: JSON] = [
            "method": .string(method),
            "target": .string(String(String(decoding: target, as: UTF8.self).prefix(1000))),
            "status": .integer(Int64(answer.status)),
            "type": answer.headers.first("Content-Type").map(JSON.string) ?? .null,
        ]
        line["route"] = route.map { .string($0.path) }
        let schema = (200..<300).contains(answer.status) ? description?.answer : LocalResponse.errorSchema
        if let body = try? JSON(parsing: bytes, limit: .max) {
            line["answer"] = schema?.disclosed(body) ?? Schema.kind(of: body)
        }
        if let members = description?.body, let request, let body = try? JSON(parsing: request, limit: .max) {
            line["request"] = Schema.object(members).disclosed(body)
        }
        write(.object(line))
    }

    /// - Parameter events: whole events, as they are written to the stream.
    func write(_ events: [UInt8], in form: StreamForm, to method: String, of route: Router.Route) {
        // Only these have a schema.
        guard form != .frames else { return }
        let description = route.description
        for event in Self.events(in: events, form) {
            guard let name = event["event"]?.string, let data = event["data"] else { continue }
            let schema = name == LocalEvent.errorName ? LocalResponse.errorSchema : description.event(named: name)
            var members = event.object ?? [:]
            members["data"] = schema?.disclosed(data) ?? Schema.kind(of: data)
            write([
                "method": .string(method), "route": .string(route.path), "type": .string(form.mediaType),
                "line": .object(members),
            ])
        }
    }

    private static func events(in bytes: [UInt8], _ form: StreamForm) -> [JSON] {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard form == .serverSent else { return lines.compactMap { try? JSON(parsing: $0, limit: .max) } }
        return lines.split(whereSeparator: \.isEmpty).map { fields in
            fields.reduce(into: JSON.object([:])) { event, field in
                let parts = String(decoding: field, as: UTF8.self).split(separator: ": ", maxSplits: 1)
                guard parts.count == 2 else { return }
                let isData = parts[0] == "data"
                let value =
                    isData ? try? JSON(parsing: Array(parts[1].utf8), limit: .max) : .string(String(parts[1]))
                event = .object((event.object ?? [:]).merging([String(parts[0]): value ?? .null]) { _, new in new })
            }
        }
    }

    private func write(_ line: JSON) {
        let bytes = line.bytes + [UInt8(ascii: "\n")]
        lock.withLock { _ in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}

extension Schema {
    /// The longest text that is recorded.
    private static let textLimit = 1000

    /// The value without sensitive or undescribed parts, and with long texts cut.
    fileprivate func disclosed(_ value: JSON) -> JSON { disclosed(value, by: json) }

    private func disclosed(_ value: JSON, by schema: JSON) -> JSON {
        if let name = schema["$ref"]?.string?.split(separator: "/").last {
            return definitions[String(name)].map { disclosed(value, by: $0) } ?? Self.kind(of: value)
        }
        guard schema[Self.sensitive] != true else { return Self.kind(of: value) }
        if let choices = schema["anyOf"]?.array { return disclosed(value, byAny: choices) }
        switch value {
        case .object(let members):
            let other = schema["additionalProperties"] ?? .null
            return .object(
                members.reduce(into: [:]) { shown, member in
                    shown[member.key] = disclosed(member.value, by: schema["properties"]?[member.key] ?? other)
                })
        case .array(let elements): return .array(elements.map { disclosed($0, by: schema["items"] ?? .null) })
        case .string(let text):
            return schema["type"] == nil ? Self.kind(of: value) : .string(String(text.prefix(Self.textLimit)))
        default: return value
        }
    }

    /// By the first of several schemas that describes every member.
    private func disclosed(_ value: JSON, byAny choices: [JSON]) -> JSON {
        let resolved = choices.flatMap { choice -> [JSON] in
            let schema =
                choice["$ref"]?.string?.split(separator: "/").last.flatMap { definitions[String($0)] } ?? choice
            return schema["anyOf"]?.array ?? [schema]
        }
        let fitting = resolved.map { schema in
            schema["$ref"]?.string?.split(separator: "/").last.flatMap { definitions[String($0)] } ?? schema
        }.first { schema in
            guard let members = value.object, let known = schema["properties"]?.object else { return false }
            return members.keys.allSatisfy { known[$0] != nil }
        }
        return fitting.map { disclosed(value, by: $0) } ?? Self.kind(of: value)
    }

    /// The kind of the value, and nothing else.
    fileprivate static func kind(of value: JSON) -> JSON {
        switch value {
        case .string: "(not recorded)"
        case .array: []
        case .object(let members): .object(members.mapValues { _ in "(not recorded)" })
        default: value
        }
    }
}
#else
/// Does nothing; see the debug build's type.
struct AnswerRecord {
    @inline(__always)
    init?(of router: Router) { return nil }
    @inline(__always)
    func write(
        _ answer: LocalResponse, to method: String, _ target: [UInt8], of route: Router.Route?, request: [UInt8]?
    ) {}
    @inline(__always)
    func write(_ events: [UInt8], in form: StreamForm, to method: String, of route: Router.Route) {}
}
#endif
