#!/bin/sh
# Works a keypad of the kernel's, on which a person enters the PIN of an M-Pin user, while another program reads it too.
# shellcheck source-path=SCRIPTDIR source=steps.sh
. "${0%/*}/steps.sh"

# Notes what a subcommand prints and its exit status: the name of the note, the subcommand.
ask() {
    name=$1
    shift
    "$LATCHKEY" "$@" --json >> "$log" 2>&1
    observe "$name" $?
}
# Presses keys by their names, one after the other.
type_keys() { echo "$*" > /run/keys; }
# Begins a login whose PIN is asked for, as the console's page does.
begin() {
    curl -sSN --unix-socket "$LATCHKEY_SOCKET" -H 'Accept: application/x-ndjson' -d '{}' \
        http://localhost/v1/accounts/door/mpin/users/alice/login/prompted >> "$log" &
    login=$!
    await '"prompt.asked"' "$login"
    until_true 'the keypad in use' used
}
# Whether the agent has the keypad open.
# shellcheck disable=SC2154 # start_agent sets agent
used() { /usr/bin/find "/proc/$agent/fd" -lname "$device" | grep -q .; }
unused() { ! used; }

mkfifo /run/keys
python3 -B "${0%/*}/keypad.py" make /run/keys > /run/device &
given 'an input device' await_line /run/device 1 /dev/input/
device=$(cat /run/device)
python3 -B "${0%/*}/keypad.py" read "$device" > /run/others &

make_agent "$DEFINITION" "[telemetry]
enabled = false
[mpin]
keypad = \"$device\""
# shellcheck disable=SC2119 # without options
start_lab
# shellcheck disable=SC2119
start_agent
administer clients --json '{"name":"phone"}' |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["ca"])' > /run/lab.pem
url=$(sed -n 's/^m-pin  *//p' /run/lab.out)
ask add mpin backend add door "$url" --authorities /run/lab.pem
administer mpin/settings --json '{"activation":"forced"}' > /dev/null
ask new mpin user new alice
ask start mpin register start
ask confirm mpin register confirm
echo 2580 | "$LATCHKEY" mpin register finish --json >> "$log" 2>&1

# Nobody asks for anything: others may use the keypad.
step idle
type_keys 1
await_line /run/others 1 KEY_1
until_true 'an unused keypad' unused

step wrong
begin
type_keys 1 2 3 4 ENTER
await 'the PIN is wrong' "$login"
step right
until_true 'the keypad in use' used
type_keys 2 5 9 BACKSPACE 8 0 ENTER
await '"logged-in"' "$login"
wait "$login"
until_true 'an unused keypad' unused
observe others "$(wc -l < /run/others)"

step refused
begin
type_keys ESC
await 'mpin.pin-input-canceled' "$login"

step ended
kill "$agent"
wait "$agent"
grep -q -e 2580 -e 1234 /run/agent.err
observe secrets $?
