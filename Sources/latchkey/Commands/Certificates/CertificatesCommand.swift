import ArgumentParser
import Groundwork

struct CertificatesCommand: AsyncParsableCommand, Listed {
    static let configuration = CommandConfiguration(
        commandName: "certificates",
        abstract: "Import and request certificates that the board shows to servers.",
        discussion: """
            These are certificates besides the one that the gateway issued. A call of a program to a host that one is \
            named for shows it, if the host asks. They are in the sealed store, and no command prints their keys.

              $ latchkey certificates import partner.p12 --host api.partner.example
              $ latchkey call https://api.partner.example/orders
            """,
        subcommands: [
            List.self, Show.self, Import.self, Request.self, Install.self, Use.self, Remove.self,
        ], defaultSubcommand: List.self)

    static let list = ListRoute("List the certificates by name.", "certificates", orElse: "no certificates")

    static func describe(_ certificate: JSON) -> String {
        let out = Terminal.standardOutput
        let hosts = (certificate["hosts"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
        let what = certificate["notAfter"]?.string.map { "until \($0)" } ?? "requested"
        return out.shown(
            "\(certificate["name"]?.string ?? "?")  \(certificate["subject"]?.string ?? "")  \(what)"
                + (hosts.isEmpty ? "" : "  for \(hosts)"))
    }

    /// All that is known of one.
    static func fields(of certificate: JSON) -> String {
        let out = Terminal.standardOutput
        var fields = Fields()
        for (label, member) in [
            ("name", "name"), ("subject", "subject"), ("issuer", "issuer"), ("serial number", "serialNumber"),
            ("begins", "notBefore"), ("ends", "notAfter"), ("SHA-256", "sha256"), ("algorithm", "algorithm"),
            ("key", "key"),
        ] { fields.add(label, certificate[member]?.string.map(out.shown)) }
        for (label, member) in [("names", "dnsNames"), ("hosts", "hosts")] {
            let names = (certificate[member]?.array ?? []).compactMap(\.string)
            fields.add(label, out.shown(names.joined(separator: ", ")))
        }
        if certificate["forClients"]?.bool == false { fields.add("usage", "not for clients: servers may refuse it") }
        return fields.text
    }

    struct Show: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show a certificate, with those of its authorities in PEM.")
        @Argument(help: "Its name.") var name: String
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .get("certificates/\(name.segment)") }

        func text(of answer: JSON) -> String {
            let chain = (answer["chain"]?.array ?? []).compactMap(\.string).joined()
            return CertificatesCommand.fields(of: answer) + (chain.isEmpty ? "" : "\n" + chain.trimmed)
        }
    }

    struct Use: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "use", abstract: "Show a certificate to these hosts, and to no others.",
            discussion: "A host is shown one certificate: it is no longer shown another one. Without hosts, none is.")
        @Argument(help: "Its name.") var name: String
        @Option(
            name: .customLong("host"), help: ArgumentHelp("May be repeated; 443 by default.", valueName: "host[:port]"))
        var hosts: [String] = []
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest {
            .post("certificates/\(name.segment)/use", ["hosts": .array(hosts.map(JSON.string))])
        }

        func text(of answer: JSON) -> String { CertificatesCommand.describe(answer) }
    }

    struct Remove: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove a certificate and its key for good.")
        @Argument(help: "Its name.") var name: String
        @Flag(help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var options: ClientOptions

        func confirm() throws { try Confirmation.ask("this removes the certificate \(name) and its key", isGiven: yes) }

        func request() -> RouteRequest { .delete("certificates/\(name.segment)") }

        func text(of answer: JSON) -> String { "removed the certificate \(answer["removed"]?.string ?? "")" }
    }
}
