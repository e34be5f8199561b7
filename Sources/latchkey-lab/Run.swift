import ArgumentParser
import Foundation
import GatewayLab
import Groundwork

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the gateway, its broker and its admin page.",
        discussion: """
            People log in as alice with the password alice-password, and as bob with bob-password: on a board, on the
            login page of a browser, or by authorizing a device with one on which they are logged in already. If other
            machines can reach the lab, both get random passwords, which it prints.

            The link to the admin page contains the lab's admin token. The commands read it from a file that only this
            user can read: admin.token in the data directory, and ~/.local/state/latchkey-lab/PORT.token.
            """)

    @Option(help: "Directory for keys, registrations and retained messages; without it nothing is kept.")
    var data: String?

    @Option(help: "Name by which boards reach the lab, in URLs and in the certificate.")
    var host = "localhost"

    @Option(help: "Address the gateway and the broker listen on. The admin page is on loopback only.")
    var listen = "127.0.0.1"

    @Option(help: "Port of the gateway; 0 means any.")
    var port = 8443

    @Option(help: "Port of the admin page; 0 means any.")
    var adminPort = 8480

    @Option(help: "Port of the broker; 0 means any.")
    var brokerPort = 8883

    @Flag(inversion: .prefixedNo, help: "Start Mosquitto.")
    var broker = true

    @Option(help: "Whose connections the broker accepts: all, users (with a user's token) or boards (with their own).")
    var brokerClients = BrokerClients.all

    @Option(help: "The broker's plugin, if it is not beside this program.")
    var brokerPlugin: String?

    @Option(help: "Prefix of all paths and topics.")
    var prefix = ""

    @Option(help: "Where browsers are sent after a login; http://127.0.0.1/… without a port takes any.")
    var redirectURI = MasterClient.agent.redirectURI

    @Option(help: "Which providers the list offers: all, enterprise, or the name of one.")
    var identityProvider = "all"

    @Option(help: "Algorithm of id_tokens: HS256 or RS256.")
    var idTokens = IDTokenAlgorithm.hs256

    @Flag(help: "Let new devices await activation on the admin page.")
    var manualActivation = false

    @Flag(help: "Answer the client credentials grant with a refresh token and an id_token.")
    var sessionsForClients = false

    @Flag(help: "Let boards send their location (location_enabled).")
    var location = false

    @Flag(help: "Let boards send their telephone number (msisdn_enabled).")
    var msisdn = false

    @OptionGroup(title: "Lifetimes, in seconds")
    var lives: LifeOptions

    func run() async throws {
        var configuration = LabConfiguration()
        configuration.dataDirectory = data
        configuration.host = host
        configuration.listenAddress = listen
        configuration.port = port
        configuration.adminPort = adminPort
        configuration.brokerPort = brokerPort
        configuration.broker = broker
        configuration.brokerPlugin = brokerPlugin
        configuration.brokerClients = brokerClients
        configuration.prefix = prefix
        configuration.idTokenAlgorithm = idTokens
        configuration.identityProvider = identityProvider
        configuration.masterClients[0].redirectURI = redirectURI
        configuration.activatesDevices = !manualActivation
        configuration.givesSessionsToClients = sessionsForClients
        configuration.locationEnabled = location
        configuration.telephoneNumberEnabled = msisdn
        configuration.lives = lives.lives
        let signals = StopSignals()
        let lab = try await Lab.start(configuration)
        print("gateway     \(lab.baseURL)")
        if let port = lab.brokerPort { print("broker      \(host):\(port)") }
        print("m-pin       \(lab.mpinURL)")
        let users = lab.configuration.users.map { "\($0.name) (\($0.password))" }
        print("users       \(users.joined(separator: ", "))")
        let tokenFile = keepToken(of: lab)
        print("admin page  \(lab.adminPageURL)")
        // A program may be waiting for these lines at the other end of a pipe.
        fflush(nil)
        if lab.configuration.isReachableByOthers { warn(Self.reachable) }
        await signals.wait()
        await lab.stop()
        tokenFile.remove(lab.adminToken)
    }

    /// Writes the token for this user's commands. If that fails, such as without a home directory, they need `--data`.
    private func keepToken(of lab: Lab) -> AdminTokenFile {
        let file = AdminTokenFile(port: lab.adminPort)
        do {
            try file.write(lab.adminToken)
        } catch {
            warn("\(error); the other commands need --data")
        }
        return file
    }

    private static let reachable = """
        other machines can reach this lab. Anyone who knows its client id can register a device; \
        with --manual-activation a device stays inactive until you activate it.
        """

    private func warn(_ text: String) {
        FileHandle.standardError.write(Data("latchkey-lab: \(text)\n".utf8))
    }
}

/// Lifetimes of everything that the lab issues.
struct LifeOptions: ParsableArguments {
    @Option(help: "Access tokens.")
    var tokenLife = Lives().accessToken
    @Option(help: "Refresh tokens.")
    var refreshLife = Lives().refreshToken
    @Option(help: "Id_tokens.")
    var idTokenLife = Lives().idToken
    @Option(help: "Client credentials; 0 means forever.")
    var clientLife = Lives().clientCredentials
    @Option(help: "Device certificates.")
    var certificateLife = Lives().deviceCertificate
    @Option(help: "Enrollment URLs.")
    var enrollmentLife = Lives().enrollmentURL
    @Option(help: "Logins that wait to be authorized.")
    var authorizationLife = Lives().authorization
    @Option(help: "Authorization codes.")
    var codeLife = Lives().authorizationCode

    var lives: Lives {
        var lives = Lives()
        lives.accessToken = tokenLife
        lives.refreshToken = refreshLife
        lives.idToken = idTokenLife
        lives.clientCredentials = clientLife
        lives.deviceCertificate = certificateLife
        lives.enrollmentURL = enrollmentLife
        lives.authorization = authorizationLife
        lives.authorizationCode = codeLife
        return lives
    }

    func validate() throws {
        let positive = [
            tokenLife, refreshLife, idTokenLife, certificateLife, enrollmentLife, authorizationLife, codeLife,
        ]
        guard positive.allSatisfy({ $0 > 0 }), clientLife >= 0 else {
            throw ValidationError("A lifetime must be a positive number of seconds.")
        }
    }
}

extension IDTokenAlgorithm: ExpressibleByArgument {}
extension BrokerClients: ExpressibleByArgument {}

/// Waits for SIGINT or SIGTERM.
struct StopSignals {
    private let sources: [any DispatchSourceSignal]
    private let stream: AsyncStream<Void>

    init() {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        self.stream = stream
        sources = [SIGINT, SIGTERM].map { number in
            // The default action would end the program before the source sees the signal.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    func wait() async {
        for await _ in stream { return }
    }
}
