import ArgumentParser
import Foundation
import GatewayLab
import Groundwork

struct Client: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a second client, for mosquitto_pub and mosquitto_sub.",
        discussion: """
            Registers a device at the lab and writes ca.pem, cert.pem and key.pem. Calling again with the same name \
            replaces it. A broker keeps one connection per client id, so make two clients to send and \
            receive at the same time.
            """)

    @OptionGroup var lab: AdminOptions

    @Option(help: "Name of the device.")
    var name = "phone"

    @Option(help: "User logged in on it, such as alice; none if not given.")
    var user: String?

    @Option(help: "Directory for the files; created if missing.")
    var out = "."

    func run() async throws {
        var input: [String: JSON] = ["name": .string(name)]
        input["user"] = user.map { .string($0) }
        let client = try await lab.call("POST", "clients", .object(input))
        do {
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
        } catch {
            throw LabError.cannotKeep(path: out, reason: error.localizedDescription)
        }
        for (file, member) in [("ca.pem", "ca"), ("cert.pem", "certificate"), ("key.pem", "private_key")] {
            let path = out + "/" + file
            let written = FileManager.default.createFile(
                atPath: path, contents: Data((client[member]?.string ?? "").utf8),
                attributes: [.posixPermissions: 0o600])
            guard written else {
                throw LabError.cannotKeep(path: path, reason: String(cString: strerror(errno)))
            }
        }
        guard case .object(var members) = client else { return }
        // It is only written to the file.
        members["private_key"] = nil
        lab.show(.object(members), text)
    }

    private func text(_ client: JSON) -> String {
        func part(_ name: String) -> String { client[name]?.string ?? "" }
        let prefix = part("prefix").isEmpty ? "" : "/" + part("prefix")
        let port = client["port"]?.integer.map(String.init) ?? "8883"
        let connection = """
            --cafile \(out)/ca.pem --cert \(out)/cert.pem --key \(out)/key.pem \\
              -h \(part("host")) -p \(port) -i '\(part("client_id"))' \\
              -u '\(part("user_name"))' -P '\(part("access_token"))'
            """
        let own = user.map { "users/\($0)" } ?? "devices/\(part("device_id"))"
        return authorizing(client) + """
            mosquitto_sub \(connection) \\
              -t '\(prefix)/2.0/client/\(own)/custom/#' -v

            mosquitto_pub \(connection) \\
              -t '\(prefix)/2.0/client/devices/DEVICE/custom/hello' -q 1 -m 'hello'
            """
    }

    /// The command with which the user authorizes a board; empty for a client without a user.
    private func authorizing(_ client: JSON) -> String {
        guard user != nil else { return "" }
        return """
            curl --cacert \(out)/ca.pem --cert \(out)/cert.pem --key \(out)/key.pem -X POST \\
              -H 'mag-identifier: \(client["mag_identifier"]?.string ?? "")' \\
              -H 'Authorization: Bearer \(client["access_token"]?.string ?? "")' PROVIDER_URL


            """
    }
}
