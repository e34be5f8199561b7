import Foundation

/// The path of the broker's plugin. Mosquitto runs its code, so only the program itself determines the path.
enum BrokerPluginFile {
    static let name = "liblatchkey-lab-broker.so"

    /// The configured file, or the one beside the running program (which may be a test bundle).
    ///
    /// No other folder is searched: one derived from an argument, such as `/tmp` of `--data /tmp/lab`, may be
    /// writable for every user.
    /// - Throws: `LabError.brokerPluginMissing`
    static func find(configured: String?) throws(LabError) -> String {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let file = configured ?? (program as NSString).deletingLastPathComponent + "/" + name
        guard FileManager.default.isReadableFile(atPath: file) else { throw .brokerPluginMissing(path: file) }
        return file
    }
}
