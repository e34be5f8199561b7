#!/bin/sh
# Logs board b in by board a again and again, so many times, and keeps what both adapters and the kernel said meanwhile
# in /out/trace. TRANSPORT is kernel or bluez. Run by Tests/LogIns/log-ins.
# shellcheck source-path=SCRIPTDIR source=steps.sh
. "${0%/*}/steps.sh"
TRANSPORT=${TRANSPORT:?kernel or bluez}
DEFINITION=${DEFINITION:?a board definition with a button and an LED}
# shellcheck source=boards.sh
. "${0%/*}/boards.sh"

# Waits until board a asks, or the log-in has ended without that.
is_asked() {
    timeout 300 tail --pid="$login" -n "+$((seen + 1))" -f "$log" |
        grep -q -m 1 '^{"board":"a".*"event":"proximity.consent-asked"'
}

[ "$TRANSPORT" = kernel ] || board bluetoothd
echo 'title = "Bare board"' > /run/bare.toml
# shellcheck disable=SC2119 # without options
start_lab
start_board a hci0 "$DEFINITION"
a=$running
start_board b hci1 /run/bare.toml
await_board a $a
await_board b $running
await_line /run/lab.out 1 'admin page' "$lab" || give_up
follow a
follow b
await '"board":"a".*"uptime"'
await '"board":"b".*"uptime"'
enroll a
enroll b
echo alice-password | on a login --user alice --password-stdin > /run/alice.out
await_event a broker.connected
ask a share --for 60m
await_event a proximity.sharing-started || give_up
btmon -w /out/trace > /run/btmon.out 2>&1 &
until_true 'the trace' test -s /out/trace || give_up

for round in $(seq "${TIMES:-30}"); do
    step "$round"
    observe began "$(date +%s%3N)"
    begin_login
    if is_asked; then
        observe asked "$(date +%s%3N)"
        await_alone
        press
    fi
    end_login
    observe ended "$(date +%s%3N)"
    on b logout > /run/logout.out
done
