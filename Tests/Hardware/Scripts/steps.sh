# Read by the scripts beside it, inside the virtual board: they run the programs of this build, work the hardware and
# write down what they did in between, so that the log tells both in order.
# shellcheck shell=sh

PROGRAMS=${PROGRAMS:?the folder of the programs}
log=/run/steps.log
: > "$log"

# Runs the probe once: its arguments.
probe() { "$PROGRAMS/hardware-probe" "$@" >> "$log"; }

# Runs the probe in the background: its arguments.
start_probe() { "$PROGRAMS/hardware-probe" "$@" >> "$log" 2>&1 & running=$!; }

# Ends the probe and waits until it has let go of its lines.
end_probe() { kill "$running"; wait "$running" 2> /dev/null || true; }

# Notes that a step begins: its name.
step() {
    echo "{\"event\":\"step\",\"name\":\"$1\"}" >> "$log"
    seen=$(wc -l < "$log")
}

# Notes what was seen from outside: what, its value.
observe() { echo "{\"event\":\"observed\",\"name\":\"$1\",\"value\":$2}" >> "$log"; }

# Waits, a minute or so at most, until a command succeeds: what that means, the command. Notes and fails if it does not.
until_true() {
    awaited=$1
    shift
    tries=${patience:-600}
    until "$@" > /dev/null; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || { echo "{\"event\":\"missed\",\"name\":\"$(echo "$awaited" | tr -d '"\134')\"}" >> "$log"; return 1; }
        sleep "${pause:-0.1}"
    done
}

# Whether the log has a line of this pattern after the beginning of the step.
has_logged() { tail -n "+$((seen + 1))" "$log" | grep -q -- "$1"; }

# Waits until it has.
await() { until_true "$1" has_logged "$1"; }

# Whether the LED is on for longer than the pause between two flashes.
stays_lit() {
    level_of_led=$(board line led)/value
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
        read -r level < "$level_of_led"
        [ "$level" = 1 ] || return
        sleep 0.2
    done
}

# Whatever happens, the log is what the test gets.
trap 'cat "$log"' EXIT
