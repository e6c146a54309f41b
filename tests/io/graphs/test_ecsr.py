"""Binary CSR files as a format among others: tests/io/csr has the rest."""

import shutil
import subprocess

import numpy as np
import pytest

from evener.cli import main
from evener.errors import UsageError
from evener.io import read_graph, write_graph
from evener.io.write import writer_for
from tests.assertions import grid


def test_convert_and_plan(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_graph("g.graph", grid(12, 9))
    assert main(["convert", "g.graph", "g.ecsr"]) == 0
    assert main(["plan", "g.ecsr", "--speeds", "1,2", "-o", "a.plan", "--json"]) == 0
    assert main(["plan", "g.graph", "--speeds", "1,2", "-o", "b.plan", "--json"]) == 0
    assert main(["convert", "g.ecsr", "h.graph"]) == 0
    assert (tmp_path / "g.graph").read_bytes() == (tmp_path / "h.graph").read_bytes()


def test_arcs_have_no_place(tmp_path):
    with pytest.raises(UsageError, match="ecsr stores edges without direction"):
        writer_for(tmp_path / "g.ecsr", None, directed=True)


PROGRAM = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
%s
int main(int argc, char **argv) {
    struct ecsr_header h;
    FILE *f = fopen(argv[1], "rb");
    if (sizeof h != 192 || fread(&h, sizeof h, 1, f) != 1) return 2;
    if (memcmp(h.magic, "\x89" "ECSR\r\n\x1a", 8)) return 3;
    int64_t *xadj = malloc(8 * (h.n + 1));
    int32_t *adjncy = malloc(4 * h.arcs);
    fseek(f, h.xadj_at, SEEK_SET);
    if (fread(xadj, 8, h.n + 1, f) != h.n + 1) return 4;
    fseek(f, h.adjncy_at, SEEK_SET);
    if (fread(adjncy, 4, h.arcs, f) != h.arcs) return 5;
    for (int64_t v = 0; v < h.n; v++) {
        for (int64_t e = xadj[v]; e < xadj[v + 1]; e++) printf("%%d ", adjncy[e]);
        printf("\n");
    }
    return 0;
}
"""


def test_a_program_in_c_reads_it_by_the_struct_of_the_page(tmp_path, request):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    page = (request.config.rootpath / "docs" / "formats.md").read_text()
    struct = page.split("```c\n")[1].split("```")[0]
    assert "struct ecsr_header" in struct
    (tmp_path / "read.c").write_text(PROGRAM % struct)
    program = tmp_path / "read"
    subprocess.run([compiler, tmp_path / "read.c", "-o", program], check=True)
    graph = grid(5, 4)
    write_graph(tmp_path / "g.ecsr", graph)
    run = subprocess.run([program, tmp_path / "g.ecsr"], check=True, capture_output=True, text=True)
    lists = [list(map(int, line.split())) for line in run.stdout.splitlines()]
    assert np.array_equal(np.concatenate(lists), graph.adjncy)
    assert [len(one) for one in lists] == graph.degrees.tolist()
    assert read_graph(tmp_path / "g.ecsr").m == graph.m
