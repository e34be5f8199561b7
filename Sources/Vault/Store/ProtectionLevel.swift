/// In which states of the vault a data key can be had.
enum ProtectionLevel: String {
    /// Whenever the vault is unlocked.
    case always
}
