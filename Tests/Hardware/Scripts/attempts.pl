# Tries what the service's unit forbids, and prints what came of each attempt as a JSON object: run by the script
# confined.sh under the unit's restrictions, and without them, where every attempt must succeed to prove anything.
use strict;
use warnings;
use Errno;
use Fcntl;

my $where = shift;

# Prints the outcome of an attempt: its name, whether it succeeded.
sub outcome {
    my ($name, $succeeded) = @_;
    my $error = $!;
    my ($code) = $succeeded ? 'allowed' : grep { $!{$_} } sort keys %!;
    print qq({"event":"attempt","where":"$where","name":"$name","value":"), $code // $error + 0, qq("}\n);
}
sub opens { my ($name, $path, $mode) = @_; outcome($name, sysopen(my $file, $path, $mode)) }
sub calls { my ($name, $number, @arguments) = @_; outcome($name, syscall($number, @arguments) != -1) }

$| = 1;
opens('write below /usr', '/usr/share/latchkey/attempt', O_CREAT | O_WRONLY);
opens('write its settings', '/etc/latchkey/latchkey.toml', O_WRONLY);
opens('write to a driver', '/sys/module/board_sim/parameters/cpu_millicelsius', O_WRONLY);
opens('set a kernel tunable', '/proc/sys/kernel/domainname', O_WRONLY);
outcome('make a control group', mkdir '/sys/fs/cgroup/attempt');
outcome('list a home', opendir(my $home, '/root'));
opens('see the others\' temporary files', '/tmp/latchkey-attempt', O_RDONLY);
opens('see another process', '/proc/1/status', O_RDONLY);
opens('open a serial line', '/dev/ttyS0', O_RDWR | O_NONBLOCK | O_NOCTTY);
opens('read the kernel\'s log', '/dev/kmsg', O_RDONLY | O_NONBLOCK);
outcome('open a packet socket', socket(my $packet, 17, 3, 0));
# Numbers of x86-64, as the board is.
calls('have memory that is written and executed', 9, 0, 4096, 7, 0x22, -1, 0);
calls('ask for the kernel\'s log', 103, 10, 0, 0);
calls('change its personality', 135, 0x0020000);
my $suid = ($ENV{STATE_DIRECTORY} // '/run') . '/attempt';
open(my $file, '>', $suid) or die "$suid: $!";
outcome('make a set-user-id program', chmod 04755, $suid);
unlink $suid;
unless (my $child = fork) {
    calls('be traced', 101, 0, 0, 0, 0);
    calls('make a user name space', 272, 0x10000000);
    exit;
} else {
    waitpid $child, 0;
}
rmdir '/sys/fs/cgroup/attempt';
