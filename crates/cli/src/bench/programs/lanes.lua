-- Queens on a board, words counted, planets, and a queue of objects, from the seed of the lane.
local seed = tonumber(arg[1]) * 2654435761 % 4294967296 + 1
local function random(n)
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    return (seed >> 8) % n
end

local function queens(n)
    local columns, order, count = {}, {}, 0
    for i = 1, n do order[i] = i end
    for i = n, 2, -1 do
        local j = 1 + random(i)
        order[i], order[j] = order[j], order[i]
    end
    local function place(row)
        if row > n then count = count + 1 return count >= 4 end
        for _, column in ipairs(order) do
            local free = true
            for other = 1, row - 1 do
                local distance = columns[other] - column
                if distance == 0 or distance == row - other or distance == other - row then free = false break end
            end
            if free then
                columns[row] = column
                if place(row + 1) then return true end
            end
        end
        return false
    end
    place(1)
    return table.concat(columns, " ")
end

local syllables = { "ba", "ke", "li", "mo", "nu", "pra", "ste", "tri", "vo", "wu" }
local function words()
    local parts, counts, order = {}, {}, {}
    for i = 1, 200 do
        local word = syllables[1 + random(10)] .. syllables[1 + random(10)]
        parts[i] = random(4) == 0 and word:upper() or word
    end
    for word in table.concat(parts, " "):gmatch("%a+") do
        word = word:lower():gsub("st(%a)", "z%1")
        counts[word] = (counts[word] or 0) + 1
    end
    for word in pairs(counts) do order[#order + 1] = word end
    table.sort(order, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and a < b end)
    return order[1] .. " " .. counts[order[1]] .. " " .. order[#order]
end

local function orbit()
    local x, y, vx, vy = 1 + random(100) / 100, 0.0, 0.0, 1.0
    for _ = 1, 400 do
        local square = x * x + y * y
        local pull = 0.01 / (square * math.sqrt(square))
        vx, vy = vx - x * pull, vy - y * pull
        x, y = x + vx * 0.01, y + vy * 0.01
    end
    return ("%.12f %.12f"):format(x, y)
end

local Heap = {}
Heap.__index = Heap
function Heap:push(value)
    local at = #self + 1
    self[at] = value
    while at > 1 and self[at // 2] > self[at] do
        self[at], self[at // 2] = self[at // 2], self[at]
        at = at // 2
    end
end
function Heap:pop()
    local top, last = self[1], table.remove(self)
    if #self == 0 then return top end
    self[1] = last
    local at = 1
    while 2 * at <= #self do
        local child = 2 * at
        if child < #self and self[child + 1] < self[child] then child = child + 1 end
        if self[at] <= self[child] then break end
        self[at], self[child] = self[child], self[at]
        at = child
    end
    return top
end
local function heap()
    local queue, sum = setmetatable({}, Heap), 0
    for i = 1, 300 do
        queue:push(random(1 << 20))
        if random(3) == 0 then sum = sum + i * queue:pop() end
    end
    return sum
end

local work = { function() return queens(8) end, words, orbit, heap }
local results = {}
for round = 1, 20 do results[1 + round % 8] = tostring(work[1 + random(4)]()) end
print(table.concat(results, "\n"))
