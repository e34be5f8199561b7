#!/bin/sh
# Shows a board that is not enrolled codes by a scanner of the kernel's, which is plugged in while the agent runs, and
# presses a key of its device tree as its button.
# shellcheck source-path=SCRIPTDIR source=steps.sh
. "${0%/*}/steps.sh"

mkfifo /run/keys /run/codes
python3 -B "${0%/*}/scanner.py" gpio-keys /run/keys > /run/device.keys 2> /run/keys.err &
await_line /run/device.keys 1 /dev/input/ || give_up
cat > /run/keys.toml <<'END'
title = "Board with keys"
[button]
input = ["missing", "gpio-keys"]
END
make_agent /run/keys.toml "[telemetry]
enabled = false
[enrollment]
scanner = \"Code scanner\""
# shellcheck disable=SC2119 # without options
start_lab
# shellcheck disable=SC2119
start_agent
# shellcheck disable=SC2154 # start_agent sets agent
"$LATCHKEY" status --follow --json >> "$log" &

# The key of the machine's power is not the button's.
step button
await '"uptime"'
echo 'key 116' > /run/keys
echo 'key 256' > /run/keys
await '"button.released"'

step plugged
python3 -B "${0%/*}/scanner.py" 'Code scanner' /run/codes > /run/device.codes 2> /run/codes.err &
await_line /run/device.codes 1 /dev/input/ || give_up
await '"enrollment.scanner-ready"'

step refused
echo 'https://example.org/' > /run/codes
await '"enrollment.refused"'

# A scanner reads a code again while it is held before it.
step enrolled
administer enrollments --json '{}' | sed 's/.*"url":"\([^"]*\)".*/\1/' > /run/url
cat /run/url /run/url > /run/codes
await '"gateway.device-did-register"'

# The scanner is let go of: other programs may use it.
step released
device=$(cat /run/device.codes)
unused() { ! find "/proc/$agent/fd" -lname "$device" | grep -q .; }
until_true 'an unused scanner' unused
grep -q subjectKeyHash /run/agent.err
observe secrets $?
