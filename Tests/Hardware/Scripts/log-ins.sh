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
    timeout 300 /usr/bin/tail --pid="$login" -n "+$((seen + 1))" -f "$log" |
        grep -q -m 1 '^{"board":"a".*"event":"proximity.consent-asked"'
}

start_both
enroll a
enroll b
echo alice-password | on a login --user alice --password-stdin > /run/alice.out
await_event a broker.connected
ask a share --for 60m
await_event a proximity.sharing-started
btmon -w /out/trace > /run/btmon.out 2>&1 &
until_true 'the trace' test -s /out/trace

for round in $(seq "${TIMES:-30}"); do
    step "$round"
    observe began "$(/usr/bin/date +%s%3N)"
    begin_login
    if is_asked; then
        observe asked "$(/usr/bin/date +%s%3N)"
        await_alone
        press
    fi
    end_login
    observe ended "$(/usr/bin/date +%s%3N)"
    on b logout > /run/logout.out
done
