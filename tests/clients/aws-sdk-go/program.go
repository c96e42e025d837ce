// A session of the AWS SDK for Go v2 against the endpoint of the environment.

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"
)

const waiting = 20 * time.Second

var (
	ctx    = context.Background()
	loaded = must(config.LoadDefaultConfig(ctx))
	client = dynamodb.NewFromConfig(loaded)
	reader = dynamodbstreams.NewFromConfig(loaded)
	games  = aws.String("games")
)

// Game is an item of the table.
type Game struct {
	Player string            `dynamodbav:"player"`
	Number int               `dynamodbav:"game"`
	Level  string            `dynamodbav:"level,omitempty"`
	Score  int               `dynamodbav:"score"`
	Moves  []string          `dynamodbav:"moves,omitempty"`
	Tags   []string          `dynamodbav:"tags,stringset,omitempty"`
	Notes  map[string]string `dynamodbav:"notes,omitempty"`
	Photo  []byte            `dynamodbav:"photo,omitempty"`
	Played *time.Time        `dynamodbav:"played,unixtime,omitempty"`
	Lost   *bool             `dynamodbav:"lost"`
}

type item = map[string]types.AttributeValue

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

func number(value int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: fmt.Sprint(value)}
}

func keyOf(player string, game int) item { return item{"player": text(player), "game": number(game)} }

func marshalled(game Game) item { return must(attributevalue.MarshalMap(game)) }

func schema(names ...string) []types.KeySchemaElement {
	keyTypes := []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}
	elements := []types.KeySchemaElement{}
	for index, name := range names {
		elements = append(elements, types.KeySchemaElement{AttributeName: aws.String(name), KeyType: keyTypes[index]})
	}
	return elements
}

func defined(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
	return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: kind}
}

func build(builder expression.Builder) expression.Expression { return must(builder.Build()) }

func scores(items []item) []int {
	played := []Game{}
	hold(attributevalue.UnmarshalListOfMaps(items, &played))
	found := []int{}
	for _, game := range played {
		found = append(found, game.Score)
	}
	return found
}

func main() {
	introduce("github.com/aws/aws-sdk-go-v2/service/dynamodb")
	proof("CreateTable with a global and a local index and a stream, the waiter, DescribeTable, ListTables", tables)
	proof("PutItem, GetItem, UpdateItem, DeleteItem of marshalled structs; expressions from the builder", items)
	proof("every type of a struct: sets, lists, maps, bytes, times, nil, 38 digits", values)
	proof("errors of their own types, with AWS's messages; a failed condition with its item; unused attribute definitions", failures)
	proof("Query and Scan through paginators, on the table, on both kinds of index, in segments", pages)
	proof("BatchWriteItem; BatchGetItem of more than 16 MB, asked again for its unprocessed keys", batches)
	proof("TransactWriteItems and TransactGetItems; the reasons of a cancelled transaction; tokens", transactions)
	proof("a hundred requests at once", requestsAtOnce)
	proof("streams: DescribeStream, GetShardIterator, GetRecords, unmarshalled images", streams)
	proof("the same struct put again logs no record, in whatever order its maps are sent", unchanged)
	proof("UpdateTimeToLive, DescribeTimeToLive; what has expired goes", timeToLive)
	proof("UpdateTable: a global index added to items that exist; tags", changesOfTables)
	proof("DeleteTable and its waiter", end)
}

func tables() {
	must(client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: games,
		AttributeDefinitions: []types.AttributeDefinition{
			defined("player", types.ScalarAttributeTypeS),
			defined("game", types.ScalarAttributeTypeN),
			defined("level", types.ScalarAttributeTypeS),
			defined("score", types.ScalarAttributeTypeN),
		},
		KeySchema: schema("player", "game"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("by_score"),
			KeySchema:  schema("level", "score"),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
		LocalSecondaryIndexes: []types.LocalSecondaryIndex{{
			IndexName:  aws.String("of_player_by_score"),
			KeySchema:  schema("player", "score"),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
		BillingMode: types.BillingModePayPerRequest,
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled:  aws.Bool(true),
			StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	}))
	described := must(dynamodb.NewTableExistsWaiter(client).WaitForOutput(
		ctx, &dynamodb.DescribeTableInput{TableName: games}, waiting,
	))
	same(described.Table.TableStatus, types.TableStatusActive)
	same(described.Table.GlobalSecondaryIndexes[0].IndexStatus, types.IndexStatusActive)
	same(time.Since(*described.Table.CreationDateTime) < time.Minute, true)
	same(must(client.ListTables(ctx, &dynamodb.ListTablesInput{})).TableNames, []string{*games})
}

func items() {
	game := Game{Player: "ann", Number: 1, Level: "easy", Score: 10}
	isNew := build(expression.NewBuilder().WithCondition(expression.AttributeNotExists(expression.Name("player"))))
	must(client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                games,
		Item:                     marshalled(game),
		ConditionExpression:      isNew.Condition(),
		ExpressionAttributeNames: isNew.Names(),
	}))
	moves, score := expression.Name("moves"), expression.Name("score")
	played := build(expression.NewBuilder().
		WithUpdate(expression.
			Set(score, score.Plus(expression.Value(5))).
			Set(moves, expression.ListAppend(
				expression.IfNotExists(moves, expression.Value([]string{})), expression.Value([]string{"e4"}),
			))).
		WithCondition(score.Between(expression.Value(0), expression.Value(99))))
	updated := must(client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 games,
		Key:                       keyOf("ann", 1),
		UpdateExpression:          played.Update(),
		ConditionExpression:       played.Condition(),
		ExpressionAttributeNames:  played.Names(),
		ExpressionAttributeValues: played.Values(),
		ReturnValues:              types.ReturnValueAllNew,
	}))
	game.Score, game.Moves = 15, []string{"e4"}
	same(updated.Attributes, marshalled(game))
	got := must(client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: games, Key: keyOf("ann", 1), ConsistentRead: aws.Bool(true),
	}))
	var read Game
	hold(attributevalue.UnmarshalMap(got.Item, &read))
	same(read, game)
	part := build(expression.NewBuilder().WithProjection(expression.NamesList(expression.Name("moves[0]"))))
	projected := must(client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:                games,
		Key:                      keyOf("ann", 1),
		ProjectionExpression:     part.Projection(),
		ExpressionAttributeNames: part.Names(),
	}))
	same(projected.Item, item{"moves": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("e4")}}})
	gone := must(client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: games, Key: keyOf("ann", 1), ReturnValues: types.ReturnValueAllOld,
	}))
	same(gone.Attributes, got.Item)
	nothing := must(client.GetItem(ctx, &dynamodb.GetItemInput{TableName: games, Key: keyOf("ann", 1)}))
	same(len(nothing.Item), 0)
}

func values() {
	lost := false
	game := Game{
		Player: "Größe 大 🎵",
		Number: -7,
		Score:  1,
		Moves:  []string{"e4", "", "e5"},
		Tags:   []string{"long", "odd"},
		Notes:  map[string]string{"a": "1", "b": "", "c": "3", "d": "4", "e": "5"},
		Photo:  []byte{0, 255, 254},
		Played: aws.Time(time.Unix(1_700_000_000, 0)),
		Lost:   &lost,
	}
	must(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: games, Item: marshalled(game)}))
	got := must(client.GetItem(ctx, &dynamodb.GetItemInput{TableName: games, Key: keyOf(game.Player, -7)}))
	var read Game
	hold(attributevalue.UnmarshalMap(got.Item, &read))
	slices.Sort(read.Tags)
	same(read, game)
	long := keyOf("long", 1)
	long["number"] = &types.AttributeValueMemberN{Value: "-1234567890123456789.0123456789012345678"}
	long["nothing"] = &types.AttributeValueMemberNULL{Value: true}
	long["bytes"] = &types.AttributeValueMemberBS{Value: [][]byte{{0, 255}}}
	must(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: games, Item: long}))
	same(must(client.GetItem(ctx, &dynamodb.GetItemInput{TableName: games, Key: keyOf("long", 1)})).Item, long)
}

func failures() {
	game := marshalled(Game{Player: "bob", Number: 1, Score: 0})
	must(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: games, Item: game}))
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                           games,
		Item:                                game,
		ConditionExpression:                 aws.String("attribute_not_exists(player)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	condition := failed[*types.ConditionalCheckFailedException](err)
	same(condition.ErrorMessage(), "The conditional request failed")
	same(condition.Item, game)
	same(len(failed[interface {
		error
		ServiceRequestID() string
	}](err).ServiceRequestID()), 52)
	_, err = client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("missing"), Key: keyOf("a", 1)})
	failed[*types.ResourceNotFoundException](err)
	create := &dynamodb.CreateTableInput{
		TableName:            games,
		AttributeDefinitions: []types.AttributeDefinition{defined("id", types.ScalarAttributeTypeS)},
		KeySchema:            schema("id"),
		BillingMode:          types.BillingModePayPerRequest,
	}
	_, err = client.CreateTable(ctx, create)
	failed[*types.ResourceInUseException](err)
	_, err = client.GetItem(ctx, &dynamodb.GetItemInput{TableName: games, Key: item{"player": text("bob")}})
	wrong := failed[smithy.APIError](err)
	same(wrong.ErrorCode(), "ValidationException")
	same(wrong.ErrorMessage(), "The provided key element does not match the schema")
	// A definition that no key uses. DynamoDB Local 3.3.1 refuses it too, in other words.
	create.TableName = aws.String("others")
	create.AttributeDefinitions = append(create.AttributeDefinitions, defined("name", types.ScalarAttributeTypeS))
	_, err = client.CreateTable(ctx, create)
	same(failed[smithy.APIError](err).ErrorMessage(), "One or more parameter values were invalid: Number of attributes "+
		"in KeySchema does not exactly match number of attributes defined in AttributeDefinitions")
}

func pages() {
	for first := 0; first < 100; first += 25 {
		puts := []types.WriteRequest{}
		for game := first; game < first+25; game++ {
			item := marshalled(Game{Player: "cat", Number: game, Level: "hard", Score: game % 10})
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		}
		written := must(client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{*games: puts},
		}))
		same(len(written.UnprocessedItems), 0)
	}
	later := build(expression.NewBuilder().WithKeyCondition(
		expression.Key("player").Equal(expression.Value("cat")).
			And(expression.Key("game").GreaterThan(expression.Value(9))),
	))
	query := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{
		TableName:                 games,
		Limit:                     aws.Int32(7),
		KeyConditionExpression:    later.KeyCondition(),
		ExpressionAttributeNames:  later.Names(),
		ExpressionAttributeValues: later.Values(),
	})
	count := 0
	for query.HasMorePages() {
		for _, score := range scores(must(query.NextPage(ctx)).Items) {
			same(score, count%10)
			count++
		}
	}
	same(count, 90)

	best := build(expression.NewBuilder().
		WithKeyCondition(expression.Key("level").Equal(expression.Value("hard")).
			And(expression.Key("score").GreaterThanEqual(expression.Value(8)))).
		WithFilter(expression.Name("game").LessThan(expression.Value(50))))
	byScore := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{
		TableName:                 games,
		IndexName:                 aws.String("by_score"),
		ScanIndexForward:          aws.Bool(false),
		Limit:                     aws.Int32(3),
		KeyConditionExpression:    best.KeyCondition(),
		FilterExpression:          best.Filter(),
		ExpressionAttributeNames:  best.Names(),
		ExpressionAttributeValues: best.Values(),
	})
	found := []int{}
	for byScore.HasMorePages() {
		found = append(found, scores(must(byScore.NextPage(ctx)).Items)...)
	}
	same(found, []int{9, 9, 9, 9, 9, 8, 8, 8, 8, 8})

	ofPlayer := must(client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 games,
		IndexName:                 aws.String("of_player_by_score"),
		ConsistentRead:            aws.Bool(true),
		Limit:                     aws.Int32(3),
		KeyConditionExpression:    aws.String("player = :player"),
		ExpressionAttributeValues: item{":player": text("cat")},
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityIndexes,
	}))
	same(scores(ofPlayer.Items), []int{0, 0, 0})
	same(len(ofPlayer.LastEvaluatedKey), 3)
	same(*ofPlayer.ConsumedCapacity.LocalSecondaryIndexes["of_player_by_score"].CapacityUnits, 1.0)

	counts := make([]int32, 3)
	var segments sync.WaitGroup
	for segment := range counts {
		segments.Go(func() {
			scan := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{
				TableName:                 games,
				Segment:                   aws.Int32(int32(segment)),
				TotalSegments:             aws.Int32(3),
				Limit:                     aws.Int32(10),
				FilterExpression:          aws.String("contains(player, :c)"),
				ExpressionAttributeValues: item{":c": text("c")},
			})
			for scan.HasMorePages() {
				counts[segment] += must(scan.NextPage(ctx)).Count
			}
		})
	}
	segments.Wait()
	same(counts[0]+counts[1]+counts[2], int32(100))
}

func batches() {
	const large = 50
	keys := []item{}
	for game := range large {
		item := keyOf("large", game)
		keys = append(keys, keyOf("large", game))
		item["filling"] = text(strings.Repeat("x", 390_000))
		must(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: games, Item: item}))
	}
	asked := map[string]types.KeysAndAttributes{*games: {Keys: keys}}
	read, requests := 0, 0
	for len(asked) > 0 {
		answer := must(client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: asked}))
		read += len(answer.Responses[*games])
		asked = answer.UnprocessedKeys
		requests++
	}
	same(read, large)
	same(requests, 2)
	for first := 0; first < large; first += 25 {
		deletes := []types.WriteRequest{}
		for _, key := range keys[first : first+25] {
			deletes = append(deletes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key}})
		}
		written := must(client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{*games: deletes},
		}))
		same(len(written.UnprocessedItems), 0)
	}
}

func transactions() {
	update := &types.Update{
		TableName:                 games,
		Key:                       keyOf("bob", 1),
		UpdateExpression:          aws.String("ADD score :one"),
		ExpressionAttributeValues: item{":one": number(1)},
	}
	write := &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{
			{Update: update},
			{Put: &types.Put{TableName: games, Item: marshalled(Game{Player: "bob", Number: 2})}},
		},
		ClientRequestToken: aws.String("only-once"),
	}
	must(client.TransactWriteItems(ctx, write))
	must(client.TransactWriteItems(ctx, write))
	gets := []types.TransactGetItem{}
	for game := 1; game <= 3; game++ {
		gets = append(gets, types.TransactGetItem{Get: &types.Get{TableName: games, Key: keyOf("bob", game)}})
	}
	got := must(client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: gets}))
	same(got.Responses[0].Item["score"], number(1))
	same(got.Responses[1].Item["game"], number(2))
	same(len(got.Responses[2].Item), 0)

	write.ClientRequestToken = nil
	write.TransactItems = []types.TransactWriteItem{
		{Delete: &types.Delete{TableName: games, Key: keyOf("bob", 2)}},
		{ConditionCheck: &types.ConditionCheck{
			TableName:                           games,
			Key:                                 keyOf("bob", 1),
			ConditionExpression:                 aws.String("score > :limit"),
			ExpressionAttributeValues:           item{":limit": number(1)},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}},
	}
	_, err := client.TransactWriteItems(ctx, write)
	reasons := failed[*types.TransactionCanceledException](err).CancellationReasons
	same(*reasons[0].Code, "None")
	same(*reasons[1].Code, "ConditionalCheckFailed")
	same(reasons[1].Item["score"], number(1))
	write.ClientRequestToken = aws.String("only-once")
	_, err = client.TransactWriteItems(ctx, write)
	failed[*types.IdempotentParameterMismatchException](err)
}

func requestsAtOnce() {
	hits := make([]string, 100)
	var requests sync.WaitGroup
	for request := range hits {
		requests.Go(func() {
			updated := must(client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName:                 games,
				Key:                       keyOf("count", 1),
				UpdateExpression:          aws.String("ADD hits :one"),
				ExpressionAttributeValues: item{":one": number(1)},
				ReturnValues:              types.ReturnValueUpdatedNew,
			}))
			hits[request] = updated.Attributes["hits"].(*types.AttributeValueMemberN).Value
		})
	}
	requests.Wait()
	slices.Sort(hits)
	same(len(slices.Compact(hits)), 100)
}

func changesOf(player string) []streamtypes.Record {
	described := must(client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: games}))
	arn := described.Table.LatestStreamArn
	stream := must(reader.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn}))
	changes := []streamtypes.Record{}
	for _, shard := range stream.StreamDescription.Shards {
		iterator := must(reader.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
			StreamArn: arn, ShardId: shard.ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
		})).ShardIterator
		for iterator != nil {
			answer := must(reader.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator}))
			if len(answer.Records) == 0 {
				break
			}
			for _, record := range answer.Records {
				if record.Dynamodb.Keys["player"].(*streamtypes.AttributeValueMemberS).Value == player {
					changes = append(changes, record)
				}
			}
			iterator = answer.NextShardIterator
		}
	}
	return changes
}

func streams() {
	changes := changesOf("ann")
	names := []streamtypes.OperationType{}
	for _, change := range changes {
		names = append(names, change.EventName)
	}
	same(names, []streamtypes.OperationType{
		streamtypes.OperationTypeInsert, streamtypes.OperationTypeModify, streamtypes.OperationTypeRemove,
	})
	before := must(attributevalue.FromDynamoDBStreamsMap(changes[1].Dynamodb.OldImage))
	after := must(attributevalue.FromDynamoDBStreamsMap(changes[1].Dynamodb.NewImage))
	same(scores([]item{before, after}), []int{10, 15})
}

func unchanged() {
	notes := map[string]string{"a": "1", "b": "2", "c": "3", "d": "4", "e": "5", "f": "6", "g": "7"}
	game := Game{Player: "same", Number: 1, Level: "easy", Notes: notes, Moves: []string{"e4"}}
	for range 10 {
		must(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: games, Item: marshalled(game)}))
	}
	changes := changesOf("same")
	same(len(changes), 1)
	same(changes[0].EventName, streamtypes.OperationTypeInsert)
}

func timeToLive() {
	must(client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: games,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String("played"), Enabled: aws.Bool(true),
		},
	}))
	described := must(client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: games}))
	same(described.TimeToLiveDescription.TimeToLiveStatus, types.TimeToLiveStatusEnabled)
	for game, played := range []time.Time{time.Now().Add(24 * time.Hour), time.Now().Add(-24 * time.Hour)} {
		old := marshalled(Game{Player: "old", Number: game, Played: &played})
		must(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: games, Item: old}))
	}
	gone := func() bool {
		return len(must(client.GetItem(ctx, &dynamodb.GetItemInput{TableName: games, Key: keyOf("old", 1)})).Item) == 0
	}
	for deadline := time.Now().Add(waiting); !gone(); time.Sleep(50 * time.Millisecond) {
		same(time.Now().Before(deadline), true)
	}
	same(len(must(client.GetItem(ctx, &dynamodb.GetItemInput{TableName: games, Key: keyOf("old", 0)})).Item) > 0, true)
}

func changesOfTables() {
	updated := must(client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName:            games,
		AttributeDefinitions: []types.AttributeDefinition{defined("level", types.ScalarAttributeTypeS)},
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName:  aws.String("by_level"),
			KeySchema:  schema("level"),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}}},
	}))
	hold(dynamodb.NewTableExistsWaiter(client).Wait(ctx, &dynamodb.DescribeTableInput{TableName: games}, waiting))
	isFilled := func() bool {
		described := must(client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: games}))
		return !slices.ContainsFunc(
			described.Table.GlobalSecondaryIndexes,
			func(index types.GlobalSecondaryIndexDescription) bool {
				return index.IndexStatus != types.IndexStatusActive
			},
		)
	}
	for deadline := time.Now().Add(waiting); !isFilled(); time.Sleep(50 * time.Millisecond) {
		same(time.Now().Before(deadline), true)
	}
	hard := must(client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 games,
		IndexName:                 aws.String("by_level"),
		Select:                    types.SelectCount,
		KeyConditionExpression:    aws.String("#level = :hard"),
		ExpressionAttributeNames:  map[string]string{"#level": "level"},
		ExpressionAttributeValues: item{":hard": text("hard")},
	}))
	same(hard.Count, int32(100))
	tags := []types.Tag{{Key: aws.String("team"), Value: aws.String("play")}}
	arn := updated.TableDescription.TableArn
	must(client.TagResource(ctx, &dynamodb.TagResourceInput{ResourceArn: arn, Tags: tags}))
	same(must(client.ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: arn})).Tags, tags)
}

func end() {
	must(client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: games}))
	hold(dynamodb.NewTableNotExistsWaiter(client).Wait(ctx, &dynamodb.DescribeTableInput{TableName: games}, waiting))
}
