import ArgumentParser

struct Completions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print a shell's completion script.",
        discussion: "  $ latchkey completions bash > /usr/share/bash-completion/completions/latchkey")

    enum Shell: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

    @Argument(help: "The shell to complete in.") var shell: Shell

    func run() {
        let shell: CompletionShell =
            switch self.shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        Terminal.line(Latchkey.completionScript(for: shell))
    }
}
