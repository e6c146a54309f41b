"""[Muralidharan13]_: HMAP, a partitioner of stream graphs."""
