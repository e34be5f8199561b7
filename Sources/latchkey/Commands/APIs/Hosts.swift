import ArgumentParser
import Groundwork
import HTTPClient

struct Hosts: AsyncParsableCommand, Listed {
    static let configuration = CommandConfiguration(
        commandName: "hosts",
        abstract: "Show and change the hosts besides the gateways that may be called.",
        discussion: """
            A host has to prove itself, by a certificate, by the hash of a public key, or by the public authorities. \
            Unless it is public it gets the access token, the identifier and the client certificate as the gateway \
            does. Hosts may be in the settings too: [[hosts]] of latchkey.toml.

              $ latchkey hosts add api.example:8443 --certificate ca.pem
              $ latchkey hosts add weather.example --public --public-authorities
              $ latchkey call https://api.example:8443/orders
            """,
        subcommands: [List.self, Add.self, Remove.self], defaultSubcommand: List.self)

    static let list = ListRoute("List the hosts, those of the settings first.", "hosts", orElse: "no hosts")

    struct Add: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add a host, or replace one that was added; applies to the next call.")
        @Argument(help: "The host, with its port unless that is 443.") var host: String
        @Option(
            help: ArgumentHelp(
                "A PEM file of certificates at which the host's chain may end; may be repeated.", valueName: "file"))
        var certificate: [String] = []
        @Option(
            help: ArgumentHelp("SHA-256 of a public key, in hexadecimal or base64; may be repeated.", valueName: "hash")
        )
        var pin: [String] = []
        @Flag(help: "The host's chain may end at an authority that the system trusts.") var publicAuthorities = false
        @Flag(help: "The host is a third party's, and gets no token, identifier or device certificate.")
        var `public` = false
        @Option(help: ArgumentHelp("How its certificate must name it: strict, common-name or off.", valueName: "check"))
        var nameCheck = "strict"
        @Option(help: ArgumentHelp("Limit of a call, in seconds.", valueName: "seconds")) var timeout: Int?
        @OptionGroup var options: ClientOptions

        func request() throws -> RouteRequest {
            let parts = HostName.split(host)
            guard let port = parts.port.map({ Int64($0) }) ?? 443 else {
                throw ValidationError("the port is not a number")
            }
            let certificates = try certificate.map { path in
                JSON.string(ReceivedText.decodeWherePossible(try Input.file(path, limit: 65_536)))
            }
            return .post(
                "hosts",
                [
                    "host": .string(parts.host), "port": .integer(port), "certificates": .array(certificates),
                    "pins": .array(pin.map(JSON.string)), "publicAuthorities": .bool(publicAuthorities),
                    "public": .bool(`public`), "nameCheck": .string(nameCheck),
                    "timeoutSeconds": timeout.map { .integer(Int64($0)) },
                ])
        }

        func text(of answer: JSON) -> String { Hosts.describe(answer) }
    }

    struct Remove: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove a host that was added.")
        @Argument(help: "The host, with its port unless that is 443.") var host: String
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .delete("hosts/\((host.contains(":") ? host : host + ":443").segment)") }

        func text(of answer: JSON) -> String { "removed the host \(answer["removed"]?.string ?? "")" }
    }

    /// `api.example:8443, 1 certificate, 1 pin, public`.
    static func describe(_ host: JSON) -> String {
        var parts = ["\(host["host"]?.string ?? "?"):\(host["port"]?.integer ?? 0)"]
        for (member, noun) in [("certificates", "certificate"), ("pins", "pin")] {
            let count = host[member]?.array?.count ?? 0
            if count > 0 { parts.append(Amount.of(Int64(count), noun)) }
        }
        if host["publicAuthorities"]?.bool == true { parts.append("public authorities") }
        let check = host["nameCheck"]?.string ?? "strict"
        if check != "strict" { parts.append("name check \(check)") }
        if let seconds = host["timeoutSeconds"]?.integer { parts.append("at most \(seconds) s") }
        parts.append(host["public"]?.bool == true ? "without credentials" : "with credentials")
        if host["inSettings"]?.bool == true { parts.append("in the settings") }
        return parts.joined(separator: ", ")
    }
}
