import Foundation

/// A count that a night may raise: `CYCLES=15000 deploy/test CrashTests`.
func count(_ variable: String, preset: Int) -> Int {
    ProcessInfo.processInfo.environment[variable].flatMap(Int.init) ?? preset
}
