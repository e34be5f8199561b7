#!/bin/sh
# What becomes of those who pair with bluetoothd: a stranger's keyboard, and phones; where an agent agrees to
# everything, and where Latchkey's decides.
# shellcheck source-path=SCRIPTDIR
TRANSPORT=bluez
# shellcheck source=phones.sh
. "${0%/*}/phones.sh"
adapter=00:AA:01:00:00:00

# Notes what bluetoothd keeps of those who paired, what the kernel has for keyboards of them now, and how many it has
# had since the control, for however short a time.
count() {
    observe bonds "$(grep -ls LongTermKey /var/lib/bluetooth/*/*/info | wc -l)"
    observe inputs "$(grep -lsx 0005 /sys/class/input/input*/id/bustype | wc -l)"
    observe taken $(($(taken) - ${before:-0}))
}
taken() { dmesg | grep -c 'hid-generic 0005:'; }
# The folder of the keyboard's events.
has_keyboard() {
    for events in /sys/class/input/event*; do
        ! grep -qsx 0005 "$events/device/id/bustype" || return 0
    done
    return 1
}
# What scan code a key has, and that it is down.
has_typed() { [ "$(wc -c < /run/typed)" = 48 ]; }
# How many bonds there are.
has_bonds() { [ "$(grep -ls LongTermKey /var/lib/bluetooth/*/*/info | wc -l)" = "$1" ]; }
objects() { dbus-send --system --print-reply --dest=org.bluez / org.freedesktop.DBus.ObjectManager.GetManagedObjects; }
nobody_is_connected() { ! objects | grep -A 1 '"Connected"' | grep -q 'boolean true'; }
# Has bluetoothd forget all devices: the next one is a stranger again.
forget() {
    for known in $(objects | sed -n 's/.*object path "\(.*\/dev_[0-9A-F_]*\)"$/\1/p' | sort -u); do
        dbus-send --system --print-reply --dest=org.bluez /org/bluez/hci0 org.bluez.Adapter1.RemoveDevice \
            "objpath:$known" > /run/forget.out
    done
}
# The keyboard does something: what.
keyboard() { echo "$*" > /run/keys; }
# It tries to become the board's: how. Waits until it has gone, for bluetoothd too.
intrude() {
    keyboard "$1" $adapter
    await '"phone":"keyboard","event":"ended"'
    until_true 'nobody connected' nobody_is_connected
    count
    forget
}

start_phones
start_phone keyboard I 2 /run/keys
start_phone central I 1 /run/orders
given 'bluetoothd' board bluetoothd

# With an agent of bluetoothd's that agrees to everything, a keyboard becomes the board's: what must not happen below
# could.
control() {
    mkfifo /run/control
    bluetoothctl --agent NoInputNoOutput < /run/control > /run/control.out 2>&1 &
    exec 3> /run/control
    until_true 'the other agent' grep -q 'Agent registered' /run/control.out
    echo default-agent >&3
    echo 'advertise on' >&3
    await_line "$log" 1 '"phone":"keyboard","event":"ready"'
    keyboard eager $adapter
    until_true 'the question' grep -q 'Accept pairing' /run/control.out
    echo yes >&3
    until_true 'the keyboard of the board' has_keyboard
    head -c 48 "/dev/input/${events##*/}" > /run/typed &
    await '"phone":"keyboard","event":"subscribed","ms":[0-9]*,"notify":true'
    keyboard type
    until_true 'the key' has_typed
    # KEY_A of linux/input-event-codes.h.
    [ "$(od -A n -t u2 -j 42 -N 2 /run/typed)" -eq 30 ] || return
    device=$(ls -d /var/lib/bluetooth/*/*/info)
    device=${device%/info}
    echo "remove ${device##*/}" >&3
    await '"phone":"keyboard","event":"ended"'
    until_true 'no bond' has_bonds 0
    echo quit >&3
    before=$(taken)
}
step control
given 'bluetoothd takes a keyboard that it is told to take' control

make_agent "$DEFINITION" "[bluetooth]
transport = \"bluez\"
adapter = \"hci0\"
[proximity]
require_encryption = true
requests_per_minute = 60"
start_lab --authorization-life 900
# shellcheck disable=SC2119 # by nothing else
start_agent

step shared
"$LATCHKEY" status --follow --json >> "$log" &
administer enrollments --json '{}' | sed 's/.*"url":"\([^"]*\)".*/\1/' > /run/url
ask enroll - < /run/url
await '"broker.connected"'
echo alice-password | "$LATCHKEY" login --user alice --password-stdin --json >> "$log" 2>&1
take_urls 2
ask share --for 30m
await '"proximity.sharing-started"'
ask doctor

# Nobody has asked for pairing.
for conduct in eager patient late; do
    step uninvited-$conduct
    intrude $conduct
done
for conduct in eager patient late; do
    step invited-$conduct
    ask proximity pair
    intrude $conduct
done

await_phone '"phone":"central","event":"ready"'
step stranger
next_url
ask proximity pair
order "--bond --mode leave:paired"
await '"phone":"central","event":"ended"'
until_true 'no bond' has_bonds 0
count

step phone
next_url
ask proximity pair
order "--bond --name Phone"
let_in
await_answer
count

step plugged
kill "$(pidof bluetoothd)"
await '"proximity.sharing-interrupted"'
given 'bluetoothd without input' board bluetoothd --noplugin=input,hog
await '"proximity.sharing-started"'
ask doctor
kill $agent
wait $agent
