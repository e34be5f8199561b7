#!/bin/sh
# Works the simulated button and looks at the LED from outside while the probe holds both.
# shellcheck source-path=SCRIPTDIR source=steps.sh
. "${0%/*}/steps.sh"
press() { echo pull-down > "$button/pull"; }
let_go() { echo pull-up > "$button/pull"; }
# Presses and lets go again a few times, as fast as a contact bounces.
bounce() { for _ in 1 2 3 4 5; do press; let_go; done; }
# Prints how many lines the agent holds.
consumers() { grep -c latchkey /sys/kernel/debug/gpio; }
holds_both() { [ "$(consumers)" = 2 ]; }
# Waits until it holds both.
await_consumers() { until_true 'two lines in use' holds_both; }
is_free() { grep -q '\[none\]' /sys/class/leds/status/trigger; }
button=$(board line button)

step forbidden
chmod 600 /dev/gpiochip0
/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups "$PROGRAMS/hardware-probe" check "$DEFINITION" >> "$log"

start_probe run "$DEFINITION"
step held
await_consumers
observe consumers "$(consumers)"
probe check "$DEFINITION"

# A press of a button that bounces, and what it makes of the LED.
work_button() {
    bounce; press
    await '"pressed"'
    observe led "$(board gpio led)"
    bounce; let_go
    await '"released"'
    observe led "$(board gpio led)"
}

step bouncing
work_button

# Ends as it began, and rests for longer than the debounce time.
step glitch
bounce
sleep 0.6
step again
press
await '"pressed"'
let_go
await '"released"'

step busy
probe run "$DEFINITION"

step ended
end_probe
observe consumers "$(consumers)"
probe check "$DEFINITION"

# Nothing drives the line but the resistor that the definition asks for.
step biased
for bias in pull-down pull-up; do
    sed "s/^active = \"low\"/&\nbias = \"$bias\"/" "$DEFINITION" > /run/biased.toml
    start_probe run /run/biased.toml
    await_consumers
    observe level "$(board gpio button)"
    end_probe
done

step missing
sed 's/^chip = "board"/chip = "pinctrl-rp1"/' "$DEFINITION" > /run/other.toml
probe check /run/other.toml
sed 's/^line = "button"/line = "GPIO17"/; s/^line = "led"/line = 7/' "$DEFINITION" > /run/another.toml
probe check /run/another.toml

# The kernel's drivers of keys and LEDs get both lines.
step driven
board drivers
tree=${0%/*}/../../../Boards/generic-device-tree.toml
probe check "$tree"
start_probe run "$tree"
until_true 'an LED without its trigger' is_free
work_button
end_probe
