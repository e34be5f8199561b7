import ArgumentParser

struct Completions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print a shell's completion script.",
        discussion: "  $ latchkey completions bash > /usr/share/bash-completion/completions/latchkey")

    enum Shell: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

    @Argument(help: "The shell to complete in.") var shell: Shell

    func run() {
        guard let shell = CompletionShell(rawValue: shell.rawValue) else { return }
        Terminal.line(Latchkey.completionScript(for: shell))
    }
}
