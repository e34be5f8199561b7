import AgentCore

/// What a person should know who chooses a PIN (docs/protocols/mpin.md has why).
enum MPinAdvice {
    static let lines = [
        "A PIN becomes one of a few thousand keys: the 10,000 PINs of four digits give 6,331, so some wrong PINs pass.",
        "Longer PINs and words are accepted too and are harder to watch, but there are only 16,384 different keys.",
        "The back end protects a PIN: it blocks the user after a few wrong ones. "
            + "The curve, BN254, gives about 100 bits of security.",
    ]
}
