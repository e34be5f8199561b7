"""How the programs of a package are built: by this machine's compiler, or in the compiler's chroot."""

import os
import re
import subprocess
import time

from targets import TRIPLES, Archive, Compiler, Failure, Sysroot, need, run, say

# Debian's number of each release that a package can be made for.
RELEASES = {"bookworm": 12, "trixie": 13}
PLACE = "/usr/src/latchkey"     # what programs say where their source is

# The addresses of the compiler's own memory enter some objects.
STEADY = ["setarch", "--addr-no-randomize"]


def in_place(source, command):
    """A command with a folder in PLACE, and with the same addresses each time; nobody else sees it there."""
    root = [] if os.geteuid() == 0 else ["--map-root-user"]
    script = 'mount -t tmpfs tmpfs "${1%/*}" && mkdir "$1" && mount --bind "$0" "$1" && shift && exec "$@"'
    return [
        "unshare",
        *root,
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        script,
        str(source),
        PLACE,
        *STEADY,
        *command,
    ]


def linked_packages(scratch, configuration, product):
    """The Swift packages of which something is linked into a product, by their identity: from SwiftPM's list of the
    objects, and its list of commands, which says what they are made of."""
    objects = (scratch / configuration / f"{product}.product/Objects.LinkFileList").read_text()
    linked = set(re.findall(r"/([^/\n]+)\.build/", objects))
    found, package = set(), None
    with open(scratch / f"{configuration}.yaml") as commands:
        for line in commands:
            if line.startswith("    inputs: "):
                source = re.search(r"/checkouts/([^/\"]+)/", line)
                package = source[1].lower() if source else None
            elif (
                line.startswith("    outputs: ")
                and package
                and linked & set(re.findall(r'/([^/"]+)\.build/[^"]*\.o"', line))
            ):
                found.add(package)
    return found


class Target:
    """A release and an architecture, and how programs for them are built. `Here` and `There` say the rest."""

    def __init__(self, suite, architecture, source, configuration):
        self.suite, self.architecture, self.configuration = suite, architecture, configuration
        self.source, self.epoch, self.commit, self.release = source.folder, source.epoch, source.commit, source.release
        self.version = f"{source.version}~deb{RELEASES[suite]}"
        self.multiarch = TRIPLES[architecture][1]
        self.scratch = f".build-{suite}-{architecture}"
        # Who tries the agent against the lab does so on a larger machine.
        self.has_lab = architecture == "amd64"
        self.options = source.options
        if configuration != "release":
            # By the same linker: the machine's own knows no other processor.
            linking = [word for option in source.options if option.startswith(("-use-ld=", "-ld-path="))
                       for word in ("-Xswiftc", option)]
            self.options = ["-c", configuration, "--static-swift-stdlib", "--disable-local-rpath", *linking]

    def __str__(self):
        return f"Debian {RELEASES[self.suite]} ({self.suite}) for {self.architecture}"

    def build(self, product, log, more=()):
        """Builds a product, and returns the folder of the programs."""
        say(f"building {product} with {self.compiler_version()}, for {self}; its output is in {log}")
        with open(log, "a", buffering=1) as kept:
            process = self.start("build", [*self.options, *self.mapped(), *more, "--product", product])
            told = time.monotonic()
            for line in process.stdout:
                kept.write(line)
                if time.monotonic() - told > 30 and line.startswith("["):
                    say(line.strip()[:100])
                    told = time.monotonic()
        if process.wait():
            wrong = [line[:500] for line in log.read_text().splitlines() if "error:" in line]
            raise Failure(f"{product} does not build for {self}; {log} has it all:\n" + "\n".join(wrong[:20]))
        return self.source / self.scratch / self.configuration

    def runtime(self):
        """The package with the C++ library, of which programs have a part inside, and its version."""
        text = run(
            "dpkg-query",
            *self.database(),
            "-W",
            "-f",
            "${db:Status-Status} ${Package} ${Version}\\n",
            "libstdc++-*-dev",
        )
        return max((tuple(line.split()[1:]) for line in text.splitlines() if line.startswith("installed ")),
                   key=lambda pair: int(pair[0].split("-")[1]))

    def resolve(self, log, *arguments):
        """Has SwiftPM choose the versions of the Swift packages; with a name and --version, another one of that
        package."""
        with open(log, "a", buffering=1) as kept:
            process = self.start("package", ["resolve", *arguments])
            kept.writelines(process.stdout)
        if process.wait():
            raise Failure(f"SwiftPM cannot take {' '.join(arguments) or 'the Swift packages'}; {log} says why")

    def swift_packages(self, product):
        """The Swift packages of which something is linked into a product."""
        found = linked_packages(self.source / self.scratch, self.configuration, product)
        if not found:
            raise Failure(f"SwiftPM does not say which packages are linked into {product}")
        return found

    def mapped(self):
        """Options with which programs do not say where they were built.

        Debug information, which is stripped anyway, names what was kept in the scratch folder, and the hash that the
        compiler puts into each object to recognize it is one of paths too.
        """
        named = f"{self.place}={PLACE}"
        return ["-debug-info-format", "none", "-Xswiftc", "-Xfrontend", "-Xswiftc", "-disable-incremental-llvm-codegen",
                "-Xswiftc", "-file-prefix-map", "-Xswiftc", named, "-Xcc", f"-ffile-prefix-map={named}",
                "-Xcxx", f"-ffile-prefix-map={named}"]


class Here(Target):
    """This machine's own release, built by its own compiler."""

    def prepare(self):
        need(("swift", "Swift 6.2 or later, from swift.org"), ("unshare", "util-linux"))
        run(self.source / "deploy/prepare", "build")
        self.can_mount = subprocess.run(in_place(self.source, ["true"]), capture_output=True).returncode == 0
        self.place = PLACE if self.can_mount else str(self.source)
        self.options = [option.replace(str(self.source), self.place) for option in self.options]
        if not self.can_mount:
            say(
                "nothing can be mounted here, as in some containers: "
                "the packages may not be the same bytes as elsewhere"
            )

    def compiler_version(self):
        return "Swift " + run("swift", "--version").split("Swift version ", 1)[1].split()[0]

    def start(self, tool, arguments):
        """Starts swift build or swift package."""
        command = [
            "swift",
            tool,
            "--package-path",
            self.place,
            "--scratch-path",
            f"{self.place}/{self.scratch}",
            *arguments,
        ]
        return subprocess.Popen(in_place(self.source, command) if self.can_mount else command, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def tool(self, name):
        return name

    def database(self):
        return []

    def runner(self, program):
        return [program]

    def shlibdeps(self):
        return []

    def owner(self, library):
        """The package that has a library."""
        return run("dpkg", "-S", f"/usr/lib/{self.multiarch}/{library}").split(":")[0]

    def version_of(self, package):
        return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], text=True, capture_output=True).stdout


class There(Target):
    """Another release or architecture, built in the compiler's chroot."""

    def __init__(self, suite, architecture, source, configuration, work):
        super().__init__(suite, architecture, source, configuration)
        self.compiler, self.sysroot = Compiler(work), Sysroot(work, suite, architecture)
        self.place = "/source"
        self.options = [option.replace(str(self.source), self.place) for option in self.options]

    def prepare(self):
        programs = [("mmdebstrap", "mmdebstrap"), ("unshare", "util-linux")]
        if self.architecture == "arm64":
            programs += [
                ("qemu-aarch64-static", "qemu-user-static"),
                ("aarch64-linux-gnu-strip", "binutils-aarch64-linux-gnu"),
            ]
        need(*programs)
        if os.geteuid():
            raise Failure("run this as root: packages for another release or processor are built in a chroot", 77)
        archive = Archive()
        self.compiler.prepare(archive)
        self.sysroot.prepare(archive)
        self.sdk = self.sysroot.sdk(self.compiler)

    def compiler_version(self):
        versions = run(
            "dpkg-query", f"--admindir={self.compiler.root}/var/lib/dpkg", "-W", "-f", "${Version}", "swiftlang"
        )
        return f"Swift {versions}"

    def start(self, tool, arguments):
        return self.compiler.inside(
            [*STEADY, f"swift-{tool}", "--disable-sandbox", "--package-path", self.place, "--scratch-path",
             f"{self.place}/{self.scratch}", "--swift-sdk", self.sdk, *arguments],
            {**self.sysroot.folders(), self.place: self.source})

    def tool(self, name):
        return name if self.architecture == "amd64" else f"{self.multiarch}-{name}"

    def runner(self, program):
        return self.sysroot.runner(program)

    def database(self):
        return [f"--admindir={self.sysroot.database}"]

    def shlibdeps(self):
        return [*self.database(), f"-l{self.sysroot.root}/usr/lib/{self.multiarch}"]

    def owner(self, library):
        path = f"{self.sysroot.root}/usr/lib/{self.multiarch}/{library}"
        return run("dpkg-query", f"--admindir={self.sysroot.database}", "-S", path).split(":")[0]

    def version_of(self, package):
        return subprocess.run(["dpkg-query", f"--admindir={self.sysroot.database}", "-W", "-f", "${Version}",
                               package], text=True, capture_output=True).stdout
