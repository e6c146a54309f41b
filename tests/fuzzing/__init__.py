"""Whatever happens to a file: it is refused with an error, or read and used, soon and in little
memory.

    python -m tests.fuzzing --minutes 60                 many inputs, one after another
    python -m tests.fuzzing --seed S --case N            one of them again, with what it says

samples.py has the files that are changed, changes.py how, uses.py what is then done with them,
worker.py the process that does it, supervising.py what watches over that.
"""
