import Foundation
import Testing

@testable import LocalAPI

/// One person may be many users, so that a bound for each is none for all.
@Suite("Reserved places at the local API", .timeLimit(.minutes(8)))
struct PlacesTests {
    @Test(
        "the local API's quotas reserve places for the owners, however many other users there are",
        .enabled(if: getuid() == 0, "takes connections as other users"))
    func placesOfOwners() async throws {
        var limits = LocalServer.Limits()
        // What others hold, they hold for longer than the owner waits.
        limits.request = .seconds(90)
        let served = try Served(policy: AccessPolicy(owners: [getuid()], socketGroup: 65534), limits: limits)
        chmod(served.directory, 0o755)
        // Eight users with as many connections as each may have, half of them with half a request, and the owner among
        // them.
        let script = """
            import os, resource, socket, sys, time
            path, ready, go = sys.argv[1], os.pipe(), os.pipe()
            for user in range(20001, 20009):
                if os.fork() == 0:
                    os.setgroups([]); os.setgid(65534); os.setuid(user)
                    held = []
                    for n in range(40):
                        made = socket.socket(socket.AF_UNIX)
                        made.connect(path)
                        try:
                            if n % 2: made.sendall(b"GET /v1/peer HTTP/1.1\\r\\n")
                        except BrokenPipeError: pass
                        held.append(made)
                    os.write(ready[1], b".")
                    os.close(go[1])
                    os.read(go[0], 1)
                    os._exit(0)
            for _ in range(8): os.read(ready[0], 1)
            worst, served = 0.0, 0
            for _ in range(5):
                begun = time.monotonic()
                owner = socket.socket(socket.AF_UNIX)
                owner.settimeout(40)
                owner.connect(path)
                owner.sendall(b"GET /v1/peer HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n")
                try: served += owner.recv(12) == b"HTTP/1.1 200"
                except TimeoutError: break
                worst = max(worst, time.monotonic() - begun)
            os.close(go[1])
            while True:
                try: os.wait()
                except ChildProcessError: break
            print(served, int(worst * 1000))
            """
        let figures = try await OtherProgram.output(of: ["python3", "-c", script, served.path]).split(separator: " ")
        print("the owner was served \(figures) (times, ms at most)")
        #expect(figures.first == "5")
        try await served.stop()
    }

    @Test("the local API's quotas refuse requests beyond the common limit of all non-owners, with that reason")
    func others() throws {
        let shares = UserShares(limit: 3, othersLimit: 4)
        var places = try [
            shares.take(1, isOwner: false), shares.take(1, isOwner: false), shares.take(2, isOwner: false),
        ]
        places.append(try shares.take(3, isOwner: false))
        #expect(throws: Shortage.ofOthers(limit: 4)) { try shares.take(4, isOwner: false) }
        let own = try (0..<3).map { _ in try shares.take(0, isOwner: true) }
        #expect(throws: Shortage.ofUser(limit: 3)) { try shares.take(0, isOwner: true) }
        places.removeFirst()
        _ = try shares.take(4, isOwner: false)
        withExtendedLifetime((places, own)) {}
    }
}
