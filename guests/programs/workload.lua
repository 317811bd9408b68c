-- Work of the kinds that Lua programs do, for as long as the argument says: calls, floating point, strings, tables,
-- sorting, closures. It prints what it computes, to be compared.
local scale = tonumber(arg[1]) or 1

local function fibonacci(n) return n < 2 and n or fibonacci(n - 1) + fibonacci(n - 2) end
print("fibonacci", fibonacci(20 + scale))

-- Planets around a sun, by the leapfrog method.
local function energy(bodies)
    local sum = 0
    for i, a in ipairs(bodies) do
        sum = sum + 0.5 * a.mass * (a.vx ^ 2 + a.vy ^ 2 + a.vz ^ 2)
        for j = i + 1, #bodies do
            local b = bodies[j]
            sum = sum - a.mass * b.mass / ((a.x - b.x) ^ 2 + (a.y - b.y) ^ 2 + (a.z - b.z) ^ 2) ^ 0.5
        end
    end
    return sum
end

local function advance(bodies, dt)
    for i, a in ipairs(bodies) do
        for j = i + 1, #bodies do
            local b = bodies[j]
            local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
            local square = dx * dx + dy * dy + dz * dz
            local pull = dt / (square * math.sqrt(square))
            a.vx, a.vy, a.vz = a.vx - dx * b.mass * pull, a.vy - dy * b.mass * pull, a.vz - dz * b.mass * pull
            b.vx, b.vy, b.vz = b.vx + dx * a.mass * pull, b.vy + dy * a.mass * pull, b.vz + dz * a.mass * pull
        end
    end
    for _, a in ipairs(bodies) do
        a.x, a.y, a.z = a.x + dt * a.vx, a.y + dt * a.vy, a.z + dt * a.vz
    end
end

local bodies = { { x = 0, y = 0, z = 0, vx = 0, vy = 0, vz = 0, mass = 40 } }
for i = 1, 4 do
    local r = 1 + i * i
    bodies[#bodies + 1] = { x = r, y = 0, z = 0.1 * i, vx = 0, vy = math.sqrt(40 / r), vz = 0.01 * i, mass = 0.02 * i }
end
print("energy", ("%.12f"):format(energy(bodies)))
for _ = 1, 2000 * scale do advance(bodies, 0.001) end
print("energy", ("%.12f"):format(energy(bodies)))

-- The words of a text that a generator makes, counted and sorted.
local seed = 42
local function random(n)
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    return (seed >> 8) % n
end
local syllables = { "ba", "ke", "li", "mo", "nu", "pra", "ste", "tri", "vo", "wu" }
local words = {}
for i = 1, 4000 * scale do
    local word = syllables[1 + random(10)] .. syllables[1 + random(10)]
    words[i] = random(4) == 0 and word:upper() or word
end
local text, counts = table.concat(words, " "), {}
for word in text:gmatch("%a+") do counts[word:lower()] = (counts[word:lower()] or 0) + 1 end
local order = {}
for word in pairs(counts) do order[#order + 1] = word end
table.sort(order, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and a < b end)
print("words", #text, #order, order[1], counts[order[1]], order[#order], counts[order[#order]])
print("replaced", select(2, text:gsub("st(%a)", "ts%1")), text:find("WU", 1, true) ~= nil)

-- Numbers sorted in place, and primes by a sieve.
local numbers = {}
for i = 1, 10000 * scale do numbers[i] = random(1 << 20) + i / 65536 end
table.sort(numbers)
local sum = 0
for i, x in ipairs(numbers) do sum = sum + x * (i % 7) end
print("sorted", ("%.6f"):format(sum), numbers[1], numbers[#numbers])
local is_composite, primes = {}, 0
for i = 2, 40000 * scale do
    if not is_composite[i] then
        primes = primes + 1
        for j = i * i, 40000 * scale, i do is_composite[j] = true end
    end
end
print("primes", primes)

-- Objects with methods and closures.
local Stack = {}
Stack.__index = Stack
function Stack.new() return setmetatable({ size = 0 }, Stack) end
function Stack:push(value) self.size = self.size + 1; self[self.size] = value end
function Stack:pop() local value = self[self.size]; self[self.size] = nil; self.size = self.size - 1; return value end
local operators = {
    add = function(a, b) return a + b end,
    mix = function(a, b) return (a ~ b * 31) & 0xffffff end,
    max = function(a, b) return a > b and a or b end,
}
local names, stack = { "add", "mix", "max" }, Stack.new()
for i = 1, 20000 * scale do
    stack:push(i)
    if stack.size > 8 then
        for _ = 1, 6 do stack:push(operators[names[1 + random(3)]](stack:pop(), stack:pop())) end
    end
end
print("stack", stack.size, stack:pop(), stack:pop())
