import Cryptography
import TestSupport
import Vault

extension SoftwareTPM {
    var chip: Chip { Chip(at: place) }
}

extension KeyKeeper {
    func make(_ algorithm: PrivateKey.Algorithm, name: String) throws(VaultError) -> KeptKey {
        try make(algorithm, name: name, of: [])
    }
}
