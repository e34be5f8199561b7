/// `curl` run as another user; for tests that run as root.
struct OtherUser {
    let uid: Int
    let gid: Int
    /// Supplementary groups, with commas between.
    let groups: String

    /// - Returns: the status of the answer; `000` when it could not connect.
    func status(of target: String, at socket: String) async throws -> String {
        try await OtherProgram.output(
            of: ["setpriv", "--reuid=\(uid)", "--regid=\(gid)"]
                + (groups.isEmpty ? ["--clear-groups"] : ["--groups=\(groups)"])
                + [
                    "curl", "-s", "-m", "120", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket", socket,
                    "http://localhost\(target)",
                ])
    }
}
