import Glibc
import Groundwork

private enum Start {
    static let moment = ContinuousClock.now
}

/// One line for the tests.
func say(_ event: String, _ members: [String: JSON] = [:]) {
    var members = members
    members["event"] = .string(event)
    members["ms"] = .integer(Start.moment.duration(to: .now).milliseconds)
    let line = JSON.object(members).bytes + [UInt8(ascii: "\n")]
    // In one piece: several programs write into the same file.
    _ = line.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

func say(_ event: String, _ error: any Explained) {
    say(event, ["code": .string(error.code), "message": .string(error.message)])
}

extension Duration {
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
