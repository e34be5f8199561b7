import Cryptography
import Foundation
import Groundwork

/// Integers, hashes and points as M-Pin writes them (MPIN 2).
enum MPinNumber {
    /// The order of the group, highest byte first.
    static let order = Hex.decode("2400000008702a0db0bddf647a6366d2c43fd6ee0cc906cebe11c0a636eb1f6d") ?? []

    /// A random integer of 32 bytes below the order, with nearly every such value possible.
    static func random() throws -> [UInt8] {
        var bytes = try Random.bytes(32)
        // Below 24 00 … 00, which is below the order.
        bytes[0] = UInt8(Int(bytes[0]) % 0x24)
        // Zero would be refused by every client.
        bytes[31] |= 1
        return bytes
    }

    /// The sum of a number below the order and the order, which 32 bytes hold.
    static func addingOrder(to bytes: [UInt8]) -> [UInt8] {
        var sum = bytes
        var carry = 0
        for index in sum.indices.reversed() {
            carry += Int(sum[index]) + Int(order[index])
            sum[index] = UInt8(carry & 255)
            carry >>= 8
        }
        return sum
    }

    /// The hash of an M-Pin ID, or of such a hash and a day (MPIN 2.3).
    static func hash(_ bytes: [UInt8], day: Int = 0) -> [UInt8] {
        guard day > 0 else { return SHA256.hash(bytes) }
        let prefix = [24, 16, 8, 0].map { UInt8(day >> $0 & 255) }
        return SHA256.hash(prefix + bytes)
    }

    /// Days since 1970-01-01 in UTC.
    static func day(_ date: Date) -> Int { Int((date.timeIntervalSince1970 / 86_400).rounded(.down)) }

    /// The bytes of lower-case hexadecimal text; `nil` for anything else.
    static func bytes(_ hex: String, count: Int? = nil) -> [UInt8]? {
        guard !hex.isEmpty, hex == hex.lowercased(), let bytes = Hex.decode(hex) else { return nil }
        return count.map { $0 == bytes.count } ?? true ? bytes : nil
    }

    /// An access number that passes the check of MPIN 5.13, and never ends in 0; without a check digit, of six digits.
    static func accessNumber(checked: Bool) throws -> String {
        while true {
            let digits = try Random.bytes(6).map { Int($0) % 10 }
            guard checked else { return digits.map(String.init).joined() }
            let sum = zip(digits, [7, 6, 5, 4, 3, 2]).map { $0 * $1 }.reduce(0, +)
            let check = (11 - sum % 11) % 11
            if (1...9).contains(check) { return (digits + [check]).map(String.init).joined() }
        }
    }

    static func milliseconds(_ date: Date) -> JSON { .integer(Int64((date.timeIntervalSince1970 * 1000).rounded())) }

    /// `2026-11-23T04:39:18Z`
    static func time(_ date: Date) -> String { date.formatted(.iso8601) }
}

/// The two D-TAs (MPIN 1). They share nothing but the key of their signatures; the lab knows the secrets of both.
struct MPinAuthorities {
    enum Name { case one, two }

    let state: MPinState

    private func secret(_ name: Name) -> G1Scalar {
        G1Scalar(reducing: name == .one ? state.secretOne : state.secretTwo)
    }

    /// A D-TA's multiple of the point of a hash, encoded: a share of a client secret or of a time permit.
    func share(_ name: Name, of hash: [UInt8], lie: MPinLie?) throws -> [UInt8] {
        switch lie {
        case .otherUser: try G1Point(mapping: SHA256.hash(hash)).multiplied(by: secret(name)).encoding
        case .otherSecret: try G1Point(mapping: hash).multiplied(by: .random()).encoding
        case .opposite: try G1Point(mapping: hash).multiplied(by: secret(name == .one ? .two : .one)).negated().encoding
        default: try G1Point(mapping: hash).multiplied(by: secret(name)).encoding
        }
    }

    /// Whether V + s(C + yB) is infinity, with B the point of the user, or of the user and the day (MPIN 4.2).
    func accepts(_ validator: [UInt8], id: [UInt8], pass: MPinSessions.Pass, day: Int) -> Bool {
        let hash = MPinNumber.hash(id)
        do {
            var base = try G1Point(mapping: hash)
            if pass.isDated { base = try base.adding(G1Point(mapping: MPinNumber.hash(hash, day: day))) }
            let sum = try G1Point(encoding: pass.commitment).adding(G1Scalar(reducing: pass.y), times: base)
            let expected = try sum.multiplied(by: secret(.one).adding(secret(.two))).negated()
            return expected.encoding == validator
        } catch {
            // Infinity somewhere: no client that knows the secret sends that.
            return false
        }
    }

    /// HMAC-SHA-256 in hexadecimal, by the characters of the application's key (MPIN 4.4).
    func signature(_ parts: String...) -> String {
        Hex.encode(HMAC.sha256(key: SecretBytes(Array(state.appKey.utf8)), parts.joined().utf8))
    }
}
