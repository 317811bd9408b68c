-- What a Lua program might do: strings, tables, numbers, closures, coroutines, errors, garbage. It prints what it
-- finds, to be compared, and checks what it can itself.
local function title(name) print("-- " .. name) end

title "strings"
local text = "The quick brown fox jumps over the lazy dog"
print(#text, text:upper(), text:reverse(), text:sub(-8, -5), text:rep(2, "; "))
for word in text:gmatch("%a+") do io.write(word:lower(), "(", #word, ") ") end
print()
print(text:gsub("o", "0"), text:find("fox"), text:match("(%w+) over"), ("x"):byte(), string.char(75, 86, 82, 77))
print(("%5d|%-5d|%05d|%x|%X|%o|%c|%q|%s|%10.3s|%%"):format(42, 42, 42, 255, 255, 8, 65, 'a "b"\n', true, "abcdef"))
print(table.concat({ string.pack("<i4d", -7, 0.5):byte(1, -1) }, " "))

title "numbers"
for _, x in ipairs { 0.1, 1 / 3, -0.0, 1e15, 1e16, 2 ^ 53, 1e100, 5e-324, math.pi, 1 / 0, -1 / 0, 123456789.125 } do
    print(x, ("%.14g %.17g %e %f %a"):format(x, x, x, x < 1e20 and x or 0, x))
end
print(0 / 0 ~= 0 / 0, 7 // 2, -7 // 2, 7 % -3, -7 % 3, 7.5 // 2, -7.5 % 2, 2 ^ 0.5, 10 / 2)
print(1 << 62, 1 << 63, 1 << 64, ~0, 5 & 3, 5 | 3, 5 ~ 3, -1 >> 60, math.maxinteger + 1 == math.mininteger)
for _, f in ipairs { "sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "sqrt", "floor", "ceil", "abs" } do
    print(f, ("%.15g"):format(math[f](0.7)), ("%.15g"):format(math[f](0.001953125)))
end
print(math.fmod(7.5, -2), math.modf(-3.75), math.tointeger(3.0), math.type(3), math.type(3.0), math.ult(1, -1))
print(tonumber("0x1p-4"), tonumber("1e2"), tonumber("z", 36), tonumber("abc"), math.max(1, 2.5), 3 | 0)
math.randomseed(42)
print(math.random(1, 1000), math.random(1, 1000), ("%.12f"):format(math.random()))

title "tables"
local list = {}
for i = 1, 2000 do list[i] = (i * 7919) % 1009 + i / 4096 end
table.sort(list)
local sum = 0
for i, x in ipairs(list) do
    assert(i == 1 or list[i - 1] <= x, "sorted")
    sum = sum + x
end
print(#list, ("%.6f"):format(sum), list[1], list[1000], list[2000])
table.sort(list, function(a, b) return a > b end)
print(list[1], table.unpack(list, 1998, 2000))
table.insert(list, 1, "first")
print(table.remove(list, 1), #list, select("#", table.unpack(list, 1, 50)), table.concat({ 1, 2, 3 }, "-"))
print(table.concat(table.move({ 1, 2, 3 }, 1, 3, 3), ","))
local weak, count = setmetatable({}, { __mode = "k" }), 0
for i = 1, 1000 do weak[{}] = i end
collectgarbage()
for _ in pairs(weak) do count = count + 1 end
print("weak", count)

title "metatables and closures"
local vector = {}
vector.__index = vector
vector.__add = function(a, b) return setmetatable({ x = a.x + b.x, y = a.y + b.y }, vector) end
vector.__eq = function(a, b) return a.x == b.x and a.y == b.y end
vector.__tostring = function(v) return ("(%g, %g)"):format(v.x, v.y) end
vector.__len = function(v) return 2 end
vector.__call = function(v, k) return v.x * k end
local a, b = setmetatable({ x = 1, y = 2.5 }, vector), setmetatable({ x = -3, y = 0.25 }, vector)
print(tostring(a + b), a == b, a + b == b + a, #a, a(10))
local function counter()
    local n = 0
    return function() n = n + 1; return n end
end
local c, d = counter(), counter()
print(c(), c(), d(), c())
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(22))

title "coroutines"
local function permutations(list, n)
    n = n or #list
    if n <= 1 then coroutine.yield(table.concat(list, "")) end
    for i = 1, n do
        list[i], list[n] = list[n], list[i]
        permutations(list, n - 1)
        list[i], list[n] = list[n], list[i]
    end
end
for p in coroutine.wrap(function() permutations { "a", "b", "c", "d" } end) do io.write(p, " ") end
print()
local co = coroutine.create(function(x) local y = coroutine.yield(x * 2); error("stopped at " .. y, 0) end)
print(coroutine.resume(co, 21))
print(coroutine.resume(co, "here"))
print(coroutine.status(co), coroutine.resume(co))

title "errors"
print(pcall(error, { code = 7 }) == false, select(2, pcall(error, "plain", 0)))
print(pcall(function() return nil + 1 end))
print(pcall(function() return ("x").y.z end))
print(xpcall(function() error("deep") end, function(message) return "handled: " .. message end))
local function overflow(x) return (x:gsub(".", overflow)) end
local ok, message = pcall(overflow, "x")
print(ok, message:match("stack overflow"))
print(pcall(string.rep, "x", 1 << 40))
do
    local closed = setmetatable({}, { __close = function() print("closed") end })
    local ok = pcall(function() local guard <close> = closed; error("x") end)
    print(ok)
end

title "garbage"
local before = collectgarbage("count")
for i = 1, 20000 do local t = { i, tostring(i), function() return i end } end
collectgarbage()
print(collectgarbage("count") < before + 200)
local finalized = 0
for i = 1, 100 do setmetatable({}, { __gc = function() finalized = finalized + 1 end }) end
collectgarbage()
collectgarbage()
print("finalized", finalized)

title "chunks and files"
print(load("return ...", "chunk", "t")(1, 2), load("syntax error here"))
print(#string.dump(fib) > 0, load(string.dump(function(x) return x + 1 end))(41))
local name = "suite.tmp"
local file = assert(io.open(name, "w"))
file:write("one\n", 2, " ", 3.5, "\nlast")
file:close()
for line in io.lines(name) do io.write("[", line, "]") end
file = io.open(name)
print(file:seek("end"), file:seek("set", 4), file:read("n", "n", "l", "a"))
file:close()
print(os.rename(name, "suite.moved"), io.open(name), os.remove("suite.moved"))
print(os.date("!%Y-%m-%d %H:%M:%S", 86400 * 365), os.time { year = 2001, month = 9, day = 9, hour = 1 } ~= nil)
print(utf8.char(228, 8364, 128512), utf8.len("aä€"), #"aä€", utf8.codepoint("€", 1))
print("arguments", #arg, table.unpack(arg))
os.exit(#arg)
