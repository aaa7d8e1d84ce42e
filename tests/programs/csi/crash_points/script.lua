local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local list, words, hits, sum = {}, {}, 0, 0
for i = 1, 100 do list[i] = (i * 7919) % 1003 end
table.sort(list)
for i = 1, 40 do words[#words + 1] = string.format("%d-%s", i, ("x"):rep(i % 7)) end
for word in table.concat(words, " "):gmatch("%S+") do if word:find("3%-x+$") then hits = hits + 1 end end
local double = setmetatable({}, {__index = function(_, key) return key * 2 end})
for i = 1, 100 do sum = sum + double[i] % 3 end
for i = 1, 10 do pcall(error, {i}) end
local co = coroutine.wrap(function() for i = 1, 20 do coroutine.yield(i) end end)
for i = 1, 20 do sum = sum + co() end
print(fib(10), list[1], list[#list], hits, sum)
