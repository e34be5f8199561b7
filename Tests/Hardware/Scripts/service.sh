# Read by a script beside it, after steps.sh: the agent as a service of systemd.
# shellcheck shell=sh disable=SC2034,SC2154 # names that those scripts read and set

units=/run/systemd/system

shown() { systemctl show latchkey --value -p "$1"; }
# Waits until systemd has another process of the agent than the one before, and it is ready.
await_other() { until_true 'another process' is_other; }
is_other() { [ "$(shown ActiveState)" = active ] && [ "$(shown MainPID)" != "$main" ]; }
# Notes lines NAME=VALUE as what an event has: its name.
note() {
    sed 's/["\\]/\\&/g; s/^\([^=:]*\)[=:][[:space:]]*\(.*\)/{"event":"'"$1"'","name":"\1","value":"\2"}/' >> "$log"
}
note_confinement() {
    main=$(shown MainPID)
    grep -E '^(Uid|Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' "/proc/$main/status" | tr '\t' ' ' | note process
    systemctl show latchkey -p NRestarts,User,ProtectSystem,ProtectHome,PrivateTmp,MemoryDenyWriteExecute \
        -p RestrictNamespaces,DevicePolicy,NoNewPrivileges,CapabilityBoundingSet,AmbientCapabilities,WatchdogUSec,MemorySwapMax | note shown
}
is_ruled() { [ "$(stat -c %G /dev/gpiochip0)" = gpio ]; }
# Restarts the service with its drop-ins of now, and notes what it tells of itself from then on.
restart() {
    systemctl daemon-reload
    systemctl restart latchkey || give_up
    main=$(shown MainPID)
    listen
}
listen() {
    [ -z "${listener-}" ] || kill "$listener"
    latchkey status --follow --json >> "$log" 2> /dev/null &
    listener=$!
    await '"uptime"'
}
say_last() {
    journalctl --no-pager -o cat -u latchkey > /run/journal.err
    tail -n 15 /run/*.err >&2
}
