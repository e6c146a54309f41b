"""node_map: the block of each node, as graph neural network libraries take it."""

from __future__ import annotations

import numpy as np

from evener.arrays import IntVector
from evener.integrations.blocks import BlocksLike, blocks_of


def node_map(plan: BlocksLike) -> IntVector:
    """Return (n,) int64: the block of each node, from 0 on, in the order of the plan's vertices.

    plan: a Plan, its file, a Partition or the block of each node. It is the `node_map` of PyTorch
    Geometric's partitions and the `node_part` of dgl.partition_graph_with_halo, once
    torch.from_numpy has made a tensor of it.
    """
    return blocks_of(plan).part.astype(np.int64)
