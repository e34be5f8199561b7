import Foundation
import TestSupport
import Testing

/// What gives or takes a private key's bytes is `@_spi(KeyBytes)`: who wants it has to ask for it by name, which is
/// seen here.
@Suite("Access to a private key's bytes")
struct KeyBytesTests {
    private static let allowed: Set<String> = [
        "Vault", "Cryptography",
        // The other side of the wire, with keys of its own.
        "GatewayLab",
    ]

    /// The functions and names of OpenSSL by which a private key is written, read or taken apart.
    private static let openers = [
        #"i2d_PKCS8\w*"#, #"i2d_\w*PrivateKey\w*"#, #"d2i_PKCS8\w*"#, #"d2i_\w*PrivateKey\w*"#, "EVP_PKEY2PKCS8",
        #"EVP_PKCS82PKEY\w*"#, #"PEM_(read|write)_bio_\w*PrivateKey\w*"#, "EVP_PKEY_get_raw_private_key",
        #"EVP_PKEY_new_raw_private_key\w*"#, "EVP_PKEY_todata", "EVP_PKEY_export", #"EVP_PKEY_print_private\w*"#,
        #"OSSL_(EN|DE)CODER_\w+"#, #"OSSL_PKEY_PARAM_(PRIV_KEY|RSA_(D|FACTOR|EXPONENT|COEFFICIENT)\w*)"#,
        "EVP_PKEY_get[01]_(RSA|EC_KEY)", "EC_KEY_get0_private_key", "RSA_get0_(key|d|factors)",
        "SSL_(CTX_)?get0?_privatekey", #"PKCS12_\w+"#, #"d2i_PKCS12\w*"#, #"PKCS8_decrypt\w*"#, "EVP_PKEY_decrypt",
    ]

    private static func opens(_ text: String) -> Bool {
        text.range(of: #"\b(\#(openers.joined(separator: "|")))\b"#, options: .regularExpression) != nil
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func files(of folder: String) throws -> [(path: String, text: String)] {
        let folder = root.appending(path: folder)
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
            .map { ($0, try String(contentsOf: folder.appending(path: $0), encoding: .utf8)) }
    }

    @Test("no room but Vault and Cryptography imports a private key's bytes")
    func imports() throws {
        var rooms: Set<String> = []
        for (path, text) in try Self.files(of: "Sources") {
            let imports = text.split(separator: "\n").filter {
                $0.contains("import") && ($0.contains("@_spi") || $0.contains("@testable"))
            }
            for line in imports { #expect(line.contains("@_spi(KeyBytes)"), "\(path): \(line)") }
            if !imports.isEmpty { rooms.insert(String(path.prefix { $0 != "/" })) }
        }
        #expect(rooms.contains("Vault"), "the search finds what it looks for")
        #expect(rooms.subtracting(Self.allowed).isEmpty)
    }

    /// A member or a function of a file, with what stands up to the next one.
    private struct Declaration {
        let head: String
        let body: String
        var isPublic: Bool { head.contains(/\b(public|open)\b/) }
        var isMarked: Bool { head.contains("@_spi(KeyBytes)") }
    }

    private static func declarations(in text: String) -> [Declaration] {
        let keywords =
            /^ *(@\S+ )*((public|open|private|fileprivate|static|convenience|final) )*(func|init|var|let|subscript)\b/
        let access = /^ *(@\S+ )*(public|open|private|fileprivate|static)\b/
        var parts: [[String]] = [[]]
        for line in text.components(separatedBy: "\n") {
            // Deeper ones without a word of access are locals.
            let isMember = line.prefix { $0 == " " }.count <= 4 || line.prefixMatch(of: access) != nil
            if isMember, line.prefixMatch(of: keywords) != nil { parts.append([]) }
            parts[parts.count - 1].append(line)
        }
        return parts.dropFirst().map { Declaration(head: $0[0], body: $0.joined(separator: "\n")) }
    }

    /// They take files apart for `PrivateKey` and `IdentityFile`, whose marked functions alone use them.
    private static let inner: Set = ["Keys/PKCS12File.swift", "Keys/EncryptedKey.swift", "Keys/KeyContainer.swift"]

    @Test("a private key's bytes are opened in Cryptography only in the declared file and those that serve it")
    func openers() throws {
        var marked = 0
        for (path, text) in try Self.files(of: "Sources/Cryptography")
        where Self.opens(text) {
            guard !Self.inner.contains(path) else {
                #expect(Self.declarations(in: text).allSatisfy { !$0.isPublic }, "\(path) shows other rooms something")
                #expect(text.firstMatch(of: /(public|open|package) (final )?(class|struct|enum)/) == nil)
                continue
            }
            #expect(path == "Keys/PrivateKey.swift", "\(path) opens private keys")
            for declaration in Self.declarations(in: text) where Self.opens(declaration.body) {
                #expect(declaration.isMarked, "\(path): \(declaration.head)")
                marked += 1
            }
        }
        #expect(marked == 3, "reading and writing PKCS#8, and unwrapping")
    }

    /// Bytes, texts and handles could be those of the key.
    @Test("no public member of a private key gives bytes, text or a pointer, or takes them")
    func members() throws {
        let carriers = /SecretBytes|\[UInt8\]|\bString\b|\bData\b|Unsafe\w*Pointer|OpaquePointer/
        var seen = 0
        for (path, text) in try Self.files(of: "Sources/Cryptography") {
            let starts = text.ranges(of: /(class|extension) PrivateKey\b[^{]*\{/)
            for start in starts {
                let rest = text[start.upperBound...]
                let body = rest[..<(rest.range(of: "\n}")?.lowerBound ?? rest.endIndex)]
                for declaration in Self.declarations(in: String(body)) where declaration.isPublic {
                    seen += 1
                    let signature = declaration.body.prefix { $0 != "{" }
                    #expect(
                        declaration.isMarked || signature.firstMatch(of: carriers) == nil,
                        "\(path): \(declaration.head)")
                }
            }
        }
        #expect(seen >= 4, "the search finds the members there are")
    }

    @Test("the compiler refuses a private key's bytes to code that has not asked for them", .timeLimit(.minutes(8)))
    func compiler() async throws {
        let use = """
            func f(_ key: PrivateKey) throws -> SecretBytes { try key.pkcs8() }
            func g(_ bytes: SecretBytes) throws -> PrivateKey { try PrivateKey(pkcs8: bytes) }
            """
        let refused = try await Self.typecheck("import Cryptography\n\(use)")
        #expect(refused.errors.contains { $0.contains("'pkcs8' is inaccessible due to '@_spi' protection level") })
        for line in 2...3 { #expect(refused.errors.contains { $0.contains(".swift:\(line):") }, "\(refused.text)") }
        let allowed = try await Self.typecheck("@_spi(KeyBytes) import Cryptography\n\(use)")
        #expect(allowed.errors == [], "\(allowed.text)")
    }

    /// - Returns: what the compiler says of a file that stands on the modules this test was built with.
    private static func typecheck(_ source: String) async throws -> (errors: [String], text: String) {
        let modules = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "Modules")
        let file = FileManager.default.temporaryDirectory.appending(path: "latchkey-spi-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        try source.write(to: file, atomically: true, encoding: .utf8)
        let built = modules.deletingLastPathComponent().appending(path: "CKeyProvider.build/module.modulemap")
        let maps = [
            root.appending(path: "Sources/CLinux/module.modulemap"),
            root.appending(path: "Sources/COpenSSL/module.modulemap"), built,
        ].flatMap { ["-Xcc", "-fmodule-map-file=\($0.path)"] }
        let text = try await Program.found.run(
            ["swiftc", "-typecheck", "-swift-version", "6", "-I", modules.path] + maps + [file.path]
        ).errors
        return (text.split(separator: "\n").map(String.init).filter { $0.contains(": error:") }, text)
    }
}
