# Read by the scripts beside it, after steps.sh: two boards and a lab in one virtual board, board a with the button and
# the LED. TRANSPORT is kernel or bluez.
# shellcheck shell=sh disable=SC2034,SC2154 # names that those scripts read and set

# Several programs share the emulated processor: looking often would keep them from what is waited for.
pause=0.3
patience=200
button=$(board line button)
led=$(board line led)

# Runs a board: its name, adapter, definition, then a command that the agent is run by, if any.
start_board() {
    name=$1 adapter=$2 parts=$3
    shift 3
    write_settings "/run/$name" "$parts" "[gateway]
device_name = \"board $name\"
[bluetooth]
transport = \"$TRANSPORT\"
adapter = \"$adapter\"
[proximity]
share = \"button\"
consent_seconds = 20
requests_per_minute = 60"
    : > "/run/$name.err"
    "$@" "$LATCHKEY" run --config "/run/$name/latchkey.toml" 2>> "/run/$name.err" &
    running=$!
}
# Waits until it is ready: its name, its process.
await_board() { await_line "/run/$1.err" 1 ready "$2"; }
# The command line of a board: its name, a subcommand.
on() {
    board=$1
    shift
    "$LATCHKEY" "$@" --json --socket "/run/$board/api.sock"
}
# Notes what a subcommand prints, errors too, and its exit status.
ask() {
    on "$@" >> "$log" 2>&1
    observe "$2" $?
}
# Notes what a board tells of itself from now on, with its name.
follow() {
    on "$1" status --follow | /usr/bin/sed -u "s/^{/{\"board\":\"$1\",/" >> "$log" &
    followers="${followers-} $!"
}
# Waits for an event: of which board, its name, the process without which it cannot come.
await_event() { await "^{\"board\":\"$1\".*\"event\":\"$2\"" "${3-}"; }
# Waits until board a asks whether to let board b in, or the log-in has ended without that.
await_question() { await_event a proximity.consent-asked "$login"; }
enroll() {
    administer enrollments --json '{}' | sed 's/.*"url":"\([^"]*\)".*/\1/' > /run/url
    on "$1" enroll --no-register - < /run/url > "/run/$1.enrolled"
    observe "enroll-$1" $?
}

# Starts the lab and both boards, and follows these.
start_both() {
    # shellcheck disable=SC2119 # without options
    start_lab
    start_boards
    await_line /run/lab.out 1 'admin page' "$lab"
    follow_both
}
follow_both() {
    follow a
    follow b
    await '"board":"a".*"uptime"'
    await '"board":"b".*"uptime"'
}
# Starts board a as it is defined, and board b with nothing but its adapter.
start_boards() {
    adapter_a=hci0
    [ "$TRANSPORT" = kernel ] || given 'bluetoothd' board bluetoothd
    echo 'title = "Bare board"' > /run/bare.toml
    start_board a $adapter_a "$DEFINITION"
    a=$running
    start_board b hci1 /run/bare.toml
    b=$running
    await_board a $a
    await_board b $b
}

# Board b asks to be let in.
begin_login() { on b login --ble > /run/login.out 2>&1 & login=$!; }
end_login() {
    wait "$login"
    status=$?
    sed 's/^{/{"board":"login",/' /run/login.out >> "$log"
    observe login $status
}
log_out() { on b logout > /dev/null; observe logout $?; }
# Drives the button by one process, which keeps the times: a level and for how many milliseconds, again and again.
drive() {
    perl -e 'my $pull = shift; while (defined(my $level = shift)) {
        open my $file, ">", $pull; print $file $level ? "pull-up" : "pull-down"; close $file;
        select undef, undef, undef, shift() / 1000 }' "$button/pull" "$@"
}
released_twice() { [ "$(tail -n "+$((seen + 1))" "$log" | grep -c '"button.released"')" -ge 2 ]; }
press() { drive 0 150 1 0; }
# Waits until a press means the one who asks: another one may have asked shortly before.
await_alone() { until_true 'one question alone' is_alone; }
is_alone() { get proximity /run/a/api.sock | grep -q '"ambiguous":false'; }
# A whole log-in by a short press.
let_in() {
    begin_login
    await_question
    await_alone
    press
    end_login
}

# Tenths of a second since the board was started.
tenths() {
    read -r now _ < /proc/uptime
    now=${now%?}
    now=${now%.*}${now#*.}
}
# How often the LED changes, up to four times: in how many tenths of a second at most. Starts no process, which takes
# too long here.
watch_led() {
    changes=0
    read -r before < "$led/value"
    tenths
    end=$((now + $1))
    while [ $changes -lt 4 ] && [ "$now" -lt $end ]; do
        read -r level < "$led/value"
        [ "$level" = "$before" ] || changes=$((changes + 1))
        before=$level
        tenths
    done
    observe led-changes $changes
}
own_memory() { observe own-kb "$(awk '$1 == "RssAnon:" { print $2 }' "/proc/$a/status")"; }
# Blocks the adapter of board a by software, or lets it go: 1 or 0.
block() {
    for switch in /sys/class/rfkill/rfkill*; do
        [ "$(cat "$switch/name")" != "$adapter_a" ] || echo "$1" > "$switch/soft"
    done
}
