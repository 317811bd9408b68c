proc text {} {
    set file [open license]; set words [dict create]
    foreach word [regexp -all -inline {[a-z]+} [string tolower [read $file]]] { dict incr words $word }
    close $file
    set pairs {}; dict for {word count} $words { lappend pairs [list $word $count] }
    puts [lrange [lsort -integer -decreasing -index 1 [lsort -index 0 $pairs]] 0 7]
    puts [regsub -all {(\w+) (\w+)} "one two three four" {\2 \1}]; puts [format "%05.1f|%-5s|%x" 3.14159 ab 255]
    puts [string map {a 1 b 2} abc]; puts [clock format 1600000000 -gmt 1 -format "%Y-%m-%d %H:%M"]
}
proc data {} {
    puts [expr {2**100 + 7 % 3 + sqrt(2)}]; puts [lsort -real {3 1.5 2}]; puts [join [lmap x {1 2 3} {expr {$x * $x}}] ,]
    array set a {x 1 y 2}; parray a; catch {expr {1 / 0}} message; puts $message
    coroutine numbers apply {{} { yield; for {set i 0} {$i < 3} {incr i} { yield $i } }}; puts [list [numbers] [numbers]]
    oo::class create Point { variable x; constructor v { set x $v }; method get {} { return $x } }; puts [[Point new 5] get]
}
proc processes {} {
    puts [exec echo out]; catch {exec sh -c "exit 3"} m options; puts [lindex [dict get $options -errorcode] 2]
    set pipe [open "|sort -r" r+]; puts $pipe "a\nb"; close $pipe write; puts [read $pipe]; close $pipe
    after 5 {set ::done 1}; vwait ::done; puts $::done; puts [lsort [glob *.sql]]
    file mkdir made/a; set f [open made/a/b w]; puts $f x; close $f; puts [file size made/a/b]; file delete -force made; puts [file exists made]
}
eval [lindex $argv 0]
