-- Searches for wrk: five words of the store's vocabulary a question, the same sequence every run.
math.randomseed(11)
local words = {}
for word in io.lines(os.getenv("LOAD_WORDS")) do words[#words + 1] = word end

request = function()
  local query = {}
  for place = 1, 5 do query[place] = words[math.random(#words)] end
  local body = '{"query":"' .. table.concat(query, " ") .. '","filters":{"user_id":"load"},"top_k":5}'
  return wrk.format("POST", "/v3/memories/search/", { ["content-type"] = "application/json" }, body)
end

done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format("| requests a second | %.0f |\n", summary.requests / (summary.duration / 1e6)))
  io.write(string.format("| latency p50 / p90 / p99 / most, ms | %.1f / %.1f / %.1f / %.0f |\n", latency:percentile(50) / 1000,
    latency:percentile(90) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
  io.write(string.format("| errors | %d of %d |\n",
    errors.connect + errors.read + errors.write + errors.timeout + errors.status, summary.requests))
end
