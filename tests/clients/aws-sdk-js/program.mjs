// A session of the AWS SDK for JavaScript v3, client and document client, against the endpoint of the environment.

import assert from "node:assert/strict";
import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  DeleteItemCommand,
  DeleteTableCommand,
  DescribeLimitsCommand,
  DescribeTableCommand,
  DynamoDBClient,
  DynamoDBServiceException,
  GetItemCommand,
  ListTablesCommand,
  ListTagsOfResourceCommand,
  paginateListTables,
  paginateQuery as paginateRawQuery,
  PutItemCommand,
  ResourceInUseException,
  ResourceNotFoundException,
  TagResourceCommand,
  TransactGetItemsCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  UpdateTableCommand,
  waitUntilTableExists,
  waitUntilTableNotExists,
} from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  BatchWriteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  NumberValue,
  paginateQuery,
  paginateScan,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { introduce, proof } from "./proving.mjs";

const TableName = "games";
const waiting = { maxWaitTime: 20, minDelay: 1 };
const client = new DynamoDBClient({});
const documents = DynamoDBDocumentClient.from(client);
const exactClient = new DynamoDBClient({});
const exactDocuments = DynamoDBDocumentClient.from(exactClient, { unmarshallOptions: { wrapNumbers: true } });

const keyOf = (player, game) => ({ player: { S: player }, game: { N: String(game) } });

introduce("@aws-sdk/client-dynamodb");

await proof("CreateTable with a global and a local index, the waiter, DescribeTable, ListTables", async () => {
  await client.send(
    new CreateTableCommand({
      TableName,
      AttributeDefinitions: [
        { AttributeName: "player", AttributeType: "S" },
        { AttributeName: "game", AttributeType: "N" },
        { AttributeName: "level", AttributeType: "S" },
        { AttributeName: "score", AttributeType: "N" },
      ],
      KeySchema: [
        { AttributeName: "player", KeyType: "HASH" },
        { AttributeName: "game", KeyType: "RANGE" },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: "by_score",
          KeySchema: [
            { AttributeName: "level", KeyType: "HASH" },
            { AttributeName: "score", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "ALL" },
        },
      ],
      LocalSecondaryIndexes: [
        {
          IndexName: "of_player_by_score",
          KeySchema: [
            { AttributeName: "player", KeyType: "HASH" },
            { AttributeName: "score", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "KEYS_ONLY" },
        },
      ],
      BillingMode: "PAY_PER_REQUEST",
    }),
  );
  const { state } = await waitUntilTableExists({ client, ...waiting }, { TableName });
  assert.equal(state, "SUCCESS");
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  assert.equal(Table.TableStatus, "ACTIVE");
  assert.ok(Table.CreationDateTime instanceof Date);
  assert.equal(Table.GlobalSecondaryIndexes[0].IndexStatus, "ACTIVE");
  const { TableNames } = await client.send(new ListTablesCommand({}));
  assert.deepEqual(TableNames, [TableName]);
});

await proof("PutItem, GetItem, UpdateItem, DeleteItem with conditions and returned values", async () => {
  const Item = { ...keyOf("ann", 1), level: { S: "easy" }, score: { N: "10" } };
  await client.send(new PutItemCommand({ TableName, Item, ConditionExpression: "attribute_not_exists(player)" }));
  const updated = await client.send(
    new UpdateItemCommand({
      TableName,
      Key: keyOf("ann", 1),
      UpdateExpression: "SET score = score + :more, #path = list_append(if_not_exists(#path, :none), :step)",
      ConditionExpression: "score BETWEEN :low AND :high",
      ExpressionAttributeNames: { "#path": "path" },
      ExpressionAttributeValues: {
        ":more": { N: "5" },
        ":none": { L: [] },
        ":step": { L: [{ S: "left" }] },
        ":low": { N: "0" },
        ":high": { N: "99" },
      },
      ReturnValues: "ALL_NEW",
    }),
  );
  assert.deepEqual(updated.Attributes, { ...Item, score: { N: "15" }, path: { L: [{ S: "left" }] } });
  const got = await client.send(new GetItemCommand({ TableName, Key: keyOf("ann", 1), ConsistentRead: true }));
  assert.deepEqual(got.Item, updated.Attributes);
  const gone = await client.send(
    new DeleteItemCommand({ TableName, Key: keyOf("ann", 1), ReturnValues: "ALL_OLD" }),
  );
  assert.deepEqual(gone.Attributes, got.Item);
  const nothing = await client.send(new GetItemCommand({ TableName, Key: keyOf("ann", 1) }));
  assert.equal(nothing.Item, undefined);
});

await proof("errors of their own classes, with AWS's messages; a failed condition with its item", async () => {
  const Item = { ...keyOf("bob", 1), blob: { B: new Uint8Array([0, 255]) } };
  await client.send(new PutItemCommand({ TableName, Item }));
  const again = new PutItemCommand({
    TableName,
    Item,
    ConditionExpression: "attribute_not_exists(player)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  await assert.rejects(client.send(again), (error) => {
    assert.ok(error instanceof ConditionalCheckFailedException);
    assert.equal(error.message, "The conditional request failed");
    assert.deepEqual(error.Item, Item);
    assert.equal(error.$metadata.httpStatusCode, 400);
    assert.match(error.$metadata.requestId, /^[0-9A-V]{52}$/);
    return true;
  });
  const missing = new GetItemCommand({ TableName: "missing", Key: { id: { S: "a" } } });
  await assert.rejects(client.send(missing), ResourceNotFoundException);
  const same = new CreateTableCommand({
    TableName,
    AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    BillingMode: "PAY_PER_REQUEST",
  });
  await assert.rejects(client.send(same), ResourceInUseException);
  const wrong = new GetItemCommand({ TableName, Key: { player: { S: "bob" } } });
  await assert.rejects(client.send(wrong), (error) => {
    assert.ok(error instanceof DynamoDBServiceException);
    assert.equal(error.name, "ValidationException");
    assert.equal(error.message, "The provided key element does not match the schema");
    assert.equal(error.$fault, "client");
    return true;
  });
});

await proof("every type through the document client: 38 digits, bytes, sets, nested values", async () => {
  const Item = {
    player: "types",
    game: 1,
    text: "Größe 大 🎵",
    empty: "",
    number: -1.5e-7,
    bytes: new Uint8Array([0, 255, 254]),
    yes: true,
    nothing: null,
    texts: new Set(["a", "b"]),
    numbers: new Set([1, 2.5]),
    list: [1, "two", [new Uint8Array([3]), null], []],
    map: { inner: { deeper: false } },
  };
  await documents.send(new PutCommand({ TableName, Item }));
  const got = await documents.send(new GetCommand({ TableName, Key: { player: "types", game: 1 } }));
  assert.deepEqual(got.Item, Item);
  const long = "-1234567890123456789.0123456789012345678";
  await documents.send(
    new PutCommand({ TableName, Item: { player: "types", game: 2, long: NumberValue.from(long) } }),
  );
  const exact = await exactDocuments.send(new GetCommand({ TableName, Key: { player: "types", game: 2 } }));
  assert.equal(exact.Item.long.value, long);
});

await proof("batches; Query and Scan through paginators, on the table, on both kinds of index", async () => {
  for (let first = 0; first < 100; first += 25) {
    const puts = Array.from({ length: 25 }, (_, offset) => {
      const game = first + offset;
      return { PutRequest: { Item: { player: "cat", game, level: "hard", score: game % 10 } } };
    });
    const written = await documents.send(new BatchWriteCommand({ RequestItems: { [TableName]: puts } }));
    assert.deepEqual(written.UnprocessedItems, {});
  }
  const Keys = Array.from({ length: 100 }, (_, game) => ({ player: "cat", game }));
  const read = await documents.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys } } }));
  assert.equal(read.Responses[TableName].length, 100);

  const games = [];
  const query = {
    TableName,
    KeyConditionExpression: "player = :player AND game > :low",
    ExpressionAttributeValues: { ":player": "cat", ":low": 9 },
  };
  for await (const page of paginateQuery({ client: documents, pageSize: 7 }, query)) {
    games.push(...page.Items.map((item) => item.game));
  }
  assert.deepEqual(games, Array.from({ length: 90 }, (_, index) => index + 10));

  const scores = [];
  const byScore = {
    TableName,
    IndexName: "by_score",
    ScanIndexForward: false,
    KeyConditionExpression: "#level = :level AND score >= :score",
    ExpressionAttributeNames: { "#level": "level" },
    ExpressionAttributeValues: { ":level": { S: "hard" }, ":score": { N: "8" } },
  };
  for await (const page of paginateRawQuery({ client, pageSize: 3 }, byScore)) {
    scores.push(...page.Items.map((item) => Number(item.score.N)));
  }
  assert.deepEqual(scores, [...Array(10).fill(9), ...Array(10).fill(8)]);

  const ofPlayer = await documents.send(
    new QueryCommand({
      TableName,
      IndexName: "of_player_by_score",
      ConsistentRead: true,
      Limit: 3,
      KeyConditionExpression: "player = :player",
      ExpressionAttributeValues: { ":player": "cat" },
    }),
  );
  assert.deepEqual(ofPlayer.Items.map((item) => item.score), [0, 0, 0]);
  assert.deepEqual(Object.keys(ofPlayer.LastEvaluatedKey).sort(), ["game", "player", "score"]);

  const counts = await Promise.all(
    [0, 1, 2].map(async (Segment) => {
      let count = 0;
      const scan = {
        TableName,
        Segment,
        TotalSegments: 3,
        FilterExpression: "contains(player, :c)",
        ExpressionAttributeValues: { ":c": "c" },
      };
      for await (const page of paginateScan({ client: documents, pageSize: 10 }, scan)) count += page.Count;
      return count;
    }),
  );
  assert.equal(counts.reduce((sum, count) => sum + count), 100);
});

await proof("transactions and the reasons of a cancelled one", async () => {
  const Update = {
    TableName,
    Key: { player: "bob", game: 1 },
    UpdateExpression: "ADD score :one",
    ExpressionAttributeValues: { ":one": 1 },
  };
  const write = new TransactWriteCommand({
    TransactItems: [{ Update }, { Put: { TableName, Item: { player: "bob", game: 2 } } }],
    ClientRequestToken: "only-once",
  });
  await documents.send(write);
  await documents.send(write);
  const { Responses } = await client.send(
    new TransactGetItemsCommand({
      TransactItems: [1, 2, 3].map((game) => ({ Get: { TableName, Key: keyOf("bob", game) } })),
    }),
  );
  assert.deepEqual(Responses.map(({ Item }) => Item?.score?.N ?? Item?.game.N), ["1", "2", undefined]);
  const cancelled = new TransactWriteItemsCommand({
    TransactItems: [
      { Delete: { TableName, Key: keyOf("bob", 2) } },
      {
        ConditionCheck: {
          TableName,
          Key: keyOf("bob", 1),
          ConditionExpression: "score > :limit",
          ExpressionAttributeValues: { ":limit": { N: "1" } },
          ReturnValuesOnConditionCheckFailure: "ALL_OLD",
        },
      },
    ],
  });
  await assert.rejects(client.send(cancelled), (error) => {
    assert.ok(error instanceof TransactionCanceledException);
    assert.deepEqual(error.CancellationReasons.map(({ Code }) => Code), ["None", "ConditionalCheckFailed"]);
    assert.deepEqual(error.CancellationReasons[1].Item.score, { N: "1" });
    return true;
  });
});

await proof("ConsumedCapacity, TOTAL and INDEXES", async () => {
  const put = await documents.send(
    new PutCommand({
      TableName,
      Item: { player: "dan", game: 1, level: "easy", score: 1 },
      ReturnConsumedCapacity: "INDEXES",
    }),
  );
  assert.deepEqual(put.ConsumedCapacity, {
    TableName,
    CapacityUnits: 3,
    Table: { CapacityUnits: 1 },
    LocalSecondaryIndexes: { of_player_by_score: { CapacityUnits: 1 } },
    GlobalSecondaryIndexes: { by_score: { CapacityUnits: 1 } },
  });
  const scan = await documents.send(new ScanCommand({ TableName, Select: "COUNT", ReturnConsumedCapacity: "TOTAL" }));
  assert.equal(scan.Count, 105);
  assert.ok(scan.ConsumedCapacity.CapacityUnits >= 0.5);
});

await proof("a hundred requests at once over kept connections", async () => {
  const add = (game) =>
    documents.send(
      new UpdateCommand({
        TableName,
        Key: { player: "count", game },
        UpdateExpression: "ADD hits :one",
        ExpressionAttributeValues: { ":one": 1 },
        ReturnValues: "UPDATED_NEW",
      }),
    );
  const answers = await Promise.all(Array.from({ length: 100 }, () => add(1)));
  const hits = answers.map(({ Attributes }) => Attributes.hits).sort((a, b) => a - b);
  assert.deepEqual(hits, Array.from({ length: 100 }, (_, index) => index + 1));
});

await proof("UpdateTable, tags, DescribeLimits, paginated ListTables", async () => {
  const { TableDescription } = await client.send(
    new UpdateTableCommand({ TableName, StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_IMAGE" } }),
  );
  assert.match(TableDescription.LatestStreamArn, /:table\/games\/stream\//);
  const ResourceArn = TableDescription.TableArn;
  await client.send(new TagResourceCommand({ ResourceArn, Tags: [{ Key: "team", Value: "play" }] }));
  const { Tags } = await client.send(new ListTagsOfResourceCommand({ ResourceArn }));
  assert.deepEqual(Tags, [{ Key: "team", Value: "play" }]);
  const limits = await client.send(new DescribeLimitsCommand({}));
  assert.ok(limits.AccountMaxWriteCapacityUnits > 0);
  const names = [];
  for await (const page of paginateListTables({ client, pageSize: 1 }, {})) names.push(...page.TableNames);
  assert.deepEqual(names, [TableName]);
});

await proof("DeleteTable and its waiter", async () => {
  await client.send(new DeleteTableCommand({ TableName }));
  const { state } = await waitUntilTableNotExists({ client, ...waiting }, { TableName });
  assert.equal(state, "SUCCESS");
});

client.destroy();
exactClient.destroy();
