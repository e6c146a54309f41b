"""node_map: the block of each node, as graph neural network libraries expect it."""

from __future__ import annotations

import numpy as np

from evener.arrays import IntVector
from evener.integrations.blocks import BlocksLike, blocks_of


def node_map(plan: BlocksLike) -> IntVector:
    """Return the block of each node, (n,) int64 from 0, in the order of the plan's vertices.

    plan: a Plan, its file, a Partition or the block of each node. After torch.from_numpy, the
    result is the `node_map` of PyTorch Geometric's partitions and the `node_part` of
    dgl.partition_graph_with_halo.
    """
    return blocks_of(plan).part.astype(np.int64)
