"""Complete systems on `singletable`, each from a design document: the data layer of an app, ready to run.

kefir        batches of water kefir, their timelines, reminders and devices
lunch_cache  the weekly lunch menus of restaurants, cached for two weeks

Each is a package of its own that uses only public names of `singletable`: a design, small services over it, how it
is operated, and made-up data. `singletable demo` runs them all.
"""
