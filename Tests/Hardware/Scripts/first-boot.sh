# Read by a script beside it, after steps.sh and service.sh: enrollments that wait for the agent, and the scanner and
# the keypad that people use.
# shellcheck shell=sh disable=SC2154 # names that those scripts set

card=/boot/firmware

# Mounts a boot partition of FAT that only root may read, as the strictest images do: a mebibyte, in a file.
mount_card() {
    perl -e 'print pack "C3 A8 v C v C v2 C v3 V2 C3 V A11 A8 x448 v C3", 0xeb, 0x3c, 0x90, "latchkey", 512, 4, 1, 1, 64,
        2048, 0xf8, 2, 32, 64, 0, 0, 0x80, 0, 0x29, 1, "bootfs", "FAT12", 0xaa55, 0xf8, 0xff, 0xff' > /run/card
    truncate -s 1M /run/card
    mkdir -p $card
    mount -t vfat -o loop,umask=0077 /run/card $card && mkdir $card/latchkey
}
# Prints a new enrollment URL of the lab.
mint() { administer enrollments --json '{}' | sed 's/.*"url":"\([^"]*\)".*/\1/'; }
# Whether the partition has an enrollment, even one that no file has any more.
card_has_url() { sync && grep -q subjectKeyHash /run/card; }

# What the agent has told since its start, an entry on each line.
entries() { get logs /run/latchkey/api.sock | tr '{' '\n'; }
# Whether it has told what a pattern says.
has_told() { entries | grep -q -- "$1"; }
# How often it was shown a code of which a part was lost.
lost_codes() { entries | grep -c 'enrollment.refused.*lost'; }

# Waits until the board is registered with what waited for it, and notes what the agent told of it.
await_taken() {
    latchkey wait --for registered --timeout 600 --json >> "$log" 2>&1
    observe registered $?
    [ -z "${1-}" ] || until_true "$1" has_told "$1"
    latchkey logs | sed -n 's/.*\(enrollment\.[a-z-]*\): \(.*\)/\1=\2/p' | note told
    ask status
    ask_lab
}
# The board is enrolled nowhere again.
forget() {
    latchkey deregister --yes --json >> "$log" 2>&1
    latchkey accounts remove gateway --json >> "$log" 2>&1
    observe forgotten $?
}

# Makes an input device in the background, and waits until udev has given it to its group: what keypad.py makes.
make_device() {
    mkfifo "/run/$1.keys"
    python3 -B "${0%/*}/keypad.py" "$1" "/run/$1.keys" > "/run/$1.device" &
    given 'an input device' await_line "/run/$1.device" 1 /dev/input/
    device=$(cat "/run/$1.device")
    given 'an input device of its group' until_true "$device of the group input" is_of_input
}
is_of_input() { [ "$(stat -c %G "$device")" = input ]; }

# Shows the scanner a code until it is read whole, more slowly each time. Of one that is typed faster than this board
# reads it, the agent says so, unless the last key was lost as well.
show_code() {
    for pause_of_keys in 8 16 32 64 64; do
        lost=$(lost_codes)
        echo "$pause_of_keys $1" > /run/scan.keys
        looks=60
        until has_read_code || [ $looks = 0 ]; do looks=$((looks - 1)); sleep "$pause"; done
        ! has_told enrollment.found || return 0
    done
    until_true 'a code that was read whole' has_told enrollment.found
}
has_read_code() { has_told enrollment.found || [ "$(lost_codes)" -gt "$lost" ]; }

# Presses keys of the keypad by their names once the agent reads it.
type_keys() {
    until_true 'the keypad in use' is_keypad_used
    echo "$*" > /run/make.keys
}
is_keypad_used() { /usr/bin/find "/proc/$main/fd" -lname "$keypad" | grep -q .; }
# Runs a command in the background in a terminal of its own, at which nobody types.
in_terminal() {
    : > /run/terminal
    NO_COLOR=1 script -qefc "latchkey $*" /run/terminal > /dev/null 0<> /run/nobody &
    terminal=$!
}
# Waits until the terminal shows a text; a question does not end its line.
await_screen() { until_true "$1" grep -q "$1" /run/terminal; }
# Waits for the end of the command, and notes its exit status and what was on the screen.
end_terminal() {
    wait "$terminal"
    observe terminal $?
    /usr/bin/tr -cd '[:print:]\n' < /run/terminal | sed 's/^/line=/' | note screen
}
