import Cryptography
import Glibc
import Groundwork
import Synchronization

/// A TPM 2.0. The connection is opened for an operation and closed after it, with all that the operation has loaded:
/// nothing is left in the chip, and nothing is open while the program is idle.
///
/// Operations block, as long as the chip needs: up to a minute to make an RSA key. The kernel ends what takes a chip
/// longer than its driver allows. Those of several threads run one after the other, because a chip has room for three
/// objects.
public struct Chip: Sendable {
    /// The kernel's resource manager.
    public static let usualPlace = "device:/dev/tpmrm0"

    let place: String
    private let owner: SecretBytes?
    /// How long an operation is tried again while the chip is busy.
    private let patience: Duration

    private static let turn = Mutex(())

    /// - Parameters:
    ///   - place: the text of its connection (TCTI), such as `device:/dev/tpmrm0` or `swtpm:host=127.0.0.1,port=2321`.
    ///   - owner: the authorization value of its owner, if one is set. It is proven by a code (HMAC) and never sent,
    ///     but a listener on the chip's bus can guess a weak one.
    public init(at place: String = usualPlace, owner: SecretBytes? = nil) {
        self.init(at: place, owner: owner, patience: .seconds(5))
    }

    init(at place: String, owner: SecretBytes? = nil, patience: Duration) {
        self.place = place
        self.owner = owner
        self.patience = patience
    }

    /// Runs an operation, again from its beginning while the chip is busy.
    ///
    /// - Parameters:
    ///   - name: of the primary key that an object was made under; `nil` to make one.
    ///   - body: gets a connection with the primary key.
    /// - Throws: ``ChipError/otherChip`` if the primary key has another name, before any secret is sent.
    func run<Result: Sendable>(
        named name: [UInt8]? = nil, _ body: (ChipConnection) throws(ChipError) -> Result
    ) throws(ChipError) -> Result {
        let library = try ChipLibrary.library()
        let deadline = ContinuousClock.now + patience
        var wait = Duration.milliseconds(20)
        while true {
            do throws(ChipError) {
                return try Self.turn.withLock { _ throws(ChipError) in
                    try withoutBrokenPipe { () throws(ChipError) in
                        let connection = try ChipConnection(library, place: place)
                        defer { connection.close() }
                        try connection.makePrimary(owner: owner, named: name)
                        return try body(connection)
                    }
                }
            } catch {
                guard case .busy = error, .now + wait < deadline else { throw error }
            }
            // Not on the cooperative pool: on the thread of keys, or of a TLS handshake.
            usleep(UInt32(wait / .microseconds(1)))
            wait = min(wait * 2, .milliseconds(500))
        }
    }
}

/// Runs `body` and converts its error.
func chipped<Result>(_ body: () throws(ChipError) -> Result) throws(VaultError) -> Result {
    do throws(ChipError) {
        return try body()
    } catch {
        throw .chip(error)
    }
}
