"""Machine files, speeds files and kernel files.

platforms.py      a Platform as TOML; platform_keys.py: its keys
platform_dicts.py a Platform in the form that plan files store
speeds.py         samples of devices; surfaces.py: of rectangles
hwloc.py (hwloc_values.py), nvidia_smi.py, both by io/xml_tree.py; scontrol.py
                  read how these programs describe computers
workloads.py      what one iteration of a user's kernel does
toml_syntax.py    TOML with line numbers in its errors; toml_tables.py: checks of its tables
"""
