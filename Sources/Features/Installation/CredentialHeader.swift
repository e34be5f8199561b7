import Groundwork

/// The plain text in front of a credential that `systemd-creds encrypt` has sealed, as far as it says what has to stay
/// the same on the machine that opens it.
///
/// The format is systemd's own (`src/shared/creds-util.c`), in base64 or not, with numbers whose least significant byte
/// comes first: 16 bytes for the kind of the key; the sizes of key, block, nonce and tag, 4 bytes each; the nonce,
/// filled up to 8 bytes. If the key is in a TPM, 8 bytes follow with a bit for each register (PCR) whose present value
/// it needs.
package struct CredentialHeader: Sendable, Equatable {
    /// The registers of the TPM that must keep their values, ascending, from 0 to 23.
    package let registers: [Int]

    /// The most bytes of a file that is read: a sealed credential is a few hundred bytes, and has no more in base64.
    package static let limit = 1 << 17
    /// The most bytes of a field, as systemd has it (`CREDENTIAL_FIELD_SIZE_MAX`).
    private static let fieldLimit = 16 << 10
    /// The registers that the specification for PC clients has.
    private static let registerCount = 24

    /// The kinds of keys without a TPM: the host's, that for one user's credentials, and none.
    private static let kindsOfHost: Set<String> = [
        "5a1c6a86df9d4096b1d5a65e0862f19a", "55b9ed1d38594d43a8319d2ebb332ac6", "058469daf6f54324800549da0f8ea2fb",
    ]
    /// Those with a TPM: alone and with the host's key, with a public key that signs values, and for one user's.
    private static let kindsOfTPM: Set<String> = [
        "0c7cc07b117645919c4b0bea08bc20fe", "faf7eb9341e3412ca1a436f95a29362f", "93a894094874449090caf2fc93cab553",
        "ef4ac13679a9480ea7db68897f9f165d", "af4950a849134eb1a73846304ff30c05", "adbc4ca3efb64201ba881b6f2e4095ea",
    ]

    /// - Parameter file: the content of the file.
    /// - Returns: `nil` for anything else than a sealed credential of a kind that is known.
    package init?(_ file: [UInt8]) {
        guard file.count <= Self.limit else { return nil }
        guard let header = Self.read(file) ?? Self.decoded(file).flatMap(Self.read) else { return nil }
        self = header
    }

    init(registers: [Int]) { self.registers = registers }

    private static let whitespace = Set(" \t\r\n".utf8)

    private static func decoded(_ file: [UInt8]) -> [UInt8]? {
        Base64.decode(String(decoding: file.filter { !whitespace.contains($0) }, as: UTF8.self))
    }

    private static func read(_ bytes: [UInt8]) -> CredentialHeader? {
        guard let kind = bytes.count >= 32 ? Hex.encode(bytes.prefix(16)) : nil,
            let key = number(bytes, at: 16, count: 4), let block = number(bytes, at: 20, count: 4),
            let nonce = number(bytes, at: 24, count: 4), let tag = number(bytes, at: 28, count: 4),
            key == 32, (1...UInt64(fieldLimit)).contains(block), nonce <= fieldLimit, tag == 16
        else { return nil }
        let end = (32 + Int(nonce) + 7) / 8 * 8
        if kindsOfHost.contains(kind) { return end <= bytes.count ? CredentialHeader(registers: []) : nil }
        guard kindsOfTPM.contains(kind), let mask = number(bytes, at: end, count: 8), mask >> registerCount == 0
        else { return nil }
        return CredentialHeader(registers: (0..<registerCount).filter { mask >> $0 & 1 == 1 })
    }

    private static func number(_ bytes: [UInt8], at start: Int, count: Int) -> UInt64? {
        guard start + count <= bytes.count else { return nil }
        return bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
