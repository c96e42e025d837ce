"""Complete systems on `singletable`, each from a design document: the data layer of an app, ready to run.

kefir          batches of water kefir, their timelines, reminders and devices
lunch_cache    the weekly lunch menus of restaurants, cached for two weeks
perfectit      cards that say how to do things perfectly, with votes, comments and collections
smart_cooking  recipes from what is at home, with ratings, cooking history, friends and feeds
shared         what several systems do alike

Each is a package of its own that uses only public names of `singletable`, and has the same rooms: model, rules,
services, reactions, operating. `singletable demo` runs them all.
"""
