import Cryptography
import FoundationEssentials
import Groundwork
import Synchronization

/// A user of an account while the program runs: what is stored, less what is secret, and what is in memory only.
struct HeldMPinUser {
    let serial: Int
    let id: String
    var identity: MPinID
    var state: MPinUserState
    let deviceName: String?
    /// Stored, to spare a request on the same day.
    var cachedPermit: TimePermitShare?

    // In memory only.
    var shares = ClientSecretShares.none
    var permit: HeldPermit?
    var logOut: LogOutOrder?

    var entry: StoredUsers.Entry {
        StoredUsers.Entry(id: id, state: state, deviceName: deviceName, permit: cachedPermit)
    }

    private static let serials = Atomic(0)

    static func newSerial() -> Int { serials.add(1, ordering: .relaxed).newValue }
}

/// The shares of the client secret, from the confirmation of a registration to its PIN.
enum ClientSecretShares {
    case none
    /// The first authority has answered, and will not do so again. The second one has not yet.
    case first(G1Point, query: String, until: Date)
    case both(G1Point, G1Point)

    /// How long the second authority accepts the first one's signature, in seconds (MPIN 4.4).
    static let lifetime: TimeInterval = 60
}

/// A time permit, in use for as many logins as its day brings.
struct HeldPermit {
    let permit: TimePermit
    /// The day by this board's clock when it was obtained: on another day there is another permit. `nil`: it has to be
    /// obtained again on this one, too.
    var obtained: Int64?
}

/// How a login in a browser is ended from here (MPIN 5.12).
struct LogOutOrder {
    let url: String
    /// An object.
    let body: [UInt8]
}
