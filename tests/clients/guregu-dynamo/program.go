// A session of guregu/dynamo against the endpoint of the environment.

package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/guregu/dynamo/v2"
)

const waiting = 20 * time.Second

var (
	ctx     = context.Background()
	db      = dynamo.New(must(config.LoadDefaultConfig(ctx)))
	widgets = db.Table("widgets")
	visits  = db.Table("visits")
)

// Widget is an item; its tags make the table and its indexes.
type Widget struct {
	Owner   string            `dynamo:"owner,hash" localIndex:"of_owner_by_price,hash"`
	Made    time.Time         `dynamo:"made,range"`
	Kind    string            `dynamo:"kind,omitempty" index:"by_price,hash"`
	Price   int               `dynamo:"price" index:"by_price,range" localIndex:"of_owner_by_price,range"`
	Version int               `dynamo:"version,omitempty"`
	Parts   []string          `dynamo:"parts,omitempty"`
	Colours []string          `dynamo:"colours,set,omitempty"`
	Sizes   map[int]struct{}  `dynamo:"sizes,set,omitempty"`
	Meta    map[string]string `dynamo:"meta,omitempty"`
	Photo   []byte            `dynamo:"photo,omitempty"`
	Note    *string           `dynamo:"note,allowempty"`
	Inner   struct{ Deep bool }
}

// Visit is an item that expires.
type Visit struct {
	ID      string    `dynamo:"id,hash"`
	Expires time.Time `dynamo:"expires,unixtime"`
}

func made(day int) time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }

func prices(found []Widget) []int {
	all := []int{}
	for _, widget := range found {
		all = append(all, widget.Price)
	}
	return all
}

func main() {
	introduce("github.com/guregu/dynamo/v2")
	proof("CreateTable from the tags of a struct, with a global and a local index; Wait, Describe, ListTables", tables)
	proof("Put, Get, Update, Delete of structs: sets, maps, bytes, times, empty and absent values", items)
	proof("a failed condition: IsCondCheckFailed, the current item; an optimistic lock by hand", conditions)
	proof("Query: ranges, filters, both kinds of index, order, paging keys, count", queries)
	proof("Scan: filters, segments in parallel, paging keys", scans)
	proof("Batch: 60 writes, reads of more than 16 MB with their unprocessed keys, deletes", batches)
	proof("WriteTx and GetTx; tokens; the items of a cancelled transaction", transactions)
	proof("an index over several attributes: CreateTable, GetComposite", compositeIndex)
	proof("UpdateTTL, DescribeTTL; what has expired goes", timeToLive)
	proof("ConsumedCapacity of a put, of a query on an index", capacity)
	proof("DeleteTable and its Wait; a missing table is an error of its own type", end)
}

func tables() {
	hold(db.CreateTable("widgets", Widget{}).
		OnDemand(true).
		Project("of_owner_by_price", dynamo.IncludeProjection, "kind").
		Stream(dynamo.NewAndOldImagesView).
		Tag("team", "tools").
		Wait(ctx))
	described := must(widgets.Describe().Run(ctx))
	same(described.Active(), true)
	same(described.OnDemand, true)
	same([]string{described.HashKey, described.RangeKey}, []string{"owner", "made"})
	same([]string{described.GSI[0].Name, described.LSI[0].Name}, []string{"by_price", "of_owner_by_price"})
	same(described.StreamView, dynamo.NewAndOldImagesView)
	same(must(db.ListTables().All(ctx)), []string{"widgets"})
}

func items() {
	empty := ""
	widget := Widget{
		Owner:   "Größe 大 🎵",
		Made:    made(1),
		Kind:    "gear",
		Price:   7,
		Parts:   []string{"tooth", "axle"},
		Colours: []string{"blue", "red"},
		Sizes:   map[int]struct{}{1: {}, 22: {}},
		Meta:    map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"},
		Photo:   []byte{0, 255},
		Note:    &empty,
	}
	widget.Inner.Deep = true
	hold(widgets.Put(widget).If("attribute_not_exists('owner')").Run(ctx))
	one := widgets.Get("owner", widget.Owner).Range("made", dynamo.Equal, made(1))
	var read Widget
	hold(one.Consistent(true).One(ctx, &read))
	slices.Sort(read.Colours)
	same(read, widget)

	var updated Widget
	hold(widgets.Update("owner", widget.Owner).Range("made", made(1)).
		Set("kind", "wheel").
		Append("parts", []string{"hub"}).
		Add("price", 3).
		AddStringsToSet("colours", "green").
		DeleteIntsFromSet("sizes", 22).
		SetExpr("'meta'.$ = ?", "e", "5").
		Remove("photo").
		If("'price' BETWEEN ? AND ?", 1, 9).
		Value(ctx, &updated))
	slices.Sort(updated.Colours)
	same(updated.Parts, []string{"tooth", "axle", "hub"})
	same(updated.Colours, []string{"blue", "green", "red"})
	same(updated.Sizes, map[int]struct{}{1: {}})
	same([]any{updated.Kind, updated.Price, updated.Meta["e"], len(updated.Photo)}, []any{"wheel", 10, "5", 0})

	var old Widget
	hold(widgets.Delete("owner", widget.Owner).Range("made", made(1)).OldValue(ctx, &old))
	same(old.Price, 10)
	same(one.One(ctx, &read), dynamo.ErrNotFound)
}

func conditions() {
	hold(widgets.Put(Widget{Owner: "ann", Made: made(1), Price: 1, Version: 1}).Run(ctx))
	err := widgets.Put(Widget{Owner: "ann", Made: made(1), Price: 2}).If("attribute_not_exists($)", "owner").Run(ctx)
	same(dynamo.IsCondCheckFailed(err), true)
	same(failed[*types.ConditionalCheckFailedException](err).ErrorMessage(), "The conditional request failed")

	rename := func(version int, current *Widget) bool {
		return must(widgets.Update("owner", "ann").Range("made", made(1)).
			Set("kind", "spring").
			Add("version", 1).
			If("'version' = ?", version).
			CurrentValue(ctx, current))
	}
	var current Widget
	same(rename(1, &current), true)
	same(current.Version, 2)
	same(rename(1, &current), false)
	same([]any{current.Version, current.Kind}, []any{2, "spring"})

	err = widgets.Delete("owner", "ann").Run(ctx)
	wrong := failed[smithy.APIError](err)
	same(wrong.ErrorCode(), "ValidationException")
	same(wrong.ErrorMessage(), "The provided key element does not match the schema")
}

func queries() {
	for day := 1; day <= 20; day++ {
		hold(widgets.Put(Widget{Owner: "bob", Made: made(day), Kind: "bolt", Price: day % 5}).Run(ctx))
	}
	bobs := func() *dynamo.Query { return widgets.Get("owner", "bob") }
	var found []Widget
	hold(bobs().Range("made", dynamo.Between, made(3), made(6)).Filter("'price' <> ?", 4).All(ctx, &found))
	same(prices(found), []int{3, 0, 1})

	best := []int{}
	var from dynamo.PagingKey
	for page := range 3 {
		found = nil
		from = must(widgets.Get("kind", "bolt").Range("price", dynamo.GreaterOrEqual, 3).Index("by_price").
			Order(dynamo.Descending).SearchLimit(3).StartFrom(from).AllWithLastEvaluatedKey(ctx, &found))
		best = append(best, prices(found)...)
		same(from == nil, page == 2)
	}
	same(best, []int{4, 4, 4, 4, 3, 3, 3, 3})

	found = nil
	hold(bobs().Range("price", dynamo.Less, 1).Index("of_owner_by_price").Consistent(true).All(ctx, &found))
	same(prices(found), []int{0, 0, 0, 0})
	same(found[0].Kind, "bolt")

	// The last page of three ends inside an answer: the library makes the key from its last item.
	days := []int{}
	from = nil
	for {
		found = nil
		from = must(bobs().Filter("'price' < ?", 4).Limit(3).StartFrom(from).AllWithLastEvaluatedKey(ctx, &found))
		for _, widget := range found {
			days = append(days, widget.Made.Day())
		}
		if from == nil {
			break
		}
	}
	same(days, []int{1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 15, 16, 17, 18, 20})
	same(must(bobs().Filter("'price' = ?", 2).Count(ctx)), 4)
}

func scans() {
	var found []Widget
	hold(widgets.Scan().Filter("begins_with('owner', ?) AND 'price' >= ?", "b", 3).All(ctx, &found))
	same(len(found), 8)
	found = nil
	hold(widgets.Scan().Index("by_price").AllParallel(ctx, 3, &found))
	same(len(found), 21)
	read := 0
	var from dynamo.PagingKey
	for {
		found = nil
		from = must(widgets.Scan().StartFrom(from).SearchLimit(4).AllWithLastEvaluatedKey(ctx, &found))
		read += len(found)
		if from == nil {
			break
		}
	}
	same(read, 21)
	same(must(widgets.Scan().Count(ctx)), 21)
}

func batches() {
	batch := widgets.Batch("owner", "made")
	puts, keys := []any{}, []dynamo.Keyed{}
	for number := range 60 {
		day := made(1).AddDate(0, 0, number)
		puts = append(puts, Widget{Owner: "cat", Made: day, Parts: []string{strings.Repeat("x", 300_000)}})
		keys = append(keys, dynamo.Keys{"cat", day})
	}
	same(must(batch.Write().Put(puts...).Run(ctx)), 60)
	var used dynamo.ConsumedCapacity
	var found []Widget
	hold(batch.Get(keys...).Consistent(true).ConsumedCapacity(&used).All(ctx, &found))
	same([]int{len(found), used.Requests}, []int{60, 2})
	same(must(batch.Write().Delete(keys...).Run(ctx)), 60)
	same(batch.Get(keys...).All(ctx, &found), dynamo.ErrNotFound)
}

func transactions() {
	ann := widgets.Get("owner", "ann").Range("made", dynamo.Equal, made(1))
	dan := widgets.Get("owner", "dan").Range("made", dynamo.Equal, made(1))
	write := db.WriteTx().Idempotent(true).
		Update(widgets.Update("owner", "ann").Range("made", made(1)).Add("price", 5)).
		Put(widgets.Put(Widget{Owner: "dan", Made: made(1), Price: 9}).If("attribute_not_exists('owner')"))
	hold(write.Run(ctx))
	hold(write.Run(ctx))
	var first, second Widget
	hold(db.GetTx().GetOne(ann, &first).GetOne(dan, &second).Run(ctx))
	same([]int{first.Price, second.Price}, []int{6, 9})

	err := db.WriteTx().
		Delete(widgets.Delete("owner", "dan").Range("made", made(1))).
		Check(widgets.Check("owner", "ann").Range("made", made(1)).If("'price' > ?", 6)).
		IncludeAllItemsInCondCheckFail(true).
		Run(ctx)
	same(dynamo.IsCondCheckFailed(err), true)
	reasons := failed[*types.TransactionCanceledException](err).CancellationReasons
	same([]string{*reasons[0].Code, *reasons[1].Code}, []string{"None", "ConditionalCheckFailed"})
	var current []Widget
	same(must(dynamo.UnmarshalItemsFromTxCondCheckFailed(err, &current)), true)
	same(prices(current), []int{6})
	hold(dan.One(ctx, &second))
}

func compositeIndex() {
	text := func(name string) dynamo.KeySchema { return dynamo.KeySchema{Key: name, Type: dynamo.StringType} }
	hold(db.CreateTable("places", struct {
		Owner string `dynamo:"owner,hash"`
	}{}).OnDemand(true).Index(dynamo.Index{
		Name:           "by_place",
		HashKeys:       []dynamo.KeySchema{text("country"), text("kind")},
		RangeKeys:      []dynamo.KeySchema{text("city"), text("street")},
		ProjectionType: dynamo.AllProjection,
	}).Wait(ctx))
	table := db.Table("places")
	for owner, place := range map[string][]string{
		"a": {"no", "home", "Oslo", "Kirkegata"},
		"b": {"no", "home", "Oslo", "Storgata"},
		"c": {"no", "work", "Oslo", "Storgata"},
	} {
		item := map[string]string{"owner": owner, "country": place[0], "kind": place[1], "city": place[2], "street": place[3]}
		hold(table.Put(item).Run(ctx))
	}
	var found []map[string]string
	hold(table.GetComposite(map[string]any{"country": "no", "kind": "home", "city": "Oslo"}).
		Range("street", dynamo.BeginsWith, "S").Index("by_place").All(ctx, &found))
	same(len(found), 1)
	same(found[0]["owner"], "b")
	hold(table.DeleteTable().Wait(ctx))
}

func timeToLive() {
	hold(db.CreateTable("visits", Visit{}).OnDemand(true).Wait(ctx))
	same(must(visits.DescribeTTL().Run(ctx)).Status, dynamo.TTLDisabled)
	hold(visits.UpdateTTL("expires", true).Run(ctx))
	same(must(visits.DescribeTTL().Run(ctx)), dynamo.TTLDescription{Attribute: "expires", Status: dynamo.TTLEnabled})
	hold(visits.Put(Visit{"tomorrow", time.Now().Add(24 * time.Hour)}).Run(ctx))
	hold(visits.Put(Visit{"yesterday", time.Now().Add(-24 * time.Hour)}).Run(ctx))
	var left []Visit
	for deadline := time.Now().Add(waiting); len(left) != 1; time.Sleep(50 * time.Millisecond) {
		same(time.Now().Before(deadline), true)
		left = nil
		hold(visits.Scan().All(ctx, &left))
	}
	same(left[0].ID, "tomorrow")
}

func capacity() {
	var used dynamo.ConsumedCapacity
	hold(widgets.Put(Widget{Owner: "fay", Made: made(1), Kind: "nut", Price: 1}).ConsumedCapacity(&used).Run(ctx))
	same([]float64{used.Total, used.Table, used.GSI["by_price"], used.LSI["of_owner_by_price"]}, []float64{3, 1, 1, 1})
	used = dynamo.ConsumedCapacity{}
	var found []Widget
	hold(widgets.Get("kind", "nut").Index("by_price").ConsumedCapacity(&used).All(ctx, &found))
	same(used.Total, 0.5)
}

func end() {
	hold(widgets.DeleteTable().Wait(ctx))
	var widget Widget
	err := widgets.Get("owner", "ann").Range("made", dynamo.Equal, made(1)).One(ctx, &widget)
	failed[*types.ResourceNotFoundException](err)
}
