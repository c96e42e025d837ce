// A session of OneTable against the endpoint of the environment.

import assert from "node:assert/strict";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { OneTableError, Table } from "dynamodb-onetable";
import { introduce, proof } from "./proving.mjs";

const client = new DynamoDBClient({});
const schema = {
  format: "onetable:1.1.0",
  version: "0.0.1",
  indexes: {
    primary: { hash: "pk", sort: "sk" },
    gs1: { hash: "gs1pk", sort: "gs1sk", follow: true, project: "all" },
    ls1: { sort: "ls1sk", type: "local", project: "all" },
  },
  models: {
    Account: {
      pk: { type: String, value: "account#${id}" },
      sk: { type: String, value: "account#" },
      id: { type: String, generate: "ulid" },
      name: { type: String, required: true, unique: true },
      status: { type: String, default: "active", enum: ["active", "closed"] },
    },
    Visit: {
      pk: { type: String, value: "visit#${id}" },
      sk: { type: String, value: "visit#" },
      id: { type: String, required: true },
      expires: { type: Date, ttl: true },
    },
    User: {
      pk: { type: String, value: "account#${accountId}" },
      sk: { type: String, value: "user#${email}" },
      accountId: { type: String, required: true },
      email: { type: String, required: true },
      name: { type: String },
      balance: { type: Number, default: 0 },
      born: { type: Date },
      tags: { type: Set },
      photo: { type: "binary" },
      roles: { type: Array, default: [] },
      address: { type: Object, default: {}, schema: { street: { type: String }, zip: { type: String } } },
      gs1pk: { type: String, value: "user#" },
      gs1sk: { type: String, value: "user#${name}" },
      ls1sk: { type: String, value: "${name}" },
    },
  },
  params: { isoDates: true, timestamps: true },
};
const table = new Table({ client, name: "tenants", schema, partial: true });
const Account = table.getModel("Account");
const User = table.getModel("User");
const Visit = table.getModel("Visit");

introduce("dynamodb-onetable");

await proof("createTable from the schema with a global and a local index, exists, describeTable", async () => {
  await table.createTable({ wait: 30, TimeToLiveSpecification: { AttributeName: "expires", Enabled: true } });
  assert.equal(await table.exists(), true);
  const { Table: described } = await table.describeTable();
  assert.equal(described.TableStatus, "ACTIVE");
  assert.deepEqual(described.GlobalSecondaryIndexes.map(({ IndexName }) => IndexName), ["gs1"]);
  assert.deepEqual(described.LocalSecondaryIndexes.map(({ IndexName }) => IndexName), ["ls1"]);
});

let account;

await proof("create and get: generated ids, defaults, timestamps, dates, sets, bytes, nested objects", async () => {
  account = await Account.create({ name: "Acme" });
  assert.equal(account.status, "active");
  assert.ok(account.created instanceof Date);
  const properties = {
    accountId: account.id,
    email: "ada@example.com",
    name: "Ada",
    balance: 12.5,
    born: new Date("1815-12-10T00:00:00.000Z"),
    tags: new Set(["math", "looms"]),
    photo: Buffer.from([0, 255, 254]),
    roles: ["admin", "author"],
    address: { street: "St James's Square", zip: "SW1" },
  };
  await User.create(properties);
  const found = await User.get({ accountId: account.id, email: "ada@example.com" }, { consistent: true });
  for (const name of ["name", "balance", "born", "roles", "address"]) {
    assert.deepEqual(found[name], properties[name]);
  }
  assert.deepEqual([...found.tags].sort(), ["looms", "math"]);
  assert.deepEqual(Buffer.from(found.photo), properties.photo);
});

await proof("a second create and a failed where are OneTableErrors of the service's error", async () => {
  const again = User.create({ accountId: account.id, email: "ada@example.com", name: "Eve" });
  await assert.rejects(again, (error) => {
    assert.ok(error instanceof OneTableError);
    assert.equal(error.code, "ConditionalCheckFailedException");
    assert.equal(error.context.err.message, "The conditional request failed");
    return true;
  });
  const update = User.update(
    { accountId: account.id, email: "ada@example.com", balance: 0 },
    { where: "${balance} > {100}" },
  );
  await assert.rejects(update, /The conditional request failed/);
});

await proof("unique attributes, kept by transactions", async () => {
  await assert.rejects(Account.create({ name: "Acme" }), (error) => {
    assert.equal(error.code, "UniqueError");
    return true;
  });
  await Account.update({ id: account.id, name: "Acme Airplanes" });
  const second = await Account.create({ name: "Acme" });
  await Account.remove({ id: second.id });
});

await proof("update: add, remove, set with expressions, deep properties, upsert, where", async () => {
  const key = { accountId: account.id, email: "ada@example.com" };
  const updated = await User.update(key, {
    add: { balance: 7.5 },
    set: { "roles[1]": "editor", "address.zip": "SW2" },
    remove: ["born"],
    where: "(${balance} < {100}) and (attribute_exists(${tags}))",
  });
  assert.equal(updated.balance, 20);
  assert.deepEqual(updated.roles, ["admin", "editor"]);
  assert.deepEqual(updated.address, { street: "St James's Square", zip: "SW2" });
  assert.equal(updated.born, undefined);
  const made = await User.upsert({ accountId: account.id, email: "bob@example.com", name: "Bob" });
  assert.equal(made.name, "Bob");
});

await proof("batches of writes and reads", async () => {
  for (let first = 0; first < 50; first += 25) {
    const batch = {};
    for (let number = first; number < first + 25; number++) {
      const email = `user${String(number).padStart(2, "0")}@example.com`;
      await User.create({ accountId: "batch", email, name: email, balance: number }, { batch });
    }
    assert.equal(await table.batchWrite(batch), true);
  }
  const reads = {};
  await User.get({ accountId: "batch", email: "user07@example.com" }, { batch: reads });
  await User.get({ accountId: "batch", email: "user42@example.com" }, { batch: reads });
  const users = await table.batchGet(reads, { parse: true, hidden: false });
  assert.deepEqual(users.map(({ balance }) => balance).sort((a, b) => a - b), [7, 42]);
});

await proof("find and scan: pages, reverse, where, begins, indexes, count", async () => {
  const seen = [];
  let next;
  do {
    const page = await User.find({ accountId: "batch" }, { limit: 8, next });
    seen.push(...page.map(({ balance }) => balance));
    next = page.next;
  } while (next);
  assert.deepEqual(seen, Array.from({ length: 50 }, (_, number) => number));
  const reversed = await User.find({ accountId: "batch" }, { reverse: true, limit: 2 });
  assert.deepEqual(reversed.map(({ balance }) => balance), [49, 48]);
  const filtered = await User.find({ accountId: "batch" }, { where: "${balance} >= {45}" });
  assert.equal(filtered.length, 5);
  const begins = await User.find({ accountId: "batch", sk: { begins: "user#user1" } });
  assert.equal(begins.length, 10);
  const byName = await User.find({ gs1pk: "user#", gs1sk: "user#Ada" }, { index: "gs1" });
  assert.deepEqual(byName.map(({ email }) => email), ["ada@example.com"]);
  const local = await User.find({ accountId: account.id, ls1sk: { begins: "B" } }, { index: "ls1" });
  assert.deepEqual(local.map(({ name }) => name), ["Bob"]);
  assert.equal((await User.scan({}, { limit: 1000 })).length, 52);
  assert.equal((await User.find({ accountId: "batch" }, { count: true })).count, 50);
});

await proof("transactions: all or nothing, and parsed reads", async () => {
  const transaction = {};
  await Account.update({ id: account.id, status: "closed" }, { transaction });
  await User.create({ accountId: account.id, email: "cat@example.com", name: "Cat" }, { transaction });
  await table.transact("write", transaction);
  const failing = {};
  await User.remove({ accountId: account.id, email: "bob@example.com" }, { transaction: failing });
  await User.create({ accountId: account.id, email: "cat@example.com", name: "Cat" }, { transaction: failing });
  await assert.rejects(table.transact("write", failing), (error) => {
    const codes = error.context.err.CancellationReasons.map(({ Code }) => Code);
    assert.deepEqual(codes, ["None", "ConditionalCheckFailed"]);
    return true;
  });
  const reads = {};
  await Account.get({ id: account.id }, { transaction: reads });
  await User.get({ accountId: account.id, email: "bob@example.com" }, { transaction: reads });
  const [closed, bob] = await table.transact("get", reads, { parse: true, hidden: false });
  assert.deepEqual([closed.status, bob.name], ["closed", "Bob"]);
});

await proof("a field with ttl: true, by which createTable lets items expire", async () => {
  const tomorrow = new Date(Math.ceil(Date.now() / 1000 + 86_400) * 1000);
  await Visit.create({ id: "kept", expires: tomorrow });
  await Visit.create({ id: "gone", expires: new Date(Date.now() - 86_400_000) });
  const deadline = Date.now() + 60_000;
  while (await Visit.get({ id: "gone" })) {
    assert.ok(Date.now() < deadline, "it does not go");
  }
  assert.deepEqual((await Visit.get({ id: "kept" })).expires, tomorrow);
  await Visit.remove({ id: "kept" });
});

await proof("remove of one and of many, updateTable, deleteTable", async () => {
  await User.remove({ accountId: account.id, email: "cat@example.com" });
  await User.remove({ accountId: "batch" }, { many: true });
  assert.equal((await User.find({ accountId: "batch" })).length, 0);
  await table.updateTable({ remove: { name: "gs1" } });
  await table.deleteTable("DeleteTableForever");
  assert.equal(await table.exists(), false);
});

client.destroy();
