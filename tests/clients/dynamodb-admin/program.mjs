// A session of dynamodb-admin: its server is started against the endpoint of the environment, and used by HTTP.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { DynamoDBClient, UpdateTimeToLiveCommand } from "@aws-sdk/client-dynamodb";
import { introduce, proof } from "./proving.mjs";

introduce("dynamodb-admin");

const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB;
const admin = spawn("dynamodb-admin", ["--host", "127.0.0.1", "--port", "0", "--dynamo-endpoint", endpoint], {
  stdio: ["ignore", "pipe", "inherit"],
});
process.on("exit", () => admin.kill());

async function addressOfAdmin() {
  for await (const line of createInterface({ input: admin.stdout })) {
    const found = /listening on (http:\S+)/.exec(line);
    if (found) return found[1];
  }
  throw new Error("dynamodb-admin ended");
}

const address = await addressOfAdmin();

async function ask(path, { method = "GET", body, status = 200 } = {}) {
  const response = await fetch(address + path, {
    method,
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  assert.equal(response.status, status, text);
  return text;
}

const askJson = async (path, options) => JSON.parse(await ask(path, options));
const search = (fields) => `/tables/sea-birds/items?${new URLSearchParams(fields)}`;

await proof("create a table with a global and a local index; the list of tables", async () => {
  assert.match(await ask("/create-table"), /Create table/i);
  const index = { HashAttributeType: "S", RangeAttributeType: "N", ReadCapacityUnits: 5, WriteCapacityUnits: 5 };
  await ask("/create-table", {
    method: "POST",
    status: 204,
    body: {
      TableDefinition: {
        TableName: "sea-birds",
        HashAttributeName: "family",
        HashAttributeType: "S",
        RangeAttributeName: "ring",
        RangeAttributeType: "N",
        ReadCapacityUnits: 5,
        WriteCapacityUnits: 5,
      },
      SecondaryIndexes: [
        {
          ...index,
          IndexType: "global",
          IndexName: "by_place",
          HashAttributeName: "place",
          RangeAttributeName: "weight",
        },
        {
          ...index,
          IndexType: "local",
          IndexName: "by_weight",
          HashAttributeName: "family",
          RangeAttributeName: "weight",
        },
      ],
    },
  });
  assert.match(await ask("/"), /sea-birds/);
  const tables = await askJson("/api/tables");
  assert.deepEqual(tables.map(({ TableName }) => TableName), ["sea-birds"]);
  assert.equal(tables[0].TableStatus, "ACTIVE");
});

await proof("add, view, change and delete an item", async () => {
  assert.match(await ask("/tables/sea-birds/add-item"), /family/);
  for (let ring = 1; ring <= 40; ring++) {
    const key = await askJson("/tables/sea-birds/add-item", {
      method: "PUT",
      body: { family: "gull", ring, place: ring % 2 ? "Sylt" : "Texel", weight: ring * 10, seen: ["a", { b: null }] },
    });
    assert.deepEqual(key, { family: "gull", ring });
  }
  const page = await ask("/tables/sea-birds/items/gull,7");
  assert.match(page, /Sylt/);
  const changed = { family: "gull", ring: 7, place: "Föhr", weight: 70 };
  assert.deepEqual(await askJson("/tables/sea-birds/items/gull,7", { method: "PUT", body: changed }), changed);
  await ask("/tables/sea-birds/items/gull,40", { method: "DELETE", status: 204 });
  assert.equal(await ask("/tables/sea-birds/items/gull,40", { status: 404 }), "Not found");
});

await proof("view a table; scan in pages and with filters", async () => {
  assert.match(await ask("/tables/sea-birds"), /by_place/);
  const first = await askJson("/tables/sea-birds/items?pageSize=30");
  assert.equal(first.Items.length, 30);
  assert.deepEqual(first.uniqueKeys.slice(0, 2), ["family", "ring"]);
  const second = await askJson(`/tables/sea-birds/items?pageSize=30&pageNum=2&startKey=${first.nextKey}`);
  assert.equal(second.Items.length, 9);
  const filters = JSON.stringify({ place: { type: "S", operator: "begins_with", value: "F" } });
  const found = await askJson(search({ filters }));
  assert.deepEqual(found.Items.map(({ ring }) => ring), [7]);
});

await proof("query the table and a global index", async () => {
  const byKey = JSON.stringify({
    family: { type: "S", operator: "=", value: "gull" },
    ring: { type: "N", operator: "<=", value: "3" },
  });
  const birds = await askJson(search({ operationType: "query", filters: byKey }));
  assert.deepEqual(birds.Items.map(({ ring }) => ring), [1, 2, 3]);
  const byPlace = JSON.stringify({
    place: { type: "S", operator: "=", value: "Texel" },
    weight: { type: "N", operator: ">", value: "350" },
  });
  const inPlace = await askJson(
    search({ operationType: "query", queryableSelection: "by_place", filters: byPlace }),
  );
  assert.deepEqual(inPlace.Items.map(({ ring }) => ring), [36, 38]);
});

await proof("the page of a table's description; the form that gets an item by its key", async () => {
  assert.match(await ask("/tables/sea-birds/meta"), /ItemCount/);
  assert.match(await ask("/tables/sea-birds/get"), /ring/);
  assert.match(await ask("/tables/sea-birds/get?hash=gull&range=7"), /Föhr/);
});

await proof("an error of the service is shown with its message", async () => {
  const wrong = await askJson("/tables/sea-birds/add-item", { method: "PUT", status: 500, body: { family: "gull" } });
  assert.match(wrong.message, /Missing the key ring in the item/);
});

await proof("the page of a table's time to live; an item that has expired goes", async () => {
  assert.match(await ask("/tables/sea-birds/ttl"), /DISABLED/);
  // It shows the setting and cannot change it; that takes a client.
  const client = new DynamoDBClient({ endpoint });
  const TimeToLiveSpecification = { AttributeName: "until", Enabled: true };
  await client.send(new UpdateTimeToLiveCommand({ TableName: "sea-birds", TimeToLiveSpecification }));
  client.destroy();
  assert.match(await ask("/tables/sea-birds/ttl"), /ENABLED[^]*until/);
  const until = Math.floor(Date.now() / 1000) - 60;
  await ask("/tables/sea-birds/add-item", { method: "PUT", body: { family: "gull", ring: 99, until } });
  const deadline = Date.now() + 60_000;
  const byKey = JSON.stringify({
    family: { type: "S", operator: "=", value: "gull" },
    ring: { type: "N", operator: "=", value: "99" },
  });
  while ((await askJson(search({ operationType: "query", filters: byKey }))).Items.length > 0) {
    assert.ok(Date.now() < deadline, "it does not go");
  }
});

await proof("purge and delete a table", async () => {
  await ask("/tables/sea-birds/all", { method: "DELETE" });
  assert.equal((await askJson("/tables/sea-birds/items")).Items.length, 0);
  await ask("/tables/sea-birds", { method: "DELETE", status: 204 });
  assert.deepEqual(await askJson("/api/tables"), []);
});

admin.kill();
await once(admin, "exit");
