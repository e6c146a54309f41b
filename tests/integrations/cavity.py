"""OpenFOAM's lid-driven cavity: 20 x 20 cells, 10 steps of icoFoam, tight linear solvers."""

TOLERANCE = 1e-12  # of the linear solvers' residuals
STEPS = 10

_HEAD = "FoamFile {{ version 2.0; format ascii; class {kind}; object {name}; }}\n"
_FILES = {
    "system/blockMeshDict": """
scale 0.1;
vertices ((0 0 0)(1 0 0)(1 1 0)(0 1 0)(0 0 0.1)(1 0 0.1)(1 1 0.1)(0 1 0.1));
blocks (hex (0 1 2 3 4 5 6 7) (20 20 1) simpleGrading (1 1 1));
edges ();
boundary
(
    lid { type wall; faces ((3 7 6 2)); }
    walls { type wall; faces ((0 4 7 3)(2 6 5 1)(1 5 4 0)); }
    sides { type empty; faces ((0 3 2 1)(4 5 6 7)); }
);
""",
    "system/controlDict": f"""
application icoFoam;
startFrom startTime;
startTime 0;
stopAt endTime;
endTime {0.005 * STEPS};
deltaT 0.005;
writeControl timeStep;
writeInterval {STEPS};
writePrecision 16;
""",
    "system/fvSchemes": """
ddtSchemes { default Euler; }
gradSchemes { default Gauss linear; }
divSchemes { default Gauss linear; }
laplacianSchemes { default Gauss linear orthogonal; }
interpolationSchemes { default linear; }
snGradSchemes { default orthogonal; }
""",
    "system/fvSolution": f"""
solvers
{{
    "p.*" {{ solver PCG; preconditioner DIC; tolerance {TOLERANCE}; relTol 0; }}
    U {{ solver PBiCGStab; preconditioner DILU; tolerance {TOLERANCE}; relTol 0; }}
}}
PISO {{ nCorrectors 2; nNonOrthogonalCorrectors 0; pRefCell 0; pRefValue 0; }}
""",
    "constant/transportProperties": "nu [0 2 -1 0 0 0 0] 0.01;\n",
    "0/p": """
dimensions [0 2 -2 0 0 0 0];
internalField uniform 0;
boundaryField
{
    lid { type zeroGradient; }
    walls { type zeroGradient; }
    sides { type empty; }
}
""",
    "0/U": """
dimensions [0 1 -1 0 0 0 0];
internalField uniform (0 0 0);
boundaryField
{
    lid { type fixedValue; value uniform (1 0 0); }
    walls { type noSlip; }
    sides { type empty; }
}
""",
}
_KINDS = {"0/p": "volScalarField", "0/U": "volVectorField"}


def write_case(folder):
    """Write the case's files, without a mesh."""
    for name, text in _FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        head = _HEAD.format(kind=_KINDS.get(name, "dictionary"), name=path.name)
        path.write_text(head + text)
