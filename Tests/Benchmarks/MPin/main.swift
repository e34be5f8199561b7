import COpenSSL
import Cryptography
import Glibc
import Groundwork
import MPin

// Called by Tests/Benchmarks/mpin.py: computes log-ins of M-Pin and, in turn, as many multiplications on curves that
// OpenSSL knows by name. Prints the microseconds of each as JSON.

/// The multiplications of a log-in: α·A, x·A, x·(A + T) and (x + y)·S.
let multiplications = 4

guard CommandLine.arguments.count == 2, let rounds = Int(CommandLine.arguments[1]), rounds > 0 else {
    fatalError("the number of rounds is needed")
}

/// A user with a token and a permit, whose points are any: what they are does not change the time.
struct Login {
    let identity = MPinID(bytes: Array(#"{"userID":"alice@example.org"}"#.utf8))!
    let factor: PINFactor
    let token: MPinToken
    let permit: TimePermit

    init() throws {
        func point(_ text: String) throws -> G1Point { try G1Point(mapping: SHA256.hash(Array(text.utf8))) }
        factor = try PINFactor(secret: SecretBytes(utf8: "1234"))
        token = try MPinToken(encoding: point("token").secretEncoding)
        permit = try TimePermit(date: MPinDate(days: 19_674)!, shares: point("one"), point("two"))
    }

    func run() throws {
        let passOne = try PassOne(identity: identity, token: token, factor: factor, permit: permit)
        _ = (passOne.commitment.encoding, passOne.datedCommitment?.encoding)
        _ = try passOne.validator(for: SHA256.hash([])).encoding
    }
}

/// A curve by its name in OpenSSL, with a random point.
final class NamedCurve {
    private let group: OpaquePointer
    private let point: OpaquePointer
    private let scalar: OpaquePointer

    init(_ name: Int32) {
        group = EC_GROUP_new_by_curve_name(name)!
        (point, scalar) = (EC_POINT_new(group)!, BN_new()!)
        precondition(BN_priv_rand_range(scalar, EC_GROUP_get0_order(group)) == 1)
        precondition(EC_POINT_mul(group, point, scalar, nil, nil, nil) == 1)
    }

    func run() {
        for _ in 0..<multiplications {
            precondition(BN_priv_rand_range(scalar, EC_GROUP_get0_order(group)) == 1)
            precondition(EC_POINT_mul(group, point, nil, point, scalar, nil) == 1)
        }
    }
}

/// Processor time, which other programs do not lengthen.
func microseconds(_ body: () throws -> Void) rethrows -> JSON {
    func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
    let begin = now()
    try body()
    return .number(now() - begin)
}

var times: [String: [JSON]] = [:]
// Makes the group and tests it.
times["first"] = [try microseconds { _ = try G1Point(mapping: SHA256.hash([])) }]
let logIn = try Login()
let (p256, secp256k1) = (NamedCurve(NID_X9_62_prime256v1), NamedCurve(NID_secp256k1))
for _ in 0..<rounds {
    times["mpin", default: []].append(try microseconds(logIn.run))
    times["p256", default: []].append(microseconds(p256.run))
    times["secp256k1", default: []].append(microseconds(secp256k1.run))
}
print(JSON.object(times.mapValues(JSON.array)).text)
