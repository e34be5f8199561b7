import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    @Suite("Environment of the lab")
    struct SurroundingsTests {
        @Test("the lab loads the broker's plugin from the program's own folder, never from one in an argument")
        func plugin() async throws {
            try await Workshop.open { shop in
                // As after a build of the program alone.
                let alone = shop.directory + "/alone"
                try FileManager.default.createDirectory(atPath: alone, withIntermediateDirectories: true)
                try FileManager.default.copyItem(atPath: CommandTests.program, toPath: alone + "/latchkey-lab")
                let name = "liblatchkey-lab-broker.so"
                let beside = URL(fileURLWithPath: CommandTests.program).deletingLastPathComponent()
                // Somebody else's, where everybody may write.
                try FileManager.default.copyItem(
                    atPath: beside.appendingPathComponent(name).path, toPath: shop.directory + "/" + name)
                let failure = await #expect(throws: ProgramFailure.self) {
                    try await run(
                        "timeout",
                        [
                            "30", alone + "/latchkey-lab", "run", "--port", "0", "--admin-port", "0",
                            "--broker-port", "0", "--data", shop.directory + "/lab",
                        ])
                }
                #expect(failure?.status == 78)
                #expect(failure?.errors.contains("its plugin \(alone)/\(name) is missing") == true)
            }
        }

        @Test(
            "other machines can reach the lab only if it listens beyond loopback",
            arguments: [
                ("127.0.0.1", false), ("127.8.8.8", false), ("::1", false), ("localhost", false), ("0.0.0.0", true),
                ("192.0.2.1", true), ("::", true), ("127.example.org", true),
            ])
        func loopback(address: String, isReachable: Bool) {
            var configuration = LabConfiguration()
            configuration.listenAddress = address
            #expect(configuration.isReachableByOthers == isReachable)
        }

        @Test(
            "the lab gives the example users random passwords if others can reach it, the same after a restart",
            .enabled(if: getuid() == 0))
        func passwords() async throws {
            try await Workshop.open { shop in
                // Listens on every address of a network with nobody else in it.
                let script = """
                    set -eu
                    ip link set lo up
                    export XDG_STATE_HOME=\(shop.directory)/state
                    for options in "--data \(shop.directory)/lab" "--data \(shop.directory)/lab" ""; do
                        exec 3< <(exec \(CommandTests.program) run --listen 0.0.0.0 --no-broker $options \\
                            2> \(shop.directory)/errors)
                        while read -r what rest <&3; do
                            case $what in users) echo "$rest" ;; admin) break ;; esac
                        done
                        kill $!
                        cat <&3 > /dev/null
                    done
                    """
                let lines = try await run("unshare", ["--net", "bash", "-c", script]).output.split(separator: "\n")
                try #require(lines.count == 3)
                #expect(lines[0] == lines[1] && lines[0] != lines[2])
                for line in lines {
                    let isRandom = line.wholeMatch(of: /alice \([A-Za-z0-9_-]{16}\), bob \([A-Za-z0-9_-]{16}\)/) != nil
                    #expect(isRandom, "\(line)")
                }
                let warning = try String(contentsOfFile: shop.directory + "/errors", encoding: .utf8)
                #expect(warning.hasPrefix("latchkey-lab: other machines can reach this lab."))
            }
        }
    }
}
