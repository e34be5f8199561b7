import Board
import Foundation
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentInstallation
@testable import AgentMessages
@testable import AgentMetrics
@testable import Vault

/// One look at a machine whose agent does not answer, and what one check must say of it; `nil`: nothing.
struct InstallationRow: Sendable, CustomTestStringConvertible {
    let check: any InstallationCheck
    let verdict: String?
    let says: String
    let installation: Installation

    init(_ check: any InstallationCheck, _ verdict: String?, _ says: String, _ change: (inout Installation) -> Void) {
        (self.check, self.verdict, self.says) = (check, verdict, says)
        var installation = Installation(
            socketPath: "/run/latchkey/api.sock", unit: .init(user: "daemon"), settings: .init())
        installation.stateDirectory = .there(owner: 1, mode: 0o700)
        change(&installation)
        self.installation = installation
    }

    var testDescription: String { "\(type(of: check).name): \(verdict ?? "nothing"), \(says)" }
}

@Suite("Checks of an agent that does not answer")
struct InstallationDoctorTests {
    static let rows: [InstallationRow] = [
        InstallationRow(DaemonCheck(), "fail", "systemctl start latchkey") { _ in },
        InstallationRow(DaemonCheck(), "fail", "systemctl enable --now latchkey") { $0.unit?.isEnabled = false },
        InstallationRow(DaemonCheck(), "fail", "not installed") { $0.unit?.isInstalled = false },
        InstallationRow(DaemonCheck(), "fail", "systemd, which would start the agent, is not running") {
            $0.unit = nil
        },
        InstallationRow(DaemonCheck(), "fail", "is active, but nothing is listening") { $0.unit?.activity = "active" },
        InstallationRow(
            DaemonCheck(), "fail", "failed, its last run ended with exit-code, status 78; fix what fails below"
        ) {
            $0.unit = .init(activity: "failed", result: "exit-code", exitStatus: 78)
        },
        InstallationRow(
            DaemonCheck(), "fail", "activating, its last run ended with exit-code, status 243; systemd could not"
        ) {
            $0.unit = .init(activity: "activating", result: "exit-code", exitStatus: 243)
        },
        InstallationRow(DaemonCheck(), "fail", "ended with watchdog; see its log: journalctl") {
            $0.unit = .init(activity: "failed", result: "watchdog")
        },
        InstallationRow(DaemonCheck(), "fail", "user daemon may not connect to /run/latchkey/api.sock; use sudo") {
            ($0.socket, $0.user) = (.forbidden, 1)
        },
        InstallationRow(DaemonCheck(), "fail", "process 7 is an agent with the same state directory") {
            $0.lock = .held(process: 7)
        },

        InstallationRow(DaemonCheck(), "fail", "did not answer: it hangs; see its log: journalctl") {
            $0.socket = .mute("it hangs")
        },
        InstallationRow(DaemonCheck(), "fail", "left by an agent that was killed") { $0.hasSocketFile = true },

        InstallationRow(SettingsCheck(), "pass", "the defaults") { _ in },
        InstallationRow(SettingsCheck(), "pass", "/etc/latchkey/latchkey.toml has no faults") {
            $0.settings?.broker.port = 1
        },
        InstallationRow(
            SettingsCheck(), "fail",
            "/x.d/1.toml: a: wrong, and 1 more; fix it, and check with: latchkey config check /x"
        ) {
            ($0.settingsPath, $0.settingsFaults) = ("/x", ["/x.d/1.toml: a: wrong", "/x: b: wrong"])
        },

        InstallationRow(CredentialCheck(), "fail", "loads no credential latchkey-vault") { _ in },
        InstallationRow(CredentialCheck(), "fail", "/c, which the agent's store opens with, does not exist") {
            $0.credentialFile = "/c"
        },
        InstallationRow(
            CredentialCheck(), "fail",
            "enroll again: systemctl stop latchkey; rm -f /c /s/vault.db*; systemctl start latchkey"
        ) {
            $0.credentialFile = "/c"
            $0.settings?.stateDirectory = "/s"
        },
        InstallationRow(CredentialCheck(), "warn", "sudo latchkey doctor") {
            ($0.credentialFile, $0.credential) = ("/c", .hidden)
        },
        InstallationRow(CredentialCheck(), "pass", "/c exists") {
            ($0.credentialFile, $0.credential) = ("/c", .there(owner: 0, mode: 0o600))
        },
        InstallationRow(CredentialCheck(), nil, "another key") { $0.settings?.vault.slots = [.developmentKeyFile] },
        InstallationRow(CredentialCheck(), nil, "no settings") { $0.settings = nil },
        InstallationRow(CredentialCheck(), nil, "no service") { $0.unit?.isInstalled = false },

        InstallationRow(CredentialBindingCheck(), nil, "a file that this user may not read") {
            $0.credentialFile = "/c"
        },
        InstallationRow(CredentialBindingCheck(), "pass", "/c opens whatever firmware") {
            ($0.credentialFile, $0.credentialHeader) = ("/c", CredentialHeader(registers: []))
        },
        InstallationRow(
            CredentialBindingCheck(), "warn", "encrypt --tpm2-pcrs= --name=latchkey-vault /run/new.key /c;"
        ) {
            ($0.credentialFile, $0.credentialHeader) = ("/c", CredentialHeader(registers: [7]))
        },
        InstallationRow(CredentialBindingCheck(), nil, "another key") {
            ($0.credentialFile, $0.credentialHeader) = ("/c", CredentialHeader(registers: [7]))
            $0.settings?.vault.slots = [.passphrase]
        },

        InstallationRow(StateDirectoryCheck(), "pass", "no agent uses") { _ in },
        InstallationRow(StateDirectoryCheck(), "pass", "is made when the agent starts") {
            $0.stateDirectory = .missing
        },
        InstallationRow(StateDirectoryCheck(), "fail", "cannot be made: its file system is read-only") {
            ($0.stateDirectory, $0.isOnReadOnlyDisk) = (.missing, true)
        },
        InstallationRow(CredentialCheck(), "fail", "systemd cannot decrypt /c") {
            ($0.credentialFile, $0.credential) = ("/c", .there(owner: 0, mode: 0o600))
            $0.unit?.exitStatus = 243
        },
        InstallationRow(CredentialCheck(), "skip", "does not report which credentials") {
            $0.unit?.hidesCredentials = true
        },
        InstallationRow(StateDirectoryCheck(), "warn", "sudo latchkey doctor") { $0.stateDirectory = .hidden },
        InstallationRow(
            StateDirectoryCheck(), "fail",
            "belongs to user root, and latchkey.service runs as user daemon; with the service"
        ) {
            $0.stateDirectory = .there(owner: 0, mode: 0o700)
        },
        InstallationRow(StateDirectoryCheck(), "pass", "no agent uses") {
            ($0.stateDirectory, $0.unit) = (.there(owner: 0, mode: 0o700), nil)
        },
        InstallationRow(StateDirectoryCheck(), "fail", "mode 755") {
            $0.stateDirectory = .there(owner: 1, mode: 0o755)
        },
        InstallationRow(StateDirectoryCheck(), "warn", "cannot see whether") { $0.lock = .hidden },
        InstallationRow(StateDirectoryCheck(), "fail", "process 7 holds the lock") { $0.lock = .held(process: 7) },
        InstallationRow(StateDirectoryCheck(), "pass", "used by process 7") {
            $0.lock = .held(process: 7)
            $0.unit?.activity = "active"
        },
        InstallationRow(StateDirectoryCheck(), nil, "no settings") { $0.settings = nil },
    ]

    private static var state: AgentState {
        var state = AgentState(now: Date(timeIntervalSince1970: 0), clockIsPlausible: false)
        (state.clockFile, state.diskTrouble) = ("/s/clock", "it is full")
        return state
    }

    private static func slot(_ kind: Slot.Kind, isDamaged: Bool = false) -> Slot {
        Slot(id: 1, kind: kind, created: Date(timeIntervalSince1970: 0), isDamaged: isDamaged)
    }

    static let rowsOfWhatItStartsWith: [InstallationRow] = [
        InstallationRow(LibrariesCheck(), "pass", "can be used") { _ in },
        InstallationRow(LibrariesCheck(), "fail", "no libcurl; install the Debian packages") {
            $0.libraryFaults = ["no libcurl", "no libmicrohttpd"]
        },

        InstallationRow(SharedCheck(of: StorageCheck()), nil, "cannot inspect") { _ in },
        InstallationRow(SharedCheck(of: StorageCheck()), "fail", "it is full") { $0.state = state },
        InstallationRow(SharedCheck(of: ClockCheck()), "fail", "remove /s/clock") { $0.state = state },

        InstallationRow(StoreCheck(), nil, "no settings") { $0.settings = nil },
        InstallationRow(StoreCheck(), "skip", "not examined: why") { $0.store = .skipped("why") },
        InstallationRow(StoreCheck(), "pass", "made when the agent starts") { $0.store = .missing },
        InstallationRow(StoreCheck(), "fail", "it is damaged; restore the state directory") {
            $0.store = .faulty("it is damaged")
        },
        InstallationRow(StoreCheck(), "pass", "intact, and has a slot of kind systemd-credential") {
            $0.store = .sealed([slot(.passphrase), slot(.systemdCredential)])
        },
        InstallationRow(StoreCheck(), "fail", "no slot of kind systemd-credential, only: passphrase") {
            $0.store = .sealed([slot(.passphrase)])
        },
        InstallationRow(StoreCheck(), "fail", "its slot of kind systemd-credential is damaged") {
            $0.store = .sealed([slot(.passphrase), slot(.systemdCredential, isDamaged: true)])
        },

        InstallationRow(BoardDefinitionCheck(), nil, "no settings") { _ in },
        InstallationRow(BoardDefinitionCheck(), "pass", "A board") { $0.board = .success("A board") },
        InstallationRow(BoardDefinitionCheck(), "warn", "nope") {
            $0.board = .failure(.definitionAbsent(name: "nope", searched: [], known: []))
        },

        InstallationRow(HostsCheck(), nil, "no settings") { $0.settings = nil },
        InstallationRow(HostsCheck(), "skip", "is in the sealed store") { _ in },
        InstallationRow(HostsCheck(), "pass", "found: a, b") {
            $0.hosts = [.init(name: "a", hasAddress: true), .init(name: "b", hasAddress: true)]
        },
        InstallationRow(HostsCheck(), "fail", "b has no address; check /etc/resolv.conf") {
            $0.hosts = [.init(name: "a", hasAddress: true), .init(name: "b", hasAddress: false)]
        },
    ]

    @Test("the hosts of the settings are looked up once each, until one has no address")
    func hosts() throws {
        let settings = try AgentConfiguration(
            toml: """
                [broker]
                host = "a"
                [[brokers]]
                name = "one"
                host = "b"
                tls = false
                [[brokers]]
                name = "two"
                host = "a"
                tls = false
                [[hosts]]
                host = "c"
                public_authorities = true
                """, path: "test.toml")
        let all = Installation.hosts(of: settings, readBy: Features.all) { _ in true }
        #expect(all.map(\.name) == ["b", "a", "c"])
        let some = Installation.hosts(of: settings, readBy: Features.all) { $0 != "c" }
        #expect(
            some == [
                .init(name: "b", hasAddress: true), .init(name: "a", hasAddress: true),
                .init(name: "c", hasAddress: false),
            ])
    }

    @Test("each check of a silent agent says what it saw, and what to do", arguments: rows + rowsOfWhatItStartsWith)
    func check(row: InstallationRow) {
        let verdict = row.check.run(row.installation)
        #expect(verdict?.word == row.verdict)
        switch verdict {
        case .pass(let message), .skip(let message): #expect(message.contains(row.says))
        case .warn(let message, let remedy), .fail(let message, let remedy):
            #expect("\(message); \(remedy)".contains(row.says))
        case nil: break
        }
    }

    @Test("the doctor reads what systemd shows of the service")
    func unit() throws {
        let unit = try #require(
            Installation.Unit(
                shown: """
                    LoadState=loaded
                    ActiveState=activating
                    Result=resources
                    ExecMainStatus=243
                    UnitFileState=enabled
                    User=latchkey
                    LoadCredentialEncrypted=latchkey-vault:/etc/latchkey/latchkey-vault.cred
                    """))
        var expected = Installation.Unit(activity: "activating", result: "resources", exitStatus: 243, user: "latchkey")
        expected.credentials = ["latchkey-vault": "/etc/latchkey/latchkey-vault.cred"]
        #expect(unit == expected)
        #expect(Installation.Unit(shown: "LoadState=not-found\nUnitFileState=\n")?.isInstalled == false)
        #expect(Installation.Unit(shown: "") == nil)
    }

    @Test("the doctor reads the credentials from the unit where systemd does not show them")
    func unprintable() throws {
        var unit = try #require(Installation.Unit(shown: "LoadState=loaded\nLoadCredentialEncrypted=[unprintable]\n"))
        #expect(unit.hidesCredentials)
        #expect(unit.credentials.isEmpty)
        unit.readCredentials(
            ofFiles: """
                # /lib/systemd/system/latchkey.service
                [Service]
                LoadCredentialEncrypted=latchkey-vault:/etc/latchkey/old.cred
                # /etc/systemd/system/latchkey.service.d/override.conf
                LoadCredentialEncrypted=
                LoadCredentialEncrypted=latchkey-vault:/etc/latchkey/latchkey-vault.cred
                """)
        #expect(!unit.hidesCredentials)
        #expect(unit.credentials == ["latchkey-vault": "/etc/latchkey/latchkey-vault.cred"])
    }

    @Test("the doctor finds the holder of a lock by the file's number")
    func lock() {
        let locks = """
            1: POSIX  ADVISORY  WRITE 4711 fe:01:131 0 EOF
            2: FLOCK  ADVISORY  WRITE 4712 fe:01:132 0 EOF
            2: -> FLOCK  ADVISORY  WRITE 4713 fe:01:133 0 EOF
            """
        #expect(Installation.lock(on: 131, in: locks) == .free)
        #expect(Installation.lock(on: 132, in: locks) == .held(process: 4712))
        #expect(Installation.lock(on: 133, in: locks) == .free)
    }
}
