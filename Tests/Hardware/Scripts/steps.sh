# Read by the scripts beside it, inside the virtual board: they run the programs of this build, work the hardware and
# write down what they did in between, so that the log tells both in order. Their shell is busybox, which does itself what
# it can: to start Debian's grep takes the emulated processor a tenth of a second. What it cannot do is called by path.
# shellcheck shell=sh

PROGRAMS=${PROGRAMS:?the folder of the programs}
# As it is shipped, where that has been built: an optimized program takes a quarter of the time here.
LATCHKEY=${LATCHKEY:-$PROGRAMS/latchkey}
log=${LOG:-/run/steps.log}
: > "$log"

# Runs the probe once: its arguments.
probe() { "$PROGRAMS/hardware-probe" "$@" >> "$log"; }

# Runs the probe in the background: its arguments.
start_probe() { "$PROGRAMS/hardware-probe" "$@" >> "$log" 2>&1 & running=$!; }

# Ends the probe and waits until it has let go of its lines.
end_probe() { kill "$running"; wait "$running" 2> /dev/null || true; }

# Milliseconds since the board was started.
milliseconds() { sed 's/\([0-9]*\)\.\([0-9]*\).*/\1\20/' /proc/uptime; }

# Notes that a step begins, and when: its name.
step() {
    echo "{\"event\":\"step\",\"name\":\"$1\",\"ms\":$(milliseconds)}" >> "$log"
    seen=$(wc -l < "$log")
}

# Notes what was seen from outside: what, its value.
observe() { echo "{\"event\":\"observed\",\"name\":\"$1\",\"value\":$2}" >> "$log"; }

# Waits until a command succeeds: what that means, the command. Looks so many times, and not for so many seconds, as
# what it waits for has that much less of the processor where the machine is busy. If it does not succeed, the script
# ends: nothing of what is left can.
until_true() {
    awaited=$1
    shift
    tries=${patience:-600}
    until "$@" > /dev/null; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || miss
        sleep "${pause:-0.1}"
    done
}

# Ends the script by what was waited for in vain.
miss() {
    note_failed missed "$awaited"
    [ -n "${precondition-}" ] || give_up
    note_failed unmet "$precondition"
    say_last
    exit 75
}
note_failed() { echo "{\"event\":\"$1\",\"name\":\"$(echo "$2" | tr -d '"\134')\"}" >> "$log"; }

# Does what has to succeed before anything of Latchkey is tested: what that means, the command. Where it waits in vain
# the script ends as one whose precondition does not hold, and the board may be started anew.
given() {
    precondition=$1
    shift
    "$@" || { awaited=$*; miss; }
    precondition=
}

# Whether the log has a line of this pattern after the beginning of the step.
has_logged() { tail -n "+$((seen + 1))" "$log" | grep -q -- "$1"; }

# Waits until it has: the pattern, and the process without which that cannot come any more, if there is one.
await() { await_line "$log" $((seen + 1)) "$1" "${2-}"; }

# Waits until a file has a line of a pattern: the file, the number of the line from which on, the pattern, the process
# without which that cannot come any more. Meanwhile what is waited for has the whole processor, and is seen at once.
# The script ends if it does not come.
await_line() {
    awaited=$3
    timeout "${limit:-300}" /usr/bin/tail ${4:+"--pid=$4"} -n "+$2" -f "$1" | grep -q -m 1 -- "$3" || miss
}

# Whether the LED is on for longer than the pause between two flashes.
stays_lit() {
    level_of_led=$(board line led)/value
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
        read -r level < "$level_of_led"
        [ "$level" = 1 ] || return
        sleep 0.2
    done
}

# Makes the folder and the settings of an agent: the folder, its board's definition, more TOML that begins in [board].
write_settings() {
    [ -d "$1" ] || mkdir -m 700 "$1" "$1/state"
    cat > "$1/latchkey.toml" <<END
[agent]
state_directory = "$1/state"
[vault]
slot = "development-key-file"
[api]
socket = "$1/api.sock"
[board]
definition = "$2"
${3-}
END
}

# Makes the one agent of a script: its board's definition, more TOML.
make_agent() {
    write_settings /run/agent "$@"
    export LATCHKEY_SOCKET=/run/agent/api.sock
}

# Starts the lab, with the keys of $LAB_KEYS where there are any: its options.
start_lab() {
    [ -z "${LAB_KEYS-}" ] || cp -r "$LAB_KEYS" /run/lab
    : > /run/lab.out
    "$PROGRAMS/latchkey-lab" run ${LAB_KEYS:+--data /run/lab} "$@" >> /run/lab.out 2> /run/lab.err &
    lab=$!
}

# Starts the one agent, and waits until lab and agent are ready: a command that it is run by, if any.
start_agent() {
    : > /run/agent.err
    "$@" "$LATCHKEY" run --config /run/agent/latchkey.toml > /run/agent.out 2>> /run/agent.err &
    agent=$!
    await_line /run/lab.out 1 'admin page' "$lab"
    await_line /run/agent.err 1 ready $agent
}

# Prints what an agent answers: the path below /v1, the agent's socket if it is not $LATCHKEY_SOCKET. Not by its command
# line, which takes the emulated processor a second to start: this is for what is looked at often.
get() { curl -sS --max-time 60 --unix-socket "${2:-$LATCHKEY_SOCKET}" "http://latchkey/v1/$1"; }

# Calls the lab as its administrator: what, options of curl. The token is in the link to the page that the lab printed.
administer() {
    called=$1
    shift
    sed -n 's/^admin page .*#/Authorization: Bearer /p' /run/lab.out |
        curl -sS -H @- "$@" "http://127.0.0.1:8480/api/$called"
}

# Notes what the lab knows: its devices, who is logged in, and the messages that arrived at the broker.
ask_lab() { echo "{\"event\":\"lab\",\"state\":$(administer state)}" >> "$log"; }

# Nothing else can succeed: says what the programs said last.
give_up() {
    say_last
    exit 1
}
say_last() {
    # The first lines of a crash say more than the last of its trace.
    for errors in /run/*.err; do
        echo "==> $errors" >&2
        if [ "$(wc -l < "$errors")" -le 75 ]; then cat "$errors" >&2; else
            head -n 60 "$errors" >&2
            echo "..." >&2
            tail -n 15 "$errors" >&2
        fi
    done
    echo "gave up after: $(grep -E '"(missed|unmet)"' "$log")" >&2
}

# Whatever happens, the log is what the test gets.
trap 'cat "$log"' EXIT
