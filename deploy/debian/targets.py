"""The compiler and the Debian releases that packages are cross-built for.

A program for another release or processor than this machine's is built by Swift of Debian sid, in a chroot, against the
libraries and headers of its own release (a sysroot). Both are made once, of Debian's packages, with the archive and the
options that this machine's apt has.
"""

import contextlib
import fcntl
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

COMPILER = "sid"            # the only release whose Swift is 6.2 or later
SWIFT = "/usr/libexec/swift"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# Of LLVM, as Debian's Swift has them, and of Debian.
TRIPLES = {"amd64": ("x86_64-pc-linux-gnu", "x86_64-linux-gnu"),
           "arm64": ("aarch64-unknown-linux-gnu", "aarch64-linux-gnu")}
STARTED = time.monotonic()


class Failure(Exception):
    """What a person is told, with the exit status of sysexits.h."""

    def __init__(self, text, status=1):
        super().__init__(text)
        self.status = status


def say(text):
    print(f"deploy/package: {text} ({time.monotonic() - STARTED:.0f} s)", file=sys.stderr, flush=True)


def run(*command, **options):
    """Runs a command and returns what it prints; its errors are shown only when it fails."""
    made = subprocess.run([str(word) for word in command], text=True, stdin=subprocess.DEVNULL, capture_output=True,
                          **options)
    if made.returncode:
        sys.stderr.write(made.stdout[-4000:] + made.stderr[-4000:])
        raise Failure(f"{shlex.join(str(word) for word in command[:4])} … failed with {made.returncode}")
    return made.stdout


def need(*programs):
    """Fails unless programs are there, naming their packages: (program, package)."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    missing = sorted({package for name, package in programs if not shutil.which(name, path=path)})
    if missing:
        raise Failure(f"install these first: apt-get install --no-install-recommends {' '.join(missing)}", 69)


@contextlib.contextmanager
def locked(path, tell):
    """Holds a lock on a file, which is made if there is none; waits while another run has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(f"another run uses {path.parent}; this one begins when it has ended")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Archive:
    """Debian's archive as this machine's apt has it."""

    def __init__(self):
        targets = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(ORIGIN)").splitlines()
        # Other archives, such as that of Raspberry Pi OS, may be among them.
        found = sorted(
            {(uri, suite) for uri, suite, *origin in (line.split() for line in targets) if origin == ["Debian"]}
        )
        self.main = next((uri for uri, suite in found if "-" not in suite), None)
        self.security = next((uri for uri, suite in found if suite.endswith("-security")), None)
        if not self.main:
            raise Failure("apt has no list of Debian's packages: apt-get update", 69)
        # A mirror that is a snapshot of some day says false.
        valid = run("apt-config", "dump", "--format", "%v%n", "Acquire::Check-Valid-Until").strip() or "true"
        self.options = [f"Acquire::Check-Valid-Until={valid}"]

    def sources(self, suite):
        """The lines of a sources.list."""
        lines = [f"deb [signed-by={KEYRING}] {self.main} {suite} main"]
        if suite != COMPILER:
            lines.append(f"deb [signed-by={KEYRING}] {self.main} {suite}-updates main")
            if self.security:
                lines.append(f"deb [signed-by={KEYRING}] {self.security} {suite}-security main")
        return lines


class Compiler:
    """The chroot with the compiler."""

    def __init__(self, work):
        self.work = work
        self.root = work / "compiler"

    def prepare(self, archive):
        if (self.root / ".complete").exists():
            return
        say(f"making the chroot of the compiler: Debian {COMPILER}, some 600 MB to download")
        shutil.rmtree(self.root, ignore_errors=True)
        options = [f"--aptopt={name} \"{value}\"" for name, value in
                   (option.split("=") for option in [*archive.options, "APT::Install-Recommends=false"])]
        run("mmdebstrap", "--quiet", "--mode=root", "--variant=apt", "--architectures=amd64", f"--keyring={KEYRING}",
            *options, "--include=swiftlang,libswiftlang,g++,libc6-dev,git,ca-certificates",
            COMPILER, self.root, archive.main)
        (self.root / ".complete").touch()

    def inside(self, command, folders):
        """Runs a command in the chroot, with folders of this machine there (a list of pairs); returns its process.
        What is mounted for it is gone with it."""
        git = subprocess.run(["git", "config", "--get-regexp", r"^url\..*\.insteadof$"], text=True,
                             stdout=subprocess.PIPE).stdout
        configuration = "[safe]\n\tdirectory = *\n"
        folders = dict(folders)
        # git in there reads the Swift packages from where git does here.
        for key, value in (line.split(" ", 1) for line in git.splitlines()):
            base = key.removeprefix("url.").removesuffix(".insteadof")
            configuration += f'[url "{base}"]\n\tinsteadOf = {value}\n'
            if base.startswith("/"):
                folders[base] = Path(base)
        (self.root / "etc/gitconfig").write_text(configuration)
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")
        mounts = ""
        for inner, outer in folders.items():
            (self.root / inner.lstrip("/")).mkdir(parents=True, exist_ok=True)
            mounts += f"mount --bind {shlex.quote(str(outer))} {shlex.quote(f'{self.root}{inner}')}; "
        root = shlex.quote(str(self.root))
        script = (
            f"mount -t proc proc {root}/proc; mount --rbind /dev {root}/dev; mount -t tmpfs tmpfs {root}/tmp; {mounts}"
            f"exec chroot {root} /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH={SWIFT}/bin:/usr/sbin:/usr/bin "
            + shlex.join(command)
        )
        return subprocess.Popen(["unshare", "--mount", "--propagation", "private", "sh", "-ec", script], text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class Sysroot:
    """The libraries and headers of a Debian release and a processor, with Swift's static libraries."""

    DEVELOPMENT = (
        "libc6-dev libstdc++-{gcc}-dev linux-libc-dev libbluetooth-dev libcurl4-openssl-dev libgnutls28-dev "
        "libgpiod-dev libmicrohttpd-dev libmosquitto-dev libp11-kit-dev libqrencode-dev libsqlite3-dev libssl-dev "
        "libsystemd-dev libtss2-dev mosquitto-dev"
    )

    def __init__(self, work, suite, architecture):
        self.work, self.suite, self.architecture = work, suite, architecture
        self.root = work / f"sysroot-{suite}-{architecture}"
        self.triple, self.multiarch = TRIPLES[architecture]
        # dpkg's database, as far as dpkg-shlibdeps needs it. Its paths are those of this machine.
        self.database = self.root / "var/lib/dpkg"

    def prepare(self, archive):
        if (self.root / ".complete").exists():
            return
        say(f"making the sysroot: Debian {self.suite} for {self.architecture}, some 600 MB to download")
        shutil.rmtree(self.root, ignore_errors=True)
        for folder in ("bin", "sbin", "lib", "lib64"):
            (self.root / "usr" / folder).mkdir(parents=True)
            (self.root / folder).symlink_to(f"usr/{folder}")
        (self.database / "info").mkdir(parents=True)
        (self.database / "info/format").write_text("1\n")
        self._unpack_libraries(archive)
        self._unpack_swift(archive)
        (self.root / ".complete").touch()

    def _apt(self, name, suite, archive):
        """An apt state of its own, its lists read: this machine's are left alone."""
        state = self.work / "apt" / f"{name}-{suite}-{self.architecture}"
        shutil.rmtree(state, ignore_errors=True)
        for folder in ("lists/partial", "cache/archives/partial"):
            (state / folder).mkdir(parents=True)
        (state / "status").touch()
        (state / "sources.list").write_text("\n".join(archive.sources(suite)) + "\n")
        (state / "apt.conf").write_text(
            f'APT::Architecture "{self.architecture}"; APT::Architectures {{ "{self.architecture}"; }};\n'
            'APT::Install-Recommends "false"; APT::Sandbox::User "root";\n'
            f'Dir::State "{state}"; Dir::State::lists "{state}/lists"; Dir::State::status "{state}/status";\n'
            f'Dir::Cache "{state}/cache"; Dir::Etc::sourcelist "{state}/sources.list";\n'
            'Dir::Etc::sourceparts "/dev/null"; Dir::Etc::preferencesparts "/dev/null";\n')
        options = [word for option in archive.options for word in ("-o", option)]

        def apt(*arguments, program="apt-get", **more):
            return run(
                program,
                *options,
                "-qq",
                *arguments,
                cwd=state,
                env={**os.environ, "APT_CONFIG": str(state / "apt.conf")},
                **more,
            )
        apt("update")
        return state, apt

    def _unpack_libraries(self, archive):
        state, apt = self._apt("board", self.suite, archive)
        # The newest C++ library of the release.
        names = apt("pkgnames", "libstdc++-", program="apt-cache").split()
        newest = max(int(name.split("-")[1]) for name in names if name.split("-")[1].isdigit() and name.endswith("-dev")
                     and name.count("-") == 2)
        apt("-y", "--download-only", "install", *self.DEVELOPMENT.format(gcc=newest).split())
        for package in sorted((state / "cache/archives").glob("*.deb")):
            self._unpack(package)
        shutil.rmtree(state)

    def _unpack(self, package):
        """Unpacks a package and records what it contains: which file is whose, and which symbol came when."""
        # Through the links of /lib and /bin, which dpkg-deb -x would replace.
        unpacked = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "--keep-directory-symlink", "-C", self.root], stdin=unpacked.stdout, check=True)
        if unpacked.wait():
            raise Failure(f"{package} is damaged")
        control = run("dpkg-deb", "-f", package)
        fields = dict(line.split(": ", 1) for line in control.splitlines() if ": " in line and not line.startswith(" "))
        name = fields["Package"] + (f":{self.architecture}" if fields.get("Multi-Arch") == "same" else "")
        with open(self.database / "status", "a") as status:
            status.write(control.replace("\n", "\nStatus: install ok installed\n", 1) + "\n")
        paths = [line.split(None, 5)[5].split(" -> ")[0] for line in run("dpkg-deb", "-c", package).splitlines()]
        paths = [path.lstrip(".").rstrip("/") for path in paths]
        # A release whose packages still have /lib has its files below /usr here, by the links.
        paths = [f"/usr{path}" if path.startswith(("/lib/", "/lib64/", "/bin/", "/sbin/")) else path for path in paths]
        info = self.database / "info"
        (info / f"{name}.list").write_text("".join(f"{self.root}{path}\n" for path in paths if path))
        for file in ("symbols", "shlibs"):
            kept = subprocess.run(["dpkg-deb", "-I", package, file], capture_output=True)
            if kept.returncode == 0:
                (info / f"{name}.{file}").write_bytes(kept.stdout)

    def _unpack_swift(self, archive):
        state, apt = self._apt("swift", COMPILER, archive)
        apt("download", "swiftlang")
        package = next(state.glob("swiftlang_*.deb"))
        data = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
        subprocess.run(
            ["tar", "-x", "-C", self.root, *(f".{SWIFT}/lib/{name}" for name in ("swift", "swift_static", "clang"))],
            stdin=data.stdout,
            check=True,
        )
        if data.wait():
            raise Failure(f"{package} is damaged")
        # The driver takes them for the sysroot's own when it links.
        for folder in ("swift", "swift_static"):
            (self.root / "usr/lib" / folder).symlink_to(f"../libexec/swift/lib/{folder}")
        shutil.rmtree(state)

    def sdk(self, compiler):
        """The Swift SDK that tells SwiftPM of the sysroot, in the compiler's chroot; returns its name there."""
        name = f"{self.suite}-{self.architecture}"
        bundle = compiler.root / f"root/.swiftpm/swift-sdks/{name}.artifactbundle"
        (bundle / "sdk").mkdir(parents=True, exist_ok=True)
        root = bundle / "sdk/root"
        root.unlink(missing_ok=True)
        root.symlink_to(f"/sysroot/{name}")
        # Debian's compiler calls its host "pc", others "unknown".
        hosts = ["x86_64-unknown-linux-gnu", "x86_64-pc-linux-gnu"]
        (bundle / "info.json").write_text(json.dumps({"schemaVersion": "1.0", "artifacts": {name: {
            "type": "swiftSDK", "version": "1", "variants": [{"path": "sdk", "supportedTriples": hosts}]}}}))
        (bundle / "sdk/swift-sdk.json").write_text(json.dumps({"schemaVersion": "4.0", "targetTriples": {self.triple: {
            "sdkRootPath": "root", "swiftResourcesPath": "root/usr/lib/swift",
            "swiftStaticResourcesPath": "root/usr/lib/swift_static", "toolsetPaths": ["toolset.json"]}}}))
        (bundle / "sdk/toolset.json").write_text(json.dumps({
            "schemaVersion": "1.0", "rootPath": f"{SWIFT}/bin", "librarian": {"path": "llvm-ar"}}))
        return name

    def folders(self):
        """Where the compiler's chroot has it."""
        return {f"/sysroot/{self.suite}-{self.architecture}": self.root}

    def runner(self, program):
        """The command that runs a program of this sysroot here."""
        if self.architecture == "arm64":
            return ["qemu-aarch64-static", "-L", self.root, program]
        libraries = f"{self.root}/usr/lib/{self.multiarch}"
        return [f"{self.root}/usr/lib64/ld-linux-x86-64.so.2", "--library-path", libraries, program]
