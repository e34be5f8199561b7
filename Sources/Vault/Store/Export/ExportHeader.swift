import Cryptography

/// The header of an export.
struct ExportHeader {
    /// Longer than the first line of any version.
    private static let titleLimit = 32
    private static let parameterBytes = 54
    private static let bodyBytes =
        parameterBytes + PieceCipher.prefixBytes + ExportFile.checkBytes + SHA256.byteCount

    /// From which a passphrase gets its key, as a slot has them.
    let parameters: [UInt8]
    let prefix: [UInt8]
    let check: [UInt8]
    /// All bytes, which each piece authenticates.
    let bytes: [UInt8]

    init(_ parameters: [UInt8], prefix: [UInt8], check: [UInt8]) {
        (self.parameters, self.prefix, self.check) = (parameters, prefix, check)
        let covered = Array("\(ExportFile.title)\(ExportFile.version)\n".utf8) + parameters + prefix + check
        bytes = covered + SHA256.hash(covered)
    }

    /// Reads a header, and nothing after it.
    ///
    /// - Parameters:
    ///   - read: gives the next bytes: as many as asked for, or fewer at the end.
    ///   - path: for errors.
    /// - Throws: ``ExportError``, and what `read` throws
    init(from read: (Int) throws -> [UInt8], of path: String) throws {
        let line = try Self.line(from: read, of: path)
        let body = try read(Self.bodyBytes)
        guard body.count == Self.bodyBytes else { throw ExportError.cutShort(path: path) }
        let digest = body.suffix(SHA256.byteCount)
        guard SHA256.hash(line + body.dropLast(SHA256.byteCount)) == Array(digest) else {
            throw ExportError.damaged(path: path)
        }
        parameters = Array(body.prefix(Self.parameterBytes))
        guard let cost = Passphrase.Parameters(decoding: parameters), cost.isBounded else {
            throw ExportError.parametersRefused(path: path)
        }
        let rest = body.dropFirst(Self.parameterBytes)
        prefix = Array(rest.prefix(PieceCipher.prefixBytes))
        check = Array(rest.dropFirst(PieceCipher.prefixBytes).prefix(ExportFile.checkBytes))
        bytes = line + body
    }

    /// The first line, with its end.
    private static func line(from read: (Int) throws -> [UInt8], of path: String) throws -> [UInt8] {
        let title = Array(ExportFile.title.utf8)
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n") {
            guard line.count < titleLimit else { throw ExportError.notAnExport(path: path) }
            let next = try read(1)
            guard !next.isEmpty else {
                throw line.isEmpty || !title.starts(with: line.prefix(title.count))
                    ? ExportError.notAnExport(path: path) : .cutShort(path: path)
            }
            line += next
        }
        let digits = String(decoding: line.dropFirst(title.count).dropLast(), as: UTF8.self)
        guard line.starts(with: title), let found = Int(digits), found > 0, String(found) == digits else {
            throw ExportError.notAnExport(path: path)
        }
        guard found == ExportFile.version else {
            throw ExportError.newerVersion(path: path, found: found, supported: ExportFile.version)
        }
        return line
    }
}
