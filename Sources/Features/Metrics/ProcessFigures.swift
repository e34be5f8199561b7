import AgentCore
import CLinux
import Glibc
import Groundwork

/// What the kernel counts for this process. What it does not tell is `nil`.
struct ProcessFigures {
    /// Of user and system together, in seconds.
    var cpuSeconds: Double?
    /// In bytes.
    var residentBytes: Double?
    var anonymousBytes: Double?
    var virtualBytes: Double?
    var threads: Double?
    var openFiles: Double?
    var mostOpenFiles: Double?
    /// What the process had written to disks, in bytes.
    var writtenBytes: Double?

    /// The unit of `ru_oublock`, in bytes.
    private static let block = 512.0

    static func read() -> ProcessFigures {
        var figures = ProcessFigures()
        var usage = rusage()
        if getrusage(RUSAGE_SELF.rawValue, &usage) == 0 {
            figures.cpuSeconds = seconds(usage.ru_utime) + seconds(usage.ru_stime)
            // The same count as `write_bytes` of /proc/self/io, which only root reads where core dumps are forbidden.
            figures.writtenBytes = Double(usage.ru_oublock) * block
        }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            figures.mostOpenFiles = Double(limit.rlim_cur)
        }
        figures.openFiles = countOpenFiles()
        if let bytes = try? BoundedFile.read("/proc/self/status", limit: 16 << 10, .anything) {
            figures.take(status: String(decoding: bytes, as: UTF8.self))
        }
        return figures
    }

    /// - Parameter status: of `/proc/PID/status` (proc(5)).
    mutating func take(status: String) {
        for line in status.split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard words.count >= 2, let number = Double(words[1]) else { continue }
            switch words[0] {
            case "VmRSS:": residentBytes = number * 1024
            case "VmSize:": virtualBytes = number * 1024
            case "RssAnon:": anonymousBytes = number * 1024
            case "Threads:": threads = number
            default: break
            }
        }
    }

    private static func countOpenFiles() -> Double? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0.0
        while readdir(folder) != nil { count += 1 }
        // Without the folder itself, "." and "..".
        return count - 3
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}

extension MetricsPage {
    /// By the names that the clients of Prometheus use for every process.
    ///
    /// - Parameter started: in seconds since 1970, by the board's clock.
    mutating func add(_ process: ProcessFigures, started: Double) {
        counter("process_cpu_seconds", unit: "seconds", "Processor time of user and system", process.cpuSeconds)
        gauge(
            "process_resident_memory_bytes", unit: "bytes", "Memory that is in use, files included",
            process.residentBytes)
        gauge(
            "process_anonymous_memory_bytes", unit: "bytes", "Memory that is in use, without files",
            process.anonymousBytes)
        gauge("process_virtual_memory_bytes", unit: "bytes", "Addresses that are reserved", process.virtualBytes)
        gauge("process_open_fds", "Open file descriptors", process.openFiles)
        gauge("process_max_fds", "The most file descriptors that may be open", process.mostOpenFiles)
        gauge("process_threads", "Threads", process.threads)
        counter("process_written_bytes", unit: "bytes", "What was written to disks", process.writtenBytes)
        gauge(
            "process_start_time_seconds", unit: "seconds", "When the agent started, since 1970 by the board's clock",
            started)
    }
}
