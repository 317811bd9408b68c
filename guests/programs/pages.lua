-- Tables of some MiB: objects that are made in order, visited in any order, sorted, linked, and collected when they are garbage.
local seed = 42
local function random(n)
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    return (seed >> 8) % n
end

local count = 12000
local objects = {}
for i = 1, count do
    objects[i] = { id = i, key = random(1 << 20), name = "object" .. i, links = {} }
end
for i = 1, count do
    local links = objects[i].links
    for j = 1, 3 do links[j] = objects[1 + random(count)] end
end

-- By number, and along links.
local sum = 0
for _ = 1, 40000 do sum = sum + objects[1 + random(count)].key end
local at = objects[1]
for i = 1, 40000 do
    sum = sum + at.id
    at = at.links[1 + i % 3]
end
print("visited", sum)

-- By name.
local by_name = {}
for _, object in ipairs(objects) do by_name[object.name] = object end
for _ = 1, 20000 do sum = sum + by_name["object" .. 1 + random(count)].key end
print("named", sum)

table.sort(objects, function(a, b) return a.key < b.key or a.key == b.key and a.id < b.id end)
print("sorted", objects[1].key, objects[count].key)

-- A half of them becomes garbage, while others are made.
for i = 1, count, 2 do
    local object = objects[i]
    by_name[object.name] = nil
    objects[i] = { id = object.id, key = object.key, name = object.name .. "'", links = { objects[i + 1] } }
end
collectgarbage()
local keys = {}
for i, object in ipairs(objects) do keys[i] = object.key + #object.name + #object.links end
print("left", #keys, keys[1], keys[count])
