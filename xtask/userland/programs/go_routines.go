// Goroutines, channels, mutexes, timers and processes of Go.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func channels(routines, rounds int) {
	values, done := make(chan int), make(chan int, routines)
	for routine := 0; routine < routines; routine++ {
		go func(routine int) {
			for round := 0; round < rounds; round++ {
				values <- routine*rounds + round
			}
			done <- routine
		}(routine)
	}
	sum, finished := 0, 0
	for finished < routines {
		select {
		case value := <-values:
			sum += value
		case <-done:
			finished++
		}
	}
	fmt.Println("channels", sum)
}

func locks(routines, rounds int) {
	var group sync.WaitGroup
	var mutex sync.Mutex
	var both sync.RWMutex
	var once sync.Once
	var count atomic.Int64
	total, calls, table := 0, 0, map[string]int{}
	for routine := 0; routine < routines; routine++ {
		group.Add(1)
		go func(routine int) {
			defer group.Done()
			for round := 0; round < rounds; round++ {
				mutex.Lock()
				total += routine
				mutex.Unlock()
				both.Lock()
				table[strconv.Itoa(round%5)]++
				both.Unlock()
				both.RLock()
				count.Add(int64(len(table) / 5))
				both.RUnlock()
				once.Do(func() { calls++ })
				if round%10 == 0 {
					runtime.Gosched()
				}
			}
		}(routine)
	}
	group.Wait()
	keys := []string{}
	for key := range table {
		keys = append(keys, fmt.Sprint(key, "=", table[key]))
	}
	sort.Strings(keys)
	fmt.Println("locks", total, calls, keys)
}

func pipeline(rounds int) {
	numbers := make(chan int)
	go func(to chan int) {
		for n := 2; ; n++ {
			to <- n
		}
	}(numbers)
	for n := 0; n < rounds; n++ {
		prime := <-numbers
		if n >= rounds-5 {
			fmt.Println("prime", prime)
		}
		next := make(chan int)
		go func(from, to chan int) {
			for {
				if n := <-from; n%prime != 0 {
					to <- n
				}
			}
		}(numbers, next)
		numbers = next
	}
}

func memory(rounds int) {
	type node struct {
		left, right *node
		text        string
	}
	var build func(depth int) *node
	build = func(depth int) *node {
		if depth == 0 {
			return &node{text: strings.Repeat("x", 10)}
		}
		return &node{build(depth - 1), build(depth - 1), ""}
	}
	var count func(tree *node) int
	count = func(tree *node) int {
		if tree == nil {
			return 0
		}
		return len(tree.text) + count(tree.left) + count(tree.right)
	}
	total := 0
	for round := 0; round < rounds; round++ {
		total += count(build(12))
	}
	runtime.GC()
	fmt.Println("memory", total)
}

func timers() {
	context, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	select {
	case <-context.Done():
		fmt.Println("timeout", context.Err())
	case <-time.After(time.Minute):
		fmt.Println("no timeout")
	}
	ticker := time.NewTicker(time.Millisecond)
	for n := 0; n < 3; n++ {
		<-ticker.C
	}
	fmt.Println("ticked")
	defer func() { fmt.Println("recovered", recover()) }()
	var nothing *int
	fmt.Println(*nothing)
}

func processes() {
	output, err := exec.Command("sh", "-c", "echo out; echo err >&2; exit 3").CombinedOutput()
	fmt.Printf("%q %v\n", output, err)
	sorter := exec.Command("sort", "-n")
	sorter.Stdin = strings.NewReader("10\n9\n100\n")
	output, err = sorter.Output()
	fmt.Printf("%q %v\n", output, err)
	_, err = exec.LookPath("no-such-program")
	fmt.Println(err)
	os.MkdirAll("go/made/this", 0o755)
	os.WriteFile("go/made/file", []byte("contents"), 0o600)
	entries, err := os.ReadDir("go/made")
	for _, entry := range entries {
		fmt.Println(entry.Name(), entry.IsDir())
	}
	text, _ := json.Marshal(map[string]any{"b": 1.5, "a": []int{1, 2}})
	fmt.Printf("%s %x %v\n", text, sha256.Sum256(text), err)
}

func main() {
	number := func(index, value int) int {
		if len(os.Args) > index {
			value, _ = strconv.Atoi(os.Args[index])
		}
		return value
	}
	part := ""
	if len(os.Args) > 1 {
		part = os.Args[1]
	}
	switch part {
	case "channels":
		channels(number(2, 4), number(3, 100))
	case "locks":
		locks(number(2, 4), number(3, 100))
	case "pipeline":
		pipeline(number(2, 50))
	case "memory":
		memory(number(2, 10))
	case "timers":
		timers()
	case "processes":
		processes()
	default:
		os.Exit(2)
	}
}
