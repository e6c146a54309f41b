"""The makespan search: the plan of least predicted seconds.

search.py         read first: the whole search as a sequence of steps, each returning candidates
problem.py        the graph, its order, the platform, the limits on blocks; how much is tried
candidates.py     how blocks become candidates with predicted seconds, and which one is chosen
baselines.py      METIS at the same sizes, and the least cut: no plan is slower than either
slabs.py          blocks in a row along a line, each with two neighbours
size_rounds.py    rounds: make blocks, measure their halos, adapt the sizes
coarse_search.py  whole plans on a coarse graph
improvements.py   swaps of blocks among identical devices; clusters and vertices moved to lower the
                  makespan
sliced_search.py  the search on graphs in slices; border_search.py: their borders

Only this search may leave a device without vertices: in a plan of least cut, sizing.contracts gives
each device at least one vertex (`_none_empty`), or, if weights differ, capacity for one
(`_room_for_one`). The rules that leave devices out are:

1. `starts_of` in search.py begins with sets of devices (device_sets/sets.py). Within a set it gives
   no load to a device whose exchange and fixed seconds alone would take longer than the others'
   whole iteration, nor to one that would get less than half a vertex (`drop` in
   device_sets/set_loads.py). Sets whose estimated time exceeds the best time so far by more than
   the factor `SearchEffort.hopeful` are not tried. Preset "fast" takes
   the set of all devices only, unless there are more devices than vertices.
2. `CoarseSearch` takes all devices and the sets of `starts_of`, each device with a load. A device
   whose load is less than the weight of a coarse vertex may get no vertex, and is unused from then
   on.
3. `Slabs.blocks` gives a device no vertex if its two cuts fall on the same vertex.
4. `on_one_device` is always a candidate. Refinement leaves every block at least one vertex.
5. `least_sending` in candidates.py chooses the plan, and with it the devices that are unused.
6. For graphs in slices, 1 to 5 apply to the graph of their clusters; then `_starts` in
   sliced_search.py chooses which plans are continued, among them slabs from `_slab_start`, and
   `BorderTurn.better_than` in border_search.py chooses the plan.

`evener plan --only-used` then plans again for the devices that got vertices.

Imports device_sets, steps and options of planning, and the packages below it.
"""
