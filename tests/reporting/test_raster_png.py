"""PNG files that another reader reads back."""

import base64
import io

import numpy as np
from matplotlib import image as readers

from evener.reporting import raster


def test_read_back():
    rng = np.random.default_rng(11)
    colours = rng.integers(0, 256, (7, 4)).astype(np.uint8)
    image = rng.integers(0, 7, (5, 9)).astype(np.uint8)
    uri = raster.data_uri(image, colours)
    assert uri.startswith("data:image/png;base64,")
    found = readers.imread(io.BytesIO(base64.b64decode(uri.split(",", 1)[1])))
    assert np.array_equal(np.round(found * 255).astype(np.uint8), colours[image])
