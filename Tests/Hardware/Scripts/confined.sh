#!/bin/sh
# Installs the agent as the service it is on a board, on one that systemd started, and has it do its work behind the
# unit's restrictions: enrollments that wait for it, a keypad, sensors, button, LED, broker; after a restart, after it
# was killed, after it hung. In between it shares over Bluetooth, without bluetoothd by the drop-in, and through
# bluetoothd; at the end the kernel's drivers have button and LED. PROGRAM is the program; with NEARBY an agent beside
# it logs in.
# shellcheck source-path=SCRIPTDIR source=steps.sh
. "${0%/*}/steps.sh"
# shellcheck disable=SC2034 # read in the next file, of the agent that is let in
TRANSPORT=kernel
# shellcheck source=boards.sh
. "${0%/*}/boards.sh"
# shellcheck source=service.sh
. "${0%/*}/service.sh"
# shellcheck source=first-boot.sh
. "${0%/*}/first-boot.sh"
scripts=$(cd "${0%/*}" && pwd)
project=$scripts/../../..

# Notes what a subcommand prints, errors too, and its exit status.
ask() {
    latchkey "$@" --json >> "$log" 2>&1
    observe "$1" $?
}
# Waits until such a reading is at the broker: the sensor, a pattern for its value.
await_reading() { until_true "$1 of $2" has_arrived "$1[^}]*:$2[,}]"; }
has_arrived() { administer state | grep -q -- "$1"; }
# Shares, and lets board b in by a press where NEARBY says so. The radio loses reports by chance, so there are three
# tries.
share_nearby() {
    ask share
    await '"proximity.sharing-started"'
    if [ -n "${NEARBY-}" ]; then
        for _ in 1 2 3; do
            begin_login
            until has_logged '"proximity.consent-asked"' || ! kill -0 "$login" 2> /dev/null; do sleep "$pause"; done
            press
            end_login
            [ "$status" != 0 ] || break
        done
        log_out
    fi
    ask doctor
    note_confinement
}

step installed
# shellcheck disable=SC2119 # without options
start_lab
mkdir -p /etc/latchkey/boards
cp "$DEFINITION" /etc/latchkey/boards/virtual-board.toml
# As root leaves it, who ran the agent by hand on this board once.
mkdir -m 700 /var/lib/latchkey
(umask 077; : > /var/lib/latchkey/lock)
"$project/deploy/install" --program "${PROGRAM:?the program}" 2> /run/install.err || give_up
until_true 'the rules of udev' is_ruled
sed -i 's/^definition = .*/definition = "virtual-board"/' /etc/latchkey/latchkey.toml
# An image has none.
rm /etc/latchkey/latchkey-vault.cred
mount_card || give_up
await_line /run/lab.out 1 'admin page' "$lab"
# As editors of other systems write it.
printf '%s\r\n' "$(mint)" > $card/latchkey/enroll.url
card_has_url
observe on-card $?

step started
systemctl start latchkey || give_up
note_confinement

step filed
await_taken enrollment.wiped
observe files "$(find $card/latchkey -type f | wc -l)"
card_has_url
observe on-card $?
forget

step confined
# The same unit for a program that tries what it forbids: as root, so that it is not the files' modes that refuse it. The
# unit hides homes and temporary folders, in which the repository may be.
install -m 644 "$scripts/attempts.pl" /usr/local/lib
sed 's,^ExecStart=.*,ExecStart=/usr/bin/perl /usr/local/lib/attempts.pl unit,; s/^Type=.*/Type=oneshot/
    s/^User=.*/User=root/; s/^Group=.*/Group=nogroup/; s/^Restart=.*/Restart=no/; /^WatchdogSec=/d
    s/Directory=latchkey$/Directory=latchkey-attempts/' \
    /usr/lib/systemd/system/latchkey.service > $units/attempts.service
printf 'StandardOutput=append:%s\n' "$log" | sed -i '/^\[Service\]/r /dev/stdin' $units/attempts.service
touch /tmp/latchkey-attempt
systemctl start attempts
observe attempts $?
perl "$scripts/attempts.pl" root >> "$log"

step credential
install -d -m 700 /etc/credstore
(umask 077; mint > /etc/credstore/latchkey.enroll)
restart
await_taken enrollment.wiped
observe files "$(find /etc/credstore -type f | wc -l)"
forget

step scanned
make_device make
keypad=$device
make_device scan
install -D -m 644 /usr/share/doc/latchkey/latchkey-keypad.conf $units/latchkey.service.d/keypad.conf
sed -i 's/^scanner = .*/scanner = "Acme Barcode Scanner"/; s,^keypad = .*,keypad = "'"$keypad"'",' \
    /etc/latchkey/latchkey.toml
restart
until_true 'a scanner that is read' has_told enrollment.scanner-ready
ask status
show_code "$(mint)"
await_taken

step registered
ask mpin backend add door "$(sed -n 's/^m-pin  *//p' /run/lab.out)" --authorities /run/lab/ca.pem
administer mpin/settings --json '{"activation":"forced"}' > /dev/null
mkfifo /run/nobody
ask mpin user new alice
ask mpin register start --user alice
ask mpin register confirm --user alice
in_terminal mpin register finish --user alice
await_screen 'New PIN of alice'
type_keys 9 0 4 1 7 2 6 3 ENTER
await_screen 'The same PIN again'
type_keys 9 0 4 1 7 2 6 3 ENTER
end_terminal

step keyed
in_terminal mpin login --user alice
await_screen 'PIN of alice'
type_keys 9 0 4 1 7 2 6 4 ENTER
await_screen 'the PIN is wrong'
type_keys 9 0 4 1 7 2 8 BACKSPACE 6 3 ENTER
end_terminal
ask_lab
journalctl --no-pager -o cat -u latchkey | grep -c 9041726 | sed 's/^/secrets=/' | note journal
ask accounts remove door
rm $units/latchkey.service.d/keypad.conf
sed -i 's/^scanner = .*/scanner = ""/; s/^keypad = .*/keypad = ""/' /etc/latchkey/latchkey.toml
forget

step enrolled
# It begins anew, also with what its sensors measure.
restart
mint > /run/url
ask enroll - < /run/url
await '"broker.connected"'
until_true 'the LED on' stays_lit
observe led "$(board gpio led)"
ask doctor

step readings
board sensor cpu 61234
board sensor tmp75.temperature -12500
board sensor bme280.pressure 98.765
board sensor ds18b20 4500
await_reading cpu.temperature 61.234
await_reading tmp75.temperature -12.5
await_reading bme280.pressure '987.[0-9]*'
await_reading ds18b20.temperature 4.5
for sensor in load memory-available disk-free; do await_reading system.$sensor '[0-9.]*'; done
ask_lab

step pressed
board press button 500
await '"button.released"'

# From the next start on, messages start commands.
install -m 755 "$scripts/action.pl" /usr/local/bin/action.pl
printf '#!/bin/sh\ntrap "" TERM\nsetsid sleep 98765 &\necho begun\nwait\n' > /usr/local/bin/slow
chmod 755 /usr/local/bin/slow
cat >> /etc/latchkey/latchkey.toml <<'END'
[[actions]]
name = "act"
filter = "act"
command = ["/usr/bin/perl", "/usr/local/bin/action.pl", "--fixed"]
[[actions]]
name = "slow"
filter = "slow"
command = ["/usr/local/bin/slow"]
timeout_seconds = 3
retries = 0
END
systemctl start latchkey-actions.socket || give_up

step restarted
restart
board sensor cpu 51000
await_reading cpu.temperature '51\(\.0\)*'
note_confinement

step acted
# What it publishes to its own topics comes back from the broker.
printf '%s\n' "\$(touch /run/trap); 'quoted\"" | latchkey publish act --json >> "$log"
await '"action.ended"'
ask actions log act
perl /usr/local/bin/action.pl < /dev/null | sed 's/^{/{"event":"outside",/' >> "$log"
latchkey publish slow now --json >> "$log"
await '"action.failed"'
ask actions log slow
observe left "$(grep -slz '9876[5]' /proc/[0-9]*/cmdline | wc -l)"
observe trapped "$(find /run -maxdepth 1 -name trap | wc -l)"
systemctl show latchkey-actions.socket -p ActiveState,NAccepted,NConnections | note socket
observe runners "$(systemctl list-units --plain --no-legend --state=failed 'latchkey-actions@*' | wc -l)"

step killed
kill -9 "$main"
await_other
board sensor cpu 52000
await_reading cpu.temperature '52\(\.0\)*'
note_confinement

step kernel
mkdir -p $units/latchkey.service.d
cp /usr/share/doc/latchkey/latchkey-bluetooth.conf $units/latchkey.service.d
restart
echo alice-password | latchkey login --user alice --password-stdin --json >> "$log"
observe user-login $?
if [ -n "${NEARBY-}" ]; then
    echo 'title = "Bare board"' > /run/bare.toml
    start_board b hci1 /run/bare.toml
    await_board b $running
    enroll b
fi
share_nearby

step bluez
rm $units/latchkey.service.d/*
# As this machine's systemd starts it, with the drop-in.
rm $units/bluetooth.service
systemctl daemon-reload
given 'bluetoothd' systemctl start bluetooth
restart
share_nearby

step crashed
kill -ABRT "$(pidof bluetoothd)"
await '"proximity.sharing-interrupted"'
await '"proximity.sharing-started"'
systemctl show bluetooth -p NRestarts | note bluetoothd

step hung
printf '[Service]\nWatchdogSec=10\nRestartSec=1\n' > $units/latchkey.service.d/watchdog.conf
restart
kill -STOP "$main"
await_other
board sensor cpu 53000
await_reading cpu.temperature '53\(\.0\)*'
journalctl --no-pager -o cat -u latchkey | sed -n "s/.*Failed with result '\(.*\)'.*/result=\1/p" | note journal

# The kernel's drivers of keys and LEDs have both lines, as on a board whose device tree names them.
step driven
systemctl stop latchkey
given 'the drivers of a device tree' board drivers
rm $units/latchkey.service.d/watchdog.conf
cp /usr/share/doc/latchkey/latchkey-device-tree.conf $units/latchkey.service.d/
sed -i 's/^definition = .*/definition = "generic-device-tree"/' /etc/latchkey/latchkey.toml
restart
board press button 500
await '"button.released"'
until_true 'the LED on' stays_lit
observe led "$(board gpio led)"

step ended
systemctl stop latchkey
observe stopped $?
systemctl show latchkey -p Result,ExecMainStatus | note shown
journalctl --no-pager -o cat -u latchkey --grep 'not permitted|denied|priority' | tr '=:"' ' ' |
    sed 's/^/said=/' | note complaint

step removed
"$project/deploy/install" --uninstall --purge 2> /run/install.err
observe purge $?
for name in /usr/bin/latchkey /etc/latchkey /var/lib/latchkey /usr/lib/systemd/system/latchkey.service; do
    [ ! -e $name ] || echo "left=$name" | note left
done
for kind in passwd group; do
    if getent $kind latchkey > /dev/null; then echo "left=$kind" | note left; fi
done
