"""What a mesh names in its turn is a regular file, too."""

import os

import pytest

from evener.errors import InputError
from evener.io import read

XDMF = """\
<Xdmf Version="3.0"><Domain><Grid Name="Grid">
<Geometry GeometryType="XY"><DataItem DataType="Float" Dimensions="3 2" Format="Binary"
Precision="8">{file}</DataItem></Geometry>
<Topology TopologyType="Triangle" NumberOfElements="1"><DataItem DataType="Int" Dimensions="1 3"
Format="XML" Precision="8">0 1 2</DataItem></Topology>
</Grid></Domain></Xdmf>
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_mesh_that_names_what_is_no_file(tmp_path, kind):
    name = "/dev/zero"
    if kind == "pipe":
        name = str(tmp_path / "pipe")
        os.mkfifo(name)
    (tmp_path / "a.xdmf").write_text(XDMF.format(file=name))
    with pytest.raises(InputError, match="no regular file"):
        read(tmp_path / "a.xdmf")
