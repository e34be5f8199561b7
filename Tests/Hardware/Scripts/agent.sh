#!/bin/sh
# Runs the agent as it is shipped, with a gateway and a broker beside it, and works the hardware under it.
# shellcheck source-path=SCRIPTDIR source=steps.sh
. "${0%/*}/steps.sh"

# Notes what a subcommand prints and its exit status.
ask() {
    "$LATCHKEY" "$@" --json >> "$log"
    observe "$1" $?
}
# Waits until such a message is at the broker; a pattern for the lab's JSON.
await_message() { until_true "$1" has_arrived "$1"; }
has_arrived() { administer state | grep -q -- "$1"; }
# Waits until a reading is at the broker: the sensor, a pattern for its value.
await_reading() { await_message "$1[^}]*:$2[,}]"; }

make_agent "$DEFINITION"
# shellcheck disable=SC2119 # without options
start_lab
# shellcheck disable=SC2119
start_agent

step fresh
"$LATCHKEY" status --follow --json >> "$log" &
await '"uptime"'
observe led "$(board gpio led)"

step enrolled
administer enrollments --json '{}' | sed 's/.*"url":"\([^"]*\)".*/\1/' > /run/url
ask enroll - < /run/url
await '"broker.connected"'
until_true 'the LED on' stays_lit
observe led "$(board gpio led)"

step check
"$LATCHKEY" board check "$DEFINITION" --json >> "$log"
observe check $?
ask doctor

step readings
board sensor cpu 61234
board sensor tmp75.temperature -12500
board sensor sht21.humidity 61000
board sensor bme280.temperature 31000
board sensor bme280.pressure 98.765
board sensor ds18b20 4500
await_reading cpu.temperature 61.234
await_reading tmp75.temperature -12.5
await_reading sht21.humidity '6[01][.0-9]*'
await_reading bme280.temperature '3[01][.0-9]*'
await_reading bme280.pressure '987.[0-9]*'
await_reading ds18b20.temperature 4.5
ask_lab

# It goes on failing for some attempts, and another sensor is read all the while.
step absent
board sensor ds18b20 absent
await '"sensor.failed"'
ask doctor
for value in 50000 53000 56000; do
    board sensor cpu $value
    await_reading cpu.temperature "${value%000}\(\.0\)*"
done

step returned
board sensor ds18b20 -7500
await '"sensor.recovered"'
await_reading ds18b20.temperature -7.5
ask_lab

# The contact bounces before it is down and before it is up again, slowly enough that the driver loses no edge.
step bouncing
bounce() {
    for level in 0 1 0 1 0 1; do
        board gpio button $level
        sleep 0.02
    done
}
bounce
board press button 2500
bounce
await '"button.released"'

step publish
ask publish door/state open
await_message '"payload":"open"[^}]*/custom/door/state"'
ask_lab

step ended
kill $agent
wait $agent
observe agent $?
await_message '"payload":"offline"'
ask_lab
