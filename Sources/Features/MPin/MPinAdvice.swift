import AgentCore

/// What a person should know who chooses a PIN (docs/protocols/mpin.md has why).
enum MPinAdvice {
    static let lines = [
        "A PIN is turned into one of a few thousand keys: the 10,000 PINs of four digits give 6,331, so some wrong ones pass.",
        "Longer PINs and words are taken too, and are harder to watch, but no more than 16,384 keys differ.",
        "What protects a PIN is the back end, which blocks after a few wrong ones; the curve, BN254, is worth about 100 bits.",
    ]
}
