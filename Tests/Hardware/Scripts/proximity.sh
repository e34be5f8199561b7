#!/bin/sh
# One board lets another one in, over the kernel's own Bluetooth: board a has the button and the LED, board b wants to
# log in. TRANSPORT is kernel or bluez.
# shellcheck source-path=SCRIPTDIR source=steps.sh
. "${0%/*}/steps.sh"
TRANSPORT=${TRANSPORT:?kernel or bluez}
DEFINITION=${DEFINITION:?a board definition with a button and an LED}
# shellcheck source=boards.sh
. "${0%/*}/boards.sh"

start_both

step enrolled
enroll a
enroll b

step stranger
ask a share

step shared
echo alice-password | on a login --user alice --password-stdin >> "$log"
observe login $?
await_event a broker.connected
ask a share
await_event a proximity.sharing-started

step granted
watch_led 20
begin_login
await_question
watch_led 50
press
end_login
await_event b proximity.device-disconnected
await_event a proximity.central-disconnected
ask b whoami
ask_lab
own_memory
log_out

step refused
begin_login
await_question
board press button 1800
await_event a button.released
end_login

# The press before the question says nothing.
step silent
press
await_event a button.released
begin_login
end_login

step bouncing
begin_login
await_question
await_alone
drive 0 5 1 5 0 5 1 5 0 150 1 5 0 5 1 5 0 5 1 0
end_login
log_out

if [ "$TRANSPORT" = kernel ]; then
    for time in third fourth fifth; do
        step $time
        let_in
        log_out
    done
    own_memory
fi

step doubled
begin_login
await_question
drive 0 120 1 120 0 120 1 0
end_login
await_event a proximity.sharing-stopped
ask a proximity

# Nobody waits: the end comes before the button is up again.
step unasked
ask a share
drive 0 120 1 120 0 120 1 0
await_event a proximity.sharing-stopped
until_true 'the second release' released_twice
ask a proximity

step blocked
block 1
ask a doctor
block 0

step bare
ask b doctor

step gone
if [ "$TRANSPORT" = bluez ]; then
    ask a share
    kill -9 "$(pidof bluetoothd)"
else
    kill $a
    wait $a
    given 'one more adapter' board adapter add
    # The button is down before the agent begins.
    board gpio button 0
    start_board a hci2 "$DEFINITION"
    await_board a $running
    follow a
    await '"board":"a".*"uptime"'
    ask a share
    await_event a proximity.button-fault
    board adapter remove
fi
await_event a proximity.sharing-interrupted
ask a doctor

step returned
if [ "$TRANSPORT" = bluez ]; then
    given 'bluetoothd' board bluetoothd
else
    board gpio button 1
    await_event a proximity.button-recovered
    given 'one more adapter' board adapter add
fi
await_event a proximity.sharing-started
if [ "$TRANSPORT" = bluez ]; then
    let_in
    ask b whoami
fi

step unprivileged
if [ "$TRANSPORT" = kernel ]; then
    start_board c hci0 /run/bare.toml /usr/bin/setpriv --bounding-set=-all --inh-caps=-all
    await_board c $running
    ask c doctor
fi

step end
ask a proximity audit
