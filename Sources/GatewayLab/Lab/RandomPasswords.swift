import Cryptography
import Foundation
import Groundwork

/// Random passwords instead of the public ones in this repository, for a lab that other machines can reach. They stay
/// the same with every start from the same data directory.
struct RandomPasswords {
    private static let file = "passwords.json"
    let keeper: StateKeeper?

    /// - Throws: `LabError.stateUnreadable`, `LabError.cannotKeep`
    func replacing(in users: [LabUser]) throws -> [LabUser] {
        var known = try kept()
        let wellKnown = LabUser.examples.map(\.password)
        let replaced = try users.map { user in
            guard wellKnown.contains(user.password) else { return user }
            var user = user
            user.password = try known[user.name] ?? Base64.encode(Random.bytes(12), alphabet: .urlSafe)
            known[user.name] = user.password
            return user
        }
        try keeper?.write(JSONEncoder().encode(known), to: Self.file)
        return replaced
    }

    private func kept() throws -> [String: String] {
        guard let path = keeper.map({ $0.directory + "/" + Self.file }), FileManager.default.fileExists(atPath: path)
        else { return [:] }
        do {
            return try JSONDecoder().decode([String: String].self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw LabError.stateUnreadable(path: path, reason: "\(error)")
        }
    }
}
