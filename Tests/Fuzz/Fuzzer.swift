import Glibc

/// One target under libFuzzer, which brings `main`: `fuzz --target=NAME [libFuzzer's options] [folders or files]`.
///
/// Made by `deploy/fuzz`, not by a plain build. libFuzzer passes over options with two dashes, and keeps them when it
/// starts itself again to minimize an input.
private enum Fuzzer {
    static let option = "--target="
    static let target = CommandLine.arguments.first { $0.hasPrefix(option) }
        .flatMap { FuzzTarget.named(String($0.dropFirst(option.count))) }
}

@_cdecl("LLVMFuzzerInitialize")
public func checkTarget(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>>>
) -> CInt {
    guard Fuzzer.target == nil else { return 0 }
    print("fuzz: \(Fuzzer.option)NAME has to name one of: \(FuzzTarget.all.map(\.name).joined(separator: " "))")
    exit(EX_USAGE)
}

@_cdecl("LLVMFuzzerTestOneInput")
public func runTarget(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        _ = try Fuzzer.target?.check(Array(UnsafeBufferPointer(start: bytes, count: count)))
    } catch {
        // A crash is how libFuzzer learns of a fault and keeps the input.
        fatalError("\(error)")
    }
    return 0
}

/// Asked by LeakSanitizer which leaks are not ours: TOMLKit does not free its copies of keys and of what it parses.
@_cdecl("__lsan_default_suppressions")
public func leaksOfOthers() -> UnsafePointer<CChar> {
    let lines: StaticString = "leak:TOMLKit\n"
    return UnsafeRawPointer(lines.utf8Start).assumingMemoryBound(to: CChar.self)
}
