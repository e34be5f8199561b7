import ArgumentParser
import Groundwork

/// What the systems that are traits of the package bring to the command, each only in a build that has it.
enum Systems {
    static var commands: [any ParsableCommand.Type] {
        #if MPin
        [MPinCommand.self]
        #else
        []
        #endif
    }

    static var errors: [any Explained.Type] {
        #if MPin
        [MPinChoiceError.self]
        #else
        []
        #endif
    }
}
