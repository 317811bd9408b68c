require 'json'
require 'digest'
require 'set'
parts = {
  'text' => lambda {
    text = File.read('license')
    puts text.scan(/[a-z]+/i).map(&:downcase).tally.sort_by { |word, count| [-count, word] }.first(8).inspect
    puts Digest::SHA256.hexdigest(text), text.lines.length, 'one two'.sub(/(\w+) (\w+)/, '\2 \1'), format('%05.1f|%-5s|%x', 3.14159, 'ab', 255)
    puts 'äöü'.upcase, 'abc'.succ, 'a-b_c'.tr('-_', '  '), "%s" % [1, nil, :a].inspect
  },
  'data' => lambda {
    puts (1..20).each_slice(6).map(&:sum).inspect, 2**100, 10.fdiv(3), 7.divmod(-2).inspect, Rational(3, 4) + 1, Math.sqrt(2)
    point = Struct.new(:x, :y) { def length = Math.hypot(x, y) }
    puts point.new(3, 4).length, JSON.parse(File.read('data.json'))['people'].map { |p| p['name'] }.sort.inspect
    puts JSON.generate({ 'a' => [1, 2.5, nil], 'b' => 'x' }), Set[3, 1, 2].sort.inspect, [3, 1, 2].sort_by { |n| -n }.inspect
    fibers = Fiber.new { 3.times { |n| Fiber.yield n }; :done }
    puts Array.new(4) { fibers.resume }.inspect
    begin; Integer('x'); rescue ArgumentError => error; puts error.message; ensure puts 'ensured'; end
    case { kind: :a, value: [1, [2, 3]] } in { kind: :a, value: [Integer => first, [*, last]] } then puts first + last end
  },
  'threads' => lambda {
    queue, mutex, total = Queue.new, Mutex.new, 0
    workers = Array.new(4) { Thread.new { while (item = queue.pop) != :end do mutex.synchronize { total += item } end } }
    200.times { |n| queue << n }
    4.times { queue << :end }
    workers.each(&:join)
    puts total, Thread.new { Thread.current[:a] = 5; Thread.current[:a] }.value
    puts Thread.new { raise 'oops' }.tap { |t| t.report_on_exception = false }.join rescue puts $!.message
  },
  'processes' => lambda {
    puts `echo out; exit 3`, $?.exitstatus, system('exit 5').inspect, IO.popen(['sort', '-r'], 'r+') { |io| io.puts 'a', 'b'; io.close_write; io.read }
    read, write = IO.pipe
    pid = fork { read.close; write.puts 'from a child'; exit! 7 }
    write.close
    puts read.read, Process.wait2(pid)[1].exitstatus
    trap('USR1') { puts 'got USR1' }
    Process.kill('USR1', Process.pid)
    sleep 0.01
  },
}
parts.fetch(ARGV[0]).call
