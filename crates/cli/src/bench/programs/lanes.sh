# Arithmetic, patterns, functions and strings in the shell alone, from the seed of the lane.
seed=$((($1 * 7919 + 12345) % 2147483647))
random() { seed=$((seed * 16807 % 2147483647)); value=$((seed % $1)); }
collatz() {
    n=$1 steps=0
    while [ $n -ne 1 ]; do
        if [ $((n & 1)) -eq 0 ]; then n=$((n / 2)); else n=$((3 * n + 1)); fi
        steps=$((steps + 1))
    done
}
classify() {
    case $1 in
        *9*) kind=nine ;;
        [1-4]*[02468]) kind=low-even ;;
        ??????*) kind=long ;;
        *) kind=other ;;
    esac
}
gcd() {
    a=$1 b=$2
    while [ $b -ne 0 ]; do c=$((a % b)) a=$b b=$c; done
}
round=0 line=
while [ $round -lt 40 ]; do
    random 3
    case $value in
        0) random 1000; collatz $((value + 2)); line="$line c$steps" ;;
        1) random 1000000; classify $value; line="$line ${kind%%-*}${value#?}" ;;
        2) random 100000; x=$value; random 100000; gcd $x $value; line="$line g$a" ;;
    esac
    if [ ${#line} -gt 60 ]; then echo "${line# }"; line=; fi
    round=$((round + 1))
done
echo "$line $seed"
