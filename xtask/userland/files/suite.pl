use strict;
use warnings;
use List::Util qw(sum max first reduce shuffle);
use POSIX qw(floor strftime WEXITSTATUS);

my %parts = (
    text => sub {
        open my $file, '<', 'license' or die;
        my (%count, $lines);
        while (<$file>) { $lines++; $count{lc $1}++ while /([a-z]+)/gi; }
        my @words = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
        printf "%s=%d ", $_, $count{$_} for @words[0 .. 9];
        print "\n$lines\n";
        (my $text = "one two three") =~ s/(\w+) (\w+)/$2 $1/;
        print join('|', $text, ucfirst lc 'ABC', scalar reverse('abc'), sprintf('%05.1f|%-5s|%x', 3.14159, 'ab', 255)), "\n";
        print join(',', "2020-01-02" =~ /(\d+)-(\d+)/), ' ', join(',', map { $_ * 2 } grep { $_ % 2 } 1 .. 9), "\n";
        my $x = "aXbXc"; my $n = ($x =~ tr/X/-/); print "$n $x\n";
        print "yes\n" if "foobar" =~ /^(?<a>foo)(?=bar)/ and $+{a} eq 'foo';
    },
    data => sub {
        my %tree = (a => [1, 2, {b => 3}], c => sub { $_[0] ** 2 });
        print $tree{a}[2]{b}, ' ', $tree{c}->(5), ' ', sum(1 .. 100), ' ', max(3, 9, 2), ' ', (reduce { $a * $b } 1 .. 10), "\n";
        my @sorted = sort { $a <=> $b } (10, 9, 100, 1); print "@sorted[0..1] $#sorted\n";
        print join(' ', unpack('A3 n C', pack('A3 n C', 'abcd', 515, 65))), ' ', unpack('%32C*', 'checksum'), "\n";
        print strftime('%Y-%m-%d', gmtime 1600000000), ' ', floor(-3.5), ' ', 2 ** 53 + 1, ' ', 10 / 3, ' ', 1e21, ' ', 0x1f, "\n";
        local $@; eval { die { code => 7 } }; print "died $@->{code}\n"; eval { my $z = 0; 1 / $z }; print $@;
        my $closure = do { my $n = 0; sub { ++$n } }; $closure->() for 1 .. 4; print $closure->(), "\n";
    },
    processes => sub {
        $| = 1;
        my $out = `echo out; exit 3`; print $out, $? >> 8, "\n";
        pipe my $read, my $write; my $pid = fork;
        if (!$pid) { close $read; print $write "from a child\n"; close $write; exit 5 }
        close $write; print <$read>; waitpid $pid, 0; print $? >> 8, "\n";
        open my $sorter, '|-', 'sort', '-n' or die; print $sorter "$_\n" for 10, 9, 100; close $sorter;
        local $SIG{ALRM} = sub { die "alarm\n" }; eval { alarm 1; select undef, undef, undef, 30; }; print $@;
        local $SIG{USR1} = sub { print "got USR1\n" }; kill USR1 => $$; print system('kill -9 $$') & 127, "\n";
    },
    files => sub {
        mkdir 'made'; open my $file, '>', 'made/one' or die; print $file "line $_\n" for 1 .. 5; close $file;
        rename 'made/one', 'made/two'; link 'made/two', 'made/three'; symlink 'two', 'made/four';
        opendir my $folder, 'made'; print join(' ', sort grep { !/^\./ } readdir $folder), "\n";
        print -s 'made/two', ' ', (stat 'made/two')[3], ' ', readlink 'made/four', ' ', -e 'made/five' ? 1 : 0, "\n";
        open $file, '+<', 'made/two'; seek $file, 5, 0; print $file 'X'; seek $file, 0, 0; print scalar <$file>; close $file;
        unlink glob 'made/*'; rmdir 'made'; print -d 'made' ? "there\n" : "gone\n"; open $file, '<', 'missing' or print "$!\n";
    },
);
$parts{$ARGV[0]}->();
