import Cryptography
import FoundationEssentials
import Groundwork

/// What the vault stores of a compartment, sealed in a record of level always.
struct CompartmentState: Equatable, Sendable {
    enum Lock: Equatable, Sendable {
        /// There are no levels behind the passcode.
        case none
        /// The root key alone opens the levels: the default passcode.
        case defaultPasscode
        /// A passcode opens them, which was set at a time.
        case passcode(PasscodeKey, since: Date)
        /// Nothing opens them any more, and their records are being removed. The chip's half is still to be removed from
        /// its place.
        case wiping(place: SecretBytes?)
    }

    var lock = Lock.none
    var policy = PasscodePolicy()
    var tries = CountedTries()

    /// Whether the passcode is older than the policy allows. A clock that is behind makes none older.
    func isExpired(at now: Date) -> Bool {
        guard case .passcode(_, let since) = lock, let end = policy.expiry(since: since) else { return false }
        return end <= now
    }

    // MARK: Bytes

    private static let purpose = "latchkey compartment 1"

    func encoded() -> [UInt8] {
        var writer = FieldWriter(purpose: Self.purpose)
        writer.append(policy.json.bytes)
        writer.append(Int64(tries.failures))
        writer.append(tries.last.map(Self.milliseconds) ?? -1)
        switch lock {
        case .none: writer.append("none")
        case .defaultPasscode: writer.append("default")
        case .passcode(let key, let since):
            writer.append("set")
            writer.append(key.scrypt.encoded())
            Self.append(key.place, to: &writer)
            writer.append(Self.milliseconds(since))
        case .wiping(let place):
            writer.append("wiping")
            Self.append(place, to: &writer)
        }
        return writer.bytes
    }

    /// Empty for none.
    private static func append(_ place: SecretBytes?, to writer: inout FieldWriter) {
        guard let place else { return writer.append([]) }
        place.withUnsafeBytes { writer.append($0) }
    }

    private static func place(_ field: [UInt8]) -> SecretBytes? { field.isEmpty ? nil : SecretBytes(field) }

    init() {}

    /// `nil` for bytes that are not from ``encoded()``.
    init?(decoding bytes: [UInt8]) {
        guard var reader = FieldReader(bytes, purpose: Self.purpose), let policy = reader.field(),
            case .success(let json) = Result(catching: { try JSON(parsing: policy) }),
            case .success(let rules) = Result(catching: { try PasscodePolicy(json) }),
            let failures = reader.int64(), (0...Int64(Int32.max)).contains(failures), let last = reader.int64(),
            let lock = Self.lock(&reader), reader.isAtEnd
        else { return nil }
        self.policy = rules
        self.lock = lock
        tries = CountedTries(failures: Int(failures), last: last < 0 ? nil : Self.date(last))
    }

    private static func lock(_ reader: inout FieldReader) -> Lock? {
        switch reader.text() {
        case "none": return Lock.none
        case "default": return .defaultPasscode
        case "set":
            guard let scrypt = reader.field().flatMap(Passphrase.Parameters.init(decoding:)),
                let place = reader.field(), let since = reader.int64()
            else { return nil }
            return .passcode(PasscodeKey(scrypt: scrypt, place: self.place(place)), since: date(since))
        case "wiping": return reader.field().map { .wiping(place: place($0)) }
        default: return nil
        }
    }

    /// Since 1970, UTC. Dates before it count as it.
    private static func milliseconds(_ date: Date) -> Int64 {
        Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()).map { max($0, 0) } ?? 0
    }

    private static func date(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}

extension PasscodePolicy {
    /// When a passcode expires that was set at a time; `nil` for never.
    func expiry(since date: Date) -> Date? {
        let days = applied.expirationDays
        return days > 0 ? date.addingTimeInterval(Double(days) * 86_400) : nil
    }
}
