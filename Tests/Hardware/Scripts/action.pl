# The command of an action: prints, as one JSON object, who it runs as, what it was given, and what came of its attempts
# at what the runner's unit forbids. Run by the script confined.sh through the agent and systemd, and by root outside of
# the unit, where every attempt must succeed to prove anything.
use strict;
use warnings;
use Errno;
use Fcntl;
use Socket;

my @pairs;
sub tell_of { my ($name, $value) = @_; push @pairs, qq("$name":"$value"); }
# Notes what came of an attempt: its name, whether it succeeded.
sub outcome {
    my ($name, $succeeded) = @_;
    my $error = $!;
    my ($code) = $succeeded ? 'allowed' : grep { $!{$_} } sort keys %!;
    tell_of($name, $code // $error + 0);
}
sub opens { my ($name, $path, $mode) = @_; outcome($name, sysopen(my $file, $path, $mode)) }
sub connects {
    my ($name, $path) = @_;
    socket(my $socket, AF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
    outcome($name, connect($socket, sockaddr_un($path)));
}

binmode STDIN;
my $payload = do { local $/; <STDIN> };
tell_of('payload', unpack 'H*', $payload // '');
tell_of('arguments', "@ARGV");
tell_of('topic', $ENV{LATCHKEY_OWN_TOPIC} // '');
tell_of('user', $>);
open(my $status, '<', '/proc/self/status') or die "status: $!";
while (<$status>) { tell_of($1, $2) if /^(CapEff|CapBnd|NoNewPrivs|Seccomp):\s*(\S*)/ }
open(my $group, '<', '/proc/self/cgroup') or die "cgroup: $!";
tell_of('unit', join '', map { m,/([^/]+)$, ? substr($1, 0, 17) : () } map { chomp; $_ } <$group>);

outcome('list the agent\'s state', opendir(my $state, '/var/lib/latchkey'));
connects('connect to the agent', '/run/latchkey/api.sock');
connects('ask for another command', '/run/latchkey-actions.sock');
outcome('signal another process', kill 0, 1);
opens('see another process', '/proc/1/status', O_RDONLY);
opens('see the others\' temporary files', '/tmp/latchkey-attempt', O_RDONLY);
outcome('list a home', opendir(my $home, '/root'));
opens('write below /usr', '/usr/share/latchkey/action', O_CREAT | O_WRONLY);
unlink '/usr/share/latchkey/action';
# Numbers of x86-64, as the board is.
outcome('change its personality', syscall(135, 0x0020000) != -1);
outcome('make a user name space', syscall(272, 0x10000000) != -1);
print '{', join(',', @pairs), "}\n";
