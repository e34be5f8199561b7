import ArgumentParser

struct Completions: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a shell's completion script.",
        discussion: "  $ latchkey-lab completions bash > /usr/share/bash-completion/completions/latchkey-lab")

    enum Shell: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

    @Argument(help: "bash, zsh or fish.") var shell: Shell

    func run() {
        let shell: CompletionShell =
            switch self.shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        print(LatchkeyLab.completionScript(for: shell))
    }
}
