#if DEBUG
@_spi(KeyBytes) import Cryptography
import Glibc
import Groundwork

/// An RSA key that a test gives to an agent, since to make one takes more work than all else that a short test
/// does.
///
/// The environment variable `LATCHKEY_GIVEN_KEY` names a file with the key: PKCS#8 in DER, of mode 0600. The first
/// that takes it removes it, and all further keys are made. Exists in debug builds only: nothing of it is in a
/// release build.
enum GivenKey {
    private static let limit = 4096

    /// `nil` if there is none.
    static func taken(from path: String? = getenv("LATCHKEY_GIVEN_KEY").map { String(cString: $0) }) -> PrivateKey? {
        guard let path,
            var bytes = try? BoundedFile.read(path, limit: limit, .regularWithoutLink, isSecret: true)
        else { return nil }
        defer { bytes.withUnsafeMutableBytes { explicit_bzero($0.baseAddress!, $0.count) } }
        guard unlink(path) == 0 else { return nil }
        return try? PrivateKey(pkcs8: SecretBytes(bytes))
    }
}
#endif
