import ArgumentParser

/// The command of the lab gateway. `run` is the lab; every other subcommand asks a running one through its admin port.
@main
struct LatchkeyLab: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey-lab",
        abstract: "A mobile API gateway with its broker, for development and tests.",
        discussion: """
            $ latchkey-lab run &
            gateway     https://localhost:8443
            broker      localhost:8883
            users       alice (alice-password), bob (bob-password)
            admin page  http://127.0.0.1:8480
            $ latchkey-lab enroll
            https://localhost:8443/connect/device/config?sessionData=eyJ…&subjectKeyHash=9pA…%3D
            """,
        subcommands: [
            Run.self, Enroll.self, Devices.self, Logins.self, FaultCommand.self, Client.self, MessagesCommand.self,
        ])
}
