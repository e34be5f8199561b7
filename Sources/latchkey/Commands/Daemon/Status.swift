import ArgumentParser
import FoundationEssentials
import Groundwork
import LocalAPI

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the registration, the certificate, the token, the broker and the outbox.",
        discussion:
            "device is the identifier that this board chose; its topics contain it. mag-identifier is the gateway's name "
            + "for the registration. last error is the latest error that is not resolved yet, for at most a day.")

    @Flag(name: .shortAndLong, help: "Then show each event as it happens, until Ctrl-C.")
    var follow = false

    @Flag(
        name: .shortAndLong,
        help: "Print nothing: exit status 1 unless connected to the broker, and registered at the gateway if any.")
    var quiet = false

    @OptionGroup var account: AccountOption
    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard !quiet || !follow && account.account == nil else {
            throw ValidationError("--quiet cannot be used with --follow or --account")
        }
        guard account.account == nil || !follow else {
            throw ValidationError("--follow shows the events of all accounts; leave out --account")
        }
    }

    func run() async throws {
        let client = options.client
        if let name = account.account {
            return options.show(try await client.get("/v1/accounts/\(name)"), describeAccount)
        }
        // Opened before, so that nothing between the status and the first event is missed.
        let following = Following(client: client, path: "/v1/events", isKnown: true)
        if follow { try await following.open() }
        let status = try await client.get("/v1/status")
        if quiet {
            let isIdentified = status["registration"]?["state"] == "registered" || status["gateway"] == nil
            guard isIdentified, status["broker"]?["state"] == "connected" else {
                throw ExitCode(ExitStatus.failure.rawValue)
            }
            return
        }
        // With `--follow`, every line is an object that names its event.
        let line = JSON.object((status.object ?? [:]).merging(["event": "status"]) { own, _ in own })
        options.show(follow && options.json ? line : status, describe)
        guard follow else { return }
        try await following.run { event in
            if options.json { Terminal.json(event.data) } else { Terminal.line(EventLine(event).text) }
            return true
        }
    }

    private func describeAccount(_ account: JSON) -> String {
        guard account["server"] == nil else { return Accounts.details(account) }
        var fields = Fields()
        fields.add("account", account["name"]?.string)
        addIdentity(of: account, to: &fields)
        addTokens(of: account, to: &fields)
        addError(of: account, to: &fields)
        return fields.text
    }

    private func describe(_ status: JSON) -> String {
        let out = Terminal.standardOutput
        var fields = Fields()
        let board = [status["hostName"], status["board"]].compactMap { $0?.string }.joined(separator: ", ")
        fields.add("board", out.bold(out.shown(board)))
        fields.add(
            "agent", "version \(status["version"]?.string ?? "?"), up \(Age(seconds: status["uptime"]?.integer))")
        if let fault = status["vault"]?["error"] {
            fields.add("vault", fault["message"]?.string.map(out.red))
            fields.add("to do", fault["remedy"]?.string)
        } else {
            addIdentity(of: status, to: &fields)
        }
        if let network = status["network"] { addNetwork(network, hasGateway: status["gateway"] != nil, to: &fields) }
        if status["sharing"]?.bool == true { fields.add("sharing", "the user's session, with devices nearby") }
        addTokens(of: status, to: &fields)
        addMessages(of: status, to: &fields)
        if let failing = status["sensors"]?["failing"]?.array {
            let count = status["sensors"]?["count"]?.integer ?? 0
            let names = failing.compactMap(\.string).joined(separator: ", ")
            fields.add("sensors", failing.isEmpty ? "\(count)" : "\(count), " + out.yellow("failing: \(names)"))
        }
        if let unsent = status["sensors"]?["unsent"]?.integer, unsent > 0, status["broker"] == nil {
            fields.add("readings", out.yellow("\(Amount.of(unsent, "message")) not sent, for lack of an account"))
        }
        addTraffic(of: status, to: &fields)
        for account in status["accounts"]?.array ?? [] where account["isDefault"]?.bool != true {
            fields.add("account", "\(account["name"]?.string ?? "?"): \(Accounts.summary(of: account))")
        }
        for file in status["setAside"]?.array ?? [] {
            fields.add("set aside", file.string.map { out.yellow("\($0), because it was damaged") })
        }
        for warning in status["warnings"]?.array ?? [] { fields.add("warning", warning.string.map(out.yellow)) }
        addError(of: status, to: &fields)
        return fields.text
    }

    private func addTraffic(of status: JSON, to fields: inout Fields) {
        guard let traffic = status["traffic"], let used = traffic["used"]?.integer else { return }
        let limit = traffic["limit"]?.integer ?? 0
        let text =
            "\(Amount.bytes(Double(used)))\(limit > 0 ? " of \(Amount.bytes(Double(limit)))" : "") in "
            + "\(traffic["month"]?.string ?? "this month")"
        guard let end = traffic["resumes"]?.string else { return fields.add("traffic", text) }
        fields.add("traffic", Terminal.standardOutput.yellow("\(text); readings are held back until \(end)"))
    }

    private func addNetwork(_ network: JSON, hasGateway: Bool, to fields: inout Fields) {
        let out = Terminal.standardOutput
        let name = network["wirelessName"]?.string.map { " \(out.shown($0))" } ?? ""
        let link = network["interface"]?.string.map { "\($0) (\(network["kind"]?.string ?? "?")\(name)), " } ?? ""
        let gateway =
            switch network["gateway"]?.string {
            case "reachable": out.green("gateway reachable")
            case "not-reachable": out.yellow("gateway not reachable")
            default: hasGateway ? "gateway unknown" : "connected"
            }
        fields.add("network", network["state"]?.string == "none" ? out.yellow("none") : link + gateway)
    }

    /// - Parameter account: the status of an account, or that of the agent, which has the members of the default
    ///   account.
    private func addIdentity(of account: JSON, to fields: inout Fields) {
        let out = Terminal.standardOutput
        if account["gateway"] != nil || account["broker"] == nil {
            fields.add(
                "gateway", account["gateway"]?["url"]?.string ?? out.yellow("none; begin with: latchkey setup"))
        }
        for other in account["otherGateways"]?.array ?? [] {
            fields.add("also known", other["url"]?.string.map { "\($0); its registration is kept" })
        }
        if let state = account["start"]?["state"]?.string, state != "started", account["gateway"] != nil {
            fields.add("state", out.yellow(state))
        }
        let registration = account["gateway"] == nil ? nil : account["registration"]
        fields.add(
            "registration",
            registration?["state"]?.string.map { $0 == "registered" ? out.green($0) : out.yellow($0) })
        fields.add("device", registration?["deviceID"]?.string)
        fields.add("mag-identifier", registration?["magIdentifier"]?.string)
        if let key = registration?["key"]?.string, key != "software" {
            fields.add("device key", key == "tpm" ? "in the TPM" : "on a PKCS#11 token")
        }
        let isLocked = account["user"]?["locked"]?.bool == true
        let user = account["user"]?["userName"]?.string ?? (isLocked ? "a user without a name" : nil)
        if account["user"]?["hidden"]?.bool == true { fields.add("user", out.yellow("locked with the store")) }
        fields.add("user", user.map { out.shown($0) + (isLocked ? out.yellow(", locked") : "") })
    }

    private func addTokens(of account: JSON, to fields: inout Fields) {
        let out = Terminal.standardOutput
        if let days = account["certificate"]?["daysLeft"]?.integer {
            let end = account["certificate"]?["notAfter"]?.string ?? "?"
            let text = days < 0 ? "ended at \(end)" : "\(Amount.of(days, "day")) left, until \(end)"
            fields.add("certificate", days < 0 ? out.red(text) : days < 30 ? out.yellow(text) : text)
        }
        if let age = account["token"]?["age"]?.integer {
            fields.add(
                "token", "\(Age(seconds: age)) old, \(Age(seconds: account["token"]?["lifeLeft"]?.integer)) left")
        }
    }

    private func addMessages(of status: JSON, to fields: inout Fields) {
        let out = Terminal.standardOutput
        if let broker = status["broker"], let state = broker["state"]?.string {
            let way = broker["way"]?.string.flatMap { $0 == "TCP, direct" ? nil : " (\(out.shown($0)))" } ?? ""
            let text = "\(state), \(broker["address"]?.string ?? "?")\(way)"
            fields.add("broker", state == "connected" ? out.green(text) : out.yellow(text))
            fields.add(
                "first broker",
                broker["firstBrokerError"]?["message"]?.string.map { out.yellow(out.shown("not used: \($0)")) })
        }
        if let fault = status["outbox"]?["error"] {
            fields.add("outbox", fault["message"]?.string.map(out.red))
            fields.add("to do", fault["remedy"]?.string)
        } else if let outbox = status["outbox"] {
            fields.add(
                "outbox",
                "\(Amount.of(outbox["depth"]?.integer ?? 0, "message")), "
                    + "\(Amount.bytes(Double(outbox["bytes"]?.integer ?? 0))), \(outbox["dropped"]?.integer ?? 0) dropped"
            )
            if let unwritten = outbox["unwritten"]?.integer, unwritten > 0 {
                let limit = Amount.of(outbox["flushSeconds"]?.integer ?? 0, "second")
                fields.add(
                    "in memory", "\(Amount.of(unwritten, "message")); a power cut loses readings of the last \(limit)")
            }
            if let dead = outbox["deadLetters"]?.integer, dead > 0 {
                fields.add("dead letters", out.yellow("\(dead), no longer sent; see: latchkey dead-letters"))
            }
        }
        for inbox in status["inboxes"]?.array ?? [] {
            fields.add("inbox", InboxCommand.describe(inbox))
        }
        fields.add("inbox", status["inboxError"]?["message"]?.string.map(out.red))
    }

    private func addError(of account: JSON, to fields: inout Fields) {
        let out = Terminal.standardOutput
        guard let error = account["lastError"], let message = error["message"]?.string else { return }
        let time = error["time"]?.string.map { "\($0)  " } ?? ""
        let name = error["account"]?.string.map { "\($0): " } ?? ""
        fields.add("last error", time + out.red(out.shown(name + message)))
        fields.add("to do", error["remedy"]?.string)
    }
}
