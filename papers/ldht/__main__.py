"""`python -m papers.ldht`."""

import sys

from papers.command import main
from papers.ldht.experiments import REPRODUCTION

if __name__ == "__main__":
    sys.exit(main(REPRODUCTION))
