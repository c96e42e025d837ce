-- Requests for wrk, taken at random from a file that holds one body a line.
--
--     wrk ... URL -s http_load.lua -- BODIES OPERATION SEED FIRST [show]
--
-- Wherever a body says UNIQUE000000, each request has a number that no other has, of as many digits, beginning
-- with FIRST: a write of what is stored already would be no write. At the end a line of JSON says what was
-- measured. With "show", the first answer that is not 200 is printed instead, and the load ends.

local UNIQUE = "UNIQUE000000"

local requests = {}
local made

local function split(text)
  local parts, start = {}, 1
  while true do
    local first, last = text:find(UNIQUE, start, true)
    parts[#parts + 1] = text:sub(start, first and first - 1)
    if not first then
      return parts
    end
    start = last + 1
  end
end

function init(arguments)
  local bodies, operation = arguments[1], arguments[2]
  math.randomseed(tonumber(arguments[3]))
  made = tonumber(arguments[4])
  -- As many bytes as a client signs with; the servers measured here do not check the signature.
  local headers = {
    ["Content-Type"] = "application/x-amz-json-1.0",
    ["X-Amz-Target"] = "DynamoDB_20120810." .. operation,
    ["X-Amz-Date"] = os.date("!%Y%m%dT%H%M%SZ"),
    ["Authorization"] = "AWS4-HMAC-SHA256 Credential=benchmark/" .. os.date("!%Y%m%d")
      .. "/us-east-1/dynamodb/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature="
      .. string.rep("5eed", 16),
    ["Accept-Encoding"] = "identity",
  }
  for body in io.lines(bodies) do
    requests[#requests + 1] = split(wrk.format("POST", "/", headers, body))
  end
  if arguments[5] == "show" then
    response = show
  end
end

function request()
  local parts = requests[math.random(#requests)]
  made = made + 1
  return table.concat(parts, string.format("%.0f", made))
end

function show(status, headers, body)
  if status ~= 200 then
    io.write(string.format("%d: %s\n", status, body))
    wrk.thread:stop()
  end
end

function done(summary, latency, _)
  if response then
    return
  end
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "duration_us": %d, "bytes": %d, "p50_us": %d, "p99_us": %d, '
      .. '"connect": %d, "read": %d, "write": %d, "status": %d, "timeout": %d}\n',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99),
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
