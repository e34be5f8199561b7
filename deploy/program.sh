# shellcheck shell=bash
# Read by deploy/install, whose functions `say` and `here` and whose variable `root` it uses: checks whether a
# program can be installed.

# The processor of an ELF file as two bytes in hexadecimal; nothing for other files.
processor_of() {
    [ "$(head -c 4 "$1" | od -An -c | tr -d ' ')" = '177ELF' ] || return 0
    od -An -tx1 -j18 -N2 "$1" | tr -d ' '
}
# Whether a program is for this machine's processor.
runs_here() { [ "$(processor_of "$1")" = "$(processor_of "$(realpath /proc/self/exe)")" ]; }

# Exits unless a file is a program that can be installed.
check_program() {
    [ -f "$1" ] || { say "there is no program $1"; exit 66; }
    [ -n "$(processor_of "$1")" ] || { say "$1 is not a program for Linux (ELF)"; exit 65; }
    runs_here "$1" || ! here || { say "$1 is for a processor other than this machine's"; exit 65; }
}

# Prints the Debian packages that the program needs, by the release they are installed on.
packages() {
    local release
    # shellcheck source=/dev/null disable=SC2154 # set by the script that sources this
    release=$(. "$root/etc/os-release" 2>/dev/null || . /etc/os-release && echo "${VERSION_ID-}")
    # Debian 13 has different names for libraries with 64-bit time.
    case $release in
        12 | '') echo libcurl4 libgpiod2 libmicrohttpd12 libmosquitto1 libqrencode4 libsqlite3-0 libssl3 libstdc++6 ;;
        *) echo libcurl4t64 libgpiod3 libmicrohttpd12t64 libmosquitto1 libqrencode4 libsqlite3-0 libssl3t64 libstdc++6 ;;
    esac
}

# Exits unless every library of a program is installed.
check_libraries() {
    local missing file
    # This machine does not need libraries of another processor.
    runs_here "$1" || { say "the board needs: $(packages)"; return; }
    missing=$(ldd "$1" | sed -n 's/^[[:space:]]*\(.*\) => not found/\1/p')
    # The program loads these itself.
    for file in libcurl.so.4 libmicrohttpd.so.12; do
        [[ $(/sbin/ldconfig -p) == *"$file "* ]] || missing+=${missing:+$'\n'}$file
    done
    [ -z "$missing" ] && return
    say "missing: ${missing//$'\n'/, }; on Debian they come with
  apt-get install $(packages)"
    exit 69
}
