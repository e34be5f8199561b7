#!/bin/sh
# One board lets another one in by its button, first over the kernel's own Bluetooth, then through bluetoothd.
# shellcheck source-path=SCRIPTDIR source=steps.sh
. "${0%/*}/steps.sh"
DEFINITION=${DEFINITION:?a board definition with a button and an LED}
TRANSPORT=kernel
# shellcheck source=boards.sh
. "${0%/*}/boards.sh"

# Board b is let in, and logged out again.
share_and_let_in() {
    ask a share
    await_event a proximity.sharing-started
    let_in
    await_event b proximity.device-disconnected
    await_event a proximity.central-disconnected
    ask b whoami
    ask_lab
    log_out
}

start_both
step kernel
enroll a
enroll b
echo alice-password | on a login --user alice --password-stdin >> "$log"
observe user $?
await_event a broker.connected
share_and_let_in

step bluez
# shellcheck disable=SC2086 # several processes
kill $a $b $followers
wait $a $b
TRANSPORT=bluez
start_boards
follow_both
share_and_let_in
ask a proximity audit
