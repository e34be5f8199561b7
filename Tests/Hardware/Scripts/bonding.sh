#!/bin/sh
# Two of the board's controllers, one serving what takes a bond, the other asking for it.
# shellcheck source-path=SCRIPTDIR source=steps.sh
. "${0%/*}/steps.sh"

# Serves on the first controller: more options.
serve() {
    "$PROGRAMS/bluetooth-probe" serve --adapter hci0 --encrypted "$@" >> "$log" 2>&1 &
    serving=$!
    await '"started"'
}
end_serving() { kill "$serving"; wait "$serving" 2> /dev/null || true; }
# Asks from the second, and notes how that ended: more options.
login() {
    "$PROGRAMS/bluetooth-probe" login --adapter hci1 "$@" >> "$log" 2>&1
    observe login $?
}
# Changes what the first controller does in pairing, as another program could: the setting.
disallow() {
    timeout 10 btmgmt --index 0 "$1" off > /run/btmgmt.out 2>&1 < /dev/null
    observe "$1" $?
}

step bonded
serve
login --times 2 --seconds 60

step forgotten
login --seconds 60

step hidden
login --private --times 2 --seconds 60
end_serving

step refused
serve
disallow bondable
login --seconds 60
end_serving

step legacy
serve
disallow sc
# What was written was refused when it came: there is no answer to wait for long.
login --seconds 60 --answer-seconds 10
end_serving

# From here on the address is another one.
step private
serve --private
login --seconds 60
end_serving
