/// What keeps a passcode from being used. The raw values are the numbers of the domain `secure-store` (SMP A4).
public enum PasscodeFault: Int, Error, Sendable, CaseIterable {
    /// It cannot be a passcode: not UTF-8, more than 256 bytes, or with a NUL.
    case argument = 4
    /// There is none, and the policy demands one.
    case required = 9
    case needsDigit = 10
    case needsLowerCase = 11
    case needsSpecial = 12
    case needsUpperCase = 13
    case short = 14
    /// It has too few different characters.
    case fewCharacters = 15
}
