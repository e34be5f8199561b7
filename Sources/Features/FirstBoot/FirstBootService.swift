import AgentCore
import AgentGateway
import Cryptography
import Gateway
import Groundwork
import Vault

/// An enrollment that waits for the boot.
struct WaitingEnrollment: Sendable {
    enum Source: Sendable, Equatable {
        case file(path: String)
        case credential
        case scanner

        /// Whether nothing of it is left once root's helper has wiped these files.
        func isWiped(by paths: [String]) -> Bool {
            switch self {
            case .file(let path): paths.contains(path)
            case .credential: paths.contains(where: EnrollmentFile.credentialPaths.contains)
            case .scanner: true
            }
        }

        /// Why it is still there, if root's helper has not wiped it; `nil` if it is not there.
        ///
        /// - Parameters:
        ///   - answer: of root's helper; `nil` if there is none.
        ///   - fault: why the agent itself could not wipe it.
        func whyNotWiped(_ answer: JSON?, _ fault: String?) -> String? {
            if let fault = answer?["fault"]?.string ?? fault { return fault }
            // A file that is not there any more, or has another content, is not what was taken. A credential is: its
            // origin may be one that no program can write, or that every program can read, such as the kernel's command
            // line.
            guard self == .credential else { return nil }
            guard answer != nil else { return "root's helper does not answer" }
            return "not found in \(EnrollmentFile.credentialStores.joined(separator: " or "))"
        }
    }

    let source: Source
    let content: [UInt8]

    /// Where it is, for people.
    var place: String {
        switch source {
        case .file(let path): path
        case .credential: "the credential \(EnrollmentFile.credential)"
        case .scanner: "the scanned code"
        }
    }
}

/// Takes the enrollment that waits for the agent, once, while the board is not enrolled, and wipes it.
struct FirstBootService: Sendable {
    let boot: FirstBootFeature
    /// `$CREDENTIALS_DIRECTORY`.
    let credentials: String?
    /// Gets the configuration of an enrollment.
    private let fetch: @Sendable (EnrollmentContent) async throws -> GatewayConfiguration

    /// - Parameter fetch: in a test, instead of asking the gateway.
    init(
        boot: FirstBootFeature, credentials: String?,
        fetch: (@Sendable (EnrollmentContent) async throws -> GatewayConfiguration)? = nil
    ) {
        self.boot = boot
        self.credentials = credentials
        self.fetch = fetch ?? { try await boot.configuration(of: $0) }
    }

    /// Returns when the board is enrolled, in whatever way, or when nothing is left to be tried.
    func run() async throws {
        let events = boot.host.events.subscribe(bound: 64)
        let isEnrolled = try await boot.gateways.isEnrolled()
        var due: [WaitingEnrollment] = []
        for waiting in await look() where try await !isDone(waiting, isEnrolled) { due.append(waiting) }
        let scanner = boot.host.settings[FirstBootSettings.self].scanner
        guard !isEnrolled, !due.isEmpty || !scanner.isEmpty else { return }

        if let taken = await firstTaken(of: due, or: scanner, unlessEnrolledBy: events) { await wipe(taken) }
    }

    /// A code may be scanned meanwhile: what waits in a file may be of a gateway that never answers.
    private func firstTaken(
        of due: [WaitingEnrollment], or scanner: String, unlessEnrolledBy events: AsyncStream<AgentEvent>
    ) async -> WaitingEnrollment? {
        enum End {
            case enrolled(WaitingEnrollment?)
            case nothingLeft
        }
        return await withTaskGroup(of: End.self) { group in
            group.addTask {
                for await event in events {
                    if case .didSwitchGateway = event.ofBoard(GatewayEvent.self) { break }
                }
                return .enrolled(nil)
            }
            group.addTask {
                for waiting in due { if await take(waiting) { return .enrolled(waiting) } }
                return .nothingLeft
            }
            if !scanner.isEmpty { group.addTask { .enrolled(await scan(scanner)) } }
            var taken: WaitingEnrollment?
            for await end in group {
                if case .enrolled(let one) = end { taken = taken ?? one } else if !scanner.isEmpty { continue }
                group.cancelAll()
            }
            return taken
        }
    }

    // MARK: Looking

    /// What waits in files and credentials.
    private func look() async -> [WaitingEnrollment] {
        var found: [WaitingEnrollment] = []
        if let waiting = await lookIntoFiles() { found.append(waiting) }
        if let credentials {
            let path = "\(credentials)/\(EnrollmentFile.credential)"
            do {
                let content = try EnrollmentFile.read(path)
                if let content { found.append(WaitingEnrollment(source: .credential, content: content)) }
            } catch {
                note(unreadable: path, error.description)
            }
        }
        return found
    }

    private func lookIntoFiles() async -> WaitingEnrollment? {
        for path in EnrollmentFile.paths(boot.host.settings[FirstBootSettings.self].file) {
            do {
                guard let content = try EnrollmentFile.read(path) else { continue }
                return WaitingEnrollment(source: .file(path: path), content: content)
            } catch .system(let error) {
                // Boot partitions may be root's alone.
                let answer = await ask(["do": "read"])
                guard let place = answer?["path"]?.string, let content = answer?["content"]?.string,
                    let bytes = Base64.decode(content), bytes.count <= EnrollmentContent.limit
                else {
                    guard answer?.object?.isEmpty != true else { continue }
                    note(unreadable: path, answer?["fault"]?.string ?? error.description)
                    return nil
                }
                return WaitingEnrollment(source: .file(path: place), content: bytes)
            } catch {
                note(unreadable: path, error.description)
                return nil
            }
        }
        return nil
    }

    private func note(unreadable path: String, _ reason: String) {
        refuse(path, FirstBootError.unreadable(place: path, reason: reason))
    }

    private func refuse(_ place: String, _ error: any Error) {
        boot.progress.settle(FirstBootProgress(stage: .refused, place: place, problem: error.explanation))
        boot.host.report(FirstBootEvent.refused(place: place, error))
    }

    /// Whether it must not be tried: the board has tried it before, or does not need it.
    private func isDone(_ waiting: WaitingEnrollment, _ isEnrolled: Bool) async throws -> Bool {
        let place = waiting.place
        // The power went while it was wiped.
        if EnrollmentFile.wipeHasBegun(waiting.content) {
            await wipe(waiting)
            return true
        }
        switch (try await boot.enrollmentLedger()[EnrollmentLedger.hash(of: waiting.content)], isEnrolled) {
        // The power went before it was wiped, or it could not be.
        case (.taken, true): await wipe(waiting)
        case (.taken, false): leave(place, .used(place: place))
        case (_, true): leave(place, .unneeded(place: place))
        case (.refused(let reason), false):
            leave(place, .refusedBefore(place: place, reason: reason), as: .refused)
        case (nil, false): return false
        }
        return true
    }

    private func leave(_ place: String, _ error: FirstBootError, as stage: FirstBootProgress.Stage = .notUsed) {
        boot.progress.settle(FirstBootProgress(stage: stage, place: place, problem: error.explanation))
        boot.host.report(FirstBootEvent.notUsed(error))
    }

    // MARK: Taking

    /// Tries it until it is taken, or can never be.
    ///
    /// - Parameter codes: of the scanner, where it is one of them; another one replaces it, but only between two tries:
    ///   a URL works once, and a request under way may have used it.
    /// - Returns: whether it became the configuration.
    func take(_ waiting: WaitingEnrollment, of codes: ScannedCodes? = nil) async -> Bool {
        let place = waiting.place
        boot.progress.attempt(FirstBootProgress(stage: .trying, place: place))
        defer { boot.progress.endAttempt(for: place) }
        boot.host.report(FirstBootEvent.found(place: place))
        var backoff = Backoff(initial: .seconds(1), cap: .seconds(300))
        // Kept, because a URL works once.
        var gateway: GatewayConfiguration?
        while !Task.isCancelled, codes?.hasNext != true {
            do {
                let content = try EnrollmentContent(parsing: waiting.content, of: place)
                try await boot.host.accounts.checkRoom(for: .gateway, ofKind: Gateways.kind)
                let fetched: GatewayConfiguration
                if let gateway { fetched = gateway } else { fetched = try await fetch(content) }
                gateway = fetched
                // Not canceled halfway by the event of its own switch.
                let taking = Task { [boot] in try await boot.take(fetched, of: waiting) }
                guard try await taking.value else { return false }
                boot.progress.settle(FirstBootProgress(stage: .taken, place: place))
                boot.host.report(FirstBootEvent.taken(place: place, fetched.identity))
                return true
            } catch {
                guard !Task.isCancelled else { return false }
                guard Self.mayPass(error) else {
                    refuse(place, error)
                    // An obstacle on the board may be removed, and then the enrollment is as good as before.
                    if !(error is AccountError) { await boot.remember(waiting, refusedFor: error) }
                    return false
                }
                let delay = backoff.next()
                boot.progress.attempt(
                    FirstBootProgress(stage: .trying, place: place, problem: error.explanation))
                boot.host.report(FirstBootEvent.didFail(place: place, error, retryAfter: delay))
                if let codes {
                    await codes.pause(for: delay, on: boot.host.network)
                } else {
                    _ = await boot.host.network.pause(for: delay)
                }
            }
        }
        return false
    }

    /// Whether the same content may be taken later: it was not refused.
    static func mayPass(_ error: any Error) -> Bool {
        switch error as? GatewayError {
        // Another server's answer, such as the login page of a network.
        case .noAnswer, .unexpectedAnswer, .enrollmentKeyMismatch: true
        case .refused(let refusal):
            refusal.meaning != .enrollmentRefused && (refusal.status >= 500 || refusal.status == 429)
        case .some: false
        case nil:
            [.temporary, .unreachable, .unavailable, .full, .busy].contains(Explanation(of: error).kind)
        }
    }

    // MARK: Wiping

    private func wipe(_ waiting: WaitingEnrollment) async {
        let hash = EnrollmentLedger.hash(of: waiting.content)
        var reason: String?
        switch waiting.source {
        case .scanner: return
        case .credential: break
        case .file(let path):
            do throws(FileFault) {
                if try EnrollmentFile.wipe(path, hash: hash) { return wiped(waiting.place) }
            } catch {
                reason = error.description
            }
        }
        let answer = await ask(["do": "wipe", "sha256": .string(hash)])
        let paths = (answer?["wiped"]?.array ?? []).compactMap(\.string)
        if waiting.source.isWiped(by: paths) { return wiped(waiting.place) }
        boot.progress.settle(FirstBootProgress(stage: .taken, place: waiting.place))
        guard let reason = waiting.source.whyNotWiped(answer, reason) else { return }
        let error = FirstBootError.notWiped(place: waiting.place, reason: reason)
        boot.progress.settle(
            FirstBootProgress(stage: .notWiped, place: waiting.place, problem: error.explanation))
        boot.host.report(FirstBootEvent.notWiped(error))
    }

    private func wiped(_ place: String) {
        boot.progress.settle(FirstBootProgress(stage: .taken, place: place))
        boot.host.report(FirstBootEvent.wiped(place: place))
    }

    private func ask(_ request: JSON) async -> JSON? {
        await FirstBootHelper.ask(request, at: boot.host.settings[FirstBootSettings.self].helper)
    }
}
