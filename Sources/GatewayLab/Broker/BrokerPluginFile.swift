import Foundation

/// Where the broker's plugin lies. Mosquitto runs what is in it, so nothing but the program itself says where.
enum BrokerPluginFile {
    static let name = "liblatchkey-lab-broker.so"

    /// The configured file, or the one beside the running program (a test bundle is one too).
    ///
    /// No other folder is searched: one that came from an argument, such as `/tmp` of `--data /tmp/lab`, may be
    /// writable for everybody.
    /// - Throws: `LabError.brokerPluginMissing`
    static func find(configured: String?) throws(LabError) -> String {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let file = configured ?? (program as NSString).deletingLastPathComponent + "/" + name
        guard FileManager.default.isReadableFile(atPath: file) else { throw .brokerPluginMissing(path: file) }
        return file
    }
}
