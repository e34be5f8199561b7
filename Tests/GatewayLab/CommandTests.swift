import Foundation
import Groundwork
import Testing

extension GatewayLabTests {
    @Suite("The latchkey-lab command")
    struct CommandTests {
        private static let master = "5c0e7a11-1ab0-4f6e-8d1e-1a7c4e1a9e47"

        /// The program, which the build puts beside the tests.
        static let program: String = {
            let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
            return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("latchkey-lab").path
        }()

        /// Starts a lab on any ports as `$lab`, its admin address as `$admin`, its broker's process as `$broker`.
        private static let start = """
            set -eu
            export XDG_STATE_HOME=$(mktemp -d)
            exec 3< <(exec \(program) run --port 0 --admin-port 0 --broker-port 0 2>&1)
            lab=$!
            trap 'kill -KILL "$lab" 2>/dev/null || true; rm -rf "$XDG_STATE_HOME"' EXIT
            while read -r what page admin <&3; do [ "$what" != admin ] || break; done
            for child in /proc/[0-9]*; do
                if grep -qs "^PPid:[[:space:]]$lab$" "$child/status"; then broker=${child#/proc/}; fi
            done
            gone() { for _ in $(seq 600); do [ -e "/proc/$1" ] || return 0; sleep 0.1; done; return 1; }
            """

        @Test("latchkey-lab prints its addresses, mints URLs, lists devices and writes files for mosquitto_pub")
        func session() async throws {
            let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
                "command-" + UUID().uuidString
            ).path
            defer { try? FileManager.default.removeItem(atPath: directory) }
            let script = """
                \(Self.start)
                \(Self.program) devices --admin "$admin"
                \(Self.program) enroll --admin "$admin" | sed 's/?.*//; s/:[0-9]*//2'
                \(Self.program) client --admin "$admin" --name phone --out \(directory) > \(directory).txt
                (cd \(directory) && ls)
                sed -n '/^mosquitto_pub/,$p' \(directory).txt | sed 's/DEVICE/'"$(sed -n "s/.*-u '\\(.*\\)' -P.*/\\1/p" \(directory).txt | head -1)"'/' | bash
                \(Self.program) devices --admin "$admin" | sed 's/^[^ ]*//'
                rm \(directory).txt
                ls -l "$XDG_STATE_HOME/latchkey-lab" | grep -c -- '-rw-------.*token'
                kill -INT "$lab"; gone "$lab"; gone "$broker"; ls "$XDG_STATE_HOME/latchkey-lab"; echo ended
                """
            let said = try await run("bash", ["-c", script]).output
            #expect(
                said == """
                    no devices
                    https://localhost/connect/device/config
                    ca.pem
                    cert.pem
                    key.pem
                                            STATUS  BROKER  NAME   LOGGED IN
                      active  -       phone  -
                    1
                    ended

                    """)
        }

        @Test("latchkey-lab lists its users and logins, and lets a client of a user authorize a login")
        func users() async throws {
            let directory = FileManager.default.temporaryDirectory.appendingPathComponent("users-" + UUID().uuidString)
                .path
            defer { try? FileManager.default.removeItem(atPath: directory) }
            let script = """
                export XDG_STATE_HOME=$(mktemp -d)
                exec 3< <(exec \(Self.program) run --port 0 --admin-port 0 --no-broker 2>&1)
                set -eu
                lab=$!
                trap 'kill "$lab"; rm -rf "$XDG_STATE_HOME"' EXIT
                while read -r what rest <&3; do
                    case $what in users) echo "$rest" ;; gateway) gateway=$rest ;; admin) admin=${rest#page  }; break ;; esac
                done
                \(Self.program) client --admin "$admin" --name phone --user alice --out \(directory) > \(directory).txt
                \(Self.program) devices --admin "$admin" | sed '1d; s/^[^ ]*//'
                \(Self.program) devices --admin "$admin" --json | tr -d ' \\n' | grep -o '"logged_in":[^]]*]'
                \(Self.program) logins --admin "$admin"
                url=$(curl -s --cacert \(directory)/ca.pem "$gateway/auth/oauth/v2/authorize?client_id=\(Self.master)&response_type=code&display=social_login" \\
                    | grep -o '"auth_url":"[^"]*device[^"]*' | cut -d'"' -f4)
                \(Self.program) logins --admin "$admin" | sed 1d | cut -d' ' -f3-
                sed -n '/^curl/,/PROVIDER_URL/p' \(directory).txt | sed "s,PROVIDER_URL,$url," | bash
                \(Self.program) logins --admin "$admin" | sed 1d | cut -d' ' -f3-
                \(Self.program) logins refuse "$url" --admin "$admin"
                \(Self.program) logins authorize "$url" --user bob --admin "$admin" 2>&1 | head -1 || true
                rm \(directory).txt
                """
            let said = try await run("bash", ["-c", script]).output
            #expect(
                said == """
                    alice (alice-password), bob (bob-password)
                      active  -       phone  alice
                    "logged_in":["alice"]
                    no logins
                    waiting  -     -
                    authorized
                    authorized  alice  -
                    refused
                    latchkey-lab: the lab has no open login \(said.split(separator: " ").last ?? "")
                    """)
        }

        @Test("latchkey-lab ends its broker too, even when it is killed")
        func killed() async throws {
            let script = "\(Self.start)\nkill -KILL \"$lab\"; gone \"$broker\"; echo ended"
            #expect(try await run("bash", ["-c", script]).output == "ended\n")
        }

        @Test("latchkey-lab reports that no lab is running, and what to do")
        func nobody() async throws {
            let failure = await #expect(throws: ProgramFailure.self) {
                try await run(Self.program, ["devices", "--admin", "http://127.0.0.1:1"])
            }
            #expect(failure?.errors.contains("no lab is answering at http://127.0.0.1:1") == true)
            #expect(failure?.errors.contains("latchkey-lab run") == true)
        }
    }
}
