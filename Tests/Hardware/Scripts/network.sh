#!/bin/sh
# Runs the agent behind a cable that loses 30 % of the packets each way and delays the rest by half a second in all, and
# publishes readings over it.
# shellcheck source-path=SCRIPTDIR source=steps.sh
. "${0%/*}/steps.sh"
# Minutes: what is lost is sent again after seconds, and that may be lost too.
patience=400
pause=1
limit=480

# Publishes the numbers from the first to the last.
publish() {
    seq "$1" "$2" | "$LATCHKEY" publish --lines counter > /dev/null
    observe publish $?
}
is_drained() { get status | grep -q '"outbox":{[^}]*"depth":0[,}]'; }
# In hundredths of a second.
processor() { awk '{print $14 + $15}' "/proc/$agent/stat"; }

# The board in a network of its own, and a cable to the lab.
/sbin/ip netns add board
/sbin/ip link add lab type veth peer name board
/sbin/ip link set board netns board
/sbin/ip address add 192.0.2.1/24 dev lab
/sbin/ip link set lab up
/sbin/ip -n board address add 192.0.2.2/24 dev board
/sbin/ip -n board link set board up
/sbin/ip -n board link set lo up

make_agent simulated "directories = [\"${DEFINITION%/*}\"]
[telemetry]
enabled = false"
start_lab --host 192.0.2.1 --listen 192.0.2.1
start_agent /sbin/ip netns exec board

step clean
"$LATCHKEY" status --follow --json >> "$log" &
await '"uptime"'
administer enrollments --json '{}' | sed 's/.*"url":"\([^"]*\)".*/\1/' > /run/url
"$LATCHKEY" enroll --json - < /run/url >> "$log"
observe enroll $?
await '"broker.connected"'
publish 1 16
until_true 'the first readings' is_drained

step lossy
observe processor "$(processor)"
observe began "$(date +%s)"
/sbin/tc qdisc add dev lab root netem delay 250ms loss 30%
/sbin/ip netns exec board /sbin/tc qdisc add dev board root netem delay 250ms loss 30%
publish 17 50
until_true 'the readings under way' is_drained

# The connection is lost too, and has to be made under the same conditions: TCP, TLS and MQTT.
step anew
administer broker/kill --json '{}' > /run/administer.out
await '"broker.failed"'
publish 51 66
administer broker/start --json '{}' > /run/administer.out
await '"broker.connected"'
until_true 'the readings after it' is_drained
observe processor "$(processor)"
observe ended "$(date +%s)"

step mended
/sbin/tc qdisc del dev lab root
/sbin/ip netns exec board /sbin/tc qdisc del dev board root
publish 67 80
until_true 'the last readings' is_drained
ask_lab
