#!/bin/sh
# The part of "deploy/demo --proximity" that runs on the virtual board: one board
# with a button lets another one in. PROGRAMS is the folder of the programs,
# COLOR is set if the output is a terminal.
set -u
PROGRAMS=${PROGRAMS:?the folder of the programs}
HERE=$(cd "${0%/*}/.." && pwd)
DOOR=/run/door NEW=/run/new

if [ -n "${COLOR-}" ]; then
    esc=$(printf '\033[')
    bold="${esc}1m" dim="${esc}2m" red="${esc}31m" green="${esc}32m" yellow="${esc}33m" cyan="${esc}36m" plain="${esc}0m"
else
    bold='' dim='' red='' green='' yellow='' cyan='' plain=''
fi
step() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }
note() { printf '%s   %s%s\n' "$dim" "$*" "$plain"; }
# Runs a subcommand on a board and shows both: the board's name, its color, its folder, the subcommand.
on() {
    name=$1 color=$2 folder=$3
    shift 3
    note "$name \$ latchkey $*"
    "$PROGRAMS/latchkey" "$@" --socket "$folder/api.sock" > /run/answer 2>&1
    status=$?
    lines "$name" "$color" '' < /run/answer
    return $status
}
door() { on 'front door' "$yellow" $DOOR "$@"; }
new() { on 'new board ' "$cyan" $NEW "$@"; }
# Copies lines with the board's name and color before each: name, color, a sed command for the line itself.
lines() { sed -u "$3
s/^/$2$1 |$plain /"; }
# Shows a board's events of proximity login as they happen: name, color, folder.
tell() {
    "$PROGRAMS/latchkey" proximity status --follow --json --socket "$3/api.sock" 2> /dev/null |
        sed -un 's/.*"message":"\(\([^"\\]\|\\.\)*\)".*/\1/p' | lines "$1" "$2" '' &
}
# Reports the failure, with the last log lines of the programs, and exits.
fail() {
    printf '%sfailed:%s %s\n' "$red" "$plain" "$1" >&2
    for log in /run/*.err; do
        [ ! -s "$log" ] || { echo "--- ${log##*/}, its last lines:"; tail -n 10 "$log"; } >&2
    done
    exit 1
}
# Waits until a command succeeds: seconds, name of the event, the command.
await() {
    tries=$(($1 * 5)) what=$2
    shift 2
    until "$@" > /dev/null 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || fail "$what did not happen in time"
        sleep 0.2
    done
}
asks() { "$PROGRAMS/latchkey" consent --json --socket $DOOR/api.sock | grep -q '"id"'; }
# Prints an enrollment URL, which works once.
mint() { "$PROGRAMS/latchkey-lab" enroll; }
# Starts an agent: its name, its folder, its controller, its board definition.
start() {
    mkdir -m 700 "$2" "$2/state"
    cat > "$2/latchkey.toml" <<TOML
[agent]
state_directory = "$2/state"
[vault]
slot = "development-key-file"
[api]
socket = "$2/api.sock"
[board]
definition = "$4"
directories = ["$HERE/Boards"]
[gateway]
device_name = "$1"
[bluetooth]
transport = "kernel"
adapter = "$3"
[proximity]
# A virtual machine may be slow.
consent_seconds = 90
TOML
    "$PROGRAMS/latchkey" run --config "$2/latchkey.toml" 2> "$2.err" &
    await 60 "the agent of the $1" grep -q ready "$2.err"
}

step 'A gateway, and two boards in radio range of each other, on one virtual machine'
"$PROGRAMS/latchkey-lab" run > /run/lab.out 2> /run/lab.err &
cat > /run/front-door.toml <<'TOML'
title = "Front door"
[button]
chip = "board"
line = "button"
active = "low"
[led]
chip = "board"
line = "led"
active = "high"
TOML
printf 'title = "New board"\n' > /run/new-board.toml
await 60 'the lab gateway' grep -q 'admin page' /run/lab.out
cat /run/lab.out
start 'front door' $DOOR hci0 /run/front-door.toml
start 'new board' $NEW hci1 /run/new-board.toml
note 'front door: on hci0, with a button and an LED; new board: on hci1, with nothing but its radio'

step 'Alice logs in on the first board, by her password'
mint > /run/url
door enroll - < /run/url || fail 'the enrollment of the first board'
echo alice-password > /run/password
door login --user alice --password-stdin < /run/password || fail 'the login of alice'

step 'The second board knows the gateway, but has no identity yet'
mint > /run/url
new enroll --no-register - < /run/url || fail 'the enrollment of the second board'
rm /run/url /run/password
new whoami

step 'The first board offers its session; the second asks for it, over Bluetooth'
tell 'front door' "$yellow" $DOOR
tell 'new board ' "$cyan" $NEW
door share --once || fail 'sharing'
note 'new board  $ latchkey login --ble'
"$PROGRAMS/latchkey" login --ble --socket $NEW/api.sock > /run/login.out 2> /run/login.err &
login=$!
await 60 'the question' asks

step 'Nothing happens without consent: the LED of the first board flashes'
door consent
levels=''
for _ in 1 2 3 4 5 6 7 8 9 10; do
    levels="$levels$(board gpio led)"
    sleep 0.05
done
note "the LED, looked at ten times: $(echo "$levels" | tr 01 '.#')"

step 'Somebody presses the button of the first board, for 150 milliseconds'
note '$ board press button 150'
board press button 150
wait $login || fail 'the login of the second board'
# The remaining events of the boards.
sleep 1
lines 'new board ' "$cyan" '' < /run/login.out

step 'The second board has an identity now, and alice is logged in'
new whoami || fail 'no user is logged in on the second board'
new status

step 'The first board keeps a record of whom it let in'
door proximity audit
grep -q authorized /run/answer || fail 'there is no record'
printf '\n%sIt works.%s\n' "$green" "$plain"
